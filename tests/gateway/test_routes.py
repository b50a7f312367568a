"""What holds for every route: nobody gets in unseen, nobody sees what is another's, every error is declared."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest
from fastapi import FastAPI
from sqlalchemy import Boolean, Column, Integer, insert

from app.main import create_app
from app.settings import load_settings
from app.wiring import Wired, build
from gateway.answers import AsciiJson
from stores.database import Database
from stores.rows import table_of
from stores.tables import ApprovalRow, Base, ChangeRow, ConversationRow, JsonText, QuestionRow, TurnRow, UtcDateTime
from tests.gateway.small import SECRET, calling

pytestmark = pytest.mark.anyio

NOW = datetime.now(UTC)
OPEN_TO_ALL = {("get", "/healthz"), ("get", "/readyz"), ("delete", "/api/session")}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/api/approvals/{approval_id}/decision"): {"decision": "approve", "expected_version": 1},
    ("post", "/api/questions/{question_id}/answer"): {"text": "yes"},
    ("patch", "/api/conversations/{conversation_id}"): {"title": "mine now"},
}
"""Bodies that would do, so that nothing but the id decides."""
ALICES = {
    "conversation_id": "alices-conversation",
    "approval_id": "alices-approval",
    "question_id": "alices-question",
    "change_id": "alices-change",
}
CARD: dict[str, Any] = {"summary": {"zh": "一项", "en": "Something"}, "rows": []}
PUBLIC_NAMES = {"pack", "name"}
"""Path parameters that name what belongs to nobody."""


@pytest.fixture
async def wired(database_url: str) -> AsyncIterator[Wired]:
    settings = load_settings(database_url=database_url, auth="jwt", jwt_secret=SECRET)
    async with build(settings) as wired:
        yield wired


@pytest.fixture
def app(wired: Wired) -> FastAPI:
    return create_app(wired)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(app, host="placet.example") as client:
        yield client


def signed_in(user_id: str, **claims: object) -> dict[str, str]:
    said = {"sub": user_id, "exp": int((NOW + timedelta(hours=1)).timestamp()), **claims}
    return {"authorization": f"Bearer {jwt.encode(said, SECRET, algorithm='HS256')}"}


def operations(app: FastAPI) -> list[tuple[str, str, dict[str, Any]]]:
    """Every route as OpenAPI describes it: method, path, operation."""
    paths: dict[str, dict[str, dict[str, Any]]] = app.openapi()["paths"]
    return [(method, path, operation) for path, methods in paths.items() for method, operation in methods.items()]


async def test_nobody_gets_into_any_route_without_a_token(app: FastAPI, client: httpx.AsyncClient) -> None:
    for method, path, operation in operations(app):
        if (method, path) not in OPEN_TO_ALL:
            answer = await client.request(method, path.replace("{", "").replace("}", ""))
            assert answer.status_code == 401, f"{method} {path}"
            assert answer.json()["error"]["code"] == "unauthenticated"
            assert operation.get("security") or path == "/api/session"


async def test_every_unsafe_route_refuses_other_pages(app: FastAPI, client: httpx.AsyncClient) -> None:
    for method, path, _ in operations(app):
        if method not in ("get", "head"):
            headers = {**signed_in("alice"), "origin": "https://evil.example"}
            answer = await client.request(method, path.replace("{", "").replace("}", ""), headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "cross_site"), f"{method} {path}"


async def test_what_is_anothers_is_answered_exactly_like_what_is_missing(
    app: FastAPI, client: httpx.AsyncClient, wired: Wired
) -> None:
    await put_alices(wired.database)
    tried = 0
    for method, path, operation in operations(app):
        names = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
        if not names or names <= PUBLIC_NAMES:
            continue
        assert names <= set(ALICES), f"{path}: give the test an id of alice's"
        foreign = await as_bob(client, method, path, {name: ALICES[name] for name in names})
        missing = await as_bob(client, method, path, dict.fromkeys(names, "nobodys-and-nothing"))
        assert foreign.status_code == missing.status_code == 404, f"{method} {path}: {foreign.text}"
        assert foreign.json() == missing.json()
        tried += 1
    assert tried >= 11
    for path, kept in (("conversations", "conversation_id"), ("approvals", "approval_id")):
        answer = await client.get(f"/api/{path}/{ALICES[kept]}", headers=signed_in("alice"))
        assert answer.status_code == 200


async def test_anothers_conversation_in_a_query_is_an_empty_one(client: httpx.AsyncClient, wired: Wired) -> None:
    await put_alices(wired.database)
    for path in ("/api/approvals", "/api/changes"):
        answers = [
            await client.get(path, params={"conversation_id": name}, headers=signed_in("bob"))
            for name in (ALICES["conversation_id"], "nobodys-and-nothing")
        ]
        assert answers[0].status_code == answers[1].status_code
        assert answers[0].json() == answers[1].json()
        assert "alices" not in answers[0].text


async def as_bob(client: httpx.AsyncClient, method: str, path: str, names: dict[str, str]) -> httpx.Response:
    body = BODIES.get((method, path))
    return await client.request(method, path.format(**names), headers=signed_in("bob"), json=body)


async def test_every_operation_declares_its_errors(app: FastAPI) -> None:
    for method, path, operation in operations(app):
        if path.startswith("/api"):
            declared = set(operation["responses"])
            expected = {"401", "403", "404", "405", "409", "413", "415", "422", "429", "500", "503"}
            assert expected <= declared, f"{method} {path}"
    assert AsciiJson.media_type == "application/json"
    assert "HTTPValidationError" not in app.openapi()["components"]["schemas"]


async def test_a_session_is_a_cookie_that_scripts_cannot_read(app: FastAPI, client: httpx.AsyncClient) -> None:
    answer = await client.post("/api/session", headers=signed_in("alice"))
    assert answer.status_code == 200
    assert answer.json()["user_id"] == "alice"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie
    assert (await client.get("/api/session")).json()["user_id"] == "alice"
    assert (await client.delete("/api/session")).status_code == 204
    assert (await client.get("/api/session")).status_code == 401
    async with calling(app, host="placet.example", scheme="https") as secure:
        answer = await secure.post("/api/session", headers=signed_in("alice"))
    assert "secure" in answer.headers["set-cookie"].lower()


async def test_a_cookie_alone_buys_no_new_session(client: httpx.AsyncClient) -> None:
    await client.post("/api/session", headers=signed_in("alice"))
    assert (await client.post("/api/session")).status_code == 401


async def test_how_the_selection_decides_is_for_operators(client: httpx.AsyncClient) -> None:
    query = {"assistant": "scheduling", "text": "看看我的课表"}
    answer = await client.get("/api/toolsets/selection", params=query, headers=signed_in("alice"))
    assert answer.status_code == 403
    operator = signed_in("alice", scope="operator")
    answer = await client.get("/api/toolsets/selection", params=query, headers=operator)
    assert answer.status_code == 200
    assert answer.json()["offered"]
    unknown = await client.get("/api/toolsets/selection", params={**query, "assistant": "x"}, headers=operator)
    assert unknown.status_code == 404


async def test_a_token_may_be_for_some_assistants_only(client: httpx.AsyncClient) -> None:
    everything = (await client.get("/api/assistants", headers=signed_in("alice"))).json()["items"]
    nothing = (await client.get("/api/assistants", headers=signed_in("alice", assistants=[]))).json()["items"]
    assert "scheduling" in [one["name"] for one in everything]
    assert nothing == []
    assert (await client.get("/api/toolsets", headers=signed_in("alice", assistants=[]))).json()["items"] == []


async def test_every_tool_is_listed_with_its_effect(client: httpx.AsyncClient, wired: Wired) -> None:
    listed = (await client.get("/api/toolsets", headers=signed_in("alice"))).json()["items"]
    tools = {tool["name"]: tool for toolset in listed for tool in toolset["tools"]}
    offered = {name for one in wired.registry.assistants.values() for name in one.toolsets}
    assert set(tools) == {tool.name for tool in wired.registry.tools_in(sorted(offered))}
    assert {tool["effect"] for tool in tools.values()} <= {"read", "state", "write", "external"}
    assert all(tool["schema"]["type"] == "object" for tool in tools.values())


async def test_a_server_that_can_work_says_so(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    answer = await client.get("/readyz")
    assert answer.json()["status"] == "ready", answer.text


async def put_alices(database: Database) -> None:
    """One of everything that can be named, of alice's."""
    conversation = ALICES["conversation_id"]
    async with database.write() as connection:
        rows: list[tuple[type[Base], dict[str, Any]]] = [
            (ConversationRow, {"id": conversation, "assistant": "scheduling"}),
            (TurnRow, {"id": "alices-turn", "conversation_id": conversation, "status": "waiting", "kind": "agent"}),
            (
                ApprovalRow,
                {"id": ALICES["approval_id"], "conversation_id": conversation, "card": CARD, "status": "pending"},
            ),
            (QuestionRow, {"id": ALICES["question_id"], "conversation_id": conversation, "status": "waiting"}),
            (ChangeRow, {"id": ALICES["change_id"], "conversation_id": conversation, "rows": "[]"}),
        ]
        for mapped, values in rows:
            await connection.execute(insert(table_of(mapped)).values(row(mapped, **values)))


def row(mapped: type[Base], **values: object) -> dict[str, object]:
    """A row of alice's; what `values` leave out is anything that fits."""
    table = table_of(mapped)
    given = {"user_id": "alice", "turn_id": "alices-turn", "assistant": "scheduling", "locale": "en", "zone": "UTC"}
    filled = {column.name: anything(column) for column in table.columns if not column.nullable}
    named = {name: value for name, value in given.items() if name in table.columns}
    return {**filled, **named, **values}


def anything(column: Column[Any]) -> object:
    match column.type:
        case Boolean():
            return False
        case Integer():
            return 1
        case UtcDateTime():
            return NOW + timedelta(hours=1)
        case JsonText():
            return {}
        case _:
            return "x"
