"""Closing a turn: what is open in it is retired, and every call gets one truthful return."""

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolCallPart, ToolReturnPart
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.answers import answered, denial
from agents.history import loaded, stored, told, unanswered
from agents.setup import Setup
from stores import approvals, ledger, messages, turns, usage
from stores.approvals import Approval
from stores.shapes import Used
from stores.turns import Turn

NOT_EXECUTED = {
    "superseded": "Not executed: superseded by the person's next message.",
    "cancelled": "Not executed: cancelled by the person.",
    "expired": "Not executed: expired before the person decided.",
    "failed": "Not executed: the turn ended with an error.",
    "completed": "Not executed: the turn's budget was used up.",
}


async def closing_returns(
    connection: AsyncConnection, turn: Turn, history: Sequence[ModelMessage], why: str
) -> list[ModelMessage]:
    """A return for every unanswered call: what became of it before the turn ended, else `why` nothing did."""
    open_calls = unanswered(history)
    if not open_calls:
        return []
    executed = await ledger.of_turn(connection, turn.user_id, turn.id)
    asked = {one.tool_call_id: one for one in await approvals.of_turns(connection, turn.user_id, [turn.id])}
    questions = await approvals.questions_of(connection, turn.user_id, [turn.id])
    replies = {one.tool_call_id: answered(one) for one in questions if one.status == "answered"}
    results = replies | {call_id: entry.result for call_id, entry in executed.items()}
    parts = [
        ToolReturnPart(call.tool_name, dict(results[call.tool_call_id]), call.tool_call_id)
        if call.tool_call_id in results
        else _not_executed(call, asked.get(call.tool_call_id), why)
        for call in open_calls
    ]
    return [ModelRequest(parts=parts)]


def _not_executed(call: ToolCallPart, approval: Approval | None, why: str) -> ToolReturnPart:
    if approval is not None and approval.status == "denied":
        return ToolReturnPart(call.tool_name, denial(approval), call.tool_call_id, outcome="denied")
    if approval is not None and approval.outcome and "message" in approval.outcome:
        return told(call, f"Not executed: {approval.outcome['message']['en']}")
    return told(call, why)


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
    returns = await closing_returns(connection, turn, loaded(rows), NOT_EXECUTED[why or status])
    fresh = [stored(one) for one in returns]
    await messages.append(connection, turn.user_id, turn.conversation_id, turn.id, fresh, setup.clock())
    await usage.add(connection, turn, turn.usage or Used(), model=setup.model.model_name, at=setup.clock())
