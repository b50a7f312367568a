"""How much one person may ask at once."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from gateway.errors import RateLimited
from gateway.limits import InProcessLimits
from stores.database import Database
from tests.gateway.small import Running, Time, calling, small_app

pytestmark = pytest.mark.anyio


def limits(time: Time, running: Running | None = None, *, per_minute: int = 3) -> InProcessLimits:
    return InProcessLimits(
        per_minute=per_minute,
        streams=2,
        running_turns=2,
        count_running=(running or Running()).count,
        monotonic=time.monotonic,
    )


async def test_requests_of_a_minute_are_counted_per_user() -> None:
    time = Time()
    counted = limits(time)
    for _ in range(3):
        await counted.take_request("alice")
        time.passed_s += 10
    with pytest.raises(RateLimited) as refused:
        await counted.take_request("alice")
    assert refused.value.retry_after_s == 30
    await counted.take_request("bob")
    time.passed_s = 60
    await counted.take_request("alice")
    with pytest.raises(RateLimited):
        await counted.take_request("alice")


async def test_a_refused_request_does_not_count() -> None:
    time = Time()
    counted = limits(time, per_minute=1)
    await counted.take_request("alice")
    for _ in range(5):
        with pytest.raises(RateLimited):
            await counted.take_request("alice")
    time.passed_s = 60
    await counted.take_request("alice")


async def test_users_who_have_left_are_forgotten() -> None:
    time = Time()
    counted = limits(time)
    for number in range(900):
        await counted.take_request(f"user-{number}")
    time.passed_s = 61
    for number in range(200):
        await counted.take_request(f"late-{number}")
    assert len(counted._requests) <= 200  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - memory is the point


async def test_the_answer_says_when_to_come_back(store: Database) -> None:
    time = Time()
    async with calling(small_app(store, time=time, per_minute=2)) as client:
        assert [(await client.get("/me")).status_code for _ in range(2)] == [200, 200]
        answer = await client.get("/me")
        assert answer.status_code == 429
        assert answer.json()["error"]["code"] == "rate_limited"
        assert answer.headers["retry-after"] == "60"
        time.passed_s = 60
        assert (await client.get("/me")).status_code == 200


async def test_open_streams_are_counted_while_they_are_open() -> None:
    counted = limits(Time())
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(counted.stream("alice"))
        await stack.enter_async_context(counted.stream("alice"))
        with pytest.raises(RateLimited):
            counted.check_streams("alice")
        with pytest.raises(RateLimited):
            async with counted.stream("alice"):
                pass
        counted.check_streams("bob")
    counted.check_streams("alice")


async def test_a_stream_that_fails_gives_its_place_back() -> None:
    counted = limits(Time())
    for _ in range(5):
        with pytest.raises(RuntimeError):
            async with counted.stream("alice"):
                raise RuntimeError
    counted.check_streams("alice")


async def test_a_turn_is_opened_only_while_there_is_room_for_it() -> None:
    running = Running(turns=1)
    counted = limits(Time(), running)
    async with counted.opening("alice"):
        running.turns += 1
    with pytest.raises(RateLimited):
        async with counted.opening("alice"):
            pytest.fail("opened")
    assert running.asked == ["alice", "alice"]


async def test_turns_that_are_opened_at_once_do_not_all_find_the_same_room() -> None:
    running = Running()
    counted = limits(Time(), running)

    async def open_one() -> bool:
        try:
            async with counted.opening("alice"):
                await asyncio.sleep(0)
                running.turns += 1
                return True
        except RateLimited:
            return False

    assert sum(await asyncio.gather(*(open_one() for _ in range(10)))) == 2
