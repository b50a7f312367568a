"""Conversations and their numbering. Whoever changes anything in a conversation locks its row first."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.rows import columns, read, table_of
from stores.tables import (
    ApprovalRow,
    ChangeRow,
    ConversationRow,
    LedgerRow,
    MessageRow,
    PlanRow,
    QuestionRow,
    TaskStateRow,
    TurnRow,
)

TABLE = table_of(ConversationRow)


@dataclass(frozen=True)
class Conversation:
    user_id: str
    id: str
    assistant: str
    title: str | None
    archived: bool
    next_seq: int
    window_from_seq: int
    approvals_made: int
    undo_asked: str | None
    created_at: datetime
    updated_at: datetime


COLUMNS = columns(ConversationRow, Conversation)


def _is(user_id: str, conversation_id: str) -> ColumnElement[bool]:
    return (TABLE.c.user_id == user_id) & (TABLE.c.id == conversation_id)


async def get(connection: AsyncConnection, user_id: str, conversation_id: str) -> Conversation | None:
    row = (await connection.execute(select(*COLUMNS).where(_is(user_id, conversation_id)))).first()
    return read(Conversation, row) if row else None


async def lock(connection: AsyncConnection, user_id: str, conversation_id: str) -> Conversation | None:
    """The conversation, locked until the transaction ends (SQLite: the writer's lock does it)."""
    statement = select(*COLUMNS).where(_is(user_id, conversation_id)).with_for_update()
    row = (await connection.execute(statement)).first()
    return read(Conversation, row) if row else None


async def add(connection: AsyncConnection, conversation: Conversation) -> None:
    """Raises IntegrityError when another transaction was quicker: begin again."""
    values = {column.name: getattr(conversation, column.name) for column in COLUMNS}  # field names are column names
    await connection.execute(insert(TABLE).values(values))


async def change(connection: AsyncConnection, user_id: str, conversation_id: str, **values: object) -> bool:
    """Set columns by name. Returns whether the conversation exists."""
    result = await connection.execute(update(TABLE).where(_is(user_id, conversation_id)).values(values))
    return result.rowcount == 1


async def draw_numbers(connection: AsyncConnection, user_id: str, conversation_id: str, count: int) -> int:
    """Take `count` sequence numbers; returns the first. The row is locked by the update."""
    statement = (
        update(TABLE)
        .where(_is(user_id, conversation_id))
        .values(next_seq=TABLE.c.next_seq + count)
        .returning(TABLE.c.next_seq)
    )
    return (await connection.execute(statement)).scalar_one() - count


async def page(
    connection: AsyncConnection,
    user_id: str,
    *,
    search: str | None,
    archived: bool,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[Conversation]:
    """The user's conversations, latest activity first. `search` is looked for in titles and the person's messages."""
    statement = select(*COLUMNS).where(TABLE.c.user_id == user_id, TABLE.c.archived == archived)
    if search:
        turns = table_of(TurnRow)
        pattern = "%" + search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
        said = (
            select(turns.c.id)
            .where(turns.c.user_id == TABLE.c.user_id, turns.c.conversation_id == TABLE.c.id)
            .where(turns.c.message_text.ilike(pattern, escape="\\"))
        )
        statement = statement.where(or_(TABLE.c.title.ilike(pattern, escape="\\"), said.exists()))
    if before:
        moment, conversation_id = before
        earlier = (TABLE.c.updated_at == moment) & (TABLE.c.id < conversation_id)
        statement = statement.where(or_(TABLE.c.updated_at < moment, earlier))
    statement = statement.order_by(TABLE.c.updated_at.desc(), TABLE.c.id.desc()).limit(limit)
    return [read(Conversation, row) for row in await connection.execute(statement)]


async def remove(connection: AsyncConnection, user_id: str, conversation_id: str) -> bool:
    """Delete the conversation with everything said in it. The changes that it made, and their undo, stay."""
    for mapped in (MessageRow, ApprovalRow, QuestionRow, PlanRow, TaskStateRow, TurnRow):
        table = table_of(mapped)
        statement = delete(table).where(table.c.user_id == user_id, table.c.conversation_id == conversation_id)
        await connection.execute(statement)
    for mapped in (LedgerRow, ChangeRow):
        table = table_of(mapped)
        statement = update(table).where(table.c.user_id == user_id, table.c.conversation_id == conversation_id)
        await connection.execute(statement.values(conversation_id=None, turn_id=None))
    result = await connection.execute(delete(TABLE).where(_is(user_id, conversation_id)))
    return result.rowcount == 1
