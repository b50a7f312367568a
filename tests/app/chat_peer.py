"""A stand-in for the server at the other end of the wire: says what it is told, hangs up when told, writes down what
it was asked.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

Chunk = dict[str, Any]  # a test writes chunks by hand
HANG_UP = "hang up"

PROPOSED = {
    "approval_id": "ap-1",
    "version": 1,
    "tool_call_id": "call-1",
    "tool": "move_block",
    "short_name": "swift-otter",
    "title": "Move a block",
    "summary": "Move maths to Tuesday",
    "rows": [
        {"row_id": "r1", "n": 1, "table": "blocks", "op": "change", "label": "Maths", "before": "Mon", "after": "Tue"}
    ],
    "arguments": {"block": 3, "day": "tuesday"},
    "effect": "write",
    "reversible": True,
    "always_confirm": False,
    "live": False,
    "status": "pending",
}


def proposed(**changes: Any) -> Chunk:
    """An approval as the wire has it."""
    return PROPOSED | changes


def text(words: str, part_id: str = "t1") -> list[Chunk]:
    """A text part in two deltas."""
    half = len(words) // 2
    return [
        {"type": "text-start", "id": part_id},
        {"type": "text-delta", "id": part_id, "delta": words[:half]},
        {"type": "text-delta", "id": part_id, "delta": words[half:]},
        {"type": "text-end", "id": part_id},
    ]


def call(call_id: str = "call-1", tool: str = "move_block") -> Chunk:
    return {"type": "tool-input-available", "toolCallId": call_id, "toolName": tool, "input": {}}


def card(**changes: Any) -> Chunk:
    approval = proposed(**changes)
    return {"type": "data-approval", "id": approval["approval_id"], "data": approval}


def output(call_id: str = "call-1") -> Chunk:
    return {"type": "tool-output-available", "toolCallId": call_id, "output": {"status": "ok"}}


@dataclass(frozen=True, kw_only=True)
class Json:
    body: Any = None
    status: int = 200
    then: Callable[[], None] = lambda: None
    """Called once it is sent."""


@dataclass(frozen=True, kw_only=True)
class Stream:
    """`start`, the chunks, `finish`, `[DONE]`; or only the chunks and then nothing more, if it is cut."""

    chunks: Sequence[Chunk]
    cut: bool = False
    until: asyncio.Event | None = None
    """The end is sent once this is set."""
    end: Sequence[Chunk] = ({"type": "finish"},)
    then: Callable[[], None] = lambda: None
    """Called once the chunks are sent."""


Answer = Json | Stream | str


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Any


@dataclass(kw_only=True)
class Peer:
    """Answers in the order given by `says`, the last answer again and again; what it wasn't told is a 404."""

    asked: list[Asked] = field(default_factory=list[Asked])
    url: str = ""
    _answers: dict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    _server: asyncio.Server | None = None
    _port: int = 0

    def says(self, route: str, *answers: Answer) -> None:
        """`route` is a method and a path."""
        self._answers[route] += answers

    def bodies(self, route: str) -> list[Any]:
        return [asked.body for asked in self.asked if f"{asked.method} {asked.path}" == route]

    def count(self, route: str) -> int:
        return len(self.bodies(route))

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        if self._server:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _request(reader)
            self.asked.append(asked)
            answers = self._answers[f"{asked.method} {asked.path}"]
            answer = (answers.pop(0) if len(answers) > 1 else answers[0]) if answers else NOT_FOUND
            await _answer(writer, answer)
        finally:
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)


NOT_FOUND = Json(status=404, body={"error": {"code": "not_found", "message": "There is no such thing."}})


@asynccontextmanager
async def running_peer() -> AsyncIterator[Peer]:
    peer = Peer()
    await peer.start()
    try:
        yield peer
    finally:
        await peer.stop()


async def _request(reader: asyncio.StreamReader) -> Asked:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    method, target, _ = first.split(" ")
    url = urlsplit(target)
    return Asked(
        method=method, path=url.path, query=url.query, headers=headers, body=json.loads(body) if body else None
    )


async def _answer(writer: asyncio.StreamWriter, answer: Answer) -> None:
    match answer:
        case Json(body=body, status=status, then=then):
            content = b"" if status == 204 else json.dumps(body).encode()
            head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
            writer.write(head.encode() + b"Connection: close\r\n\r\n" + content)
            await writer.drain()
            then()
        case Stream():
            await _stream(writer, answer)
        case _:
            writer.transport.abort()


async def _stream(writer: asyncio.StreamWriter, stream: Stream) -> None:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    writer.write(f"{head}X-Conversation-Id: conv\r\nConnection: close\r\n\r\n".encode())
    frames = [_frame(chunk) for chunk in ({"type": "start", "messageId": "m1"}, *stream.chunks)]
    for frame in frames:
        writer.write(_piece(frame))
    await writer.drain()
    stream.then()
    if stream.until:
        await stream.until.wait()
    if not stream.cut:
        writer.write(b"".join(_piece(frame) for frame in (*map(_frame, stream.end), b"data: [DONE]\n\n")))
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _frame(chunk: Chunk) -> bytes:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def _piece(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"
