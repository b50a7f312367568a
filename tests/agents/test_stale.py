"""The world moved between the card and the yes: nothing is written, and what moved is told."""

import pytest

from tests.agents.strict_provider import call, say
from tests.room import JSON, Room, room

pytestmark = pytest.mark.anyio

ADDED = [call("add", {"name": "a"}), say("Added.")]


async def _elsewhere(here: Room, text: str) -> None:
    """Something asked for and approved in another conversation."""
    waiting = await here.says(text, conversation_id="elsewhere")
    await here.approves(waiting["approvals"][0])


async def _cards(here: Room, text: str) -> list[JSON]:
    await here.approves((await here.says("add a"))["approvals"][0])
    return (await here.says(text))["approvals"]


async def test_what_another_conversation_changed_is_told_and_an_independent_call_still_runs(database_url: str) -> None:
    steps = [
        *ADDED,
        [call("budget", {"name": "a", "slots": 9}), call("add", {"name": "b"})],
        call("budget", {"name": "a", "slots": 5}),
        say("Five."),
        say("One of two."),
    ]
    async with room(database_url, steps) as here:
        first, second = await _cards(here, "nine slots, and add b")
        await _elsewhere(here, "five slots")
        await here.approves(second)
        await here.approves(first)

        assert await here.rows("SELECT name, total_slots FROM scheduling_task_classes ORDER BY name") == [
            ("a", 5),
            ("b", 4),
        ]
        outcome = (await here.approval(first))["outcome"]
        assert (outcome["code"], outcome["changed"]) == ("stale", False)
        assert [(one["column"], one["approved"], one["found"]) for one in outcome["moved"]] == [("total_slots", 4, 5)]
        told = here.told()[-2:]
        assert "Not executed" in told[0]
        assert told[1] == {"status": "ok", "added": "b"}


async def test_a_row_that_is_gone_is_told_in_the_domains_own_words(database_url: str) -> None:
    steps = [
        *ADDED,
        call("budget", {"name": "a", "slots": 9}),
        call("drop", {"name": "a"}),
        say("Dropped."),
        say("It is gone."),
    ]
    async with room(database_url, steps) as here:
        (card,) = await _cards(here, "nine slots")
        await _elsewhere(here, "drop a")
        await here.approves(card)
        settled = await here.approval(card)
        assert await here.names() == []
        assert settled["status"] == "stale"
        assert "there is no a" in settled["outcome"]["message"]
        assert "there is no a" in here.told()[-1]


async def test_a_row_is_deleted_only_as_it_was_shown(database_url: str) -> None:
    steps = [*ADDED, call("drop", {"name": "a"}), say("It moved.")]
    async with room(database_url, steps) as here:
        (card,) = await _cards(here, "drop a")
        await here.sql("UPDATE scheduling_task_classes SET strategy = 'rapid', version = version + 1")
        await here.approves(card)
        assert (await here.approval(card))["status"] == "stale"
        assert await here.names() == ["a"]


async def test_what_builds_on_a_stale_call_is_not_done_either(database_url: str) -> None:
    steps = [
        *ADDED,
        [call("rename", {"old": "a", "new": "b"}), call("budget", {"name": "b", "slots": 9})],
        call("drop", {"name": "a"}),
        say("Dropped."),
        say("Neither."),
    ]
    async with room(database_url, steps) as here:
        cards = await _cards(here, "rename and budget")
        await _elsewhere(here, "drop a")
        for one in cards:
            await here.approves(one)
        assert [(await here.approval(one))["status"] for one in cards] == ["stale", "stale"]
        assert await here.names() == []
