"""A whole turn with an approval: what its traces name, and that they don't say what was said or changed."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import httpx
import logfire
import pytest
from asgi_lifespan import LifespanManager
from logfire.testing import TestExporter
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pydantic_ai import Agent

from app.demo import put_demo
from app.main import create_app
from app.settings import load_settings
from app.telemetry import set_up
from app.wiring import build, new_id

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 12, 7, 9, 30, tzinfo=UTC)
MESSAGE = "帮我把线代复习安排到周二下午"
SAID = ("线代复习", "周二", "12月")
"""Of the message, the rows and the answer; descriptions of tools are in English."""


@pytest.fixture
def spans() -> Iterator[TestExporter]:
    yield TestExporter()
    logfire.configure(send_to_logfire=False, console=False)
    Agent.instrument_all(False)


@pytest.fixture
async def client(database_url: str, spans: TestExporter) -> AsyncIterator[httpx.AsyncClient]:
    settings = load_settings(_env_file=None, database_url=database_url)
    async with build(settings, clock=lambda: NOW) as wired:
        await put_demo(
            wired.registry.packs.values(),
            wired.database,
            user_id="local",
            clock=wired.clock,
            new_id=new_id,
            zone=ZoneInfo("UTC"),
        )
        app = create_app(wired)
        set_up(settings, app, wired.database, also=[SimpleSpanProcessor(spans)])
        async with LifespanManager(app) as running:
            transport = httpx.ASGITransport(running.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                yield client


async def test_a_turn_is_traced_from_message_to_execution_without_its_content(
    client: httpx.AsyncClient, spans: TestExporter
) -> None:
    message = {"id": "m-1", "role": "user", "parts": [{"type": "text", "text": MESSAGE}]}
    waiting = (await client.post("/api/conversation", json={"id": "c-1", "message": message})).json()
    approval = waiting["approvals"][0]
    assert "线代复习" in json.dumps(approval, ensure_ascii=False)
    async with client.stream(
        "POST",
        f"/api/approvals/{approval['approval_id']}/decision",
        json={"decision": "approve", "expected_version": approval["version"]},
        headers={"Accept": "text/event-stream"},
    ) as stream:
        said = "".join([line async for line in stream.aiter_lines()])
    assert "[DONE]" in said

    exported = [json.dumps(json.loads(span.to_json()), ensure_ascii=False) for span in spans.exported_spans]
    names = {span.name for span in spans.exported_spans}
    assert {"turn {assistant}", "selection", "proposal {tool}", "decision", "execution {tool}", "SELECT"} <= names
    assert any(name.startswith("chat ") for name in names)
    assert [span for span in exported if any(word in span for word in SAID)] == []
