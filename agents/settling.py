"""What a message means while a turn is open (DESIGN.md §5)."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from agents.arriving import Busy, Fresh, Opened
from agents.closing import close_waiting
from agents.deciding import Vote, go_on, pending_in, vote
from agents.errors import TurnInProgress
from agents.inserting import insert
from agents.replies import LIST, listed
from agents.requests import Decision, TurnRequest
from agents.setup import Setup
from agents.short import Short, name_in, short_answer
from stores import approvals, turns
from stores.approvals import Approval
from stores.turns import Turn


async def settle(connection: AsyncConnection, setup: Setup, fresh: Fresh, pending: Turn) -> Opened | None:
    """What the message means while something waits. None: a new turn is to be opened."""
    request = fresh.request
    if pending.status == "running":
        await give_way(connection, setup, request, pending)
    if question := await pending_question(connection, pending):
        values = {"status": "answered", "answer": request.text, "answered_at": setup.clock()}
        await approvals.settle_question(connection, question, **values)
        return await _continued(connection, setup, fresh, await go_on(connection, setup, pending))
    waiting = await pending_in(connection, pending, setup.clock())
    if not waiting:
        await give_way(connection, setup, request, pending)
        return None
    answer = _named_yes(request.text, waiting) or short_answer(request.text)
    if answer is None:
        await give_way(connection, setup, request, pending)
        return None
    chosen = _chosen(answer, waiting, undo=fresh.conversation.undo_asked is not None)
    if chosen is None or pending.delivered_at is None:
        return await reply(connection, setup, fresh, listed(LIST, waiting, request.person.locale))
    verdict = "approve" if answer.yes else "deny"
    for approval in chosen:
        said = Vote(decision=Decision(approval_id=approval.id, decision=verdict), door="chat")
        await vote(connection, setup, request.person, said, version=approval.version)
    return await _continued(connection, setup, fresh, await go_on(connection, setup, pending))


async def _continued(connection: AsyncConnection, setup: Setup, fresh: Fresh, turn: Turn | None) -> Opened:
    """The message is kept beside the turn that it moved; that turn is what the client follows."""
    request = fresh.request
    pending = turn or await turns.open_in(connection, request.person.user_id, fresh.conversation.id)
    assert pending is not None
    await insert(connection, setup, fresh, reply="", continued=pending.id)
    return Opened(turn=pending, launch=turn is not None, continued=True)


async def reply(connection: AsyncConnection, setup: Setup, fresh: Fresh, text: str) -> Opened:
    """A turn answered by code: outside of the model's history, final at once."""
    return Opened(turn=await insert(connection, setup, fresh, reply=text))


async def give_way(
    connection: AsyncConnection, setup: Setup, request: TurnRequest, pending: Turn, status: str = "superseded"
) -> None:
    """The open turn ends for another one, if it waits. Raises Busy or TurnInProgress while it runs."""
    if pending.status == "running":
        if request.on_busy == "interrupt":
            raise Busy(pending)
        raise TurnInProgress
    await close_waiting(connection, setup, pending, status)


async def pending_question(connection: AsyncConnection, turn: Turn) -> str | None:
    """The id of the question that the turn waits for with words."""
    found = await approvals.questions_of(connection, turn.user_id, [turn.id])
    return next((one.id for one in found if one.status == "waiting" and not one.secret), None)


def _chosen(answer: Short, waiting: Sequence[Approval], *, undo: bool) -> Sequence[Approval] | None:
    """The approvals that a short answer means; None when it isn't clear, or a card is needed."""
    if answer.names:
        named = [one for one in waiting if one.short_name in answer.names]
        return named if len(named) == len(set(answer.names)) else None
    if not answer.yes:
        return waiting
    if len(waiting) != 1 or waiting[0].always_confirm or undo:
        return None
    return waiting


def _named_yes(text: str, waiting: Sequence[Approval]) -> Short | None:
    """A short name typed alone approves what always needs to be confirmed by name."""
    name = name_in(text)
    if name and any(one.short_name == name and one.always_confirm for one in waiting):
        return Short(yes=True, names=(name,))
    return None
