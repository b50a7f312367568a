"""Several calls in one response: what runs at once, what waits, what is shown together (DESIGN.md §4)."""

from typing import Any

import pytest

from agents.errors import ApprovalSettled, Forbidden, Invalid, NotFound, VersionConflict
from agents.requests import Decision
from tests.agents.strict_provider import call, say
from tests.room import BOB, room
from tests.tricks import TROUBLE

pytestmark = pytest.mark.anyio


async def test_a_read_after_a_write_waits_and_sees_what_the_write_made(database_url: str) -> None:
    step = [say("Look."), call("names"), call("add", {"name": "a"}), call("names")]
    async with room(database_url, [step, say("Seen.")]) as here:
        waiting = await here.says("add a and look")
        states = [part["state"] for part in waiting["parts"] if part["type"].startswith("tool-")]
        assert states == ["output-available", "approval-requested", "input-available"]
        await here.approves(waiting["approvals"][0])
        assert here.told() == [
            {"status": "ok", "names": []},
            {"status": "ok", "added": "a"},
            {"status": "ok", "names": ["a"]},
        ]


async def test_a_second_write_that_needs_the_first_is_shown_with_it_and_done_after_it(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("rename", {"old": "a", "new": "b"})]
    async with room(database_url, [step, say("Done.")]) as here:
        first, second = (await here.says("add and rename"))["approvals"]
        assert second["depends_on"] == [first["approval_id"]]
        await here.approves(second)
        assert await here.names() == []
        await here.approves(first)
        assert await here.names() == ["b"]


async def test_denying_the_first_denies_what_builds_on_it(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("rename", {"old": "a", "new": "b"}), call("add", {"name": "c"})]
    async with room(database_url, [step, say("Done.")]) as here:
        first, second, third = (await here.says("three"))["approvals"]
        await here.approves(second)
        await here.denies(first)
        await here.approves(third)
        assert await here.names() == ["c"]
        assert (await here.approval(second))["status"] == "denied"


async def test_a_write_behind_a_waiting_read_is_proposed_only_when_the_turn_goes_on(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("names"), call("add", {"name": "b"})]
    async with room(database_url, [step, say("Done.")]) as here:
        waiting = await here.says("add two")
        assert [one["arguments"]["name"] for one in waiting["approvals"]] == ["a"]
        again = await here.approves(waiting["approvals"][0])
        assert again["status"] == "waiting"
        assert [one["arguments"]["name"] for one in again["approvals"]] == ["b"]
        done = await here.approves(again["approvals"][0])
        assert (done["status"], await here.names()) == ("completed", ["a", "b"])
        assert here.told()[1] == {"status": "ok", "names": ["a"]}


@pytest.mark.parametrize("wrong", [call("rename", {"old": "nobody", "new": "b"}), call("add", {"nam": "b"})])
async def test_nobody_is_asked_when_a_call_of_the_step_would_not_work(database_url: str, wrong: Any) -> None:
    steps = [[call("add", {"name": "a"}), wrong], call("add", {"name": "a"})]
    async with room(database_url, steps) as here:
        waiting = await here.says("add a and b")
        assert len(waiting["approvals"]) == 1
        assert len(await here.rows("SELECT id FROM approvals")) == 1
        assert any("Not proposed" in str(one) for one in here.told())


async def test_a_write_that_changes_nothing_is_an_error_and_no_card(database_url: str) -> None:
    async with room(database_url, [call("change_nothing"), say("Nothing to do.")]) as here:
        assert (await here.says("do nothing"))["status"] == "completed"
        assert "nothing_changes" in here.told()[-1]


async def test_what_changed_meanwhile_makes_it_stale_and_says_what_moved(database_url: str) -> None:
    steps = [call("add", {"name": "a"}), say("Added."), call("budget", {"name": "a", "slots": 9}), say("It moved.")]
    async with room(database_url, steps) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("nine slots"))["approvals"][0]
        await here.sql("UPDATE scheduling_task_classes SET total_slots = 5, version = version + 1")
        before = await here.domain()
        await here.approves(card)
        settled = await here.approval(card)
        assert await here.domain() == before
        assert settled["status"] == "stale"
        assert [(one["column"], one["approved"], one["found"]) for one in settled["outcome"]["moved"]] == [
            ("total_slots", 4, 5)
        ]
        assert "Not executed" in here.told()[-1]


