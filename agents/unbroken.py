"""Work that a cancellation must not cut in half."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def unbroken(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end even when the caller is cancelled meanwhile; the cancellation is raised afterwards.

    A transaction that is cut inside of a statement would leave its fate unknown, and SQLite's writer locked.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue
        if not task.cancelled():
            # Asked for, so that the loop doesn't warn of an exception that nobody looked at.
            task.exception()
        raise
