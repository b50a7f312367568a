"""Every route answers what OpenAPI says of it. (Each answer in these tests is held against it; here all come up.)"""

import httpx
import pytest

from tests.agents.strict_provider import ScriptedModel, call, say
from tests.contracts.openapi import Contract
from tests.gateway.desk import Desk, desk

pytestmark = pytest.mark.anyio

ASK = call("ask_user", {"question": "Which day?", "options": ["Tuesday"]})
PLACE = call("place", {"task_id": 9, "day": 2, "slot_start": 7})
PLACE_ANOTHER = call("place", {"task_id": 10, "day": 3, "slot_start": 7})
SCRIPT = [
    say("Hello."),
    say("Hello again."),
    say("Whole."),
    [PLACE],
    [PLACE_ANOTHER],
    [ASK],
    say("Done."),
    [ASK],
]


async def test_every_route_gives_an_answer_that_is_described(database_url: str) -> None:
    async with desk(database_url, ScriptedModel(SCRIPT)) as at:
        at.contract = contract = Contract(at.app.openapi())
        await talk(at)
        await look_around(at)
    described = {
        (method.upper(), path, status)
        for path, methods in contract.document["paths"].items()
        for method, operation in methods.items()
        for status in operation["responses"]
        if status.startswith("2")
    }
    assert described - contract.seen == set()


async def talk(at: Desk) -> None:
    """Every route that says or decides something."""
    await at.say("Hello")
    await at.stream("POST", "/api/conversation/c1/regenerate")
    await at.ask("POST", "/api/conversation", at.message("Hello", "c2"))
    first = await at.say("Place linear algebra")
    await at.stream("GET", "/api/conversation/c1/stream")
    second = await at.approve(first.cards[0])
    votes = [{"approval_id": second.cards[-1]["approval_id"], "decision": "approve", "expected_version": 1}]
    third = await at.stream("POST", "/api/approvals/decisions", {"decisions": votes})
    question = third.of("data-question")[0]["data"]["question_id"]
    await at.ask("POST", f"/api/questions/{question}/answer", {"text": "Tuesday"})
    await at.stream("GET", "/api/conversation/c1/stream")
    change = (await at.get("/api/changes", conversation_id="c1"))["items"][0]["id"]
    await at.ask("POST", f"/api/changes/{change}/revert")
    await at.say("And physics?")
    await at.ask("POST", "/api/conversation/c1/cancel")
    assert (await at.ask("GET", "/api/conversation/c1/stream")).status_code == 204


async def look_around(at: Desk) -> None:
    """Every route that only shows something, or keeps order."""
    approval = (await at.get("/api/approvals"))["items"][0]["approval_id"]
    await at.get(f"/api/approvals/{approval}")
    for path in ("assistants", "toolsets", "schedule", "usage", "session", "packs/scheduling/views/week"):
        await at.get(f"/api/{path}")
    await at.get("/api/toolsets/selection", assistant="scheduling", text="Place linear algebra")
    await at.get("/api/conversations")
    await at.get("/api/conversations/c1")
    await at.get("/api/conversations/c1/export")
    await at.ask("PATCH", "/api/conversations/c1", {"title": "A better title"})
    await at.ask("DELETE", "/api/conversations/c1")
    await at.ask("POST", "/api/session")
    await at.ask("DELETE", "/api/session")
    await at.get("/healthz")
    await at.get("/readyz")


def test_an_answer_with_an_undescribed_field_is_found() -> None:
    answer = {"type": "object", "properties": {"status": {"type": "string"}}, "additionalProperties": True}
    content = {"200": {"content": {"application/json": {"schema": answer}}}}
    contract = Contract({"paths": {"/healthz": {"get": {"responses": content}}}, "components": {"schemas": {}}})
    request = httpx.Request("GET", "http://localhost/healthz")
    contract.check(httpx.Response(200, json={"status": "ok"}, request=request))
    for odd in (httpx.Response(200, json={"status": "ok", "more": 1}), httpx.Response(503, json={"status": "ok"})):
        odd.request = request
        with pytest.raises(AssertionError):
            contract.check(odd)


async def test_a_wrong_method_is_told_every_right_one(database_url: str) -> None:
    async with desk(database_url) as at:
        for path, allowed in (
            ("/api/conversations/c1", "DELETE, GET, PATCH"),
            ("/api/session", "DELETE, GET, POST"),
            ("/api/approvals/decisions", "POST"),
        ):
            assert (await at.ask("PUT", path)).headers["allow"] == allowed
