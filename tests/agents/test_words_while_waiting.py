"""What a message means while something waits (DESIGN.md §5)."""

import asyncio
from typing import Any

import pytest

from agents.errors import IdempotencyConflict, TurnInProgress
from tests.agents.strict_provider import call, say
from tests.room import room
from tests.tricks import HELD

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("word", ["yes", "OK", "好的", "可以。", "Confirm!"])
async def test_a_short_yes_approves_the_only_card(database_url: str, word: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Done.")]) as here:
        first = await here.says("add a")
        done = await here.says(word)
        assert await here.names() == ["a"]
        assert (done["turn_id"], done["status"], done["text"]) == (first["turn_id"], "completed", "Done.")
        assert (await here.approval(first["approvals"][0]))["decision"]["door"] == "chat"


async def test_words_around_a_yes_are_a_new_message(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Something else, then.")]) as here:
        first = await here.says("add a")
        second = await here.says("yes, but call it b")
        assert await here.names() == []
        assert second["turn_id"] != first["turn_id"]
        assert (await here.approval(first["approvals"][0]))["status"] == "superseded"
        assert (await here.rests(first["turn_id"]))["status"] == "superseded"
        assert "superseded" in here.told()[0]


async def test_a_short_no_denies_all(database_url: str) -> None:
    async with room(
        database_url, [[call("add", {"name": "a"}), call("add", {"name": "b"})], say("All right.")]
    ) as here:
        first = await here.says("add two")
        done = await here.says("不用了")
        assert (done["turn_id"], done["status"]) == (first["turn_id"], "completed")
        assert [(await here.approval(one))["status"] for one in first["approvals"]] == ["denied", "denied"]
        assert await here.names() == []


async def test_a_bare_yes_to_several_changes_nothing_and_lists_them(database_url: str) -> None:
    async with room(database_url, [[call("add", {"name": "a"}), call("add", {"name": "b"})], say("Done.")]) as here:
        first = await here.says("add two")
        listed = await here.says("yes")
        assert "A1" in listed["text"]
        assert "A2" in listed["text"]
        assert [(await here.approval(one))["status"] for one in first["approvals"]] == ["pending", "pending"]

        await here.says("approve A2")
        assert [(await here.approval(one))["status"] for one in first["approvals"]] == ["pending", "approved"]
        assert await here.names() == []

        await here.says("no A1")
        await here.rests(first["turn_id"])
        assert await here.names() == ["b"]


async def test_what_always_needs_confirming_needs_its_name(database_url: str) -> None:
    steps = [call("add", {"name": "a"}), say("Added."), call("drop", {"name": "a"}), say("Gone.")]
    async with room(database_url, steps) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        waiting = await here.says("drop a")
        await here.says("yes")
        assert await here.names() == ["a"]
        assert (await here.approval(waiting["approvals"][0]))["status"] == "pending"
        await here.says("A2")
        await here.rests(waiting["turn_id"])
        assert await here.names() == []


async def test_a_yes_with_nothing_pending_is_an_ordinary_message(database_url: str) -> None:
    async with room(database_url, [say("Yes what?")]) as here:
        assert (await here.says("yes"))["text"] == "Yes what?"


async def test_words_answer_a_question_even_when_they_look_like_a_refusal(database_url: str) -> None:
    async with room(database_url, [call("ask_user", {"question": "Really?"}), say("Noted.")]) as here:
        asked = await here.says("ask me")
        assert asked["question"]["question"] == "Really?"
        done = await here.says("不要")
        assert (done["turn_id"], done["text"]) == (asked["turn_id"], "Noted.")
        assert here.told()[-1] == {"status": "ok", "answer": "不要"}


async def test_undo_asks_once_and_then_undoes(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Added."), say("It is gone.")]) as here:
        before = await here.domain()
        await here.approves((await here.says("add a"))["approvals"][0])
        assert "yes" in (await here.says("/undo"))["text"]
        assert await here.names() == ["a"]
        await here.says("yes")
        assert await here.domain() == before
        await here.says("what now?")
        assert "The person undid" in str(here.model.instructions[-1])


async def test_undo_refuses_when_rows_moved_on(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Added.")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        await here.says("撤销")
        await here.sql("UPDATE scheduling_task_classes SET total_slots = 9")
        assert "不能撤销" in (await here.says("是"))["text"]
        assert await here.names() == ["a"]


async def test_a_no_to_the_undo_keeps_the_change(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Added."), say("Hm?")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        await here.says("/undo")
        await here.says("no")
        await here.says("yes")
        assert await here.names() == ["a"]


async def test_undo_leaves_cards_pending(database_url: str) -> None:
    steps = [call("add", {"name": "a"}), say("Added."), call("add", {"name": "b"}), say("Done.")]
    async with room(database_url, steps) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        waiting = await here.says("add b")
        await here.says("/undo")
        assert (await here.approval(waiting["approvals"][0]))["status"] == "pending"
        listed = await here.says("yes")
        assert "A2" in listed["text"]
        assert await here.names() == ["a"]
        await here.says("yes undo")
        assert await here.names() == []
        await here.approves(waiting["approvals"][0])
        assert await here.names() == ["b"]


async def test_unknown_commands_are_answered_with_the_list(database_url: str) -> None:
    async with room(database_url, []) as here:
        assert "/undo" in (await here.says("/frobnicate"))["text"]
        assert here.model.requests == []


async def test_the_same_message_joins_and_another_body_is_refused(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Done.")]) as here:
        first = await here.says("add a", message_id="same")
        again = await here.says("add a", message_id="same")
        assert again["turn_id"] == first["turn_id"]
        with pytest.raises(IdempotencyConflict):
            await here.says("add b", message_id="same")
        await here.says("yes", message_id="vote")
        repeated = await here.says("yes", message_id="vote")
        assert repeated["turn_id"] == first["turn_id"]
        assert await here.names() == ["a"]


async def test_a_failed_turn_can_be_tried_again_under_the_same_id(database_url: str) -> None:
    async with room(database_url, [_broken, say("Now.")]) as here:
        failed = await here.says("hello", message_id="same")
        assert (failed["status"], failed["error"]["code"]) == ("failed", "internal")
        again = await here.says("hello", message_id="same")
        assert (again["status"], again["text"]) == ("completed", "Now.")
        assert again["turn_id"] != failed["turn_id"]


def _broken(_: Any) -> Any:
    raise OSError("secret: postgres://user:password@host")


async def test_answering_anew_replaces_the_turn_and_keeps_its_writes(database_url: str) -> None:
    steps = [call("add", {"name": "a"}), say("Added."), say("Once more.")]
    async with room(database_url, steps) as here:
        first = await here.approves((await here.says("add a"))["approvals"][0])
        again = await here.says("", trigger="regenerate-message", message_id="")
        assert again["text"] == "Once more."
        assert await here.names() == ["a"]
        assert "it stands" in str(here.model.instructions[-1])
        assert len(here.model.requests[-1]) == 1
        shown = await here.runtime.conversation(here.person, "c")
        assert first["turn_id"] not in str(shown["messages"])


async def test_a_second_message_is_refused_or_interrupts(database_url: str) -> None:
    HELD["door"] = asyncio.Event()
    async with room(database_url, [call("hold", {"place": "door"}), say("At last.")]) as here:
        opened = await here.opens("wait")
        with pytest.raises(TurnInProgress):
            await here.opens("and?")
        second = await here.says("never mind", on_busy="interrupt")
        assert second["text"] == "At last."
        assert (await here.rests(opened.turn_id))["status"] == "cancelled"
