"""What of a conversation the model sees: the latest turns, bounded, so that no turn costs more than another."""

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.setup import Setup
from stores.rows import table_of
from stores.tables import MessageRow
from stores.turns import Turn

CHARACTERS_PER_TOKEN = 3


async def window_start(connection: AsyncConnection, setup: Setup, turn: Turn, present: int) -> dict[str, Any]:
    """Where the window of the next turn begins, as values for the conversation's row; `present` is where it begins now.

    It only ever moves forward, by whole turns: a call and its return are never split. The last turn always stays.
    """
    messages = table_of(MessageRow)
    size = func.sum(func.length(messages.c.body))
    statement = (
        select(messages.c.turn_id, func.min(messages.c.seq), size)
        .where(messages.c.user_id == turn.user_id, messages.c.conversation_id == turn.conversation_id)
        .where(messages.c.seq >= present)
        .group_by(messages.c.turn_id)
        .order_by(func.min(messages.c.seq).desc())
        .limit(setup.limits.window_turns)
    )
    rows = (await connection.execute(statement)).all()
    first, characters = 0, 0
    for _, seq, length in rows:
        characters += length
        if first and characters > setup.limits.window_tokens * CHARACTERS_PER_TOKEN:
            break
        first = seq
    return {"window_from_seq": first} if first else {}
