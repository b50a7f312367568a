"""Closing a turn: what is open in it is retired, and every call gets one truthful return."""

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.history import loaded, stored, told, unanswered
from agents.setup import Setup
from stores import approvals, messages, turns, usage
from stores.shapes import Used
from stores.turns import Turn

NOT_EXECUTED = {
    "superseded": "Not executed: superseded by the person's next message.",
    "cancelled": "Not executed: cancelled by the person.",
    "expired": "Not executed: expired before the person decided.",
    "failed": "Not executed: the turn ended with an error.",
    "completed": "Not executed: the turn's budget was used up.",
}


def closing_returns(history: Sequence[ModelMessage], why: str) -> list[ModelMessage]:
    open_calls = unanswered(history)
    return [ModelRequest(parts=[told(call, why) for call in open_calls])] if open_calls else []


async def retire(connection: AsyncConnection, turn: Turn, status: str) -> None:
    """What still waits in the turn (approved and not yet executed, too) ends with the status."""
    for approval in await approvals.of_turns(connection, turn.user_id, [turn.id]):
        await approvals.settle(connection, approval.id, expected=("pending", "approved"), status=status)
    for question in await approvals.questions_of(connection, turn.user_id, [turn.id]):
        await approvals.settle_question(connection, question.id, status=status)


async def close_waiting(
    connection: AsyncConnection, setup: Setup, turn: Turn, status: str, *, why: str | None = None
) -> None:
    """A waiting turn ends: what is open in it is retired, and every call gets one truthful return.

    The caller holds the conversation's lock. `why` is what the calls are told, where it isn't the status.
    """
    await turns.change(
        connection, turn.id, turn.epoch, status=status, epoch=turn.epoch + 1, finished_at=setup.clock(), owner=None
    )
    await retire(connection, turn, why or status)
    rows = await messages.of_turns(connection, turn.user_id, turn.conversation_id, [turn.id])
    returns = [stored(one) for one in closing_returns(loaded(rows), NOT_EXECUTED[why or status])]
    await messages.append(connection, turn.user_id, turn.conversation_id, turn.id, returns, setup.clock())
    await usage.add(connection, turn, turn.usage or Used(), model=setup.model.model_name, at=setup.clock())
