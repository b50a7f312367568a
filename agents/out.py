"""What a run puts into the event log, with quick deltas joined: a person sees no difference, readers less work."""

import asyncio
import json
from typing import Any

from agents.chunks import DONE, Chunk, encoded
from stores.events.protocol import EventLog

COALESCE_S = 0.025
JOINED = {"text-delta": "delta", "reasoning-delta": "delta", "tool-input-delta": "inputTextDelta"}
"""Chunks that may be joined with the next one of the same part, and the key of their text."""


class Out:
    """One run's end of the event log. Order is kept: whatever is no delta sends first what was held back."""

    def __init__(self, events: EventLog, turn_id: str, epoch: int) -> None:
        self._events = events
        self._turn_id = turn_id
        self._epoch = epoch
        self._held: dict[str, Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self.begun = False
        """Whether the run's `start` was sent."""
        self.open_part: tuple[str, str] | None = None
        """Kind (`text`, `reasoning`) and id of the part that was begun and not ended."""
        self.response: list[str] = []
        """Ids of the parts of the step that was begun last."""
        self._inputs: dict[str, str] = {}
        """Calls whose arguments were begun and not ended, with their tools."""

    async def put(self, chunk: str, kind: str) -> None:
        """A chunk as JSON, and its type."""
        if kind in JOINED:
            await self._hold(json.loads(chunk))
            return
        self._note(chunk, kind)
        await self._send(chunk)

    def _note(self, chunk: str, kind: str) -> None:
        match kind:
            case "start":
                self.begun = True
            case "start-step":
                self.response.clear()
            case "text-start" | "reasoning-start":
                self.open_part = (kind.removesuffix("-start"), json.loads(chunk)["id"])
                self.response.append(self.open_part[1])
            case "text-end" | "reasoning-end":
                self.open_part = None
            case "tool-input-start":
                call = json.loads(chunk)
                self._inputs[call["toolCallId"]] = call["toolName"]
                self.response.append(call["toolCallId"])
            case "tool-input-available" | "tool-input-error":
                self._inputs.pop(json.loads(chunk)["toolCallId"], None)
            case _:
                pass

    async def emit(self, *chunks: Chunk) -> None:
        for chunk in chunks:
            await self.put(encoded(chunk), chunk["type"])

    async def end_parts(self, why: str) -> None:
        """End what is open; `why` is said of calls that weren't even read to their end."""
        if self.open_part:
            kind, part_id = self.open_part
            await self.emit({"type": f"{kind}-end", "id": part_id})
        for call_id, tool in list(self._inputs.items()):
            named = {"toolCallId": call_id, "toolName": tool}
            await self.emit({"type": "tool-input-error", **named, "input": {}, "errorText": why})

    async def done(self) -> None:
        await self._send(DONE)

    async def _hold(self, chunk: dict[str, Any]) -> None:
        key = JOINED[chunk["type"]]
        held = self._held
        if held is not None and _part(held) == _part(chunk):
            held[key] += chunk[key]
            return
        if held is not None:
            await self._send()
        self._held = chunk
        self._timer = asyncio.get_running_loop().call_later(COALESCE_S, self._due)

    def _due(self) -> None:
        self._sending = asyncio.ensure_future(self._send())

    async def _send(self, chunk: str | None = None) -> None:
        async with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            held, self._held = self._held, None
            chunks = [encoded(held)] if held is not None else []
            if chunk is not None:
                chunks.append(chunk)
            await self._events.append(self._turn_id, self._epoch, chunks)


def _part(chunk: dict[str, Any]) -> tuple[Any, Any]:
    return chunk["type"], chunk.get("id") or chunk.get("toolCallId")
