"""From a body to an open turn, and from an open turn to an answer."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query, Request, Response

from agents.errors import NotFound, Unavailable
from agents.requests import Person, TurnOpened, TurnRequest
from gateway.answers import AsciiJson
from gateway.errors import Unprocessable
from gateway.problems import Problem
from gateway.schemas import BATCH, TurnBody
from gateway.sse import EventStream, header_safe
from gateway.state import Gateway
from gateway.votes import text_of, voted_on, votes_in
from stores.events.protocol import Event
from toolsets.words import Words

Sdk = Annotated[int, Query(ge=5, le=7, description="The AI SDK's version; 5 knows no approvals but `data-approval`.")]

NO_VOTE = Words(zh="没有可以决定的内容", en="holds no vote on an approval that is pending here")
NO_CONVERSATION = Words(zh="缺少对话的编号", en="is required to answer anew")
NOT_NEW = Words(zh="助手的消息不能重新回答", en="is an assistant's: regenerate answers a person's message")


@dataclass(frozen=True, kw_only=True)
class StillWaiting:
    """A vote was taken and the turn waits for others: nothing goes on, so there is nothing new to follow."""

    turn_id: str
    conversation_id: str


async def open_turn(gateway: Gateway, person: Person, body: TurnBody, key: str | None) -> TurnOpened | StillWaiting:
    """Open the turn that a body asks for, join it, or let it go on by the votes in the body."""
    message = body.message
    if message is not None and message.role == "assistant" and body.trigger == "submit-message":
        return await _vote(gateway, person, body)
    async with gateway.limits.opening(person.user_id):
        return await gateway.runtime.open(_turn_request(gateway, person, body, key))


async def regenerate(gateway: Gateway, person: Person, conversation_id: str, key: str | None) -> TurnOpened:
    """Answer the last message of a conversation anew. Raises NotFound for one that isn't there."""
    await gateway.runtime.conversation(person, conversation_id)
    body = TurnBody(id=conversation_id, trigger="regenerate-message")
    async with gateway.limits.opening(person.user_id):
        return await gateway.runtime.open(_turn_request(gateway, person, body, key))


def follow(gateway: Gateway, person: Person, opened: TurnOpened | StillWaiting, sdk: int) -> EventStream:
    """The turn's stream, from where `opened` says."""
    match opened:
        case TurnOpened():
            batches = gateway.runtime.follow(person.user_id, opened.turn_id, opened.after)
        case StillWaiting():
            batches = _nothing_new()
    return event_stream(gateway, person, batches, sdk, opened.conversation_id, opened.turn_id)


def event_stream(
    gateway: Gateway,
    person: Person,
    batches: AsyncIterator[list[Event]],
    sdk: int,
    conversation_id: str,
    turn_id: str,
) -> EventStream:
    """A stream that counts among the person's open ones."""
    place = gateway.limits.stream(person.user_id)
    headers = _names(conversation_id, turn_id)
    return EventStream(batches, streams=gateway.streams, place=place, sdk=sdk, headers=headers)


async def whole(gateway: Gateway, person: Person, opened: TurnOpened | StillWaiting) -> Response:
    """The turn's result, once it rests. Leaving early cancels nothing."""
    with gateway.streams.opened():
        result = await gateway.runtime.result(person, opened.turn_id)
        return AsciiJson(result, headers=_names(opened.conversation_id, opened.turn_id))
    raise Unavailable  # the server is stopping


def wants_stream(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


def wants_json(request: Request) -> bool:
    """Whether a client that could be streamed to asks for the whole instead."""
    return request.headers.get("accept", "").startswith("application/json")


def check_room(gateway: Gateway, person: Person, request: Request) -> None:
    """Raises RateLimited, before anything is done, for who wants a stream and has too many."""
    if wants_stream(request):
        gateway.limits.check_streams(person.user_id)


async def stream_or(
    gateway: Gateway, person: Person, request: Request, turn_id: str | None, sdk: int, otherwise: Any
) -> Response:
    """What follows a decision: the stream of the turn that goes on, for who accepts streams, else `otherwise`."""
    if turn_id is not None and wants_stream(request):
        opened = await gateway.runtime.continued(person, turn_id)
        if opened is not None:
            return follow(gateway, person, opened, sdk)
    return AsciiJson(otherwise)


def _names(conversation_id: str, turn_id: str) -> dict[str, str]:
    return {"X-Conversation-Id": header_safe(conversation_id), "X-Turn-Id": turn_id}


def _turn_request(gateway: Gateway, person: Person, body: TurnBody, key: str | None) -> TurnRequest:
    message = body.message
    if message is not None and message.role == "assistant":
        raise Unprocessable(Problem(field="message.role", words=NOT_NEW))
    again = body.trigger == "regenerate-message"
    if again and body.id is None:
        raise Unprocessable(Problem(field="id", words=NO_CONVERSATION))
    return TurnRequest(
        person=person,
        conversation_id=body.id or gateway.new_id(),
        message_id=(message.id if message else None) or ("" if again else gateway.new_id()),
        text="" if message is None else text_of(message),
        trigger=body.trigger,
        assistant=body.assistant,
        context=body.context,
        on_busy=body.on_busy,
        idempotency_key=key,
    )


async def _vote(gateway: Gateway, person: Person, body: TurnBody) -> TurnOpened | StillWaiting:
    """Take the votes on what is pending in the conversation; the turn that they belong to is what goes on.

    The same vote again leads to where the turn went on by it; another one on what is settled is a late decision.
    """
    if body.id is None:
        raise Unprocessable(Problem(field="message", words=NO_VOTE))
    waiting, _ = await gateway.runtime.approvals(
        person, status="pending", conversation_id=body.id, cursor=None, limit=BATCH
    )
    versions: dict[str, int] = {approval["approval_id"]: approval["version"] for approval in waiting}
    decisions = votes_in(body, versions) or votes_in(body, await _settled(gateway, person, body))
    if not decisions:
        raise Unprocessable(Problem(field="message", words=NO_VOTE))
    approvals = await gateway.runtime.decide(person, decisions, "stream")
    turn_id = str(approvals[-1]["turn_id"])
    opened = await gateway.runtime.continued(person, turn_id)
    return opened or StillWaiting(turn_id=turn_id, conversation_id=body.id)


async def _settled(gateway: Gateway, person: Person, body: TurnBody) -> dict[str, int]:
    """The versions of voted approvals of which none is pending. Raises NotFound for those of other places."""
    versions: dict[str, int] = {}
    for approval_id in voted_on(body.message):
        approval = await gateway.runtime.approval(person, approval_id)
        if approval["conversation_id"] != body.id:
            raise NotFound
        versions[approval_id] = approval["version"]
    return versions


async def _nothing_new() -> AsyncIterator[list[Event]]:
    chunks = ('{"type":"start"}', '{"type":"finish"}', "[DONE]")
    yield [Event(id=number, data=chunk) for number, chunk in enumerate(chunks, start=1)]
