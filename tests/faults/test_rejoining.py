"""Readers come, go, come back and dawdle; the stream stays the same and the turn runs on."""

import asyncio

import pytest

from tests.e2e.house import House, Server
from tests.e2e.stored import turns
from tests.e2e.visitor import Frame, Frames, Visitor, kinds, of_kind, said_last, text_in

pytestmark = pytest.mark.anyio


async def test_cut_at_any_event_of_a_waiting_turn_both_parts_make_the_whole(ann: Visitor) -> None:
    await ann.say("c", "grow basil, mint")
    whole = await ann.rejoin("c")
    assert kinds(whole)[-2:] == ["finish", "[DONE]"]

    for cut in range(1, len(whole) + 1):
        assert whole[:cut] + await ann.rejoin("c", after=whole[cut - 1].id) == whole


async def test_cut_while_it_runs_both_parts_make_the_whole(house: House, ann: Visitor) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses") as stayed, ann.rejoining("c") as cut:
        await house.held("roses")
        begun = await until_kind(cut, "tool-input-available")
        async with ann.rejoining("c", after=begun[-1].id) as again, ann.rejoining("c") as late:
            house.release("roses")
            whole, rest, other = await asyncio.gather(stayed.all(), again.all(), late.all())

    assert begun + rest == other == whole
    assert text_in(whole).endswith("nobody could say how.")


async def test_a_turn_that_went_on_is_one_stream(house: House, ann: Visitor) -> None:
    first = await ann.say("c", "grow basil then look at basil")
    house.hold("basil")
    await ann.approve(of_kind(first, "data-approval")[0]["data"]["approval_id"])
    await house.held("basil")
    async with ann.rejoining("c") as one, ann.rejoining("c") as other, ann.rejoining("c") as cut:
        begun = await until_kind(cut, "tool-output-available")
        async with ann.rejoining("c", after=begun[-1].id) as again:
            house.release("basil")
            whole, same, rest = await asyncio.gather(one.all(), other.all(), again.all())

    assert whole == same == begun + rest
    for kind in ("start", "finish", "[DONE]"):
        assert kinds(whole).count(kind) == 1
    assert ids(whole) == sorted(set(ids(whole)))
    assert text_in(whole).endswith("basil: ok")


async def test_a_place_in_a_lost_log_is_none_in_the_log_of_who_took_over(
    house: House, server: Server, ann: Visitor, elsewhere: Visitor
) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses") as stayed:
        begun = await until_kind(stayed, "tool-input-available")
        await house.held("roses")
        server.kill()
    await house.held("roses")
    async with elsewhere.rejoining("c", after=begun[-1].id) as again:
        house.release("roses")
        whole = await again.all()

    assert kinds(whole)[0] == "start"
    assert whole[0].id > begun[-1].id
    assert kinds(whole).count("tool-output-available") == 1
    assert kinds(whole)[-2:] == ["finish", "[DONE]"]
    assert text_in(whole).endswith("nobody could say how.")


async def test_another_process_tells_whole_steps_of_a_turn_that_runs(
    house: House, ann: Visitor, elsewhere: Visitor
) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses") as stayed, elsewhere.rejoining("c") as told:
        begun = await until_kind(told, "tool-input-available")
        house.release("roses")
        whole, rest = await asyncio.gather(stayed.all(), told.all())

    assert without_transients(begun + rest) == without_transients(whole)


async def test_another_process_tells_how_a_card_was_settled(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    asked = await ann.say("c", "grow basil then look at basil")
    house.hold("plant-basil")
    await ann.approve(of_kind(asked, "data-approval")[0]["data"]["approval_id"])
    await house.held("plant-basil")
    async with elsewhere.rejoining("c") as told:
        # Told at once, while the write still runs.
        begun = await until_kind(told, "tool-input-available")
        house.release("plant-basil")
        frames = begun + await told.all()

    assert [chunk["data"]["status"] for chunk in of_kind(frames, "data-approval")][-1] == "executed"
    assert len(of_kind(frames, "tool-output-available")) == 2
    assert kinds(frames)[-2:] == ["finish", "[DONE]"]


async def test_another_process_tells_that_a_turn_was_cancelled(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses"), elsewhere.rejoining("c") as told:
        await until_kind(told, "tool-input-available")
        assert (await ann.http.post("/api/conversation/c/cancel")).status_code == 200
        rest = await told.all()

    assert kinds(rest)[-3:] == ["abort", "finish", "[DONE]"]


async def test_a_reader_that_leaves_cancels_nothing(house: House, ann: Visitor) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses"):
        await house.held("roses")
    house.release("roses")

    told = await ann.settled("c")

    assert said_last(told).endswith("nobody could say how.")
    assert [turn["status"] for turn in await turns(house.database_url, "ann", "c")] == ["completed"]


async def test_cancelled_from_another_process_the_stream_ends(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses") as frames:
        await house.held("roses")
        answer = await elsewhere.http.post("/api/conversation/c/cancel")
        read = await frames.all()

    assert (answer.status_code, answer.json()["status"], answer.json()["applied"]) == (200, "cancelled", [])
    assert "abort" in kinds(read)
    assert kinds(read)[-2:] == ["finish", "[DONE]"]
    assert (await ann.conversation("c"))["status"] == "idle"


async def test_a_reader_that_takes_nothing_holds_nobody_up(house: House, ann: Visitor) -> None:
    async with ann.saying("slow", "watch jungle"), asyncio.timeout(20):
        # The jungle is far too large for the buffers on the way to a reader that reads nothing.
        assert text_in(await ann.say("quick", "a story")).endswith("nobody could say how.")
        assert said_last(await ann.settled("slow")).endswith("nobody could say how.")


async def until_kind(frames: Frames, kind: str) -> list[Frame]:
    """What is read up to the first chunk of this type."""
    read: list[Frame] = []
    async for frame in frames:
        read.append(frame)
        if frame.chunk["type"] == kind:
            return read
    raise AssertionError(f"no {kind} in {kinds(read)}")


def ids(frames: list[Frame]) -> list[int]:
    return [frame.id for frame in frames]


def without_transients(frames: list[Frame]) -> list[str]:
    """What a page keeps, text deltas joined. The usage may stand before or after the end of the last step."""
    kept: list[str] = []
    for frame in frames:
        chunk = frame.chunk
        if chunk["type"] in ("tool-input-delta", "text-start", "text-end", "data-usage") or chunk.get("transient"):
            continue
        if chunk["type"] == "text-delta" and kept and kept[-1].startswith("text: "):
            kept[-1] += chunk["delta"]
        elif chunk["type"] == "text-delta":
            kept.append(f"text: {chunk['delta']}")
        else:
            kept.append(frame.data)
    return kept
