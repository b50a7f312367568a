"""A typed client of the HTTP API. It sends each request once; who may repeat what is the caller's knowledge."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from app.chat.errors import ApiError, ConnectionLost
from app.chat.sse import Frame, SseParser
from app.chat.wire import Approval, ApprovalPage, Cancelled, Conversation, ProblemBody

SILENCE_S = 45.0
"""A stream that says nothing for so long is dead: the server writes a comment at least every 15 s."""

STREAM_OR_JSON = "text/event-stream, application/json;q=0.9"

_AWAY = {502, 503, 504}
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer that may be a stream: `frames` if it is, else `body` (None for 204)."""

    conversation_id: str | None = None
    turn_id: str | None = None
    frames: AsyncGenerator[Frame, None] | None = None
    body: JsonValue = None


OpenReply = AbstractAsyncContextManager[Reply]
"""A request that is made on entry; its frames can be read inside."""


@dataclass(frozen=True, kw_only=True)
class OutgoingMessage:
    """A message of the person. The same ids sent again join the turn that they opened."""

    conversation_id: str
    message_id: str
    text: str
    assistant: str


@dataclass(frozen=True, kw_only=True)
class Vote:
    """What the person says to one version of an approval; `fields` are the optional ones of the API."""

    approval_id: str
    decision: str
    version: int
    fields: Mapping[str, JsonValue]


@asynccontextmanager
async def open_http(
    base_url: str, *, token: str | None = None, locale: str = "en"
) -> AsyncGenerator[httpx.AsyncClient, None]:
    """An HTTP client with the headers and timeouts that the API asks for."""
    headers = {"Accept-Language": locale} | ({"Authorization": f"Bearer {token}"} if token else {})
    async with httpx.AsyncClient(base_url=base_url, headers=headers, timeout=httpx.Timeout(10, read=SILENCE_S)) as http:
        yield http


class ApiClient:
    """Every method raises `ApiError` if the server refuses and `ConnectionLost` if it is away or goes away."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def conversation(self, conversation_id: str) -> Conversation:
        return await self._get(Conversation, f"/api/conversations/{_segment(conversation_id)}")

    async def approval(self, approval_id: str) -> Approval:
        return await self._get(Approval, f"/api/approvals/{_segment(approval_id)}")

    async def approvals(self, conversation_id: str | None = None, *, status: str = "pending") -> list[Approval]:
        """All of that status, of one conversation or of the user."""
        query = {"status": status} | ({"conversation_id": conversation_id} if conversation_id else {})
        page = await self._get(ApprovalPage, "/api/approvals", query)
        found = list(page.items)
        while page.next:
            page = await self._get(ApprovalPage, "/api/approvals", query | {"cursor": page.next})
            found += page.items
        return found

    async def cancel(self, conversation_id: str) -> Cancelled:
        """Stop the open turn; the answer says what was already applied."""
        async with self._ask("POST", f"/api/conversation/{_segment(conversation_id)}/cancel") as reply:
            return parsed(Cancelled, reply.body)

    def send(self, message: OutgoingMessage) -> OpenReply:
        body: dict[str, JsonValue] = {
            "id": message.conversation_id,
            "message": {"id": message.message_id, "role": "user", "parts": [{"type": "text", "text": message.text}]},
            "trigger": "submit-message",
            "assistant": message.assistant,
        }
        return self._ask("POST", "/api/conversation/stream", body=body, accept=STREAM_OR_JSON)

    def rejoin(self, conversation_id: str, *, after: str | None = None) -> OpenReply:
        """The open turn's stream from its first chunk, or from the one that follows the event `after`."""
        path = f"/api/conversation/{_segment(conversation_id)}/stream"
        return self._ask("GET", path, accept=STREAM_OR_JSON, headers={"Last-Event-ID": after} if after else {})

    def decide(self, vote: Vote, *, accept: str = "application/json") -> OpenReply:
        body = {"decision": vote.decision, "expected_version": vote.version, **vote.fields}
        return self._ask("POST", f"/api/approvals/{_segment(vote.approval_id)}/decision", body=body, accept=accept)

    def answer(self, question_id: str, answer: Mapping[str, JsonValue]) -> OpenReply:
        """`answer` holds one of `text`, `option`, `secret`."""
        path = f"/api/questions/{_segment(question_id)}/answer"
        return self._ask("POST", path, body=dict(answer), accept=STREAM_OR_JSON)

    async def _get(self, model: type[_Model], path: str, query: Mapping[str, str] | None = None) -> _Model:
        async with self._ask("GET", path, query=query) as reply:
            return parsed(model, reply.body)

    @asynccontextmanager
    async def _ask(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, JsonValue] | None = None,
        query: Mapping[str, str] | None = None,
        accept: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[Reply, None]:
        sent = {"Accept": accept, **(headers or {})}
        try:
            async with self._http.stream(method, path, json=body, params=query, headers=sent) as response:
                yield await _reply(response)
        except httpx.TransportError as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error


def parsed(model: type[_Model], body: JsonValue) -> _Model:
    """The body as `model`; an `ApiError` with code `unreadable` if it is something else."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise ApiError(status=200, code="unreadable", message=f"Not a {model.__name__}: {error}") from error


async def _reply(response: httpx.Response) -> Reply:
    if response.is_error:
        raise _refusal(response.status_code, await response.aread())
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return Reply(
            conversation_id=response.headers.get("x-conversation-id"),
            turn_id=response.headers.get("x-turn-id"),
            frames=_frames(response),
        )
    return Reply(body=_json(await response.aread()))


async def _frames(response: httpx.Response) -> AsyncGenerator[Frame, None]:
    parser = SseParser()
    async for chunk in response.aiter_bytes():
        for frame in parser.feed(chunk):
            yield frame


def _refusal(status: int, body: bytes) -> ApiError | ConnectionLost:
    try:
        problem = ProblemBody.model_validate_json(body).error
    except ValidationError:
        return ConnectionLost(f"HTTP {status}") if status in _AWAY else _unexplained(status)
    if status in _AWAY:
        return ConnectionLost(problem.message)
    return ApiError(status=status, code=problem.code, message=problem.message, details=problem.details)


def _unexplained(status: int) -> ApiError:
    return ApiError(status=status, code="unreadable", message=f"HTTP {status}")


def _json(body: bytes) -> JsonValue:
    if not body:
        return None
    try:
        return _JSON.validate_json(body)
    except ValidationError as error:
        raise ApiError(status=200, code="unreadable", message="The answer is not JSON.") from error


def _segment(value: str) -> str:
    return quote(value, safe="")
