"""Rows that are left out: exactly the rest happens, and is what the yes binds."""

import pytest

from agents.errors import ApprovalSettled, Invalid
from agents.requests import Decision
from tests.agents.strict_provider import call, say
from tests.room import JSON, room

pytestmark = pytest.mark.anyio

NAMES = ["first", "second", "third", "fourth"]


def _without(card: JSON, *skip: str) -> Decision:
    return Decision(approval_id=card["approval_id"], decision="approve", expected_version=card["version"], skip=skip)


async def test_the_rest_is_a_version_of_its_own_and_shown_as_it_happened(database_url: str) -> None:
    async with room(database_url, [call("add_several", {"names": NAMES}), say("Done.")]) as here:
        card = (await here.says("add four"))["approvals"][0]
        await here.approves(card, skip=("fourth",))
        done = await here.approval(card)
        assert await here.names() == ["first", "second", "third"]
        assert (done["status"], done["version"], done["skip"]) == ("executed", 2, ["fourth"])
        assert {row["row_id"] for row in done["rows"]} == {"first", "second", "third"}
        (change,), _ = await here.runtime.changes(here.person, "c", None, 10)
        assert {row["row_id"] for row in change["rows"]} == {"first", "second", "third"}


async def test_nothing_is_left_when_all_rows_are_skipped(database_url: str) -> None:
    async with room(database_url, [call("add_several", {"names": NAMES[1:]})]) as here:
        card = (await here.says("add three"))["approvals"][0]
        with pytest.raises(Invalid, match="Nothing would change"):
            await here.approves(card, skip=("second", "fourth"))
        assert ((await here.approval(card))["status"], (await here.approval(card))["version"]) == ("pending", 1)


async def test_rows_and_arguments_are_not_changed_at_once(database_url: str) -> None:
    async with room(database_url, [call("add_several", {"names": NAMES})]) as here:
        card = (await here.says("add four"))["approvals"][0]
        with pytest.raises(Invalid, match="skip"):
            await here.approves(card, skip=("fourth",), arguments={"names": ["fourth", "fifth"]}, execute=True)
        assert (await here.approval(card))["version"] == 1


async def test_the_same_rows_again_are_the_same_vote_and_others_come_too_late(database_url: str) -> None:
    steps = [[call("add_several", {"names": NAMES}), call("add", {"name": "a"})], say("Done.")]
    async with room(database_url, steps) as here:
        card, other = (await here.says("add five"))["approvals"]
        await here.decides(_without(card, "second"))
        await here.decides(_without(card, "second"))
        await here.decides(_without(card, "second", "third"))
        for row in ("fourth", "third"):
            with pytest.raises(ApprovalSettled):
                await here.decides(_without(card, row))
        await here.approves(other)
        await here.decides(_without(card, "second"))
        assert await here.names() == ["a", "first", "fourth"]


async def test_what_comes_after_skipped_rows_is_proposed_without_them(database_url: str) -> None:
    step = [
        call("add_several", {"names": NAMES}),
        call("budget", {"name": "fourth", "slots": 9}),
        call("budget", {"name": "first", "slots": 9}),
    ]
    async with room(database_url, [step, say("Done.")]) as here:
        card, second, third = (await here.says("add four, with nine"))["approvals"]
        await here.decides(_without(card, "fourth"))
        assert (await here.approval(second))["status"] == "stale"
        assert (await here.approval(third))["status"] == "pending"
        await here.approves(third)
        assert await here.names() == ["first", "second", "third"]


async def test_rows_can_be_skipped_behind_a_denied_call(database_url: str) -> None:
    steps = [[call("add", {"name": "a"}), call("add_several", {"names": NAMES})], say("Done.")]
    async with room(database_url, steps) as here:
        first, second = (await here.says("add five"))["approvals"]
        await here.denies(first)
        await here.approves(second, skip=("fourth",))
        assert await here.names() == ["first", "second", "third"]
