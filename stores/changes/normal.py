"""The normal form: what of a change set is compared, as one text for one meaning."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, MetaData, Table

from stores.changes.change import Change, Op, RowKey
from stores.changes.marks import changed_columns, compared_columns, differs, generated_column, is_label, is_secret
from stores.changes.values import Symbol, ascii_json, canonical, encoded
from stores.tables import Base


@dataclass(frozen=True, kw_only=True)
class NormalForm:
    """A change set without what differs from one run of the call to the next."""

    text: str
    """Canonical JSON: insert all compared columns, update the changed ones and the labels, delete the whole row."""
    symbols: Mapping[RowKey, str]
    """Placeholders of database-made keys: those that were given, and those of this call."""
    digest: str = field(init=False)
    """SHA-256 of `text`, hexadecimal."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.text.encode()).hexdigest())


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One change in normal form. Of an update, a column's value is the pair of before and after."""

    table: str
    op: Op
    key: tuple[Any, ...]
    columns: Mapping[str, Any]

    @property
    def order(self) -> tuple[str, str, str]:
        return self.table, self.op, canonical(list(self.key))

    def form(self) -> dict[str, Any]:
        columns = {name: encoded(value) for name, value in self.columns.items()}
        return {"table": self.table, "op": self.op, "key": encoded(list(self.key)), "columns": columns}


def normal_form(
    changes: Sequence[Change],
    symbols: Mapping[RowKey, str] | None = None,
    *,
    call: int = 0,
    metadata: MetaData = Base.metadata,
) -> NormalForm:
    """The form in which two runs of a call are equal exactly if they did the same.

    A key that the database made is `new:<call>:<table>:<n>` wherever it occurs. `symbols` are those of the step's
    earlier calls, with the keys that they have in this transaction; `call` is this call's place in the step.
    """
    known = {**(symbols or {}), **_new_symbols(changes, call)}
    ordered = sorted(entries(changes, known, metadata), key=lambda entry: entry.order)
    text = ascii_json([entry.form() for entry in ordered], sort_keys=True)
    return NormalForm(text=text, symbols=known)


def irreversible(changes: Sequence[Change], *, metadata: MetaData = Base.metadata) -> bool:
    """A secret was set, replaced or removed: nobody could bring the old one back."""
    return any(_touches_secret(metadata.tables[change.table], change) for change in changes)


def entries(changes: Sequence[Change], symbols: Mapping[RowKey, str], metadata: MetaData) -> Iterator[Entry]:
    """The changes in normal form, in their own order."""
    places = dict(_places(symbols, metadata))
    for change in changes:
        yield _entry(metadata.tables[change.table], change, places)


Places = Mapping[tuple[Column[Any], Any], Symbol]
"""Placeholders by the generated column and its value."""


def _new_symbols(changes: Sequence[Change], call: int) -> dict[RowKey, str]:
    counts: dict[str, int] = {}
    symbols: dict[RowKey, str] = {}
    for change in sorted((c for c in changes if c.made is not None), key=lambda c: (c.table, c.made)):
        counts[change.table] = counts.get(change.table, 0) + 1
        symbols[change.table, change.key] = f"new:{call}:{change.table}:{counts[change.table]}"
    return symbols


def _places(symbols: Mapping[RowKey, str], metadata: MetaData) -> Iterator[tuple[tuple[Column[Any], Any], Symbol]]:
    for (name, key), symbol in symbols.items():
        table = metadata.tables[name]
        generated = generated_column(table)
        for column, part in zip(table.primary_key, key, strict=True):
            if column is generated:
                yield (column, part), Symbol(symbol)


def _entry(table: Table, change: Change, places: Places) -> Entry:
    def named(row: Mapping[str, Any], column: Column[Any]) -> Any:
        return _named(column, row[column.name], places)

    row, before, after = change.row, change.before, change.after
    if before is not None and after is not None:
        shown = {column.name: [named(before, column), named(after, column)] for column in _shown(table, change)}
    else:
        shown = {c.name: named(row, c) for c in compared_columns(table, change) if c.name in row}
    key = tuple(_named(column, part, places) for column, part in zip(table.primary_key, change.key, strict=True))
    return Entry(table=change.table, op=change.op, key=key, columns=shown)


def _shown(table: Table, change: Change) -> list[Column[Any]]:
    """Of an update: what changed, and what the row is called."""
    labels = [c for c in compared_columns(table, change) if is_label(c) and c.name in change.row]
    return list(dict.fromkeys([*labels, *changed_columns(table, change)]))


def _named(column: Column[Any], value: Any, places: Places) -> Any:
    for origin in _origins(column):
        if (origin, value) in places:
            return places[origin, value]
    return value


def _origins(column: Column[Any]) -> Iterator[Column[Any]]:
    """The generated columns that this column's values may come from."""
    if column is generated_column(column.table):
        yield column
    for foreign_key in column.foreign_keys:
        if foreign_key.column is not column:
            yield from _origins(foreign_key.column)


def _touches_secret(table: Table, change: Change) -> bool:
    names = [column.name for column in table.columns if is_secret(column) and column.name in change.row]
    if change.op == "update":
        return any(differs(change, name) for name in names)
    return any(change.row[name]["digest"] for name in names)
