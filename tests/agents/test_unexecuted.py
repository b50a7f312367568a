"""Whatever ends a write without executing it leaves every row as it was and a history that a strict provider takes."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from pydantic_ai.messages import ModelResponse, ToolReturnPart

from agents.errors import ApprovalSettled
from agents.requests import Decision
from tests.agents.strict_provider import Step, call, fail, say
from tests.room import JSON, Room, room
from tests.tricks import HELD, REACHED, TROUBLE

pytestmark = pytest.mark.anyio

STEP = [say("Let me see."), call("names"), call("add_in_trouble", {"name": "a"}), call("names")]
"""A read that runs, a write that waits, a read that waits behind it."""

Event = Callable[[Room, JSON], Awaitable[object]]


async def _denied(here: Room, waiting: JSON) -> None:
    await here.denies(waiting["approvals"][0], reason="not this week")


async def _superseded(here: Room, waiting: JSON) -> None:
    await here.says("something else")


async def _cancelled(here: Room, waiting: JSON) -> None:
    done = await here.runtime.cancel(here.person, "c")
    assert (done.turn_id, done.status, done.applied) == (waiting["turn_id"], "cancelled", ())


async def _cancelled_by_words(here: Room, waiting: JSON) -> None:
    await here.says("/cancel")


async def _expired_by_the_sweep(here: Room, waiting: JSON) -> None:
    here.time.passes(901)
    await here.runtime.sweep()


async def _expired_at_the_decision(here: Room, waiting: JSON) -> None:
    here.time.passes(901)
    with pytest.raises(ApprovalSettled, match="expired"):
        await here.approves(waiting["approvals"][0])


async def _failed(here: Room, waiting: JSON) -> None:
    TROUBLE.add("a")
    try:
        await here.approves(waiting["approvals"][0])
    finally:
        TROUBLE.discard("a")


OK = say("All right.")
GOES_ON: list[Step] = [OK, say("Later.")]
ENDINGS: list[tuple[Event, list[Step], str, str, str]] = [
    (_denied, GOES_ON, "denied", "completed", "not this week"),
    (_superseded, GOES_ON, "superseded", "superseded", "superseded"),
    (_cancelled, [OK], "cancelled", "cancelled", "cancelled"),
    (_cancelled_by_words, [OK], "cancelled", "cancelled", "cancelled"),
    (_expired_by_the_sweep, [OK], "expired", "completed", "expired"),
    (_expired_at_the_decision, [OK], "expired", "completed", "expired"),
    (_failed, GOES_ON, "failed", "completed", "Internal error"),
]


@pytest.mark.parametrize(
    ("event", "after", "status", "turn", "told"), ENDINGS, ids=[one[0].__name__.strip("_") for one in ENDINGS]
)
async def test_a_write_that_is_not_executed_changes_nothing_and_is_answered_once(
    database_url: str, event: Event, after: list[Step], status: str, turn: str, told: str
) -> None:
    async with room(database_url, [STEP, *after]) as here:
        before = await here.domain()
        waiting = await here.says("add a")
        approval = waiting["approvals"][0]

        await event(here, waiting)

        assert await here.domain() == before
        assert (await here.approval(approval))["status"] == status
        assert (await here.rests(waiting["turn_id"]))["status"] == turn
        await here.says("and now?")
        assert told in _return_of(here, approval["tool_call_id"])
        assert await _answered(here) == {"once"}


async def test_a_denied_call_stays_denied_in_the_history_when_its_sibling_expires(database_url: str) -> None:
    both = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [both, OK]) as here:
        first, second = (await here.says("add two"))["approvals"]
        await here.denies(first, reason="not this week")
        here.time.passes(901)
        await here.runtime.sweep()
        await here.says("and now?")
        assert "not this week" in _return_of(here, first["tool_call_id"])
        assert "expired" in _return_of(here, second["tool_call_id"])
        assert await _answered(here) == {"once"}


async def test_what_was_executed_is_told_as_executed_when_the_turn_breaks_off_behind_it(database_url: str) -> None:
    both = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [both, fail(OSError("away")), OK]) as here:
        waiting = await here.says("add two")
        await here.decides(
            *(Decision(approval_id=one["approval_id"], decision="approve") for one in waiting["approvals"])
        )
        assert (await here.rests(waiting["turn_id"]))["status"] == "failed"
        assert await here.names() == ["a", "b"]
        await here.says("and now?")
        assert [_return_of(here, one["tool_call_id"]) for one in waiting["approvals"]] == [
            "{'status': 'ok', 'added': 'a'}",
            "{'status': 'ok', 'added': 'b'}",
        ]


async def test_what_the_one_before_held_up_too_long_is_not_begun(database_url: str) -> None:
    HELD["long"] = asyncio.Event()
    HELD["long"].set()
    both = [call("add_slowly", {"name": "a", "place": "long"}), call("add", {"name": "b"})]
    async with room(database_url, [both, OK]) as here:
        waiting = await here.says("add two")
        HELD["long"].clear()
        REACHED["long"] = asyncio.Event()
        await here.decides(
            *(Decision(approval_id=one["approval_id"], decision="approve") for one in waiting["approvals"])
        )
        await REACHED["long"].wait()
        here.time.passes(901)
        HELD["long"].set()

        await here.rests(waiting["turn_id"])
        assert await here.names() == ["a"]
        assert [(await here.approval(one))["status"] for one in waiting["approvals"]] == ["executed", "expired"]
        assert "expired before it could start" in here.told()[-1]


async def test_an_answer_is_kept_when_the_turn_is_cancelled_right_after_it(database_url: str) -> None:
    HELD["asked"] = asyncio.Event()
    step = [call("ask_user", {"question": "Which?"}), call("hold", {"place": "asked"})]
    async with room(database_url, [step, OK]) as here:
        await here.says("ask me")
        REACHED["asked"] = asyncio.Event()
        await here.opens("the red one")
        await REACHED["asked"].wait()
        await here.runtime.cancel(here.person, "c")
        await here.says("and now?")
        assert here.told() == [
            {"status": "ok", "answer": "the red one"},
            "Not executed: cancelled by the person.",
        ]


def _return_of(here: Room, call_id: str) -> str:
    """What the model reads of a call in its latest request."""
    parts = [part for message in here.model.requests[-1] for part in message.parts]
    found = [part for part in parts if isinstance(part, ToolReturnPart) and part.tool_call_id == call_id]
    assert len(found) == 1
    return str(found[0].content)


async def _answered(here: Room) -> set[str]:
    """How often the stored calls are answered."""
    history = await here.history()
    calls = [made.tool_call_id for one in history if isinstance(one, ModelResponse) for made in one.tool_calls]
    returns = [part.tool_call_id for one in history for part in one.parts if isinstance(part, ToolReturnPart)]
    assert len(set(calls)) == len(calls)
    return {"once" if returns.count(one) == 1 else f"{returns.count(one)} times" for one in calls}
