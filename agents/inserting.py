"""A turn's row, with the selection and the message in the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import logfire
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.arriving import Fresh, body_hash, spoken_locale
from agents.history import said_by_person, stored
from agents.requests import Person
from agents.setup import Setup
from stores import conversations, messages, turns
from stores.conversations import Conversation
from stores.shapes import Claims, TurnTools
from stores.turns import Turn

EARLIER = 3
"""The person's earlier messages that the selection looks at."""
STICKY = 2
"""The turns whose toolsets stay offered."""


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    toolsets: list[str]
    tools: TurnTools | None


async def insert(
    connection: AsyncConnection,
    setup: Setup,
    fresh: Fresh,
    *,
    again: Turn | None = None,
    reply: str | None = None,
    continued: str | None = None,
) -> Turn:
    """The turn's row; for an agent's turn also the selection and the message in the log."""
    request, person = fresh.request, fresh.request.person
    text = again.message_text if again else request.text
    command = reply is not None
    chosen = _Chosen(toolsets=[], tools=None)
    if not command:
        context = request.context or (again.context if again else {})
        chosen = await _select(connection, setup, fresh.conversation, text, context)
    number = await conversations.draw_numbers(connection, person.user_id, fresh.conversation.id, 1)
    turn = Turn(
        id=setup.new_id(),
        user_id=person.user_id,
        conversation_id=fresh.conversation.id,
        number=number,
        kind="command" if command else "agent",
        status="completed" if command else "running",
        partial=False,
        epoch=1,
        owner=None if command else setup.owner,
        lease_until=None,
        cancel_requested_at=None,
        idempotency_key=fresh.key,
        attempt=fresh.attempt,
        body_hash=body_hash(request),
        trigger=request.trigger,
        message_id=again.message_id if again else request.message_id,
        message_text=text,
        assistant_message_id=setup.new_id(),
        assistant=fresh.conversation.assistant,
        locale=spoken_locale(text, person.locale),
        zone=person.zone,
        claims=_claims(person),
        context={**request.context, **({"continued": continued} if continued else {})},
        toolsets=chosen.toolsets,
        tools=chosen.tools,
        live_views=[name for name in chosen.toolsets if setup.registry.toolsets[name].live_view is not None],
        reply=reply,
        usage=None,
        error_code=None,
        error_reference=None,
        replaced_by=None,
        traceparent=None,
        created_at=setup.clock(),
        decided_at=None,
        delivered_at=None,
        finished_at=setup.clock() if command else None,
    )
    await turns.add(connection, turn, lease_until=None if command else setup.database.now(setup.limits.lease_s))
    if not command:
        fresh_messages = [stored(said_by_person(text))]
        await messages.append(connection, person.user_id, fresh.conversation.id, turn.id, fresh_messages, setup.clock())
    await conversations.change(
        connection, person.user_id, fresh.conversation.id, updated_at=setup.clock(), archived=False
    )
    return turn


async def _select(
    connection: AsyncConnection, setup: Setup, conversation: Conversation, text: str, context: Mapping[str, Any]
) -> _Chosen:
    recent = await turns.recent(connection, conversation.user_id, conversation.id, EARLIER + STICKY)
    said = [turn.message_text for turn in recent][:EARLIER]
    sticky = [name for turn in [one for one in recent if one.kind == "agent"][:STICKY] for name in turn.toolsets or []]
    toolsets = setup.registry.toolsets_of(conversation.assistant)
    with logfire.span("selection", conversation_id=conversation.id) as span:
        selection = setup.select(toolsets, text, said, sticky, context)
        span.set_attribute("offered", list(selection.offered))
        span.set_attribute("deferred", list(selection.deferred))
    offered = [spec.name for spec in setup.registry.tools_in(selection.offered)]
    deferred = [spec.name for spec in setup.registry.tools_in(selection.deferred)]
    schemas = {name: setup.registry.tools[name].schema_hash for name in [*offered, *deferred]}
    tools = TurnTools(offered=offered, deferred=deferred, schemas=schemas)
    return _Chosen(toolsets=list(selection.offered), tools=tools)


def _claims(person: Person) -> Claims:
    return Claims(
        scopes=None if person.scopes is None else sorted(person.scopes),
        assistants=None if person.assistants is None else sorted(person.assistants),
    )
