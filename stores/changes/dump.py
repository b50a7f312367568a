"""Change sets as text: whole rows with real keys, what a revert needs."""

import json
from typing import Any

from sqlalchemy import MetaData, Table

from stores.changes.change import Change, Key, Row
from stores.changes.values import ascii_json, decoded, decoded_in, encoded
from stores.tables import Base


def dump_changes(changes: tuple[Change, ...]) -> str:
    """ASCII JSON from which `load_changes` makes equal changes."""
    return ascii_json([_form(change) for change in changes])


def load_changes(text: str, *, metadata: MetaData = Base.metadata) -> tuple[Change, ...]:
    """What `dump_changes` was given. Tables are only looked up for the members of enums."""
    return tuple(_change(form, metadata.tables.get(form["table"])) for form in json.loads(text))


def _form(change: Change) -> dict[str, Any]:
    return {
        "table": change.table,
        "key": [encoded(part) for part in change.key],
        "op": change.op,
        "before": _row_form(change.before),
        "after": _row_form(change.after),
        "version": change.version,
        "made": change.made,
        "chosen": list(change.chosen),
    }


def _row_form(row: Row | None) -> list[list[Any]] | None:
    return None if row is None else [[name, encoded(value)] for name, value in row.items()]


def _change(form: dict[str, Any], table: Table | None) -> Change:
    return Change(
        table=form["table"],
        key=_key(form["key"], table),
        op=form["op"],
        before=_row(form["before"], table),
        after=_row(form["after"], table),
        version=form["version"],
        made=form["made"],
        chosen=tuple(form["chosen"]),
    )


def _key(parts: list[Any], table: Table | None) -> Key:
    if table is None:
        return tuple(decoded(part) for part in parts)
    return tuple(decoded_in(column, part) for column, part in zip(table.primary_key, parts, strict=True))


def _row(form: list[list[Any]] | None, table: Table | None) -> Row | None:
    if form is None:
        return None
    columns = {} if table is None else {column.name: column for column in table.columns}
    return {name: decoded_in(columns[name], value) if name in columns else decoded(value) for name, value in form}
