"""Edited arguments: a new version of the same approval, validated and proposed anew, or a refusal that names why."""

from typing import Any

import pytest

from agents.errors import ApprovalSettled, Invalid
from agents.requests import Decision
from tests.agents.strict_provider import call, say
from tests.room import JSON, Room, room

pytestmark = pytest.mark.anyio

B_WITH_NINE = [call("add", {"name": "b"}), call("budget", {"name": "b", "slots": 9})]


async def _unchanged(here: Room, card: JSON) -> None:
    now = await here.approval(card)
    assert (now["status"], now["version"]) == ("pending", 1)
    assert (now["arguments"], now["rows"]) == (card["arguments"], card["rows"])


async def test_an_edit_keeps_the_earlier_version_and_who_changed_it(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Done.")]) as here:
        card = (await here.says("add a"))["approvals"][0]
        await here.approves(card, arguments={"name": "b"})
        edited = await here.approval(card)
        assert [(one["version"], one["arguments"], one["edited_by"]) for one in edited["versions"]] == [
            (1, {"name": "a"}, "ann")
        ]
        await here.approves(edited, arguments={"name": "c"}, execute=True)
        assert await here.names() == ["c"]
        told = here.told()[-1]
        assert list(told)[:2] == ["edited", "arguments"]
        assert "The person edited" in told["edited"]
        assert told["arguments"] == {"name": "c"}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"name": "b", "slots": "many"}, "arguments.slots"), ({"name": "b", "slots": 3, "more": 1}, "arguments.more")],
)
async def test_a_refused_edit_names_its_field_and_changes_nothing(
    database_url: str, arguments: JSON, field: str
) -> None:
    async with room(database_url, [B_WITH_NINE]) as here:
        card = (await here.says("add b with nine"))["approvals"][1]
        with pytest.raises(Invalid) as refused:
            await here.approves(card, arguments=arguments, execute=True)
        assert refused.value.said("en")[0]["field"] == field
        await _unchanged(here, card)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"name": "nobody", "slots": 9}, "there is no nobody"), ({"name": "b", "slots": 4}, "Nothing would change")],
)
async def test_an_edit_that_the_domain_refuses_says_why(database_url: str, arguments: JSON, words: str) -> None:
    async with room(database_url, [B_WITH_NINE]) as here:
        card = (await here.says("add b with nine"))["approvals"][1]
        with pytest.raises(Invalid) as refused:
            await here.approves(card, arguments=arguments, execute=True)
        assert words in refused.value.said("en")[0]["message"]
        await _unchanged(here, card)


async def test_the_same_edit_again_is_the_same_vote_however_it_is_written(database_url: str) -> None:
    async with room(database_url, [B_WITH_NINE, say("Done.")]) as here:
        first, card = (await here.says("add b with nine"))["approvals"]
        edit: JSON = {"arguments": {"name": "b", "slots": "7"}, "execute": True}
        await here.decides(_yes(card, **edit))
        await here.decides(_yes(card, **edit))
        await here.approves(first)
        await here.decides(_yes(card, **edit))
        assert await here.rows("SELECT name, total_slots FROM scheduling_task_classes") == [("b", 7)]
        for other in ({"name": "b", "slots": 8}, {"name": "b"}):
            with pytest.raises(ApprovalSettled):
                await here.decides(_yes(card, arguments=other, execute=True))


async def test_a_later_card_that_shows_the_same_as_before_keeps_its_yes(database_url: str) -> None:
    step = [call("budget", {"name": "a", "slots": 7}), call("rename", {"old": "a", "new": "b"})]
    async with room(database_url, [call("add", {"name": "a"}), say("Added."), step, say("Done.")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        first, second = (await here.says("seven slots and another name"))["approvals"]
        await here.approves(second)
        await here.approves(first, arguments={"name": "a", "slots": 8})
        assert ((await here.approval(second))["status"], (await here.approval(second))["version"]) == ("approved", 1)
        await here.approves(await here.approval(first))
        assert await here.rows("SELECT name, total_slots FROM scheduling_task_classes") == [("b", 8)]


async def test_a_later_card_that_shows_something_else_has_to_be_decided_anew(database_url: str) -> None:
    step = [
        call("add", {"name": "a"}),
        call("budget", {"name": "a", "slots": 7}),
        call("budget", {"name": "a", "slots": 9}),
    ]
    async with room(database_url, [step, say("Done.")]) as here:
        first, second, third = (await here.says("seven, then nine"))["approvals"]
        await here.decides(_yes(first), _yes(third))
        await here.decides(_yes(second, arguments={"name": "a", "slots": 8}, execute=True))
        again = await here.approval(third)
        assert (again["status"], again["version"]) == ("pending", 2)
        assert again["rows"][0]["before"] == "total_slots: 8"
        await here.approves(again)
        assert await here.rows("SELECT total_slots FROM scheduling_task_classes") == [(9,)]


async def test_what_an_edit_builds_on_is_told_anew(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("add", {"name": "b"}), call("budget", {"name": "a", "slots": 9})]
    async with room(database_url, [step, say("Done.")]) as here:
        first, second, third = (await here.says("two, and nine for a"))["approvals"]
        assert third["depends_on"] == [first["approval_id"]]
        await here.approves(third, arguments={"name": "b", "slots": 9}, execute=True)
        assert (await here.approval(third))["depends_on"] == [second["approval_id"]]
        await here.denies(first)
        await here.approves(second)
        assert await here.rows("SELECT name, total_slots FROM scheduling_task_classes") == [("b", 9)]


async def test_what_was_denied_can_not_be_edited(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Not done.")]) as here:
        card = (await here.says("add a"))["approvals"][0]
        await here.denies(card)
        for arguments in ({"name": "b"}, {"name": "a"}):
            with pytest.raises(ApprovalSettled, match="denied"):
                await here.approves(card, arguments=arguments, execute=True)
        assert await here.names() == []


async def test_a_card_can_be_edited_beside_those_whose_tool_is_gone_or_another(database_url: str) -> None:
    step = [
        call("add", {"name": "a"}),
        call("rename", {"old": "a", "new": "b"}),
        call("add_several", {"names": ["c"]}),
        call("budget", {"name": "b", "slots": 9}),
    ]
    async with room(database_url, [step]) as here:
        cards = (await here.says("four"))["approvals"]
    async with room(database_url, [say("One of four.")], packs=("tests.later_tricks:build_pack",)) as later:
        for one in (cards[0], cards[1]):
            with pytest.raises(Invalid, match="gone or has changed"):
                await later.approves(one, arguments={"name": "z", "colour": "red"})
        await later.approves(cards[2], arguments={"names": ["d"]}, execute=True)
        for one in (cards[0], cards[1], cards[3]):
            await later.approves(one)
        assert await later.names() == ["d"]
        assert [(await later.approval(one))["status"] for one in cards] == ["failed", "failed", "executed", "failed"]


def _yes(card: JSON, **more: Any) -> Decision:
    return Decision(approval_id=card["approval_id"], decision="approve", expected_version=card["version"], **more)
