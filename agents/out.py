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

    async def put(self, chunk: str, kind: str) -> None:
        """A chunk as JSON, and its type."""
        if kind in JOINED:
            await self._hold(json.loads(chunk))
            return
        self.begun |= kind == "start"
        if kind in ("text-start", "reasoning-start"):
            self.open_part = (kind.removesuffix("-start"), json.loads(chunk)["id"])
        elif kind in ("text-end", "reasoning-end"):
            self.open_part = None
        await self._send(chunk)

    async def emit(self, *chunks: Chunk) -> None:
        for chunk in chunks:
            await self.put(encoded(chunk), chunk["type"])

    async def end_part(self) -> None:
        """End the part that is open."""
        if self.open_part:
            kind, part_id = self.open_part
            await self.emit({"type": f"{kind}-end", "id": part_id})

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
