"""Undoing by words: one change after the other, the latest first, until there is none."""

import pytest

from agents.errors import NothingToUndo
from tests.agents.strict_provider import call, say
from tests.room import room

pytestmark = pytest.mark.anyio

ADDED = say("Added.")


async def test_undoing_twice_undoes_two_changes_and_then_there_is_none(database_url: str) -> None:
    steps = [call("add", {"name": "a"}), ADDED, call("add", {"name": "b"}), ADDED]
    async with room(database_url, steps) as here:
        before = await here.domain()
        for name in ("a", "b"):
            await here.approves((await here.says(f"add {name}"))["approvals"][0])
        await here.says("撤销")
        await here.says("是")
        assert await here.names() == ["a"]
        await here.says("undo")
        await here.says("yes")
        assert await here.domain() == before
        assert (await here.says("/undo"))["text"] == "There is no change to undo in this conversation."


async def test_a_change_is_undone_once(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), ADDED]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        change = (await here.runtime.changes(here.person, "c", None, 10))[0][0]
        await here.says("/undo")
        await here.runtime.revert(here.person, change["id"])
        after = await here.domain()
        assert "There is no change" in (await here.says("yes"))["text"]
        with pytest.raises(NothingToUndo):
            await here.runtime.revert(here.person, change["id"])
        assert await here.domain() == after


async def test_an_undo_that_was_asked_for_is_forgotten_when_something_else_is_said(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), ADDED, say("It rains."), say("Yes what?")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        await here.says("/undo")
        await here.says("how is the weather?")
        assert (await here.says("yes"))["text"] == "Yes what?"
        assert await here.names() == ["a"]
