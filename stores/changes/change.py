"""A change: one row, before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from stores.changes.values import canonical

Key = tuple[Any, ...]
"""Primary key values in the order of the table's key columns."""

RowKey = tuple[str, Key]
"""A row by table name and key."""

Row = Mapping[str, Any]
"""A row by column name."""

Op = Literal["insert", "update", "delete"]


@dataclass(frozen=True, kw_only=True)
class Change:
    """One row's change, first image against last image of the call.

    A secret column is never shown: in both images it is `{"secret": "set" | "cleared", "digest": hmac}`.
    """

    table: str
    key: Key
    """Primary key values in the order of the table's key columns (real ones)."""
    op: Op
    before: Row | None
    """The whole row before, by column name, as Python values; None for an insert."""
    after: Row | None
    """The whole row after; None for a delete."""
    version: str | None = None
    """The column in which the mapper counts the row's versions."""
    made: int | None = None
    """When the database made the key: which insert of the call it was, counted from 1."""
    chosen: tuple[str, ...] = ()
    """Columns that fill themselves, but that the call set itself: they are compared like any other."""

    @property
    def row(self) -> Row:
        """The row as it is after the change, or as it was before its deletion."""
        row = self.before if self.after is None else self.after
        assert row is not None
        return row


def change_order(change: Change) -> tuple[str, str, tuple[tuple[int, Any], ...]]:
    """Sorts by table, op, key; whole numbers by value, everything else by its canonical text."""
    return change.table, change.op, tuple(_part_order(part) for part in change.key)


def _part_order(part: Any) -> tuple[int, Any]:
    return (0, part) if isinstance(part, int | Decimal) else (1, canonical(part))
