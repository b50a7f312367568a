"""Server-sent events: one reader of a turn's event log, for as long as it reads."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, contextmanager
from typing import TypeGuard
from urllib.parse import quote

import anyio
from anyio import CancelScope
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.sdk5 import for_sdk5
from stores.events.protocol import Event

log = logging.getLogger("placet.gateway")

HEARTBEAT = b": still here\n\n"
STALL_S = 60.0
"""A reader that takes nothing for this long loses its place."""
HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
}


class OpenStreams:
    """Every stream that is open in this process, so that a stopping server can end them all."""

    def __init__(self) -> None:
        self._scopes: set[CancelScope] = set()
        self._stopped = False

    @contextmanager
    def opened(self) -> Iterator[CancelScope]:
        """What runs in the block ends when the server stops; the block is left quietly then."""
        with CancelScope() as scope:
            self._scopes.add(scope)
            try:
                if self._stopped:
                    scope.cancel()
                yield scope
            finally:
                self._scopes.discard(scope)

    def stop(self) -> None:
        """End every stream, and those that are still opened. Their readers rejoin elsewhere or later."""
        self._stopped = True
        for scope in self._scopes:
            scope.cancel()


class EventStream(Response):
    """Batches of events as frames `id: N`, `data: …`; an empty batch is a comment frame.

    Holds nothing but its place: the log keeps what the reader hasn't read yet. A reader that leaves, stalls or is
    ended by the server stops nobody else, nor the turn. A stream that is cut by a fault of ours ends without
    `[DONE]` and without the end of the HTTP body.
    """

    def __init__(
        self,
        batches: AsyncIterator[list[Event]],
        *,
        streams: OpenStreams,
        place: AbstractAsyncContextManager[None],
        sdk: int = 6,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status_code = 200
        self.background = None
        self._batches = batches
        self._streams = streams
        self._place = place
        self._sdk = sdk
        self.init_headers({**HEADERS, **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as stack:
            if _is_generator(self._batches):
                await stack.enter_async_context(aclosing(self._batches))
            await stack.enter_async_context(self._place)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            with self._streams.opened():
                if await self._send_frames(receive, send):
                    return
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_frames(self, receive: Receive, send: Send) -> bool:
        """Send until the log rests or the reader is gone. Returns whether the reader stalled."""
        stalled = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch_for_leaving, receive, tasks.cancel_scope)
            async for batch in self._batches:
                with anyio.move_on_after(STALL_S) as patience:
                    await send({"type": "http.response.body", "body": frames(batch, self._sdk), "more_body": True})
                if patience.cancelled_caught:
                    log.info("a reader took nothing for %.0f s and was dropped", STALL_S)
                    stalled = True
                    break
            tasks.cancel_scope.cancel()
        return stalled


def frames(batch: list[Event], sdk: int = 6) -> bytes:
    """A batch as bytes; a comment when there is nothing to say."""
    lines: list[str] = []
    for event in batch:
        data = for_sdk5(event.data) if sdk == 5 else event.data
        if data is not None:
            lines.append(f"id: {event.id}\ndata: {data}\n\n")
    # A lone surrogate inside of JSON text becomes the escape that means the same.
    return "".join(lines).encode("utf-8", "backslashreplace") or HEARTBEAT


def header_safe(value: str) -> str:
    """An id as a header can carry it: percent-encoded where it isn't plain ASCII."""
    return quote(value, safe="!#$&'()*+,;=?@[]^_`{|}~ :<>\"\\")


def _is_generator(batches: AsyncIterator[list[Event]]) -> TypeGuard[AsyncGenerator[list[Event], None]]:
    return isinstance(batches, AsyncGenerator)


async def _watch_for_leaving(receive: Receive, scope: CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
