"""Budgets hold across pauses, never stop what was approved, and end in an honest answer."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelAPIError

from agents.chunks import UiMessage
from agents.runtime import Runtime
from tests.agents.strict_provider import Reply, Seen, call, fail, hold_after, say
from tests.room import Room, room

pytestmark = pytest.mark.anyio

ADD = call("add", {"name": "a"})
BEGUN = ("text-start", "tool-input-start")


@dataclass
class Stopwatch:
    """Seconds of running time, as a test has them pass."""

    seconds: float = 0

    def __call__(self) -> float:
        return self.seconds

    def then(self, seconds: float, reply: Reply) -> "Taking":
        return Taking(self, seconds, reply)


@dataclass(frozen=True)
class Taking:
    """A reply of the model that takes a while."""

    watch: Stopwatch
    seconds: float
    reply: Reply

    def __call__(self, seen: Seen) -> Reply:
        self.watch.seconds += self.seconds
        return self.reply


def timed(here: Room, watch: Stopwatch) -> Room:
    """The same room, whose runtime measures time by the stopwatch."""
    return replace(here, runtime=Runtime(replace(here.runtime.setup, monotonic=watch)))


async def test_seconds_add_up_across_a_pause_that_does_not_count(database_url: str) -> None:
    watch = Stopwatch()
    steps = [watch.then(100, ADD), watch.then(30, call("names")), say("Out of time.")]
    async with room(database_url, steps) as plain:
        here = timed(plain, watch)
        waiting = await here.says("add a")
        watch.seconds += 10_000
        done = await here.approves(waiting["approvals"][0])
        assert await here.names() == ["a"]
        assert (done["status"], done["partial"], done["text"]) == ("completed", True, "Out of time.")
        assert done["usage"]["ms"] == 130_000
        assert here.model.offered[-1] == ()


async def test_a_model_that_takes_too_long_is_cut_off_and_its_stream_stays_whole(database_url: str) -> None:
    silent = hold_after(5, say("This takes for ever."), ADD)
    async with room(database_url, [silent, say("I ran out of time.")], turn_seconds=3) as here:
        opened = await here.opens("take your time")
        chunks = await here.chunks(opened)
        kinds = [one["type"] for one in chunks]
        assert kinds.count("text-start") == kinds.count("text-end") == 2
        assert kinds.count("start-step") == kinds.count("finish-step")
        assert [one["data"]["limit"] for one in chunks if one["type"] == "data-budget"] == ["seconds"]
        begun = [one.get("id") or one["toolCallId"] for one in chunks if one["type"] in BEGUN]
        assert [one["data"]["part_ids"] for one in chunks if one["type"] == "data-reset"] == [begun[:2]]
        assert "tool-input-error" in kinds
        shown = UiMessage.of(chunks)
        done = await here.rests(opened.turn_id)
        assert (done["status"], done["partial"], done["text"]) == ("completed", True, "I ran out of time.")
        assert shown.text == done["text"]


@pytest.mark.parametrize("limit", ["turn_request_limit", "turn_tool_calls"])
async def test_what_was_approved_is_executed_whatever_is_used_up(database_url: str, limit: str) -> None:
    after = [] if limit == "turn_request_limit" else [call("names")]
    settings: dict[str, Any] = {limit: 1}
    async with room(database_url, [ADD, *after, say("Added, and no more.")], **settings) as here:
        waiting = await here.says("add a")
        done = await here.approves(waiting["approvals"][0])
        assert await here.names() == ["a"]
        assert (done["status"], done["partial"], done["text"]) == ("completed", True, "Added, and no more.")
        assert here.told()[0] == {"status": "ok", "added": "a"}


async def test_a_write_beyond_the_budget_is_neither_shown_nor_made(database_url: str) -> None:
    two = [ADD, call("add", {"name": "b"})]
    async with room(database_url, [two, say("That was too much.")], turn_tool_calls=1) as here:
        done = await here.says("add two")
        assert (done["status"], done["approvals"], done["partial"]) == ("completed", [], True)
        assert await here.rows("SELECT id FROM approvals") == []
        assert await here.names() == []


async def test_code_says_what_is_done_when_no_model_can(database_url: str) -> None:
    away = ModelAPIError(model_name="scripted", message="away")
    async with room(database_url, [ADD, fail(away)], turn_request_limit=1) as here:
        done = await here.approves((await here.says("add a"))["approvals"][0])
        assert await here.names() == ["a"]
        assert (done["status"], done["partial"]) == ("completed", True)
        assert "Done: Add" in done["text"]
        assert "away" not in str(done)


async def test_the_next_turn_has_a_budget_of_its_own(database_url: str) -> None:
    steps = [call("names"), say("No more."), call("names"), say("Again.")]
    async with room(database_url, steps, turn_request_limit=1) as here:
        assert (await here.says("look"))["text"] == "No more."
        assert (await here.says("look"))["text"] == "Again."
