"""What pages list and keep in order: conversations, approvals, changes, usage; on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.agents.strict_provider import ScriptedModel, call, say
from tests.gateway.desk import JSON, Desk, desk
from tests.gateway.reading import states, text

pytestmark = pytest.mark.anyio

PLACE = call("place", {"task_id": 9, "day": 2, "slot_start": 7})
UNPLACE = call("unplace", {"task_id": 9})


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def at(database_url: str) -> AsyncIterator[Desk]:
    async with desk(database_url) as at:
        yield at


async def all_pages(at: Desk, path: str, **query: Any) -> list[JSON]:
    """Every item, by following the cursors, a few at a time."""
    items: list[JSON] = []
    cursor: dict[str, str] = {}
    for _ in range(100):
        page = await at.get(path, limit=2, **query, **cursor)
        assert len(page["items"]) <= 2
        items += page["items"]
        if page["next"] is None:
            return items
        cursor = {"cursor": page["next"]}
    raise AssertionError("the pages have no end")


async def test_conversations_are_listed_in_pages_latest_first(at: Desk) -> None:
    names = ["one", "two", "第三个", "four + 4 = f(x)|&?#", "five"]
    for name in names:
        at.time.passed_s += 1
        await at.say("/help", name)
    # Two with the same moment: the id decides, and none is lost at the edge of a page.
    await at.say("/help", "six")
    listed = await all_pages(at, "/api/conversations")
    assert [one["id"] for one in listed][2:] == list(reversed(names[:-1]))
    assert {one["id"] for one in listed[:2]} == {"five", "six"}
    assert {one["status"] for one in listed} == {"idle"}


@pytest.mark.parametrize("cursor", ["x", "MTIz", "fA==", "=", "2026-12-07T08:00:00+00:00"])
async def test_a_cursor_that_no_list_gave_out_is_refused(at: Desk, cursor: str) -> None:
    for path in ("/api/conversations", "/api/approvals"):
        answer = await at.ask("GET", path, params={"cursor": cursor})
        assert (answer.status_code, answer.json()["error"]["details"][0]["field"]) == (422, "cursor")


async def test_conversations_are_renamed_archived_found_and_deleted(at: Desk) -> None:
    for name in ("one", "two"):
        await at.say("/help", name)
    renamed = await at.ask("PATCH", "/api/conversations/one", {"title": "线性代数 100% _sure_"})
    assert renamed.json()["title"] == "线性代数 100% _sure_"
    for found in ("线性", "100%", "_sure_", "SURE"):
        assert [one["id"] for one in (await at.get("/api/conversations", search=found))["items"]] == ["one"], found
    for nothing in ("%%", "su_e", "物理"):
        assert (await at.get("/api/conversations", search=nothing))["items"] == []
    await at.ask("PATCH", "/api/conversations/two", {"archived": True})
    assert [one["id"] for one in (await at.get("/api/conversations"))["items"]] == ["one"]
    assert [one["id"] for one in (await at.get("/api/conversations", archived="true"))["items"]] == ["two"]
    assert (await at.ask("DELETE", "/api/conversations/one")).status_code == 204
    assert (await at.ask("GET", "/api/conversations/one")).status_code == 404
    assert (await at.ask("DELETE", "/api/conversations/one")).status_code == 404
    assert (await at.get("/api/conversations"))["items"] == []


async def test_a_conversation_is_exported_as_a_file(at: Desk) -> None:
    await at.say("/help")
    answer = await at.ask("GET", "/api/conversations/c1/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="conversation.json"'
    assert answer.json() == await at.get("/api/conversations/c1")


async def test_deleting_a_conversation_retires_its_card_and_keeps_its_changes(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([[PLACE], [UNPLACE]])) as at:
        first = await at.say("Place it")
        going = await at.approve(first.cards[0])
        placed = await at.schedule()
        change = (await at.get("/api/changes", conversation_id="c1"))["items"][0]["id"]
        assert (await at.ask("DELETE", "/api/conversations/c1")).status_code == 204
        assert await at.schedule() == placed
        late = await at.decide(going.cards[-1])
        assert late.status_code in (404, 409)
        assert (await at.ask("POST", f"/api/changes/{change}/revert")).status_code == 200
        assert await at.schedule() != placed


async def test_a_waiting_turn_is_told_by_the_conversation(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([[say("This would do."), PLACE], say("Placed.")])) as at:
        first = await at.say("Place it")
        waiting = await at.get("/api/conversations/c1")
        assert (waiting["status"], waiting["pending_approvals"]) == ("waiting", 1)
        assert waiting["open_turn_id"] == first.headers["x-turn-id"]
        assert [one["role"] for one in waiting["messages"]] == ["user"]
        await at.approve(first.cards[0])
        done = await at.get("/api/conversations/c1")
    assert (done["status"], done["open_turn_id"], done["pending_approvals"]) == ("idle", None, 0)
    assert states(done["messages"][1]) == ["output-available"]
    assert text(done["messages"][1]) == "This would do.\nPlaced."


async def test_a_whole_answer_has_all_that_a_card_needs(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([[say("This would do."), PLACE]])) as at:
        whole = (await at.ask("POST", "/api/conversation", at.message("Place it"))).json()
        card = await at.get(f"/api/approvals/{whole['approvals'][0]['approval_id']}")
    assert (whole["status"], whole["text"], whole["question"]) == ("waiting", "This would do.", None)
    assert whole["approvals"] == [card]
    assert whole["usage"]["requests"] == 1
    assert [part["type"] for part in whole["parts"]][:2] == ["data-turn", "step-start"]


async def test_approvals_are_listed_by_state_and_conversation(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([[PLACE], say("It stays."), [PLACE]])) as at:
        first = await at.say("Place it", "one")
        await at.approve(first.cards[0], "deny", reason="not now")
        at.time.passed_s += 1
        second = await at.say("Place it", "two")
        listed = await all_pages(at, "/api/approvals")
        assert [one["status"] for one in listed] == ["pending", "denied"]
        assert listed[1]["decision"]["reason"] == "not now"
        pending = await at.get("/api/approvals", status="pending")
        assert [one["approval_id"] for one in pending["items"]] == [second.cards[0]["approval_id"]]
        assert len((await at.get("/api/approvals", conversation_id="one"))["items"]) == 1
        unknown = await at.ask("GET", "/api/approvals", params={"status": "open"})
    assert unknown.status_code == 422


async def test_a_change_is_reverted_and_its_revert_too(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([[PLACE], say("Placed.")])) as at:
        before = await at.schedule()
        first = await at.say("Place it")
        await at.approve(first.cards[0])
        placed = await at.schedule()
        made = (await at.get("/api/changes", conversation_id="c1"))["items"]
        assert [(one["tool"], one["reverted_by"]) for one in made] == [("place", None)]
        assert made[0]["rows"] == first.cards[0]["rows"]
        undone = (await at.ask("POST", f"/api/changes/{made[0]['id']}/revert")).json()
        assert await at.schedule() == before
        redone = await at.ask("POST", f"/api/changes/{undone['id']}/revert")
        assert redone.status_code == 200
        assert await at.schedule() == placed
        listed = await all_pages(at, "/api/changes", conversation_id="c1")
    assert [one["reverts"] for one in listed] == [undone["id"], made[0]["id"], None]


async def test_usage_is_counted_by_day(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([say("Hello."), say("Hello.")])) as at:
        await at.say("Hello")
        await at.say("Hello")
        used = (await at.get("/api/usage"))["items"]
        none = (await at.get("/api/usage", **{"from": "2026-01-01", "to": "2026-01-31"}))["items"]
    assert [(day["day"], day["turns"], day["requests"]) for day in used] == [("2026-12-07", 2, 2)]
    assert used[0]["output_tokens"] > 0
    assert none == []


async def test_the_timetable_is_shown_by_days(at: Desk) -> None:
    week = await at.get("/api/schedule")
    assert (week["from"], week["to"], week["today"]) == ("2026-12-07", "2026-12-13", "2026-12-07")
    assert {item["date"] for item in week["items"]} <= {day["date"] for day in week["days"]}
    day = await at.get("/api/schedule", **{"from": "2026-12-08", "to": "2026-12-08"})
    assert {item["date"] for item in day["items"]} == {"2026-12-08"}
    for query in ({"from": "2026-12-08", "to": "2026-12-07"}, {"from": "Tuesday"}, {"to": "2026-13-01"}, {"to": "0"}):
        assert (await at.ask("GET", "/api/schedule", params=query)).status_code == 422


async def test_the_selection_says_why(at: Desk) -> None:
    told = await at.get("/api/toolsets/selection", assistant="scheduling", text="帮我把线代复习安排到周二下午")
    assert "schedule" in told["offered"]
    assert any(reason.startswith("message: ") for reason in told["reasons"]["schedule"])
    assert not set(told["offered"]) & set(told["deferred"])


async def test_who_may_be_talked_to_is_told_in_both_languages(at: Desk) -> None:
    told = {
        locale: (await at.ask("GET", "/api/assistants", headers={"accept-language": locale})).json()["items"]
        for locale in ("zh", "en")
    }
    assert [one["name"] for one in told["zh"]] == [one["name"] for one in told["en"]]
    assert told["zh"][0]["greeting"] != told["en"][0]["greeting"]


async def test_a_server_without_its_tables_is_alive_and_not_ready(empty_database_url: str) -> None:
    async with desk(empty_database_url, timetable=False) as at:
        assert (await at.get("/healthz")) == {"status": "ok"}
        answer = await at.ask("GET", "/readyz")
    assert answer.status_code == 503
    assert answer.json()["error"]["details"]["checks"] == {"database": "ok", "migrations": "failed"}
