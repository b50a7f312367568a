"""Cancelling at any moment: what was said is kept and marked, what was done is told as done, nothing else happens."""

import asyncio

import pytest
from pydantic_ai.messages import ModelResponse, TextPart

from agents.requests import Decision
from tests.agents.strict_provider import call, hold_after, say
from tests.room import room
from tests.tricks import HELD, REACHED

pytestmark = pytest.mark.anyio


async def test_before_the_first_token(database_url: str) -> None:
    silent = hold_after(0, say("Never said."))
    async with room(database_url, [silent, say("Hello.")]) as here:
        opened = await here.opens("hello?", message_id="m")
        await silent.reached.wait()
        assert (await here.runtime.cancel(here.person, "c")).status == "cancelled"

        ended = await here.rests(opened.turn_id)
        assert (ended["status"], ended["partial"], ended["text"]) == ("cancelled", False, "")
        again = await here.says("hello?", message_id="m")
        assert (again["text"], again["turn_id"] == opened.turn_id) == ("Hello.", False)


async def test_after_three_tokens_the_text_is_kept_and_marked(database_url: str) -> None:
    cut = hold_after(3, say("one two three four five six seven"))
    async with room(database_url, [cut, say("Go on yourself.")]) as here:
        opened = await here.opens("count")
        await cut.reached.wait()
        await here.runtime.cancel(here.person, "c")

        ended = await here.rests(opened.turn_id)
        assert (ended["status"], ended["partial"], ended["text"]) == ("cancelled", True, "one two three four five ")
        chunks = await here.chunks(opened)
        assert [one["type"] for one in chunks[-4:]] == ["text-end", "data-usage", "abort", "finish"]
        await here.says("go on")
        kept = here.model.requests[-1][1]
        assert kept.parts == [TextPart("one two three four five ")]
        assert isinstance(kept, ModelResponse)
        assert kept.state == "interrupted"


async def test_a_write_that_is_being_made_is_finished_and_told_and_the_next_one_is_not_made(database_url: str) -> None:
    HELD["writing"] = asyncio.Event()
    HELD["writing"].set()
    writes = [call("add_slowly", {"name": "a", "place": "writing"}), call("add", {"name": "b"})]
    async with room(database_url, [writes, say("So it is.")]) as here:
        waiting = await here.says("add two")
        HELD["writing"].clear()
        REACHED["writing"] = asyncio.Event()
        both = [Decision(approval_id=one["approval_id"], decision="approve") for one in waiting["approvals"]]
        await here.decides(*both)
        await REACHED["writing"].wait()
        cancelling = asyncio.create_task(here.runtime.cancel(here.person, "c"))
        for _ in range(5000):
            if any(task.cancelling() for task in asyncio.all_tasks()):
                break
            await asyncio.sleep(0.001)
        HELD["writing"].set()

        cancelled = await cancelling
        assert await here.names() == ["a"]
        assert cancelled.status == "cancelled"
        assert [one["tool"] for one in cancelled.applied] == ["add_slowly"]
        assert [(await here.approval(one))["status"] for one in waiting["approvals"]] == ["executed", "cancelled"]
        await here.says("what did you do?")
        assert here.told() == [{"status": "ok"}, "Not executed: cancelled by the person."]


async def test_a_turn_that_rests_is_not_cancelled_again(database_url: str) -> None:
    async with room(database_url, [say("Hello.")]) as here:
        said = await here.says("hello")
        cancelled = await here.runtime.cancel(here.person, "c")
        assert (cancelled.turn_id, cancelled.status) == (None, "idle")
        assert (await here.rests(said["turn_id"]))["status"] == "completed"


async def test_answering_anew_while_a_card_waits_retires_the_card(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Once more.")]) as here:
        waiting = await here.says("add a")
        again = await here.says("", trigger="regenerate-message", message_id="")
        assert again["text"] == "Once more."
        assert (await here.approval(waiting["approvals"][0]))["status"] == "superseded"
        assert await here.names() == []


async def test_a_turn_cancelled_before_its_first_step_has_a_whole_stream(database_url: str) -> None:
    async with room(database_url, [say("Too late.")]) as here:
        opened = await here.opens("hello")
        await here.runtime.cancel(here.person, "c")
        chunks = await here.chunks(opened)
        assert [one["type"] for one in chunks] == ["start", "data-turn", "data-usage", "abort", "finish"]
        await here.says("hello again")
