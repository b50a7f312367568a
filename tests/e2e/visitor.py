"""A person with an HTTP client: says things, follows streams, decides."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from tests.e2e.house import Server, found, token_for

DONE = "[DONE]"


@dataclass(frozen=True)
class Frame:
    id: int
    data: str

    @property
    def chunk(self) -> dict[str, Any]:
        if self.data == DONE:
            return {"type": DONE}
        chunk: dict[str, Any] = json.loads(self.data)
        return chunk


class Frames:
    """Frames as they come; `raw` is every byte so far, comment frames left out."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def __aiter__(self) -> AsyncIterator[Frame]:
        number = 0
        async for line in self._lines:
            if line.startswith("id: "):
                number = int(line.removeprefix("id: "))
            elif line.startswith("data: "):
                yield Frame(number, line.removeprefix("data: "))

    async def all(self) -> list[Frame]:
        return [frame async for frame in self]


def kinds(frames: Sequence[Frame]) -> list[str]:
    return [frame.chunk["type"] for frame in frames]


def of_kind(frames: Sequence[Frame], kind: str) -> list[dict[str, Any]]:
    return [frame.chunk for frame in frames if frame.chunk["type"] == kind]


def text_in(frames: Sequence[Frame]) -> str:
    return "".join(chunk["delta"] for chunk in of_kind(frames, "text-delta"))


def said_last(conversation: dict[str, Any]) -> str:
    """The text of the conversation's last message."""
    parts = conversation["messages"][-1]["parts"]
    return "".join(part["text"] for part in parts if part["type"] == "text")


class Visitor:
    """One user at one server."""

    def __init__(self, http: httpx.AsyncClient, user_id: str) -> None:
        self.http = http
        self.user_id = user_id

    async def get(self, path: str, **query: str) -> Any:
        answer = await self.http.get(path, params=query)
        assert answer.status_code == 200, (answer.status_code, answer.text)
        return answer.json()

    def body(self, conversation_id: str, text: str, message_id: str | None = None) -> dict[str, Any]:
        parts = [{"type": "text", "text": text}]
        message = {"id": message_id or uuid4().hex, "role": "user", "parts": parts}
        return {"id": conversation_id, "message": message, "assistant": "gardening"}

    @asynccontextmanager
    async def saying(self, conversation_id: str, text: str, message_id: str | None = None) -> AsyncIterator[Frames]:
        body = self.body(conversation_id, text, message_id)
        async with self.http.stream("POST", "/api/conversation/stream", json=body) as response:
            assert response.status_code == 200, await response.aread()
            yield Frames(response)

    async def say(self, conversation_id: str, text: str, message_id: str | None = None) -> list[Frame]:
        async with self.saying(conversation_id, text, message_id) as frames:
            return await frames.all()

    @asynccontextmanager
    async def rejoining(self, conversation_id: str, after: int = 0) -> AsyncIterator[Frames]:
        headers = {"Last-Event-ID": str(after)} if after else {}
        path = f"/api/conversation/{conversation_id}/stream"
        async with self.http.stream("GET", path, headers=headers) as response:
            assert response.status_code in (200, 204), await response.aread()
            yield Frames(response)

    async def rejoin(self, conversation_id: str, after: int = 0) -> list[Frame]:
        async with self.rejoining(conversation_id, after) as frames:
            return await frames.all()

    async def pending(self, conversation_id: str) -> list[dict[str, Any]]:
        """Oldest first."""
        page = await self.get("/api/approvals", status="pending", conversation_id=conversation_id)
        return sorted(page["items"], key=lambda one: int(one["short_name"].removeprefix("A")))

    async def decide(self, approval_id: str, decision: str = "approve", version: int = 1) -> httpx.Response:
        body = {"decision": decision, "expected_version": version}
        return await self.http.post(f"/api/approvals/{approval_id}/decision", json=body)

    async def approve(self, approval_id: str) -> None:
        answer = await self.decide(approval_id)
        assert answer.status_code == 200, (answer.status_code, answer.text)

    async def conversation(self, conversation_id: str) -> dict[str, Any]:
        seen: dict[str, Any] = await self.get(f"/api/conversations/{conversation_id}")
        return seen

    async def settled(self, conversation_id: str) -> dict[str, Any]:
        """The conversation once no turn of it is open, whoever runs it."""

        async def idle() -> dict[str, Any] | None:
            seen = await self.conversation(conversation_id)
            return seen if seen["status"] == "idle" else None

        return await found(idle, "the turn to settle by itself", poll_s=0.03)

    async def plants(self) -> dict[str, int]:
        rows = await self.get("/api/packs/garden/views/plants")
        return {row["name"]: row["watered"] for row in rows}


@asynccontextmanager
async def visiting(server: Server, user_id: str) -> AsyncIterator[Visitor]:
    headers = {"Authorization": f"Bearer {token_for(user_id)}"}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=30, limits=limits) as http:
        yield Visitor(http, user_id)
