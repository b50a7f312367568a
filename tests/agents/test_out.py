"""What a run puts into the event log: quick deltas joined, nothing else changed."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.chunks import DONE, encoded
from agents.out import JOINED, Out
from stores.events.memory import MemoryEventLog

pytestmark = pytest.mark.anyio

TURN = "turn"
WAIT_S = 5


def delta(part: str, text: str) -> dict[str, Any]:
    return {"type": "text-delta", "id": part, "delta": text}


def typed(call: str, text: str) -> dict[str, Any]:
    return {"type": "tool-input-delta", "toolCallId": call, "inputTextDelta": text}


NOTICE = {"type": "data-status", "data": {"code": "waiting"}}


async def logged(log: MemoryEventLog) -> list[Any]:
    events = [event async for batch in log.follow(TURN) for event in batch]
    assert events[-1].data == DONE
    return [json.loads(event.data) for event in events[:-1]]


async def sent(*chunks: dict[str, Any]) -> list[Any]:
    log = MemoryEventLog()
    out = Out(log, TURN, 1)
    for chunk in chunks:
        await out.put(encoded(chunk), chunk["type"])
    await out.done()
    return await logged(log)


async def test_quick_deltas_of_one_part_are_one() -> None:
    assert await sent(delta("a", "Good "), delta("a", "morn"), delta("a", "ing")) == [delta("a", "Good morning")]
    assert await sent(typed("c", '{"a"'), typed("c", ": 1}")) == [typed("c", '{"a": 1}')]


async def test_what_is_no_delta_sends_first_what_was_held() -> None:
    assert await sent(delta("a", "x"), NOTICE, delta("a", "y")) == [delta("a", "x"), NOTICE, delta("a", "y")]


async def test_parts_are_not_mixed() -> None:
    chunks = [delta("a", "x"), delta("b", "y"), typed("a", "z"), {"type": "reasoning-delta", "id": "a", "delta": "r"}]
    assert await sent(*chunks) == chunks


async def test_a_delta_is_not_held_for_long() -> None:
    log = MemoryEventLog()
    out = Out(log, TURN, 1)
    await out.emit(delta("a", "x"))
    assert not await log.holds(TURN)
    async with asyncio.timeout(WAIT_S):
        batch = await anext(log.follow(TURN))
    assert [json.loads(event.data) for event in batch] == [delta("a", "x")]
    await out.done()
    assert await logged(log) == [delta("a", "x")]


async def test_a_part_that_is_open_can_be_ended_once() -> None:
    log = MemoryEventLog()
    out = Out(log, TURN, 1)
    await out.end_parts("cut off")
    await out.emit({"type": "text-start", "id": "a"}, delta("a", "x"))
    assert out.open_part == ("text", "a")
    await out.end_parts("cut off")
    await out.end_parts("cut off")
    await out.done()
    assert await logged(log) == [{"type": "text-start", "id": "a"}, delta("a", "x"), {"type": "text-end", "id": "a"}]


async def test_a_call_that_is_open_is_ended_with_the_reason_and_a_whole_one_is_left_alone() -> None:
    log = MemoryEventLog()
    out = Out(log, TURN, 1)
    whole, cut = ({"toolCallId": call, "toolName": "add"} for call in ("whole", "cut"))
    await out.emit({"type": "start-step"}, {"type": "tool-input-start", **whole})
    await out.emit({"type": "tool-input-available", **whole, "input": {}}, {"type": "tool-input-start", **cut})
    await out.end_parts("cut off")
    await out.end_parts("cut off")
    await out.done()
    assert (await logged(log))[-1] == {"type": "tool-input-error", **cut, "input": {}, "errorText": "cut off"}
    assert out.response == ["whole", "cut"]


async def test_an_older_epoch_writes_nothing() -> None:
    log = MemoryEventLog()
    await Out(log, TURN, 2).emit(NOTICE)
    await Out(log, TURN, 1).emit(delta("a", "late"), NOTICE)
    await Out(log, TURN, 2).done()
    assert await logged(log) == [NOTICE]


CHUNKS = st.one_of(
    st.builds(delta, st.sampled_from("ab"), st.text(max_size=3)),
    st.builds(typed, st.sampled_from("ab"), st.text(max_size=3)),
    st.just(NOTICE),
    st.just({"type": "text-end", "id": "a"}),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(CHUNKS, st.sampled_from(["at once", "at once", "at once", "later"])), max_size=12))
def test_order_and_text_stay_whatever_the_pace(steps: list[tuple[dict[str, Any], str]]) -> None:
    async def run() -> list[Any]:
        log = MemoryEventLog()
        out = Out(log, TURN, 1)
        for chunk, pace in steps:
            before = await log.length(TURN)
            await out.put(encoded(chunk), chunk["type"])
            if pace == "later":
                async with asyncio.timeout(WAIT_S):
                    await anext(log.follow(TURN, before))
        await out.done()
        return await logged(log)

    assert joined(asyncio.run(run())) == joined([chunk for chunk, _ in steps])


def joined(chunks: Sequence[dict[str, Any]]) -> list[Any]:
    """The chunks with neighbouring deltas of one part put together."""
    found: list[dict[str, Any]] = []
    for chunk in chunks:
        key = JOINED.get(chunk["type"])
        if key and found and {**found[-1], key: ""} == {**chunk, key: ""}:
            found[-1] = {**chunk, key: found[-1][key] + chunk[key]}
        else:
            found.append(chunk)
    return found
