"""What the columns of a table say about recording: what is compared, named, secret, made by the database.

In `Column.info`: `volatile` (never compared), `label` (names the row on a card), `secret` (never in clear).
"""

import hashlib
import hmac
from typing import Any

from sqlalchemy import Column, Date, DateTime, Table, Time, Uuid
from sqlalchemy.types import TypeDecorator, TypeEngine

from stores.changes.change import Change
from stores.changes.values import canonical

FILLED_TYPES = (DateTime, Date, Time, Uuid)
"""Types whose defaults differ from one run to the next."""


def plain_type(column: Column[Any]) -> TypeEngine[Any]:
    """The column's type below its decorators."""
    kind: TypeEngine[Any] = column.type
    while isinstance(kind, TypeDecorator):
        kind = kind.impl_instance
    return kind


def is_label(column: Column[Any]) -> bool:
    return bool(column.info.get("label"))


def is_secret(column: Column[Any]) -> bool:
    return bool(column.info.get("secret"))


def moves_by_itself(column: Column[Any]) -> bool:
    """Every update gives it a new value."""
    return column.onupdate is not None or column.server_onupdate is not None


def fills_itself(column: Column[Any]) -> bool:
    """Gets a value that differs from one run of a call to the next, unless the call sets it."""
    if moves_by_itself(column):
        return True
    drawn = column.server_default is not None or (column.default is not None and not column.default.is_scalar)
    return drawn and isinstance(plain_type(column), FILLED_TYPES)


def compared_columns(table: Table, change: Change) -> list[Column[Any]]:
    """The columns that count when this change is compared with another."""
    return [column for column in table.columns if _counts(column, change)]


def changed_columns(table: Table, change: Change) -> list[Column[Any]]:
    """Of an update: the compared columns whose value it changes."""
    return [column for column in compared_columns(table, change) if differs(change, column.name)]


def _counts(column: Column[Any], change: Change) -> bool:
    if column.name == change.version or column.info.get("volatile"):
        return False
    return column.primary_key or column.name in change.chosen or not fills_itself(column)


def differs(change: Change, name: str) -> bool:
    """The column's value isn't the same before and after the update."""
    assert change.before is not None
    assert change.after is not None
    if name not in change.before or name not in change.after:
        return False
    return canonical(change.before[name]) != canonical(change.after[name])


def generated_column(table: Table) -> Column[Any] | None:
    """The key column that the database (or a default) fills when a row is inserted without it."""
    if table.autoincrement_column is not None:
        return table.autoincrement_column
    for column in table.primary_key:
        if column.default is not None or column.server_default is not None:
            return column
    return None


def sealed(column: Column[Any], value: Any, secret_key: bytes) -> dict[str, str]:
    """What may be known of a secret: whether it is there, and whether it is still the same one."""
    if value is None:
        return {"secret": "cleared", "digest": ""}
    message = f"{column.table.fullname}.{column.name}={canonical(value)}"
    return {"secret": "set", "digest": hmac.new(secret_key, message.encode(), hashlib.sha256).hexdigest()}
