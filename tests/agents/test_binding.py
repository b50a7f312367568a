"""What was approved, by whom, under which tool: that and nothing else is executed, once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import update

from agents.errors import ApprovalSettled, Invalid, NotFound
from agents.requests import Decision
from stores import turns
from tests.agents.strict_provider import call, say
from tests.room import BOB, JSON, START, Room, room
from tests.tricks import HELD, REACHED

pytestmark = pytest.mark.anyio

ALTERED = {
    "arguments": '{"name":"evil"}',
    "changes": "[]",
    "draws": '{"moment":"2026-12-07T08:00:00+00:00","ids":{},"call":0}',
    "card": '{"summary":{"zh":"harmless","en":"harmless"},"rows":[]}',
    "tool": "drop",
    "normal_form": "[]",
    "change_digest": "another",
    "tool_call_id": "another",
    "expires_at": "2030-01-01 00:00:00.000000",
}
LATER = ("tests.later_tricks:build_pack",)


async def _alter(here: Room, card: JSON, column: str) -> None:
    if column == "expires_at":
        table = turns.APPROVALS
        async with here.runtime.database.write() as connection:
            await connection.execute(update(table).values(expires_at=START.replace(year=2030)))
        return
    await here.sql(
        f"UPDATE approvals SET {column} = :value WHERE id = :id", value=ALTERED[column], id=card["approval_id"]
    )


@pytest.mark.parametrize("column", ALTERED)
async def test_what_is_not_stored_as_it_was_shown_can_not_be_approved(database_url: str, column: str) -> None:
    async with room(database_url, [call("add", {"name": "a"})]) as here:
        card = (await here.says("add a"))["approvals"][0]
        await _alter(here, card, column)
        with pytest.raises(Invalid, match="isn't stored as it was shown"):
            await here.approves(card)
        assert await here.names() == []


@pytest.mark.parametrize("column", ["changes", "draws", "change_digest", "tool"])
async def test_what_is_altered_after_the_yes_is_not_executed(database_url: str, column: str) -> None:
    step = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [step, say("One of two.")]) as here:
        first, second = (await here.says("add two"))["approvals"]
        await here.approves(first)
        await _alter(here, first, column)
        await here.approves(second)
        assert await here.names() == ["b"]
        assert (await here.approval(first))["outcome"]["changed"] is False
        assert "Not executed" in here.told()[-2]


async def test_a_tool_that_changed_since_fails_clearly(database_url: str) -> None:
    both = [call("add", {"name": "a"}), call("add_several", {"names": ["b"]})]
    async with room(database_url, [both]) as here:
        cards = (await here.says("add two"))["approvals"]
    async with room(database_url, [say("One of two."), say("Yes.")], packs=LATER) as later:
        await later.approves(cards[0])
        done = await later.approves(cards[1])
        assert await later.names() == ["b"]
        settled = await later.approval(cards[0])
        assert (settled["status"], settled["outcome"]["code"]) == ("failed", "tool_changed")
        assert "The tool add changed since" in str(later.told()[0])
        states: JSON = {part["type"]: part.get("state") for part in done["parts"]}
        assert (states["tool-add"], states["tool-add_several"]) == ("output-error", "output-available")
        await later.says("are you sure?", message_id="later")


async def test_a_tool_that_is_gone_fails_clearly(database_url: str) -> None:
    step = [call("drop", {"name": "a"}), call("names"), call("rename", {"old": "a", "new": "b"})]
    async with room(database_url, [call("add", {"name": "a"}), say("Added."), step]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("drop it"))["approvals"][0]
    async with room(database_url, [say("I can't any more."), say("Yes.")], packs=LATER) as later:
        done = await later.approves(card)
        assert (done["status"], await later.names()) == ("completed", ["a"])
        settled = await later.approval(card)
        assert (settled["status"], settled["outcome"]["code"]) == ("failed", "tool_gone")
        assert all("isn't there any more" in one for one in later.told()[-3:])
        await later.says("are you sure?", message_id="later")


async def test_a_denial_is_told_as_a_denial_when_its_tool_is_gone(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Added."), call("drop", {"name": "a"})]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("drop it"))["approvals"][0]
    async with room(database_url, [say("It stays.")], packs=LATER) as later:
        await later.denies(card, reason="keep it")
        assert "keep it" in later.told()[-1]
        assert (await later.approval(card))["status"] == "denied"


async def test_who_was_deactivated_meanwhile_executes_nothing_and_the_truth_is_told(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [step, say("Neither.")]) as here:
        waiting = await here.says("add two")
        first, second = waiting["approvals"]
        await here.approves(first)
        await here.sql("INSERT INTO users (id, active, created_at) VALUES ('ann', :no, CURRENT_TIMESTAMP)", no=False)
        here.time.passes(901)
        await here.runtime.sweep()
        done = await here.rests(waiting["turn_id"])
        assert (done["status"], await here.names()) == ("completed", [])
        assert (await here.approval(first))["outcome"]["code"] == "forbidden"
        assert ["may no longer do this" in here.told()[0], "expired" in here.told()[1]] == [True, True]
        assert (await here.approval(second))["status"] == "expired"


Foreign = Callable[[Room, JSON], Awaitable[object]]
FOREIGN: dict[str, Foreign] = {
    "approve": lambda bob, ids: bob.decides(_yes(ids)),
    "edit": lambda bob, ids: bob.decides(_yes(ids, arguments={"name": "b"}, execute=True)),
    "deny": lambda bob, ids: bob.decides(Decision(approval_id=ids["approval_id"], decision="deny")),
    "approval": lambda bob, ids: bob.approval(ids),
    "result": lambda bob, ids: bob.rests(ids["turn_id"]),
    "answer": lambda bob, ids: bob.runtime.answer(BOB, ids["question_id"], "yes"),
    "rejoin": lambda bob, ids: bob.runtime.rejoin(BOB, "c", 0),
    "cancel": lambda bob, ids: bob.runtime.cancel(BOB, "c"),
    "revert": lambda bob, ids: bob.runtime.revert(BOB, ids["change_id"]),
    "changes": lambda bob, ids: bob.runtime.changes(BOB, "c", None, 10),
    "conversation": lambda bob, ids: bob.runtime.conversation(BOB, "c"),
    "rename": lambda bob, ids: bob.runtime.update_conversation(BOB, "c", title="mine", archived=None),
    "delete": lambda bob, ids: bob.runtime.delete_conversation(BOB, "c"),
    "regenerate": lambda bob, ids: bob.opens("", trigger="regenerate-message"),
}


async def test_what_is_anothers_is_not_found_by_any_way(database_url: str) -> None:
    asking = call("ask_user", {"question": "More?"})
    steps = [call("add", {"name": "a"}), say("Added."), asking, call("add", {"name": "b"})]
    async with room(database_url, steps) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        (change,), _ = await here.runtime.changes(here.person, "c", None, 10)
        asked = await here.says("and?")
        question = asked["question"]["question_id"]
        bob = here.of(BOB)
        ids: JSON = {"question_id": question, "change_id": change["id"], "turn_id": asked["turn_id"]}
        with pytest.raises(NotFound):
            await FOREIGN["answer"](bob, ids)
        card = (await here.says("yes, b"))["approvals"][0]
        before = await here.domain()
        for way in FOREIGN.values():
            with pytest.raises(NotFound):
                await way(bob, ids | card)
        for after in (0, 1):
            assert [batch async for batch in here.runtime.follow("bob", card["turn_id"], after)] == []
        assert await here.runtime.continued(BOB, card["turn_id"]) is None
        found = await here.runtime.approvals(BOB, status=None, conversation_id="c", cursor=None, limit=10)
        assert found == ([], None)
        assert await here.domain() == before
        assert (await here.approval(card))["version"] == 1


async def test_together_is_all_or_none_when_one_of_them_has_expired(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), call("add", {"name": "b"})]) as here:
        first = (await here.says("add a"))["approvals"][0]
        here.time.passes(600)
        second = (await here.says("add b", conversation_id="elsewhere"))["approvals"][0]
        here.time.passes(600)
        with pytest.raises(ApprovalSettled, match="expired"):
            await here.decides(_yes(second), _yes(first))
        assert (await here.approval(second))["status"] == "pending"
        assert (await here.approval(first))["status"] == "expired"
        assert await here.names() == []


async def test_a_run_that_is_played_again_answers_from_the_ledger(database_url: str) -> None:
    HELD["door"], REACHED["door"] = asyncio.Event(), asyncio.Event()
    step = [call("add", {"name": "a"}), call("hold", {"place": "door"})]
    async with room(database_url, [step]) as here, room(database_url, [say("Done.")]) as other:
        card = (await here.says("add a, and wait"))["approvals"][0]
        await here.decides(_yes(card))
        await REACHED["door"].wait()
        async with here.runtime.database.write() as connection:
            await connection.execute(update(turns.TABLE).values(lease_until=START.replace(year=2020)))
        await other.runtime.sweep()
        HELD["door"].set()
        done = await other.rests(card["turn_id"])
        assert (done["status"], done["text"]) == ("completed", "Done.")
        assert await other.names() == ["a"]
        assert other.told() == [{"status": "ok", "added": "a"}, {"status": "ok"}]
        written = await other.rows("SELECT tool_call_id FROM ledger WHERE effect = 'write'")
        assert written == [(card["tool_call_id"],)]


async def test_the_id_that_was_drawn_at_the_proposal_is_the_rows_id(database_url: str) -> None:
    step = [call("add", {"name": "a"}), call("add", {"name": "b"})]
    async with room(database_url, [step, say("Done.")]) as here:
        cards = (await here.says("add two"))["approvals"]
        drawn = await here.rows("SELECT draws FROM approvals ORDER BY position")
        for one in cards:
            await here.approves(one)
        ids = await here.rows("SELECT id FROM scheduling_task_classes ORDER BY name")
        assert [row_id in str(draws) for (row_id,), (draws,) in zip(ids, drawn, strict=True)] == [True, True]


def _yes(card: JSON, **more: Any) -> Decision:
    return Decision(approval_id=card["approval_id"], decision="approve", expected_version=1, **more)
