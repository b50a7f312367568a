"""What traces hold, and what they don't."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import logfire
import pytest
from fastapi import FastAPI
from logfire.testing import TestExporter
from opentelemetry import context
from opentelemetry.baggage import set_baggage
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import get_tracer
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from sqlalchemy import text

from app.settings import Settings, load_settings
from app.telemetry import set_up
from stores.database import Database

pytestmark = pytest.mark.anyio

SECRET = "violet-heron"
"""A word to look for."""


class Message(BaseModel):
    text: str


@pytest.fixture(autouse=True)
async def notes(database: Database) -> None:
    async with database.write() as connection:
        await connection.execute(text("CREATE TABLE notes (body TEXT UNIQUE)"))


@pytest.fixture
def spans() -> Iterator[TestExporter]:
    yield TestExporter()
    logfire.configure(send_to_logfire=False, console=False)
    Agent.instrument_all(False)


def settings(*, content: bool = False) -> Settings:
    return load_settings(_env_file=None, telemetry_content=content)


def app_over(database: Database) -> FastAPI:
    """An app whose only route does what a turn does: it asks a model, calls a tool, and writes a row."""
    app = FastAPI()
    agent = Agent(FunctionModel(note_then_answer))

    @agent.tool_plain
    async def note(body: str) -> str:
        async with database.write() as connection:
            await connection.execute(text("INSERT INTO notes VALUES (:body)"), {"body": body})
        return f"noted {body}"

    @app.post("/say")
    async def say(message: Message) -> str:
        return (await agent.run(message.text)).output

    return app


def note_then_answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    if len(messages) == 1:
        return ModelResponse(parts=[ToolCallPart("note", {"body": SECRET})])
    return ModelResponse(parts=[TextPart(f"I noted {SECRET}")])


async def post(app: FastAPI, path: str = f"/say?search={SECRET}") -> httpx.Response:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://placet.test") as client:
        return await client.post(path, json={"text": SECRET}, headers={"X-Note": SECRET})


def names(spans: TestExporter) -> list[str]:
    return [span["name"] for span in spans.exported_spans_as_dict()]


async def test_a_request_is_traced_down_to_its_statements(database: Database, spans: TestExporter) -> None:
    app = app_over(database)
    set_up(settings(), app, database, also=[SimpleSpanProcessor(spans)])

    assert (await post(app)).status_code == 200

    traced = names(spans)
    assert {"POST /say", "execute_tool note", "INSERT"} <= set(traced)
    assert any(name.startswith("invoke_agent") for name in traced)
    assert len({span["context"]["trace_id"] for span in spans.exported_spans_as_dict()}) == 1


async def test_no_span_holds_what_was_said(database: Database, spans: TestExporter) -> None:
    app = app_over(database)
    set_up(settings(), app, database, also=[SimpleSpanProcessor(spans)])

    await post(app)

    assert spans.exported_spans
    assert SECRET not in everything(spans)


async def test_what_was_said_is_recorded_when_the_setting_allows_it(database: Database, spans: TestExporter) -> None:
    app = app_over(database)
    set_up(settings(content=True), app, database, also=[SimpleSpanProcessor(spans)])

    await post(app)

    assert f"I noted {SECRET}" in everything(spans)


async def test_a_failure_is_traced_without_its_text(database: Database, spans: TestExporter) -> None:
    app = app_over(database)
    set_up(settings(), app, database, also=[SimpleSpanProcessor(spans)])

    with pytest.raises(ValueError, match=SECRET), logfire.span("turn {assistant}", assistant="scheduling"):
        raise ValueError(SECRET)

    turn = spans.exported_spans[-1]
    noted = dict(turn.events[0].attributes or {})
    assert noted["exception.type"] == "builtins.ValueError"
    assert "test_telemetry.py" in str(noted["exception.stacktrace"])
    assert turn.status.description == "ValueError"
    assert not turn.status.is_ok
    assert SECRET not in everything(spans)


async def test_a_failed_statement_is_traced_without_its_values(database: Database, spans: TestExporter) -> None:
    app = app_over(database)
    set_up(settings(), app, database, also=[SimpleSpanProcessor(spans)])

    await post(app)
    assert (await post(app)).status_code == 500

    failed = [span for span in spans.exported_spans if span.name == "INSERT" and not span.status.is_ok]
    assert [span.status.description for span in failed if span.status.description] == ["IntegrityError"]
    assert SECRET not in everything(spans)


async def test_setting_up_twice_traces_everything_once(database: Database, spans: TestExporter) -> None:
    set_up(settings(), app_over(database), database, also=[SimpleSpanProcessor(spans)])
    app = app_over(database)
    set_up(settings(), app, database, also=[SimpleSpanProcessor(spans)])

    await post(app)

    assert names(spans).count("INSERT") == 1
    assert names(spans).count("POST /say") == 1


async def test_statements_that_belong_to_nothing_are_left_out(database: Database, spans: TestExporter) -> None:
    set_up(settings(), app_over(database), database, also=[SimpleSpanProcessor(spans)])

    async with database.read() as connection:
        await connection.execute(text("SELECT body FROM notes"))

    assert names(spans) == []


async def test_health_checks_are_not_traced(database: Database, spans: TestExporter) -> None:
    app = app_over(database)

    @app.get("/healthz")
    async def healthz() -> str:
        return "ok"

    set_up(settings(), app, database, also=[SimpleSpanProcessor(spans)])
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://placet.test") as client:
        assert (await client.get("/healthz")).text == '"ok"'

    assert names(spans) == []


async def test_nothing_is_instrumented_when_nobody_reads(
    database: Database, spans: TestExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGFIRE_TOKEN", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    app = app_over(database)
    Agent.instrument_all(False)
    set_up(settings(), app, database)
    logfire.configure(send_to_logfire=False, console=False, additional_span_processors=[SimpleSpanProcessor(spans)])

    await post(app)

    assert names(spans) == []


async def test_a_called_server_gets_the_trace_but_no_ids_of_ours(database: Database, spans: TestExporter) -> None:
    set_up(settings(), app_over(database), database, also=[SimpleSpanProcessor(spans)])

    with get_tracer("test").start_as_current_span("turn"), baggage("gen_ai.agent.call.id", "run-1"):
        assert set(logfire.get_context()) == {"traceparent"}


async def test_the_query_of_a_call_is_not_recorded(database: Database, spans: TestExporter) -> None:
    set_up(settings(), app_over(database), database, also=[SimpleSpanProcessor(spans)])

    with logfire.span("turn {assistant}", assistant="trading"):
        async with httpx.AsyncClient() as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://127.0.0.1:1/order?signature={SECRET}")

    assert "http://127.0.0.1:1/order" in everything(spans)
    assert SECRET not in everything(spans)


async def test_the_key_of_a_share_is_not_recorded(database: Database, spans: TestExporter) -> None:
    app = app_over(database)
    set_up(settings(), app, database, also=[SimpleSpanProcessor(spans)])

    await post(app, f"/share/{SECRET}/answers")

    assert "/share/…/answers" in everything(spans)
    assert SECRET not in everything(spans)


@contextmanager
def baggage(name: str, value: str) -> Iterator[None]:
    token = context.attach(set_baggage(name, value))
    yield
    context.detach(token)


def everything(spans: TestExporter) -> str:
    """All that was exported, as text."""
    return "\n".join(json.dumps(json.loads(span.to_json()), ensure_ascii=False) for span in spans.exported_spans)
