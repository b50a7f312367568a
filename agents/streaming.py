"""Following a turn's stream: one run of it, or the whole turn as one stream, from the log or from the store."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.chunks import DONE, encoded
from agents.failures import described_again
from agents.reading import Reading
from agents.setup import Setup
from agents.wire import NEVER, locale_of
from stores import turns
from stores.events.protocol import IDS_OF_AN_EPOCH, Event
from stores.turns import Turn

POLL_S = 0.5
"""Without a log that this process can read, checkpoints are polled for."""
STEP_END = encoded({"type": "finish-step"})
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
    """The whole turn as one stream: its first `start`, everything since, one `finish` and `[DONE]`.

    `after` is honoured where it is a place in this stream; else the stream is told from its `start`.
    """
    if await setup.events.holds(turn.id) or (turn.status == "running" and turn.owner == setup.owner):
        source = setup.events.follow(turn.id)
    else:
        source = _polled(setup, reading, turn)
    one = AsOne(NEVER["denied"].said(locale_of(turn)))
    known = False
    async for batch in source:
        if batch and not known:
            # The first batch is all that there is so far: a place beyond it was one in a log that is lost.
            known, after = True, after if after <= batch[-1].id else 0
        kept = [event for event in one.take(batch) if event.id > after]
        if kept or not batch:
            yield kept
    if rest := [event for event in one.end() if event.id > after]:
        yield rest


class AsOne:
    """Makes one stream of a turn's runs: inner `start`, `finish` and `[DONE]` are left out.

    What was asked at a pause and is answered by now isn't asked again: a client that reads both at once would show an
    output whose approval is still open, or a denial of what it never asked. So everything from the first approval
    request on is held back until the turn goes on (the requests are left out then) or rests.
    """

    def __init__(self, denied: str) -> None:
        self._denied = denied
        self._begun = False
        self._held: list[tuple[str, Event]] = []
        """From the first approval request on; also `finish` and `[DONE]`, which only the last run keeps."""
        self._asked: set[str] = set()

    def take(self, batch: Sequence[Event]) -> list[Event]:
        """What of a batch can be handed out."""
        kept: list[Event] = []
        for event in batch:
            chunk = {"type": DONE} if event.data == DONE else json.loads(event.data)
            kept += self._next(chunk, event)
        return kept

    def end(self) -> list[Event]:
        """What was held back, once the turn rests."""
        return [event for _, event in self._held]

    def _next(self, chunk: Mapping[str, Any], event: Event) -> list[Event]:
        kind, call_id = chunk["type"], chunk.get("toolCallId")
        if kind == "tool-approval-request":
            self._asked.add(chunk["toolCallId"])
        gone_on = kind == "start" or (kind.startswith("tool-output") and call_id in self._asked)
        before = self._let_go() if gone_on else []
        if kind == "start":
            begun, self._begun = self._begun, True
            return before if begun else [*before, event]
        if self._held or kind in ("tool-approval-request", "finish", DONE):
            self._held.append((kind, event))
            return before
        if kind == "tool-output-denied" and call_id in self._asked:
            told = {"type": "tool-output-error", "toolCallId": call_id, "errorText": self._denied}
            return [*before, Event(id=event.id, data=encoded(told))]
        return [*before, event]

    def _let_go(self) -> list[Event]:
        held, self._held = self._held, []
        return [event for kind, event in held if kind not in ("tool-approval-request", "finish", DONE)]


async def _polled(setup: Setup, reading: Reading, turn: Turn) -> AsyncIterator[list[Event]]:
    """The stream told from the store, checkpoint by checkpoint: whole steps instead of deltas."""
    told: list[str] = []
    last = turn.epoch * IDS_OF_AN_EPOCH + IDS_OF_AN_EPOCH // 2
    idle = 0
    while True:
        async with setup.database.read() as connection:
            found = await turns.get(connection, turn.user_id, turn.id)
        now = found or replace(turn, status="cancelled")  # its conversation was deleted
        chunks = [encoded(chunk) for chunk in await reading.chunks(now)]
        if now.status == "running" and chunks[-1] == STEP_END:
            del chunks[-1]  # the step isn't over: what its calls return comes before its end
        fresh = [*_changed(told, chunks), *chunks[len(told) :]]
        told = chunks
        if now.status != "running":
            fresh += [*(encoded(chunk) for chunk in _ending(now)), DONE]
        idle = 0 if fresh else idle + 1
        if fresh or idle % BEATS == 0:
            yield [Event(id=last + offset, data=chunk) for offset, chunk in enumerate(fresh, start=1)]
        last += len(fresh)
        if now.status != "running":
            return
        await asyncio.sleep(POLL_S)


def _ending(turn: Turn) -> list[dict[str, Any]]:
    match turn.status:
        case "failed":
            code, reference = turn.error_code or "internal", turn.error_reference or ""
            text = described_again(code, reference, locale_of(turn))
            return [{"type": "error", "errorText": text}, {"type": "finish", "finishReason": "error"}]
        case "cancelled":
            return [{"type": "abort", "reason": "cancelled"}, {"type": "finish"}]
        case _:
            return [{"type": "finish"}]


def _changed(told: Sequence[str], chunks: Sequence[str]) -> list[str]:
    """Parts that were told and are different by now: cards that were decided meanwhile."""
    return [new for old, new in zip(told, chunks, strict=False) if old != new and new.startswith('{"type":"data-')]
