"""Every error of the table, reached by a real request, in both languages; and nothing has changed after it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.errors import ModelSettingError
from app.settings import load_settings
from app.wiring import build
from gateway.errors import TABLE
from tests.agents.strict_provider import ScriptedModel, call, say
from tests.gateway.desk import JSON, WAIT_S, Answer, Desk, decision, desk, desks
from tests.gateway.held import HeldModel
from tests.gateway.small import SECRET

pytestmark = pytest.mark.anyio

PLACE = call("place", {"task_id": 9, "day": 2, "slot_start": 7})
MOVE = call("move", {"task_id": 9, "new_day": 5, "new_slot_start": 5})
SAY = "/api/conversation/stream"

Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
async def asked(database_url: str) -> AsyncIterator[tuple[Desk, Answer]]:
    """A desk with a card on it."""
    async with desk(database_url, ScriptedModel([[PLACE], say("Placed."), [MOVE], say("Moved.")])) as at:
        yield at, await at.say("Place linear algebra")


async def refusal(ask: Ask, status: int, code: str) -> JSON:
    """The error, which must be the same in both languages but for its words."""
    told = {
        locale: await ask(headers={"accept-language": locale, "content-type": "application/json"})
        for locale in ("zh-CN", "en-GB")
    }
    errors = {locale: answer.json()["error"] for locale, answer in told.items()}
    for answer in told.values():
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert is_chinese(errors["zh-CN"]["message"])
    assert not is_chinese(errors["en-GB"]["message"])
    return errors["en-GB"]


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


def asking(at: Desk, method: str, path: str, body: object = None, **more: Any) -> Ask:
    def ask(**headers: Any) -> Awaitable[httpx.Response]:
        return at.ask(method, path, body, **headers, **more)

    return ask


async def test_without_a_token_nobody_is_let_in(database_url: str) -> None:
    async with desks(database_url, "alice") as (alice,):
        alice.headers = {}
        answer = await alice.ask("GET", "/api/conversations")
        assert answer.headers["www-authenticate"] == "Bearer"
        await refusal(asking(alice, "POST", SAY, alice.message("Hello")), 401, "unauthenticated")


async def test_pages_of_others_and_rights_that_are_missing_are_forbidden(database_url: str) -> None:
    async with desks(database_url, "alice") as (alice,):
        query = {"assistant": "scheduling", "text": "x"}
        await refusal(asking(alice, "GET", "/api/toolsets/selection", params=query), 403, "forbidden")
        alice.headers = {**alice.headers, "origin": "https://evil.example"}
        await refusal(asking(alice, "POST", SAY, alice.message("Hello")), 403, "cross_site")


async def test_a_local_server_answers_only_to_its_own_name(database_url: str) -> None:
    async with desk(database_url) as at:
        at.headers = {"host": "rebound.example"}
        await refusal(asking(at, "GET", "/api/conversations"), 403, "forbidden")


async def test_what_is_not_there_is_not_found(asked: tuple[Desk, Answer]) -> None:
    at, _ = asked
    for method, path, body in (
        ("GET", "/api/conversations/none", None),
        ("GET", "/api/conversation/none/stream", None),
        ("POST", "/api/conversation/none/cancel", None),
        ("POST", "/api/conversation/none/regenerate", None),
        ("POST", SAY, {"id": "none", "trigger": "regenerate-message"}),
        ("GET", "/api/approvals/none", None),
        ("POST", "/api/approvals/none/decision", {"decision": "deny", "expected_version": 1}),
        ("POST", "/api/questions/none/answer", {"text": "x"}),
        ("POST", "/api/changes/none/revert", None),
        ("GET", "/api/changes?conversation_id=none", None),
        ("GET", "/api/packs/none/views/none", None),
        ("GET", "/api/packs/scheduling/views/none", None),
        ("GET", "/nowhere", None),
    ):
        await refusal(asking(at, method, path, body), 404, "not_found")
    await refusal(asking(at, "PUT", "/api/conversations"), 405, "method_not_allowed")


async def test_a_late_decision_says_how_it_ended(asked: tuple[Desk, Answer]) -> None:
    at, first = asked
    card = first.cards[0]
    await at.approve(card)
    path = f"/api/approvals/{card['approval_id']}/decision"
    error = await refusal(asking(at, "POST", path, decision(card, "deny")), 409, "approval_settled")
    assert error["details"] == {"status": "executed"}
    again = await at.ask("POST", path, {"decision": "approve", "expected_version": 77})
    assert (again.status_code, again.json()["status"]) == (200, "executed")
    assert len((await at.get("/api/changes", conversation_id="c1"))["items"]) == 1


async def test_an_expired_approval_is_settled(asked: tuple[Desk, Answer]) -> None:
    at, first = asked
    before = await at.schedule()
    at.time.passed_s += 901
    path = f"/api/approvals/{first.cards[0]['approval_id']}/decision"
    error = await refusal(asking(at, "POST", path, decision(first.cards[0])), 409, "approval_settled")
    assert error["details"] == {"status": "expired"}
    assert await at.schedule() == before


async def test_an_old_version_is_refused_with_the_present_one(asked: tuple[Desk, Answer]) -> None:
    at, first = asked
    card = first.cards[0]
    edited = await at.decide(card, arguments={"task_id": 9, "day": 5, "slot_start": 5})
    assert edited.json()["version"] == 2
    assert edited.json()["versions"][0]["rows"] == card["rows"]
    path = f"/api/approvals/{card['approval_id']}/decision"
    error = await refusal(asking(at, "POST", path, decision(card)), 409, "version_conflict")
    assert error["details"] == {"version": 2}


async def test_several_decisions_are_taken_together_or_not_at_all(asked: tuple[Desk, Answer]) -> None:
    at, first = asked
    card = first.cards[0]
    mine = {"approval_id": card["approval_id"], **decision(card)}
    body = {"decisions": [mine, {**mine, "approval_id": "none"}]}
    await refusal(asking(at, "POST", "/api/approvals/decisions", body), 404, "not_found")
    assert (await at.get(f"/api/approvals/{card['approval_id']}"))["status"] == "pending"


async def test_a_change_is_undone_once_and_only_while_its_rows_are_as_it_left_them(
    asked: tuple[Desk, Answer],
) -> None:
    at, first = asked
    before = await at.schedule()
    await at.approve(first.cards[0])
    placed = (await at.get("/api/changes", conversation_id="c1"))["items"][0]["id"]
    second = await at.say("Move it to Friday")
    await at.approve(second.cards[0])
    error = await refusal(asking(at, "POST", f"/api/changes/{placed}/revert"), 409, "rows_moved_on")
    assert error["details"]["rows"]
    moved = (await at.get("/api/changes", conversation_id="c1"))["items"][0]["id"]
    for change in (moved, placed):
        assert (await at.ask("POST", f"/api/changes/{change}/revert")).status_code == 200
        await refusal(asking(at, "POST", f"/api/changes/{change}/revert"), 409, "nothing_to_undo")
    assert await at.schedule() == before


async def test_what_is_too_large_is_not_read(asked: tuple[Desk, Answer]) -> None:
    at, _ = asked
    long = at.message("课" * 32_001, "c2")
    await refusal(asking(at, "POST", SAY, long), 413, "too_large")
    await refusal(asking(at, "POST", SAY, content=b'"' + b"x" * 1024 * 1024 + b'"'), 413, "too_large")


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
async def test_what_is_not_json_is_refused_by_its_type(asked: tuple[Desk, Answer], kind: str) -> None:
    at, _ = asked
    answer = await at.ask("POST", SAY, content=b"{}", headers={"content-type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"message": {"role": "user", "parts": []}}, "message.parts"),
        ({"message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}, "assistant": "nobody"}, "assistant"),
        ({"message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}, "unknown": 1}, "unknown"),
        ({"message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}, "id": "a/b"}, "id"),
        ({"message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}, "onBusy": "wait"}, "onBusy"),
        ({"trigger": "regenerate-message"}, "id"),
        ({"id": "c1", "message": {"role": "assistant", "parts": []}}, "message"),
    ],
)
async def test_what_cannot_be_used_names_its_field(asked: tuple[Desk, Answer], body: JSON, field: str) -> None:
    at, _ = asked
    error = await refusal(asking(at, "POST", SAY, body), 422, "invalid")
    assert [problem["field"] for problem in error["details"]] == [field]
    assert all(problem["message"] for problem in error["details"])
    assert (await at.get("/api/conversations/c1"))["status"] == "waiting"


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        ({"arguments": {"task_id": "nine", "day": 2, "slot_start": 7}}, "arguments.task_id"),
        ({"arguments": {"task_id": 9, "day": 2}}, "arguments.slot_start"),
        ({"arguments": {"task_id": 9, "day": 2, "slot_start": 7, "new_day": 3}}, "arguments.new_day"),
        ({"arguments": {"task_id": 999, "day": 2, "slot_start": 7}}, "arguments"),
        ({"skip": ["no such row"]}, "skip"),
    ],
)
async def test_an_edit_that_would_not_work_names_its_field(asked: tuple[Desk, Answer], edit: JSON, field: str) -> None:
    at, first = asked
    path = f"/api/approvals/{first.cards[0]['approval_id']}/decision"
    error = await refusal(asking(at, "POST", path, decision(first.cards[0], **edit)), 422, "invalid")
    assert error["details"][0]["field"] == field
    assert (await at.get(f"/api/approvals/{first.cards[0]['approval_id']}"))["version"] == 1


async def test_problems_are_said_in_the_language_of_the_answer(asked: tuple[Desk, Answer]) -> None:
    at, first = asked
    path = f"/api/approvals/{first.cards[0]['approval_id']}/decision"
    for body in (decision(first.cards[0], skip=["none"]), decision(first.cards[0], extra=1)):
        answers = [await at.ask("POST", path, body, headers={"accept-language": one}) for one in ("zh", "en")]
        said = [answer.json()["error"]["details"][0]["message"] for answer in answers]
        assert [is_chinese(one) for one in said] == [True, False]


async def test_who_asks_too_often_is_told_when_to_come_back(database_url: str) -> None:
    async with desk(database_url, rate_per_minute=2) as at:
        for _ in range(2):
            await at.get("/api/assistants")
        answer = await at.ask("GET", "/api/assistants")
        await refusal(asking(at, "GET", "/api/assistants"), 429, "rate_limited")
    assert 1 <= int(answer.headers["retry-after"]) <= 60


async def test_a_database_that_is_away_is_not_available(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url) as at:
        shutil.move(database_url.removeprefix("sqlite+aiosqlite:///"), tmp_path / "away.db")
        await at.wired.database.close()
        error = await refusal(asking(at, "GET", "/api/conversations"), 503, "unavailable")
        ready = await at.ask("GET", "/readyz")
    assert error["reference"]
    assert (ready.status_code, ready.json()["error"]["code"]) == (503, "unavailable")


async def test_a_fault_of_ours_is_a_reference_and_nothing_else(
    asked: tuple[Desk, Answer], caplog: pytest.LogCaptureFixture
) -> None:
    at, _ = asked
    async with at.wired.database.write() as connection:
        await connection.exec_driver_sql("UPDATE approvals SET card = '[]'")
    error = await refusal(asking(at, "GET", "/api/approvals"), 500, "internal")
    assert error["reference"] in caplog.text
    assert set(error) == {"code", "message", "reference"}


async def test_a_conversation_that_is_busy_says_so(database_url: str) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model) as at:
        body = at.message("What is free?")
        reading = asyncio.create_task(at.stream("POST", SAY, body))
        await asyncio.wait_for(model.reached.wait(), WAIT_S)
        await refusal(asking(at, "POST", SAY, at.message("And Monday?")), 409, "turn_in_progress")
        await refusal(asking(at, "POST", SAY, {**body, "assistant": "scheduling"}), 409, "idempotency_conflict")
        model.go.set()
        await reading


def test_every_error_of_the_table_is_reached_here() -> None:
    codes = {shape.code for shape in TABLE.values()} | {"internal", "method_not_allowed"}
    source = Path(__file__).read_text()
    assert {code for code in codes if f'"{code}"' not in source} == set()


async def test_a_model_without_its_key_stops_the_start_with_the_name_of_the_setting(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = load_settings(database_url=database_url, model="openai:gpt-5", auth="jwt", jwt_secret=SECRET)
    with pytest.raises(ModelSettingError, match="OPENAI_API_KEY"):
        async with build(settings):
            pass


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\udfff", "a\u202eb\u200bc"])
async def test_characters_that_cannot_be_stored_survive_as_escapes(database_url: str, text: str) -> None:
    model = ScriptedModel([say("Read."), [call("ask_user", {"question": "Which?"})], say("Fine.")])
    async with desk(database_url, model) as at:
        assert (await at.say(text)).text == "Read."
        asked = await at.say("Ask me")
        question = asked.of("data-question")[0]["data"]["question_id"]
        assert (await at.ask("POST", f"/api/questions/{question}/answer", {"text": text})).status_code == 200
        await at.stream("GET", "/api/conversation/c1/stream")
        renamed = await at.ask("PATCH", "/api/conversations/c1", {"title": text})
        listed = await at.ask("GET", "/api/conversations", params={"search": text.encode("utf-8", "ignore").decode()})
        stored = await at.get("/api/conversations/c1")
    said = stored["messages"][0]["parts"][0]["text"]
    assert said == text.replace("\x00", "\\u0000").replace("\ud800", "\\ud800").replace("\udfff", "\\udfff")
    assert renamed.status_code == listed.status_code == 200
    assert stored["title"] == said
