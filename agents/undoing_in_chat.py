"""Undo by words: `/undo` (撤销) shows the inverse and asks; a yes undoes."""

from sqlalchemy.ext.asyncio import AsyncConnection

from agents.arriving import Fresh, Opened, key_of
from agents.errors import NotFound, NothingToUndo, RowsMovedOn
from agents.requests import Person, TurnRequest
from agents.settling import reply
from agents.setup import Setup
from agents.short import short_answer
from agents.undo import MOVED, NOTHING, UNDONE, revert, undo_question
from stores import conversations, ledger, turns
from stores.conversations import Conversation
from toolsets.gate import summary_in


async def ask_undo(connection: AsyncConnection, setup: Setup, fresh: Fresh) -> Opened:
    """Show what undoing the conversation's last change would do, and ask."""
    person, conversation = fresh.request.person, fresh.conversation
    change = await ledger.last_unreverted(connection, person.user_id, conversation.id)
    if change is None or not change.reversible:
        return await reply(connection, setup, fresh, NOTHING.said(person.locale))
    await conversations.change(connection, person.user_id, conversation.id, undo_asked=change.id)
    return await reply(connection, setup, fresh, undo_question(change, person.locale))


async def undo_confirmed(setup: Setup, request: TurnRequest) -> Opened | None:
    """A yes to the undo that was asked for: reverted in a transaction of its own, then told."""
    person = request.person
    answer = short_answer(request.text) if request.trigger == "submit-message" else None
    if answer is None or not answer.yes:
        return None
    async with setup.database.read() as connection:
        conversation = await conversations.get(connection, person.user_id, request.conversation_id)
        if conversation is None or conversation.undo_asked is None:
            return None
        key = key_of(request)
        earlier = await turns.by_key(connection, person.user_id, conversation.id, key)
        pending = await turns.open_in(connection, person.user_id, conversation.id)
    if earlier is not None or (pending is not None and "UNDO" not in answer.names) or set(answer.names) - {"UNDO"}:
        return None
    try:
        text = UNDONE.said(person.locale).format(
            summary_in((await _original(setup, person, conversation.undo_asked)).card, person.locale)
        )
        await revert(setup, person, conversation.undo_asked)
    except (NotFound, NothingToUndo):
        text = NOTHING.said(person.locale)
    except RowsMovedOn:
        text = MOVED.said(person.locale)
    async with setup.database.write() as connection:
        locked = await conversations.lock(connection, person.user_id, conversation.id)
        assert locked is not None
        await forget_undo(connection, locked)
        fresh = Fresh(request=request, conversation=locked, key=key, attempt=1)
        return await reply(connection, setup, fresh, text)


async def _original(setup: Setup, person: Person, change_id: str) -> ledger.MadeChange:
    async with setup.database.read() as connection:
        change = await ledger.get_change(connection, person.user_id, change_id)
    if change is None:
        raise NotFound
    return change


async def forget_undo(connection: AsyncConnection, conversation: Conversation) -> None:
    await conversations.change(connection, conversation.user_id, conversation.id, undo_asked=None)
