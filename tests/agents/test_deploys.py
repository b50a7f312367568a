"""A card that waits through a deploy is carried out as it was shown, or clearly not at all."""

import pytest

from agents.requests import Decision
from tests.agents.strict_provider import call, say
from tests.room import JSON, Room, room

pytestmark = pytest.mark.anyio

ADD = call("add", {"name": "a"})


async def _asked(database_url: str) -> JSON:
    async with room(database_url, [[call("names"), ADD, call("names")]]) as before:
        return (await before.says("add a"))["approvals"][0]


async def test_a_tool_that_is_gone_is_said_to_be_gone(database_url: str) -> None:
    card = await _asked(database_url)
    packs = ("tests.deployed:without_add",)
    async with room(database_url, [say("It can't be done any more."), say("Still here.")], packs=packs) as here:
        shown = await here.approval(card)
        assert (shown["tool"], shown["status"], shown["rows"][0]["label"]) == ("add", "pending", "a")
        done = await here.approves(card)
        assert await here.names() == []
        assert (done["status"], done["text"]) == ("completed", "It can't be done any more.")
        await _failed(here, card, "tool_gone", "isn't there any more")
        assert (await here.says("hello?", message_id="later"))["text"] == "Still here."


async def test_a_tool_that_is_gone_can_not_be_edited_but_denied(database_url: str) -> None:
    card = await _asked(database_url)
    packs = ("tests.deployed:without_add",)
    async with room(database_url, [say("As you wish.")], packs=packs) as here:
        done = await here.denies(card, reason="never mind")
        assert done["text"] == "As you wish."
        assert (await here.approval(card))["status"] == "denied"


async def test_a_tool_that_asks_for_something_else_by_now_is_not_executed(database_url: str) -> None:
    card = await _asked(database_url)
    packs = ("tests.deployed:with_another_add",)
    async with room(database_url, [ADD, say("Now it is right.")], packs=packs) as here:
        waiting = await here.approves(card)
        assert await here.names() == []
        await _failed(here, card, "tool_changed", "changed since")
        assert waiting["status"] == "waiting"
        await here.approves(waiting["approvals"][0])
        assert await here.names() == ["a"]


async def test_a_tool_that_changed_between_two_decisions_spoils_both(database_url: str) -> None:
    two = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [two]) as before:
        first, second = (await before.says("add two"))["approvals"]
        await before.decides(Decision(approval_id=first["approval_id"], decision="approve"))
    packs = ("tests.deployed:with_another_add",)
    async with room(database_url, [say("Neither was done.")], packs=packs) as here:
        done = await here.approves(second)
        assert await here.names() == []
        assert done["text"] == "Neither was done."
        assert [(await here.approval(one))["status"] for one in (first, second)] == ["failed", "failed"]


async def _failed(here: Room, card: JSON, code: str, said: str) -> None:
    after = await here.approval(card)
    assert (after["status"], after["outcome"]["code"], after["outcome"]["changed"]) == ("failed", code, False)
    assert any(said in str(one) for one in here.told())
