"""Ctrl-C while the server speaks: once stops the turn, twice leaves."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from app.chat.errors import Quit

T = TypeVar("T")
INTERRUPTED_EXIT = 130
"""What shells expect of a process that Ctrl-C ended."""


async def interruptible(work: Coroutine[Any, Any, T], stop: Callable[[], Coroutine[Any, Any, None]]) -> T:
    """The result of `work`. The first Ctrl-C runs `stop` beside it, the second abandons both and raises `Quit`."""
    task = asyncio.create_task(work)
    stops: list[asyncio.Task[None]] = []
    abandoned = False

    def struck() -> None:
        nonlocal abandoned
        if not stops:
            stops.append(asyncio.create_task(stop()))
            return
        abandoned = True
        task.cancel()
        stops[0].cancel()

    with _on_ctrl_c(struck):
        try:
            result = await task
            await _finished(stops)
        except asyncio.CancelledError:
            if abandoned:
                raise Quit(INTERRUPTED_EXIT) from None
            raise
        finally:
            for unfinished in stops:
                unfinished.cancel()
    return result


async def _finished(tasks: list[asyncio.Task[None]]) -> None:
    waiting: list[Awaitable[None]] = [task for task in tasks if not task.done()]
    if waiting:
        await asyncio.gather(*waiting)


@contextmanager
def _on_ctrl_c(struck: Callable[[], None]) -> Iterator[None]:
    """Call `struck` in the running loop at every Ctrl-C. Only a main thread hears signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def heard(signum: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(struck)

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
