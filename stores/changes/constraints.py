"""What the database refuses, as something that a domain can name."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import MetaData, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm.exc import StaleDataError
from sqlalchemy.schema import ColumnCollectionConstraint

Kind = Literal["unique", "foreign_key", "check", "not_null"]

KINDS: dict[str, Kind] = {"23505": "unique", "23503": "foreign_key", "23514": "check", "23502": "not_null"}
"""PostgreSQL's states."""

SQLITE_MESSAGES: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"UNIQUE constraint failed: (.+)"), "unique"),
    (re.compile(r"NOT NULL constraint failed: (.+)"), "not_null"),
    (re.compile(r"CHECK constraint failed: (.+)"), "check"),
    (re.compile(r"FOREIGN KEY constraint failed()"), "foreign_key"),
)

RETRYABLE = frozenset({"40001", "40P01", "55P03"})
"""PostgreSQL's states after which a new transaction may succeed: serialization, deadlock, lock timeout."""

SQLITE_BUSY = frozenset({5, 6})
"""Primary result codes of SQLite: busy, locked."""


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """A constraint that a statement broke."""

    kind: Kind
    table: str | None
    """None for a foreign key on SQLite, which names nothing."""
    columns: tuple[str, ...]
    """Empty where the database names none."""


def constraint_of(error: IntegrityError, metadata: MetaData) -> Constraint | None:
    """The constraint that the error speaks of, the same on both databases as far as they tell it."""
    for cause in _causes(error):
        if kind := KINDS.get(_state(cause)):
            return _of_postgres(kind, cause, metadata)
        for pattern, sqlite_kind in SQLITE_MESSAGES:
            if match := pattern.match(str(cause)):
                return _of_sqlite(sqlite_kind, match.group(1), metadata)
    return None


def is_retryable(error: BaseException) -> bool:
    """A new transaction may succeed where this one failed: somebody else was in the way."""
    if isinstance(error, StaleDataError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    return any(_state(cause) in RETRYABLE or _sqlite_code(cause) & 0xFF in SQLITE_BUSY for cause in _causes(error))


def _causes(error: DBAPIError) -> Iterator[BaseException]:
    """The driver's errors: SQLAlchemy's wrapper and what it wraps."""
    cause = error.orig
    while cause is not None:
        yield cause
        cause = cause.__cause__


# The two drivers put their facts into attributes that their base classes don't declare.
def _state(cause: BaseException) -> str:
    return str(getattr(cause, "sqlstate", None) or "")


def _sqlite_code(cause: BaseException) -> int:
    return int(getattr(cause, "sqlite_errorcode", None) or 0)


def _told(cause: BaseException, name: str) -> str | None:
    while cause.__cause__ is not None and not hasattr(cause, name):
        cause = cause.__cause__
    value: Any = getattr(cause, name, None)
    return value or None


def _of_postgres(kind: Kind, cause: BaseException, metadata: MetaData) -> Constraint:
    name, table = _told(cause, "constraint_name"), _told(cause, "table_name")
    if kind == "not_null":
        column = _told(cause, "column_name")
        return Constraint(kind=kind, table=table, columns=(column,) if column else ())
    return _named(kind, name or "", metadata, table)


def _of_sqlite(kind: Kind, told: str, metadata: MetaData) -> Constraint:
    if kind == "check":
        return _named(kind, told, metadata)
    if index := re.fullmatch(r"index '(.+)'", told):
        return _named(kind, index.group(1), metadata)
    places = [place.rpartition(".") for place in told.split(", ") if place]
    table = places[0][0] if places else None
    return Constraint(kind=kind, table=table, columns=tuple(column for _, _, column in places))


def _named(kind: Kind, name: str, metadata: MetaData, told_table: str | None = None) -> Constraint:
    for table in metadata.tables.values():
        for constraint_name, columns in _constraints(table):
            if constraint_name == name and told_table in (None, table.name):
                return Constraint(kind=kind, table=table.fullname, columns=tuple(columns))
    return Constraint(kind=kind, table=told_table, columns=())


def _constraints(table: Table) -> Iterator[tuple[str, Iterable[str]]]:
    """Names as PostgreSQL has them (cut at 63 characters), with the columns."""
    preparer = postgresql.dialect().identifier_preparer
    for constraint in table.constraints:
        if isinstance(constraint, ColumnCollectionConstraint):
            yield _plain(preparer.format_constraint(constraint)), [column.name for column in constraint.columns]
    for index in table.indexes:
        yield _plain(preparer.format_index(index)), [column.name for column in index.columns]


def _plain(name: str | None) -> str:
    return (name or "").strip('"')
