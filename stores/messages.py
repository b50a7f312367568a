"""The log of messages: appended under sequence numbers, never rewritten, never ordered by time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from stores import conversations
from stores.rows import columns, read, table_of
from stores.tables import MessageRow, TurnRow

TABLE = table_of(MessageRow)
SCHEMA_VERSION = 1
"""How bodies are written. A process refuses what is newer than it knows."""


@dataclass(frozen=True)
class Message:
    seq: int
    turn_id: str
    run_id: str | None
    kind: str
    body: str
    schema_version: int
    created_at: datetime


COLUMNS = columns(MessageRow, Message)


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    kind: str
    body: str
    run_id: str | None = None


def _of(user_id: str, conversation_id: str) -> ColumnElement[bool]:
    return (TABLE.c.user_id == user_id) & (TABLE.c.conversation_id == conversation_id)


async def append(
    connection: AsyncConnection,
    user_id: str,
    conversation_id: str,
    turn_id: str,
    fresh: Sequence[NewMessage],
    at: datetime,
) -> None:
    """Add messages to the log in order. The caller holds the turn's fence."""
    if not fresh:
        return
    first = await conversations.draw_numbers(connection, user_id, conversation_id, len(fresh))
    rows = [
        {
            "user_id": user_id,
            "conversation_id": conversation_id,
            "seq": first + offset,
            "turn_id": turn_id,
            "run_id": message.run_id,
            "kind": message.kind,
            "body": message.body,
            "schema_version": SCHEMA_VERSION,
            "created_at": at,
        }
        for offset, message in enumerate(fresh)
    ]
    await connection.execute(insert(TABLE), rows)


async def window(connection: AsyncConnection, user_id: str, conversation_id: str, from_seq: int) -> list[Message]:
    """Messages from a number on, those of replaced turns left out."""
    turns = table_of(TurnRow)
    replaced = select(turns.c.id).where(
        turns.c.user_id == user_id, turns.c.conversation_id == conversation_id, turns.c.replaced_by.is_not(None)
    )
    statement = select(*COLUMNS).where(_of(user_id, conversation_id), TABLE.c.seq >= from_seq)
    statement = statement.where(TABLE.c.turn_id.not_in(replaced)).order_by(TABLE.c.seq)
    return [read(Message, row) for row in await connection.execute(statement)]


async def of_turns(
    connection: AsyncConnection, user_id: str, conversation_id: str, turn_ids: Sequence[str] | None = None
) -> list[Message]:
    """The messages of the given turns (all of the conversation's for None), in order."""
    statement = select(*COLUMNS).where(_of(user_id, conversation_id))
    if turn_ids is not None:
        statement = statement.where(TABLE.c.turn_id.in_(turn_ids))
    return [read(Message, row) for row in await connection.execute(statement.order_by(TABLE.c.seq))]
