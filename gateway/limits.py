"""How much one person may ask at once. In this process for now; the protocol is what a shared store will fill."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from math import ceil
from typing import Protocol
from weakref import WeakValueDictionary

from gateway.errors import RateLimited

MINUTE_S = 60.0
RETRY_S = 5
"""When to come back where nobody can know."""
SWEEP_EVERY = 1000
"""Requests between two looks for users who have left."""


class Limits(Protocol):
    """Every method raises RateLimited when the user has had enough."""

    async def take_request(self, user_id: str) -> None:
        """Count one request."""
        ...

    def stream(self, user_id: str) -> AbstractAsyncContextManager[None]:
        """One open stream, while the block runs."""
        ...

    def check_streams(self, user_id: str) -> None:
        """Whether one more stream may be opened: asked before work is begun for it."""
        ...

    def opening(self, user_id: str) -> AbstractAsyncContextManager[None]:
        """A turn is opened in this block, which began with room for it."""
        ...


class InProcessLimits:
    """Counts in memory. `count_running` says how many turns of a user are running now, wherever."""

    def __init__(
        self,
        *,
        per_minute: int,
        streams: int,
        running_turns: int,
        count_running: Callable[[str], Awaitable[int]],
        monotonic: Callable[[], float],
    ) -> None:
        self._per_minute = per_minute
        self._streams = streams
        self._running_turns = running_turns
        self._count_running = count_running
        self._monotonic = monotonic
        self._requests: dict[str, deque[float]] = {}
        self._open: Counter[str] = Counter()
        self._openers: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._until_sweep = SWEEP_EVERY

    async def take_request(self, user_id: str) -> None:
        now = self._monotonic()
        self._sweep(now)
        recent = self._requests.setdefault(user_id, deque())
        while recent and recent[0] <= now - MINUTE_S:
            recent.popleft()
        if len(recent) >= self._per_minute:
            raise RateLimited(max(1, ceil(recent[0] + MINUTE_S - now)))
        recent.append(now)

    def check_streams(self, user_id: str) -> None:
        if self._open[user_id] >= self._streams:
            raise RateLimited(RETRY_S)

    @asynccontextmanager
    async def stream(self, user_id: str) -> AsyncIterator[None]:
        self.check_streams(user_id)
        self._open[user_id] += 1
        try:
            yield
        finally:
            self._open[user_id] -= 1
            if self._open[user_id] <= 0:
                del self._open[user_id]

    @asynccontextmanager
    async def opening(self, user_id: str) -> AsyncIterator[None]:
        # One at a time per user: otherwise several would count the same turns and all find room.
        lock = self._openers.setdefault(user_id, asyncio.Lock())
        async with lock:
            if await self._count_running(user_id) >= self._running_turns:
                raise RateLimited(RETRY_S)
            yield

    def _sweep(self, now: float) -> None:
        self._until_sweep -= 1
        if self._until_sweep <= 0:
            self._until_sweep = SWEEP_EVERY
            gone = [user for user, times in self._requests.items() if not times or times[-1] <= now - MINUTE_S]
            for user_id in gone:
                del self._requests[user_id]
