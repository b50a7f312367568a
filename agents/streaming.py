"""Following a turn's stream: one run of it, or the whole turn as one stream, from the log or from the store."""

import asyncio
import json
from collections.abc import AsyncIterator

from agents.chunks import DONE, encoded
from agents.reading import Reading
from agents.setup import Setup
from stores import turns
from stores.events.protocol import Event
from stores.turns import Turn

POLL_S = 0.5
"""Without a log that this process can read, checkpoints are polled for."""
BEATS = 20
"""Polls without news after which a heartbeat is due."""


async def follow_run(setup: Setup, turn_id: str, after: int) -> AsyncIterator[list[Event]]:
    """Events after `after`, up to the end of the run that they begin."""
    async for batch in setup.events.follow(turn_id, after):
        for index, event in enumerate(batch):
            if event.data == DONE:
                yield batch[: index + 1]
                return
        yield batch


async def follow_turn(setup: Setup, reading: Reading, turn: Turn, after: int) -> AsyncIterator[list[Event]]:
    """The whole turn as one stream: its first `start`, everything since, one `finish` and `[DONE]`."""
    if await setup.events.holds(turn.id) or (turn.status == "running" and turn.owner == setup.owner):
        source = setup.events.follow(turn.id)
    else:
        source = _polled(setup, reading, turn)
    async for batch in _as_one(source):
        if kept := [event for event in batch if event.id > after]:
            yield kept
        elif not batch:
            yield []


async def _as_one(source: AsyncIterator[list[Event]]) -> AsyncIterator[list[Event]]:
    """Leaves out the inner `start`, `finish` and `[DONE]`: the last two are held back until nothing follows."""
    begun = False
    held: list[Event] = []
    async for batch in source:
        kept: list[Event] = []
        for event in batch:
            kind = "" if event.data == DONE else json.loads(event.data)["type"]
            if kind == "start":
                held.clear()
                if begun:
                    continue
                begun = True
            if event.data == DONE or kind == "finish":
                held.append(event)
            else:
                kept.append(event)
        if kept or not batch:
            yield kept
    if held:
        yield held


async def _polled(setup: Setup, reading: Reading, turn: Turn) -> AsyncIterator[list[Event]]:
    """The stream told from the store, checkpoint by checkpoint: whole steps instead of deltas."""
    sent = 0
    idle = 0
    while True:
        async with setup.database.read() as connection:
            now = await turns.get(connection, turn.user_id, turn.id) or turn
        chunks = [encoded(chunk) for chunk in await reading.chunks(now)]
        fresh = [Event(id=sent + offset, data=chunk) for offset, chunk in enumerate(chunks[sent:], start=1)]
        sent += len(fresh)
        idle = 0 if fresh else idle + 1
        if fresh or idle % BEATS == 0:
            yield fresh
        if now.status != "running":
            yield [Event(id=sent + 1, data='{"type":"finish"}'), Event(id=sent + 2, data=DONE)]
            return
        await asyncio.sleep(POLL_S)
