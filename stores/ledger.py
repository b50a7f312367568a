"""The ledger of calls that were executed, and the changes that they made."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.rows import columns, read, table_of
from stores.shapes import StoredCard
from stores.tables import ChangeRow, LedgerRow, TurnRow

TABLE = table_of(LedgerRow)
CHANGES = table_of(ChangeRow)


@dataclass(frozen=True)
class Entry:
    """One executed call. `result` is what the tool returned, `{"outcome": "success" | "failed", "value": …}`."""

    tool_call_id: str
    user_id: str
    conversation_id: str | None
    turn_id: str | None
    approval_id: str | None
    tool: str
    effect: str
    arguments_hash: str
    status: str
    result: dict[str, Any]
    symbols: list[Any] | None
    at: datetime


@dataclass(frozen=True)
class MadeChange:
    """One change set that was made, with what its undo needs."""

    id: str
    user_id: str
    conversation_id: str | None
    number: int
    turn_id: str | None
    tool_call_id: str | None
    approval_id: str | None
    tool: str
    card: StoredCard
    rows: str
    reversible: bool
    reverts: str | None
    reverted_by: str | None
    at: datetime


COLUMNS = columns(LedgerRow, Entry)
CHANGE_COLUMNS = columns(ChangeRow, MadeChange)


async def add(connection: AsyncConnection, entry: Entry) -> None:
    """Raises IntegrityError when the call was executed already."""
    values = {column.name: getattr(entry, column.name) for column in COLUMNS}  # same names
    await connection.execute(insert(TABLE).values(values))


async def get(connection: AsyncConnection, user_id: str, tool_call_id: str) -> Entry | None:
    statement = select(*COLUMNS).where(TABLE.c.tool_call_id == tool_call_id, TABLE.c.user_id == user_id)
    row = (await connection.execute(statement)).first()
    return read(Entry, row) if row else None


async def of_turn(connection: AsyncConnection, user_id: str, turn_id: str) -> dict[str, Entry]:
    """The turn's entries by call id."""
    statement = select(*COLUMNS).where(TABLE.c.turn_id == turn_id, TABLE.c.user_id == user_id)
    return {row.tool_call_id: read(Entry, row) for row in await connection.execute(statement)}


async def add_change(connection: AsyncConnection, change: MadeChange) -> None:
    values = {column.name: getattr(change, column.name) for column in CHANGE_COLUMNS}  # same names
    await connection.execute(insert(CHANGES).values(values))


async def get_change(connection: AsyncConnection, user_id: str, change_id: str) -> MadeChange | None:
    statement = select(*CHANGE_COLUMNS).where(CHANGES.c.id == change_id, CHANGES.c.user_id == user_id)
    row = (await connection.execute(statement)).first()
    return read(MadeChange, row) if row else None


async def last_unreverted(connection: AsyncConnection, user_id: str, conversation_id: str) -> MadeChange | None:
    """The conversation's latest change that stands and isn't itself a revert."""
    statement = select(*CHANGE_COLUMNS).where(
        CHANGES.c.user_id == user_id,
        CHANGES.c.conversation_id == conversation_id,
        CHANGES.c.reverted_by.is_(None),
        CHANGES.c.reverts.is_(None),
    )
    row = (await connection.execute(statement.order_by(CHANGES.c.number.desc()).limit(1))).first()
    return read(MadeChange, row) if row else None


async def changes_page(
    connection: AsyncConnection, user_id: str, conversation_id: str, *, before: int | None, limit: int
) -> list[MadeChange]:
    """The conversation's changes, newest first."""
    statement = select(*CHANGE_COLUMNS).where(
        CHANGES.c.user_id == user_id, CHANGES.c.conversation_id == conversation_id
    )
    if before is not None:
        statement = statement.where(CHANGES.c.number < before)
    statement = statement.order_by(CHANGES.c.number.desc()).limit(limit)
    return [read(MadeChange, row) for row in await connection.execute(statement)]


async def changes_of_turns(connection: AsyncConnection, user_id: str, turn_ids: Sequence[str]) -> list[MadeChange]:
    """The changes that turns made, in order."""
    statement = select(*CHANGE_COLUMNS).where(CHANGES.c.user_id == user_id, CHANGES.c.turn_id.in_(turn_ids))
    return [read(MadeChange, row) for row in await connection.execute(statement.order_by(CHANGES.c.number))]


async def reverts_before(
    connection: AsyncConnection, user_id: str, conversation_id: str, turn_number: int
) -> list[MadeChange]:
    """What the person undid between the last turn that a model answered and the turn with this number."""
    turns = table_of(TurnRow)
    last = select(func.coalesce(func.max(turns.c.number), 0)).where(
        turns.c.user_id == user_id,
        turns.c.conversation_id == conversation_id,
        turns.c.kind == "agent",
        turns.c.number < turn_number,
    )
    statement = select(*CHANGE_COLUMNS).where(
        CHANGES.c.user_id == user_id,
        CHANGES.c.conversation_id == conversation_id,
        CHANGES.c.reverts.is_not(None),
        CHANGES.c.number > last.scalar_subquery(),
        CHANGES.c.number < turn_number,
    )
    return [read(MadeChange, row) for row in await connection.execute(statement.order_by(CHANGES.c.number))]


async def of_replaced(connection: AsyncConnection, user_id: str, conversation_id: str, by: str) -> list[MadeChange]:
    """Standing changes of the turns that a turn replaced."""
    turns = table_of(TurnRow)
    replaced = select(turns.c.id).where(
        turns.c.user_id == user_id, turns.c.conversation_id == conversation_id, turns.c.replaced_by == by
    )
    statement = select(*CHANGE_COLUMNS).where(
        CHANGES.c.user_id == user_id, CHANGES.c.turn_id.in_(replaced), CHANGES.c.reverted_by.is_(None)
    )
    return [read(MadeChange, row) for row in await connection.execute(statement.order_by(CHANGES.c.number))]


async def mark_reverted(connection: AsyncConnection, user_id: str, change_id: str, by: str | None) -> bool:
    """Compare-and-set: `by` only if it stands; None only if it was reverted."""
    statement = update(CHANGES).where(CHANGES.c.id == change_id, CHANGES.c.user_id == user_id)
    standing = CHANGES.c.reverted_by.is_(None) if by else CHANGES.c.reverted_by.is_not(None)
    return (await connection.execute(statement.where(standing).values(reverted_by=by))).rowcount == 1
