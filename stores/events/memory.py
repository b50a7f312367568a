"""The event log within one process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from stores.events.protocol import IDS_OF_AN_EPOCH, Event

DONE = "[DONE]"
HEARTBEAT_S = 15.0
KEPT = 500
"""Turns at rest that are kept for readers who come late; the oldest is forgotten first."""


@dataclass(eq=False)
class _Log:
    events: list[Event] = field(default_factory=list[Event])
    before: int = 0
    """The id before the first one."""
    epoch: int = 0
    rests: bool = False
    grown: asyncio.Event = field(default_factory=asyncio.Event)


class MemoryEventLog:
    """Keeps the chunks of turns in this process; see `EventLog` for the contract."""

    def __init__(self, *, heartbeat_s: float = HEARTBEAT_S, kept: int = KEPT) -> None:
        self._logs: dict[str, _Log] = {}
        self._heartbeat_s = heartbeat_s
        self._kept = kept

    async def append(self, turn_id: str, epoch: int, chunks: Sequence[str]) -> None:
        if not chunks:
            return
        log = self._logs.setdefault(turn_id, _Log())
        if epoch < log.epoch:
            return
        log.epoch = epoch
        if not log.events:
            log.before = epoch * IDS_OF_AN_EPOCH
        first = log.before + len(log.events) + 1
        log.events.extend(Event(id=first + offset, data=chunk) for offset, chunk in enumerate(chunks))
        log.rests = chunks[-1] == DONE
        log.grown.set()
        log.grown = asyncio.Event()
        if log.rests:
            self._forget_old(turn_id)

    async def reopen(self, turn_id: str, epoch: int) -> None:
        log = self._logs.setdefault(turn_id, _Log())
        if epoch >= log.epoch:
            log.epoch = epoch
            log.rests = False

    async def holds(self, turn_id: str) -> bool:
        return turn_id in self._logs and bool(self._logs[turn_id].events)

    async def length(self, turn_id: str) -> int:
        log = self._logs.get(turn_id)
        return log.events[-1].id if log and log.events else 0

    async def follow(self, turn_id: str, after: int = 0) -> AsyncIterator[list[Event]]:
        log = self._logs.setdefault(turn_id, _Log())
        while True:
            grown = log.grown
            if batch := log.events[max(0, after - log.before) :]:
                after = batch[-1].id
                yield batch
            elif log.rests:
                return
            else:
                try:
                    await asyncio.wait_for(grown.wait(), self._heartbeat_s)
                except TimeoutError:
                    yield []

    async def drop(self, turn_id: str) -> None:
        self._logs.pop(turn_id, None)

    def _forget_old(self, turn_id: str) -> None:
        # The one that rested last goes to the end; dictionaries keep their order.
        self._logs[turn_id] = self._logs.pop(turn_id)
        resting = [name for name, log in self._logs.items() if log.rests]
        for name in resting[: max(0, len(resting) - self._kept)]:
            del self._logs[name]
