"""What every event log promises (`stores/events/protocol.py`)."""

import asyncio
from collections.abc import Callable

import pytest

from stores.events.memory import MemoryEventLog
from stores.events.protocol import IDS_OF_AN_EPOCH, Event, EventLog

pytestmark = pytest.mark.anyio

DONE = "[DONE]"
BEAT_S = 0.02

NewLog = Callable[[], EventLog]


def in_process() -> EventLog:
    return MemoryEventLog(heartbeat_s=BEAT_S)


@pytest.fixture(params=[in_process])
def log(request: pytest.FixtureRequest) -> EventLog:
    """A new, empty log."""
    new_log: NewLog = request.param
    return new_log()


async def test_chunks_come_in_order_with_growing_ids(log: EventLog) -> None:
    await log.append("t", 1, ["a", "b"])
    await log.append("t", 1, ["c", DONE])

    events = await whole(log)

    assert [event.data for event in events] == ["a", "b", "c", DONE]
    assert [event.id for event in events] == sorted({event.id for event in events})
    assert await log.length("t") == events[-1].id


async def test_a_reader_gets_exactly_what_comes_after_its_place(log: EventLog) -> None:
    await log.append("t", 1, ["a", "b", "c", DONE])
    events = await whole(log)

    for place, event in enumerate(events, start=1):
        assert await whole(log, after=event.id) == events[place:]


async def test_a_reader_waits_for_what_is_still_to_come(log: EventLog) -> None:
    await log.append("t", 1, ["a"])
    reading = asyncio.create_task(whole(log))
    await asyncio.sleep(0)

    await log.append("t", 1, ["b"])
    await log.append("t", 1, [DONE])

    assert [event.data for event in await reading] == ["a", "b", DONE]


async def test_a_reader_may_come_before_the_first_chunk(log: EventLog) -> None:
    reading = asyncio.create_task(whole(log))
    await asyncio.sleep(0)

    await log.append("t", 1, ["a", DONE])

    assert [event.data for event in await reading] == ["a", DONE]


async def test_all_readers_see_the_same(log: EventLog) -> None:
    early = [asyncio.create_task(whole(log)) for _ in range(3)]
    for chunk in ("a", "b", "c", DONE):
        await log.append("t", 1, [chunk])
        await asyncio.sleep(0)
    late = await whole(log)

    assert await asyncio.gather(*early) == [late] * 3


async def test_a_reader_that_leaves_takes_nothing_along(log: EventLog) -> None:
    await log.append("t", 1, ["a"])
    async for batch in log.follow("t"):
        assert [event.data for event in batch] == ["a"]
        break
    leaving = asyncio.create_task(whole(log))
    await asyncio.sleep(0)
    leaving.cancel()

    await log.append("t", 1, ["b", DONE])

    assert [event.data for event in await whole(log)] == ["a", "b", DONE]


async def test_silence_is_an_empty_batch(log: EventLog) -> None:
    await log.append("t", 1, ["a"])
    batches: list[list[Event]] = []

    async for batch in log.follow("t"):
        batches.append(batch)
        if len(batches) == 3:
            break

    assert [len(batch) for batch in batches] == [1, 0, 0]


async def test_whoever_has_an_old_epoch_adds_nothing(log: EventLog) -> None:
    await log.append("t", 2, ["a"])
    await log.append("t", 1, ["too late", DONE])
    await log.append("t", 2, [DONE])

    assert [event.data for event in await whole(log)] == ["a", DONE]


async def test_an_old_epoch_is_shut_out_from_the_moment_of_reopening(log: EventLog) -> None:
    await log.append("t", 1, ["a", DONE])
    await log.reopen("t", 2)
    await log.append("t", 1, ["too late", DONE])
    await log.append("t", 2, ["b", DONE])

    assert [event.data for event in await whole(log)] == ["a", DONE, "b", DONE]


async def test_a_reopened_log_goes_on_under_growing_ids(log: EventLog) -> None:
    await log.append("t", 1, ["a", DONE])
    before = await log.length("t")
    await log.reopen("t", 2)
    reading = asyncio.create_task(whole(log, after=before))
    await asyncio.sleep(0)

    await log.append("t", 2, ["b", DONE])

    events = await reading
    assert [event.data for event in events] == ["b", DONE]
    assert min(event.id for event in events) > before


async def test_a_log_begun_anew_has_ids_above_those_of_the_lost_one(log: EventLog) -> None:
    await log.append("t", 1, ["a", "b", DONE])
    lost = await whole(log)
    await log.drop("t")

    await log.append("t", 2, ["c", DONE])

    events = await whole(log, after=lost[-1].id)
    assert [event.data for event in events] == ["c", DONE]
    assert events[0].id > 2 * IDS_OF_AN_EPOCH > lost[-1].id


async def test_it_says_what_it_holds(log: EventLog) -> None:
    assert (await log.holds("t"), await log.length("t")) == (False, 0)
    await log.append("t", 1, [])
    await log.reopen("t", 1)
    assert (await log.holds("t"), await log.length("t")) == (False, 0)

    await log.append("t", 1, ["a"])
    assert await log.holds("t")
    assert not await log.holds("another")

    await log.drop("t")
    await log.drop("unknown")
    assert (await log.holds("t"), await log.length("t")) == (False, 0)


async def test_turns_do_not_mix(log: EventLog) -> None:
    await log.append("one", 1, ["a", DONE])
    await log.append("two", 1, ["b", DONE])

    assert [event.data for event in await whole(log, "one")] == ["a", DONE]
    assert [event.data for event in await whole(log, "two")] == ["b", DONE]


async def test_in_the_process_the_oldest_logs_at_rest_are_forgotten_and_none_that_is_written() -> None:
    log = MemoryEventLog(kept=2)
    await log.append("running", 1, ["a"])
    for name in ("first", "second", "third"):
        await log.append(name, 1, ["a", DONE])

    held = [name for name in ("running", "first", "second", "third") if await log.holds(name)]
    assert held == ["running", "second", "third"]


async def whole(log: EventLog, turn_id: str = "t", *, after: int = 0) -> list[Event]:
    """Everything after a place, until the log rests."""
    async with asyncio.timeout(10):
        return [event async for batch in log.follow(turn_id, after) for event in batch]
