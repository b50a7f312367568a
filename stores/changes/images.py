"""Images of rows, and the fold of first against last images."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, select, tuple_
from sqlalchemy import Row as FoundRow

from stores.changes.change import Change, Key, Row
from stores.changes.marks import changed_columns, is_secret, sealed

KEYS_PER_READ = 500
"""Below what either database allows of parameters in one statement."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """What is known of a touched row besides its images: see the fields of `Change`."""

    version: str | None = None
    made: int | None = None
    chosen: tuple[str, ...] = ()


def read_rows(
    connection: Connection, table: Table, keys: Iterable[Key], *, secret_key: bytes, lock: bool = False
) -> dict[Key, Row]:
    """Whole rows by key, secrets sealed; keys without a row are left out.

    `lock` holds the rows until the transaction ends (PostgreSQL; on SQLite the writer holds everything already).
    """
    rows: dict[Key, Row] = {}
    remaining = iter(keys)
    while batch := list(islice(remaining, KEYS_PER_READ)):
        statement = select(table).where(has_key(table, batch))
        if lock:
            statement = statement.order_by(*table.primary_key).with_for_update()
        for found in connection.execute(statement):
            rows[_key(table, found)] = _image(table, found, secret_key)
    return rows


def has_key(table: Table, keys: Sequence[Key]) -> ColumnElement[bool]:
    columns = list(table.primary_key)
    if len(columns) == 1:
        return columns[0].in_([key[0] for key in keys])
    return tuple_(*columns).in_(keys)


def _key(table: Table, found: FoundRow[Any]) -> Key:
    values = dict(zip(table.columns, found, strict=True))
    return tuple(values[column] for column in table.primary_key)


def _image(table: Table, found: FoundRow[Any], secret_key: bytes) -> Row:
    return {
        column.name: sealed(column, value, secret_key) if is_secret(column) else value
        for column, value in zip(table.columns, found, strict=True)
    }


def fold(
    table: Table, first: Mapping[Key, Row], last: Mapping[Key, Row], notes: Mapping[Key, Note]
) -> Iterator[Change]:
    """What became of each row. One that moved only in columns that aren't compared didn't change."""
    for key in {**first, **last}:
        before, after = first.get(key), last.get(key)
        note = notes.get(key, Note())
        op = "insert" if before is None else "delete" if after is None else "update"
        change = Change(
            table=table.fullname,
            key=key,
            op=op,
            before=before,
            after=after,
            version=note.version,
            made=note.made if op == "insert" else None,
            chosen=note.chosen,
        )
        if op != "update" or changed_columns(table, change):
            yield change
