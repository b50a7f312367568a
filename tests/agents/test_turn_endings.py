"""However a turn ends: truthful, within its budget, with a history that a strict provider accepts."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel
from sqlalchemy import update

from agents.errors import ApprovalSettled
from agents.requests import Decision
from stores import turns
from tests.agents.strict_provider import call, cut_after, fail, say
from tests.room import Room, Time, room
from tests.tricks import HELD

pytestmark = pytest.mark.anyio

DOWN = ModelAPIError(model_name="scripted", message="body: {'error': 'secret upstream body'}")


async def until(condition: Any) -> None:
    """Wait until an async condition holds."""
    for _ in range(10_000):
        if await condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


async def test_partial_text_of_a_cancelled_answer_is_kept_and_marked(database_url: str) -> None:
    stuck = asyncio.Event()

    async def count(_messages: list[ModelMessage], _given: AgentInfo) -> AsyncIterator[str]:
        for word in ("one ", "two ", "three "):
            yield word
        stuck.set()
        await asyncio.Event().wait()

    async with room(database_url, [], model=FunctionModel(stream_function=count)) as here:
        opened = await here.opens("count")
        await stuck.wait()
        cancelled = await here.runtime.cancel(here.person, "c")
        assert cancelled.status == "cancelled"
        chunks = await here.chunks(opened)
        assert [one["type"] for one in chunks if one["type"] in ("abort", "finish")] == ["abort", "finish"]
        ended = await here.rests(opened.turn_id)
        assert (ended["status"], ended["partial"], ended["text"]) == ("cancelled", True, "one two three ")


async def test_cancelling_a_slow_tool_says_what_was_applied(database_url: str) -> None:
    HELD["slow"] = asyncio.Event()
    steps = [call("add", {"name": "a"}), call("hold", {"place": "slow"}), say("Hello again.")]
    async with room(database_url, steps) as here:
        waiting = await here.says("add a, then wait")
        card = waiting["approvals"][0]
        await here.decides(Decision(approval_id=card["approval_id"], decision="approve", expected_version=1))
        await until(lambda: _called(here, "hold"))
        cancelled = await here.runtime.cancel(here.person, "c")
        assert cancelled.status == "cancelled"
        assert [one["tool"] for one in cancelled.applied] == ["add"]
        assert await here.names() == ["a"]
        assert (await here.says("hello"))["text"] == "Hello again."
        assert "cancelled" in str(here.told()[-1])


async def _called(here: Room, tool: str) -> bool:
    return bool(await here.rows("SELECT 1 FROM messages WHERE body LIKE :body", body=f'%"tool_name":"{tool}"%'))


async def test_cancelling_what_waits_retires_the_card(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), say("Hello.")]) as here:
        waiting = await here.says("add a")
        cancelled = await here.runtime.cancel(here.person, "c")
        assert (cancelled.status, cancelled.applied) == ("cancelled", ())
        with pytest.raises(ApprovalSettled):
            await here.approves(waiting["approvals"][0])
        assert await here.names() == []
        assert (await here.says("hello"))["text"] == "Hello."


async def test_a_decision_after_the_time_is_too_late_even_before_the_sweeper_came(database_url: str) -> None:
    time = Time()
    async with room(database_url, [call("add", {"name": "a"}), say("Hello.")], time) as here:
        waiting = await here.says("add a")
        time.passes(901)
        with pytest.raises(ApprovalSettled) as late:
            await here.approves(waiting["approvals"][0])
        assert late.value.status == "expired"
        assert await here.names() == []
        assert (await here.rests(waiting["turn_id"]))["status"] == "completed"
        await here.says("hello")
        assert "expired" in str(here.told()[-1])


async def test_when_the_last_one_expires_the_approved_ones_run(database_url: str) -> None:
    time = Time()
    steps = [[call("add", {"name": "a"}), call("add", {"name": "b"})], say("One of two.")]
    async with room(database_url, steps, time) as here:
        waiting = await here.says("add two")
        await here.decides(_yes(waiting["approvals"][0]))
        time.passes(901)
        await here.runtime.sweep()
        ended = await here.rests(waiting["turn_id"])
        assert ended["text"] == "One of two."
        assert await here.names() == ["a"]
        assert (await here.approval(waiting["approvals"][1]))["status"] == "expired"


async def test_an_expired_card_closes_the_turn_without_asking_the_model(database_url: str) -> None:
    time = Time()
    async with room(database_url, [call("add", {"name": "a"})], time) as here:
        waiting = await here.says("add a")
        time.passes(901)
        await here.runtime.sweep()
        assert (await here.rests(waiting["turn_id"]))["status"] == "completed"
        assert len(here.model.requests) == 1


async def test_what_was_approved_must_start_in_time(database_url: str) -> None:
    """Approved by a process that then stops; another one finds it much later."""
    time = Time()
    async with room(database_url, [call("add", {"name": "a"})], time) as here:
        waiting = await here.says("add a")
    async with room(database_url, [say("Too late.")], time) as later:
        async with later.runtime.database.write() as connection:
            decided = update(turns.TABLE).values(status="running", epoch=2, decided_at=time())
            await connection.execute(decided)
        await later.sql("UPDATE approvals SET status = 'approved'")
        time.passes(901)
        await later.runtime.sweep()
        ended = await later.rests(waiting["turn_id"])
        assert await later.names() == []
        assert ended["text"] == "Too late."
        assert (await later.approval(waiting["approvals"][0]))["status"] == "expired"
        assert "expired" in later.told()[-1]


async def test_a_provider_that_fails_after_a_write_leaves_the_write_once(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "a"}), fail(DOWN), say("It is there.")]) as here:
        ended = await here.approves((await here.says("add a"))["approvals"][0])
        assert (ended["status"], ended["error"]["code"]) == ("failed", "model_unavailable")
        assert await here.names() == ["a"]
        assert (await here.says("is it there?"))["text"] == "It is there."
        assert here.told()[-1] == {"status": "ok", "added": "a"}
        assert await here.names() == ["a"]


async def test_errors_in_a_stream_have_a_stable_code_and_no_internals(database_url: str) -> None:
    async with room(database_url, [cut_after(2, say("some words that are cut"), error=DOWN)]) as here:
        chunks = await here.chunks(await here.opens("hello"))
        errors = [one for one in chunks if one["type"] == "error"]
        assert errors[0]["errorText"].startswith("model_unavailable: ")
        assert "secret" not in str(chunks)
        assert [one["type"] for one in chunks].count("text-end") == 1


@pytest.mark.parametrize(
    "arguments",
    ['{"name": "a"', "[1]", "null", '{"name": NaN}', '{"name": "a", "name": "b"}', '{"name": 1}', '{"nam": "a"}'],
)
async def test_arguments_that_cannot_be_read_are_corrected_and_never_shown(database_url: str, arguments: str) -> None:
    steps = [call("add", arguments), call("add", {"name": "right"}), say("Done."), *[say("And?")] * 2]
    async with room(database_url, steps) as here:
        waiting = await here.says("add it")
        assert [one["arguments"] for one in waiting["approvals"]] == [{"name": "right"}]
        await here.approves(waiting["approvals"][0])
        assert await here.names() == ["right"]
        for _ in range(2):
            assert (await here.says("go on"))["status"] == "completed"


@pytest.mark.parametrize("arguments", ['```json\n{"name": "a"}\n```', 'Sure: {"name": "a"} there.'])
async def test_arguments_are_repaired_where_nothing_is_lost(database_url: str, arguments: str) -> None:
    async with room(database_url, [call("add", arguments)]) as here:
        assert (await here.says("add it"))["approvals"][0]["arguments"] == {"name": "a"}


async def test_four_wrong_calls_in_a_row_end_the_turn_honestly(database_url: str) -> None:
    steps = [call("add", "[]")] * 4 + [say("I could not do it.")]
    async with room(database_url, steps) as here:
        ended = await here.says("add it")
        assert (ended["status"], ended["partial"], ended["text"]) == ("completed", True, "I could not do it.")
        assert here.model.offered[-1] == ()
        assert await here.names() == []


async def test_requests_are_limited_across_a_pause_and_a_restart(database_url: str) -> None:
    first = [call("names"), call("add", {"name": "a"})]
    async with room(database_url, first, turn_request_limit=3) as here:
        waiting = await here.says("add a")
    async with room(database_url, [call("names"), say("That is all.")], turn_request_limit=3) as again:
        ended = await again.approves(waiting["approvals"][0])
        assert await again.names() == ["a"]
        assert (ended["partial"], ended["text"]) == (True, "That is all.")
        assert [part["data"]["limit"] for part in ended["parts"] if part["type"] == "data-budget"] == []
        assert again.model.offered[-1] == ()


async def test_calls_beyond_the_budget_are_not_executed(database_url: str) -> None:
    steps = [[call("names"), call("names"), call("names")], say("Two were enough.")]
    async with room(database_url, steps, turn_tool_calls=2) as here:
        ended = await here.says("look three times")
        assert (ended["partial"], ended["text"]) == (True, "Two were enough.")
        assert "used up" in str(here.told()[-1])


async def test_forty_calls_work_when_the_settings_allow_them(database_url: str) -> None:
    async with room(database_url, [[call("names")] * 40, say("Done.")], turn_tool_calls=40) as here:
        ended = await here.says("look forty times")
        assert (ended["partial"], ended["text"]) == (False, "Done.")


async def test_tool_search_finds_what_the_selection_missed(database_url: str) -> None:
    steps = [call("search_tools", {"queries": ["rabbit hat"]}), call("rabbit"), say("Tada.")]
    async with room(database_url, steps) as here:
        assert (await here.says("surprise me"))["text"] == "Tada."
        assert "rabbit" not in here.model.offered[0]
        assert here.told()[-1] == {"status": "ok", "rabbit": True}


async def test_a_plain_exception_of_a_tool_is_told_without_its_text(database_url: str) -> None:
    async with room(database_url, [call("explode"), say("It broke.")]) as here:
        opened = await here.opens("explode")
        chunks = await here.chunks(opened)
        assert "password" not in str(chunks)
        assert "password" not in str(here.told())
        assert "reference" in here.told()[-1]
        assert (await here.rests(opened.turn_id))["text"] == "It broke."


def _yes(card: Any) -> Decision:
    return Decision(approval_id=card["approval_id"], decision="approve", expected_version=card["version"])