async def test_another_column_that_changed_meanwhile_does_not_matter(database_url: str) -> None:
    steps = [call("add", {"name": "a"}), say("Added."), call("budget", {"name": "a", "slots": 9}), say("Done.")]
    async with room(database_url, steps) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("nine slots"))["approvals"][0]
        await here.sql("UPDATE scheduling_task_classes SET strategy = 'rapid', version = version + 1")
        await here.approves(card)
        assert (await here.approval(card))["status"] == "executed"


async def test_edited_arguments_are_a_new_version_and_the_model_reads_what_ran(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Done.")]) as here:
        card = (await here.says("add a"))["approvals"][0]
        await here.approves(card, arguments={"name": "b"})
        edited = await here.approval(card)
        assert (edited["status"], edited["version"], edited["arguments"]) == ("pending", 2, {"name": "b"})
        with pytest.raises(VersionConflict):
            await here.approves(card)
        await here.approves(edited)
        assert await here.names() == ["b"]
        assert list(here.told()[-1])[:2] == ["edited", "arguments"]
        assert here.told()[-1]["arguments"] == {"name": "b"}


async def test_an_edit_can_be_executed_at_once(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Done.")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0], arguments={"name": "b"}, execute=True)
        assert await here.names() == ["b"]


@pytest.mark.parametrize(
    "arguments", [{"name": 7}, {"task_id": 1, "day": 2, "slot_start": 3}, {}, {"name": "a", "x": 1}]
)
async def test_arguments_that_do_not_fit_the_tool_are_refused(database_url: str, arguments: Any) -> None:
    async with room(database_url, [call("add", {"name": "a"})]) as here:
        card = (await here.says("add a"))["approvals"][0]
        with pytest.raises(Invalid) as refused:
            await here.approves(card, arguments=arguments)
        assert refused.value.said("en")[0]["field"].startswith("arguments")
        assert (await here.approval(card))["version"] == 1


async def test_an_edit_proposes_later_ones_anew(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("budget", {"name": "a", "slots": 9}), call("add", {"name": "c"})]
    async with room(database_url, [step]) as here:
        first, second, third = (await here.says("three"))["approvals"]
        await here.approves(first, arguments={"name": "b"})
        assert (await here.approval(second))["status"] == "stale"
        assert ((await here.approval(third))["status"], (await here.approval(third))["version"]) == ("pending", 1)


async def test_skipped_rows_are_left_out_with_what_depends_on_them(database_url: str) -> None:
    names = ["first", "second", "third", "fourth"]
    async with room(database_url, [call("add_several", {"names": names}), say("Done.")]) as here:
        card = (await here.says("add four"))["approvals"][0]
        for row in ("first", "nobody"):
            with pytest.raises(Invalid):
                await here.approves(card, skip=(row,))
        await here.approves(card, skip=("second",))
        assert await here.names() == ["first", "fourth"]


async def test_an_approval_changed_behind_the_servers_back_approves_nothing(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"})]) as here:
        card = (await here.says("add a"))["approvals"][0]
        await here.sql("UPDATE approvals SET arguments = :arguments", arguments='{"name":"evil"}')
        with pytest.raises(Invalid):
            await here.approves(card)
        assert await here.names() == []


async def test_an_approval_changed_after_the_yes_is_not_executed(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [step, say("One of two.")]) as here:
        first, second = (await here.says("add two"))["approvals"]
        await here.approves(first)
        values = {"arguments": '{"name":"evil"}', "id": first["approval_id"]}
        await here.sql("UPDATE approvals SET arguments = :arguments WHERE id = :id", **values)
        await here.approves(second)
        assert await here.names() == ["b"]
        assert (await here.approval(first))["status"] == "failed"


async def test_a_deactivated_user_executes_nothing(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [step, say("Nothing.")]) as here:
        waiting = await here.says("add two")
        await here.approves(waiting["approvals"][0])
        await here.sql("INSERT INTO users (id, active, created_at) VALUES ('ann', :no, CURRENT_TIMESTAMP)", no=False)
        with pytest.raises(Forbidden):
            await here.approves(waiting["approvals"][1])
        assert await here.names() == []
        await here.sql("UPDATE approvals SET status = 'approved'")
        await here.runtime.sweep()
        await here.rests(waiting["turn_id"])
        assert await here.names() == []


async def test_what_is_anothers_is_not_found(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Done.")]) as here:
        waiting = await here.says("add a")
        card = waiting["approvals"][0]
        bob = here.of(BOB)
        with pytest.raises(NotFound):
            await bob.approves(card)
        with pytest.raises(NotFound):
            await bob.approval(card)
        with pytest.raises(NotFound):
            await bob.runtime.cancel(BOB, "c")
        await here.approves(card)
        change = (await here.runtime.changes(here.person, "c", None, 10))[0][0]
        with pytest.raises(NotFound):
            await bob.runtime.revert(BOB, change["id"])
        assert await here.names() == ["a"]


async def test_decisions_together_are_all_or_none_and_a_repeated_one_counts_once(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [step, say("Done.")]) as here:
        waiting = await here.says("add two")
        one, two = (_yes(card) for card in waiting["approvals"])
        with pytest.raises(VersionConflict):
            await here.decides(one, _yes(waiting["approvals"][1], version=7))
        assert (await here.approval(waiting["approvals"][0]))["status"] == "pending"
        with pytest.raises(Invalid):
            await here.decides(one, Decision(approval_id=one.approval_id, decision="deny", expected_version=1))
        await here.decides(one, one, two)
        await here.rests(waiting["turn_id"])
        await here.decides(one)
        with pytest.raises(ApprovalSettled):
            await here.denies(waiting["approvals"][0])
        assert await here.names() == ["a", "b"]


async def test_a_card_waits_through_a_restart_with_its_ids(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"})]) as here:
        waiting = await here.says("add a")
        drawn = (await here.rows("SELECT draws FROM approvals"))[0][0]
    async with room(database_url, [say("Done.")]) as later:
        done = await later.approves(waiting["approvals"][0])
        assert done["text"] == "Done."
        assert (await later.rows("SELECT id FROM scheduling_task_classes"))[0][0] in drawn
        assert len(await later.rows("SELECT tool_call_id FROM ledger")) == 1


def _yes(card: Any, version: int = 1) -> Decision:
    return Decision(approval_id=card["approval_id"], decision="approve", expected_version=version)


@pytest.mark.parametrize("wrong", [call("frobnicate", {"name": "b"}), call("add_in_trouble", {"name": "b"})])
async def test_nobody_is_asked_when_a_call_of_the_step_breaks_or_does_not_exist(database_url: str, wrong: Any) -> None:
    TROUBLE.add("b")
    try:
        async with room(database_url, [[call("add", {"name": "a"}), wrong], say("It can't be done.")]) as here:
            done = await here.says("add a and b")
            assert (done["status"], done["approvals"]) == ("completed", [])
            assert await here.rows("SELECT id FROM approvals") == []
            assert "Not proposed" in str(here.told())
            assert "password" not in str(here.model.requests) + str(done)
    finally:
        TROUBLE.discard("b")


async def test_a_read_that_breaks_holds_up_no_card(database_url: str) -> None:
    step = [call("explode"), call("add", {"name": "a"}), call("explode")]
    async with room(database_url, [step, say("Added.")]) as here:
        done = await here.approves((await here.says("add a"))["approvals"][0])
        assert (done["status"], await here.names()) == ("completed", ["a"])
        assert ["Internal error" in str(one) for one in here.told()] == [True, False, True]
        assert "password" not in str(here.model.requests) + str(done)


async def test_text_read_and_two_writes_in_one_response_are_one_set_of_cards(database_url: str) -> None:
    step = [say("Two at once."), call("names"), call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [step, say("Done.")]) as here:
        waiting = await here.says("add two")
        assert (waiting["text"], len(waiting["approvals"])) == ("Two at once.", 2)
        assert all("depends_on" not in one for one in waiting["approvals"])
        await here.decides(*(_yes(card) for card in waiting["approvals"]))
        done = await here.rests(waiting["turn_id"])
        assert (done["status"], await here.names()) == ("completed", ["a", "b"])
