"""Whether a person may still do what they once might: asked at the request, the decision and the execution."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from agents.requests import Person
from stores import conversations, users
from toolsets.gate import Actor


async def may_still(connection: AsyncConnection, person: Person, conversation_id: str) -> bool:
    """The user's row now, and the claims of the present token, for the conversation's assistant."""
    conversation = await conversations.get(connection, person.user_id, conversation_id)
    if conversation is None:
        return False
    if person.assistants is not None and conversation.assistant not in person.assistants:
        return False
    return await _row_allows(connection, person.user_id, conversation.assistant)


async def actor_allowed(connection: AsyncConnection, actor: Actor) -> bool:
    """The user's row now, and the claims stored with the turn."""
    if actor.conversation_id is None:
        return await _row_allows(connection, actor.user_id, None)
    conversation = await conversations.get(connection, actor.user_id, actor.conversation_id)
    if conversation is None:
        return False
    claims: Mapping[str, Any] = actor.claims
    granted = claims.get("assistants")
    if granted is not None and conversation.assistant not in granted:
        return False
    return await _row_allows(connection, actor.user_id, conversation.assistant)


async def _row_allows(connection: AsyncConnection, user_id: str, assistant: str | None) -> bool:
    row = await users.get(connection, user_id)
    if row is None:
        # Seen for the first time: the row is made by the gateway at the request.
        return True
    return row.active and (assistant is None or row.assistants is None or assistant in row.assistants)
