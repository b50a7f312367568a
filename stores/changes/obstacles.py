"""Which rows stand in the way of a revert."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    and_,
    not_,
    select,
)

from stores.changes.change import Change, Key, Row
from stores.changes.difference import Difference
from stores.changes.images import has_key
from stores.changes.marks import is_secret

SHOWN = 20
"""As many rows of one kind are told."""


def obstacles(connection: Connection, steps: Sequence[Change], metadata: MetaData) -> tuple[Difference, ...]:
    """The rows because of which these steps break a constraint; where none can be named, the steps' own rows."""
    found: list[Difference] = []
    for step in steps:
        table = metadata.tables[step.table]
        if step.after is None:
            found += _children(connection, table, step, metadata)
        else:
            found += _holders(connection, table, step, step.after)
            found += _missing_parents(connection, table, step.after)
    return tuple(dict.fromkeys(found)) or tuple(_itself(step) for step in steps)


def _children(connection: Connection, table: Table, step: Change, metadata: MetaData) -> Iterator[Difference]:
    """Rows that refer to the one that should go."""
    for child in metadata.tables.values():
        for constraint in child.foreign_key_constraints:
            if constraint.referred_table is table:
                links = (link.parent == step.row[link.column.name] for link in constraint.elements)
                yield from _present(connection, child, and_(*links))


def _holders(connection: Connection, table: Table, step: Change, row: Row) -> Iterator[Difference]:
    """Other rows that have the values which this one needs for itself."""
    for columns in _unique_columns(table):
        if not any(row.get(column.name) is None or is_secret(column) for column in columns):
            same = and_(*(column == row[column.name] for column in columns))
            yield from _present(connection, table, and_(same, not_(has_key(table, [step.key]))))


def _missing_parents(connection: Connection, table: Table, row: Row) -> Iterator[Difference]:
    """Rows that this one refers to and that are gone."""
    for constraint in table.foreign_key_constraints:
        parent = constraint.referred_table
        values = {link.column: row.get(link.parent.name) for link in constraint.elements}
        if None not in values.values():
            there = and_(*(column == value for column, value in values.items()))
            if connection.execute(select(*parent.primary_key).where(there)).first() is None:
                key = tuple(values.values())
                yield Difference(table=parent.fullname, key=key, column=None, approved="present", found="absent")


def _present(connection: Connection, table: Table, condition: ColumnElement[bool]) -> Iterator[Difference]:
    keys = select(*table.primary_key).where(condition).order_by(*table.primary_key).limit(SHOWN)
    for found in connection.execute(keys):
        key: Key = tuple(found)
        yield Difference(table=table.fullname, key=key, column=None, approved="absent", found="present")


def _unique_columns(table: Table) -> Iterator[list[Column[Any]]]:
    constraints: list[UniqueConstraint | PrimaryKeyConstraint | Index] = [
        constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint)
    ]
    constraints += [index for index in table.indexes if index.unique]
    for constraint in constraints:
        yield list(constraint.columns)


def _itself(step: Change) -> Difference:
    before = "absent" if step.before is None else "present"
    return Difference(table=step.table, key=step.key, column=None, approved=before, found=before)
