"""What moved between two change sets, told row by row and column by column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import MetaData

from stores.changes.change import Change, Key, RowKey
from stores.changes.normal import Entry, entries, normal_form
from stores.changes.values import canonical
from stores.tables import Base


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that isn't as it was approved (or, of a revert, as it was left)."""

    table: str
    key: Key
    """The row's real key; where only the approved set has the row, its key there."""
    column: str | None
    """None when it is about the row as a whole."""
    approved: Any
    """The column's value. Of a whole row: its op, or None when it has no change there. Of a revert: "present" or
    "absent"."""
    found: Any


def differences(
    approved: Sequence[Change],
    executed: Sequence[Change],
    *,
    symbols: tuple[Mapping[RowKey, str], Mapping[RowKey, str]] | None = None,
    metadata: MetaData = Base.metadata,
) -> tuple[Difference, ...]:
    """What a person should know of an approval that went stale; empty exactly if the normal forms are equal.

    `symbols` are those of both sides' normal forms: needed when earlier calls of the step made keys.
    """
    ours, theirs = symbols or (None, None)
    before = _by_place(approved, ours, metadata)
    after = _by_place(executed, theirs, metadata)
    found: list[Difference] = []
    for place in sorted(before.keys() | after.keys()):
        found += _row_differences(before.get(place), after.get(place))
    return tuple(found)


Known = tuple[Change, Entry]


def _by_place(
    changes: Sequence[Change], symbols: Mapping[RowKey, str] | None, metadata: MetaData
) -> dict[tuple[str, str], Known]:
    known = normal_form(changes, symbols, metadata=metadata).symbols if symbols is None else symbols
    pairs = zip(changes, entries(changes, known, metadata), strict=True)
    return {(entry.table, canonical(list(entry.key))): (change, entry) for change, entry in pairs}


def _row_differences(approved: Known | None, executed: Known | None) -> Iterator[Difference]:
    known = executed or approved
    assert known is not None
    change, entry = known
    ops = [side and side[1].op for side in (approved, executed)]
    if approved is None or executed is None or ops[0] != ops[1]:
        yield Difference(table=entry.table, key=change.key, column=None, approved=ops[0], found=ops[1])
        return
    wanted, got = approved[1].columns, executed[1].columns
    for name in dict.fromkeys([*wanted, *got]):
        ours, theirs = _value(approved, name), _value(executed, name)
        if canonical(ours) != canonical(theirs):
            ours, theirs = _moved_side(entry, ours, theirs)
            yield Difference(table=entry.table, key=change.key, column=name, approved=ours, found=theirs)


def _value(known: Known, name: str) -> Any:
    """The column's value, or pair of values; for a column that the update doesn't show, as it is in the row."""
    change, entry = known
    if name in entry.columns:
        return entry.columns[name]
    return [change.row.get(name), change.row.get(name)] if entry.op == "update" else change.row.get(name)


def _moved_side(entry: Entry, ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Of an update's pairs: what the row was, if that moved; else what it becomes."""
    if entry.op != "update":
        return ours, theirs
    side = 0 if canonical(ours[0]) != canonical(theirs[0]) else 1
    return ours[side], theirs[side]
