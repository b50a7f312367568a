"""What becomes of the rest of a step when one of its writes isn't executed as it was shown."""

import pytest

from agents.errors import ApprovalSettled, Invalid
from agents.requests import Decision
from tests.agents.strict_provider import call, say
from tests.room import JSON, Room, room

pytestmark = pytest.mark.anyio

A, B = call("add", {"name": "a"}), call("add", {"name": "b"})
SLOTS = call("budget", {"name": "a", "slots": 9})


async def test_what_does_not_build_on_a_denied_write_happens_as_shown(database_url: str) -> None:
    async with room(database_url, [[A, B], say("One of two.")]) as here:
        first, second = (await here.says("add two"))["approvals"]
        await here.denies(first)
        await here.approves(second)
        assert await here.names() == ["b"]
        assert (await here.approval(second))["status"] == "executed"


async def test_what_does_not_build_on_a_stale_write_happens_as_shown(database_url: str) -> None:
    async with room(database_url, [A, say("Added."), [SLOTS, B], say("One of two.")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        waiting = await here.says("nine slots, and b")
        await here.sql("UPDATE scheduling_task_classes SET total_slots = 5, version = version + 1")
        await _approves_all(here, waiting)
        assert [(await here.approval(one))["status"] for one in waiting["approvals"]] == ["stale", "executed"]
        assert await here.rows("SELECT name, total_slots FROM scheduling_task_classes ORDER BY name") == [
            ("a", 5),
            ("b", 4),
        ]


async def test_what_builds_on_a_stale_write_is_stale_as_well(database_url: str) -> None:
    more = call("budget", {"name": "a", "slots": 12})
    async with room(database_url, [A, say("Added."), [SLOTS, more], say("Neither.")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        waiting = await here.says("nine slots, no, twelve")
        assert waiting["approvals"][1]["depends_on"] == [waiting["approvals"][0]["approval_id"]]
        await here.sql("UPDATE scheduling_task_classes SET total_slots = 5, version = version + 1")
        before = await here.domain()
        await _approves_all(here, waiting)
        assert await here.domain() == before
        assert [(await here.approval(one))["status"] for one in waiting["approvals"]] == ["stale", "stale"]


async def test_a_row_that_is_gone_makes_it_stale_in_the_domains_words(database_url: str) -> None:
    async with room(database_url, [A, say("Added."), SLOTS, say("It is gone.")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("nine slots"))["approvals"][0]
        await here.sql("DELETE FROM scheduling_task_classes")
        await here.approves(card)
        settled = await here.approval(card)
        assert (settled["status"], settled["outcome"]["changed"]) == ("stale", False)
        assert "there is no a" in settled["outcome"]["message"]
        assert "there is no a" in str(here.told()[-1])


async def test_the_first_one_edited_and_run_lets_the_later_one_go_on_as_proposed_anew(database_url: str) -> None:
    rename = call("rename", {"old": "a", "new": "c"})
    async with room(database_url, [A, say("Added."), [SLOTS, rename], say("Both.")]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        slots, renamed = (await here.says("nine slots and call it c"))["approvals"]
        await here.approves(slots, arguments={"name": "a", "slots": 7}, execute=True)
        again = await here.approval(renamed)
        assert again["status"] == "pending"
        await here.approves(again)
        assert await here.rows("SELECT name, total_slots FROM scheduling_task_classes") == [("c", 7)]


async def test_an_edit_that_the_domain_refuses_changes_nothing(database_url: str) -> None:
    async with room(database_url, [A, say("Added."), SLOTS]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("nine slots"))["approvals"][0]
        before = await here.domain()
        for arguments in ({"name": "nobody", "slots": 9}, {"name": "a", "slots": 4}):
            with pytest.raises(Invalid) as refused:
                await here.approves(card, arguments=arguments, execute=True)
            assert refused.value.said("en")[0]["field"] == "arguments"
        assert await here.domain() == before
        assert ((await here.approval(card))["status"], (await here.approval(card))["version"]) == ("pending", 1)


async def test_a_denied_card_can_not_be_edited(database_url: str) -> None:
    async with room(database_url, [[A, B]]) as here:
        first, _ = (await here.says("add two"))["approvals"]
        await here.denies(first)
        with pytest.raises(ApprovalSettled) as settled:
            await here.approves(first, arguments={"name": "c"})
        assert settled.value.status == "denied"


NAMES = ["first", "second", "third", "fourth"]


async def test_rows_that_were_skipped_stay_skipped_and_the_same_vote_counts_once(database_url: str) -> None:
    steps = [[call("add_several", {"names": NAMES}), B], say("Done.")]
    async with room(database_url, steps) as here:
        several, other = (await here.says("add many"))["approvals"]
        vote = Decision(approval_id=several["approval_id"], decision="approve", expected_version=1, skip=("fourth",))
        await here.decides(vote)
        shown = await here.approval(several)
        assert (shown["status"], shown["skip"]) == ("approved", ["fourth"])
        assert {row["row_id"] for row in shown["rows"]} == {"first", "second", "third"}
        await here.decides(vote)
        await here.approves(other)
        assert await here.names() == ["b", "first", "second", "third"]


async def test_the_rest_must_be_exactly_what_was_shown(database_url: str) -> None:
    """What would happen to the rest has changed meanwhile: the vote is refused, and the card still waits."""
    async with room(
        database_url, [A, say("Added."), call("shift_several", {"names": ["a"], "more": ["x", "y"]})]
    ) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("shift"))["approvals"][0]
        await here.sql("UPDATE scheduling_task_classes SET total_slots = 5, version = version + 1")
        before = await here.domain()
        with pytest.raises(Invalid) as refused:
            await here.approves(card, skip=("x",))
        assert refused.value.said("en")[0]["field"] == "skip"
        assert await here.domain() == before
        assert (await here.approval(card))["status"] == "pending"


@pytest.mark.parametrize("skip", [("second", "fourth"), ("second", "third", "fourth")], ids=["with", "named"])
async def test_skipping_all_that_is_optional_leaves_the_rest(database_url: str, skip: tuple[str, ...]) -> None:
    async with room(database_url, [call("add_several", {"names": NAMES}), say("Done.")]) as here:
        card = (await here.says("add four"))["approvals"][0]
        await here.approves(card, skip=skip)
        assert await here.names() == ["first"]


async def test_every_row_skipped_is_no_approval(database_url: str) -> None:
    async with room(database_url, [call("add_several", {"names": NAMES[1:]})]) as here:
        card = (await here.says("add three"))["approvals"][0]
        with pytest.raises(Invalid):
            await here.approves(card, skip=tuple(NAMES[1:]))
        assert (await here.approval(card))["status"] == "pending"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("arguments", '{"name":"evil"}'),
        ("arguments_hash", "0" * 64),
        ("changes", "[]"),
        ("normal_form", "[]"),
        ("change_digest", "0" * 64),
        ("card", '{"summary":{"zh":"无害","en":"Harmless"},"rows":[]}'),
        ("draws", '{"moment":"2026-12-08T08:00:00+00:00","ids":{},"call":0}'),
        ("always_confirm", False),
        ("version", 2),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
async def test_no_part_of_an_approval_can_be_changed_behind_the_servers_back(
    database_url: str, column: str, value: object
) -> None:
    drop = call("drop", {"name": "a"})
    async with room(database_url, [A, say("Added."), drop]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("drop a"))["approvals"][0]
        await here.sql(f"UPDATE approvals SET {column} = :value WHERE status = 'pending'", value=value)
        with pytest.raises(Invalid):
            await here.approves(card, version=value if column == "version" else 1)
        assert await here.names() == ["a"]


async def _approves_all(here: Room, waiting: JSON) -> JSON:
    yes = [Decision(approval_id=one["approval_id"], decision="approve") for one in waiting["approvals"]]
    await here.decides(*yes)
    return await here.rests(waiting["turn_id"])
