"""Traces for whoever wants them: Logfire, or any OpenTelemetry collector. Nothing leaves the process by default.

What people and models say isn't recorded unless `PLACET_TELEMETRY_CONTENT` allows it: no prompts, arguments, results
and texts of exceptions. Bodies, headers, query strings and SQL parameters never are. The spans are listed in
docs/reference/telemetry.md.
"""

import os
import re
import traceback
from collections.abc import Sequence
from typing import Any

import logfire
from fastapi import FastAPI
from logfire.types import ExceptionCallbackHelper
from opentelemetry.context import Context
from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor, HTTPXClientInstrumentor
from opentelemetry.propagate import set_global_textmap
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler, SamplingResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import Attributes, AttributeValue

from app.settings import Settings
from app.sql_spans import trace_statements
from stores.database import Database

UNTRACED = ("/healthz", "/readyz", "/metrics")
ADDRESSES = ("http.url", "http.target", "url.full", "url.path")
SHARE = re.compile(r"/share/[^/]+")
READERS = ("LOGFIRE_TOKEN", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Variables of the environment that name somebody who reads traces."""


def set_up(settings: Settings, app: FastAPI, database: Database, *, also: Sequence[SpanProcessor] = ()) -> None:
    """Configure Logfire and, if anybody reads the traces, instrument what a request passes through.

    Call it before the app serves its first request. A second call takes the place of the first, with the app and
    database that it names. `also` are further readers.
    """
    # Baggage would carry the ids of runs and conversations to every provider that is called.
    set_global_textmap(TraceContextTextMapPropagator())
    logfire.configure(
        send_to_logfire="if-token-present",
        service_name="placet",
        console=None if settings.telemetry_console else False,
        inspect_arguments=False,
        distributed_tracing=False,
        sampling=logfire.SamplingOptions(head=_Discreet()),
        additional_span_processors=list(also),
        advanced=logfire.AdvancedOptions(exception_callback=None if settings.telemetry_content else _without_text),
    )
    if also or settings.telemetry_console or any(os.environ.get(name) for name in READERS):
        _instrument(app, database, content=settings.telemetry_content)


def _instrument(app: FastAPI, database: Database, *, content: bool) -> None:
    logfire.instrument_pydantic_ai(
        include_content=content, include_binary_content=False, include_model_request_parameters=False
    )
    logfire.instrument_fastapi(
        app,
        excluded_urls=UNTRACED,
        request_attributes_mapper=_no_arguments,
        server_request_hook=_cut_again,
    )
    for instrumentor in (HTTPXClientInstrumentor(), HTTPX2ClientInstrumentor()):
        if instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.uninstrument()
    logfire.instrument_httpx()
    trace_statements(database)


def _no_arguments(_request: object, _attributes: dict[str, Any]) -> None:
    """Records nothing of what a route was called with."""


def _cut_again(span: Span, _scope: object) -> None:
    # The ASGI instrumentation sets the addresses once more after the span has begun.
    if isinstance(span, ReadableSpan) and span.attributes:
        span.set_attributes({name: _cut(value) for name, value in span.attributes.items() if name in ADDRESSES})


def _without_text(helper: ExceptionCallbackHelper) -> None:
    """Keep an exception's type and where it came from; its message may quote anything."""
    exception = helper.exception
    name = type(exception).__qualname__
    helper.no_record_exception()
    helper.span.add_event(
        "exception",
        {
            "exception.type": f"{type(exception).__module__}.{name}",
            "exception.stacktrace": "".join(traceback.format_tb(exception.__traceback__)),
        },
    )
    if helper.level >= "error":
        helper.span.set_status(Status(StatusCode.ERROR, name))
        helper.level = "warn"  # at "error", Logfire would put the message into the status


class _Discreet(Sampler):
    """Cuts addresses down, and leaves out calls to databases and servers that belong to nothing: renewals, sweeps."""

    def __init__(self) -> None:
        self._inner = ParentBased(root=_NoLoneCalls())

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        *rest: Any,
        **named: Any,
    ) -> SamplingResult:
        return self._inner.should_sample(
            parent_context, trace_id, name, kind, _without_queries(attributes), *rest, **named
        )

    def get_description(self) -> str:
        return "Discreet"


class _NoLoneCalls(Sampler):
    """For spans without a parent."""

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        *rest: Any,
        **named: Any,
    ) -> SamplingResult:
        decision = ALWAYS_OFF if kind is SpanKind.CLIENT else ALWAYS_ON
        return decision.should_sample(parent_context, trace_id, name, kind, *rest, **named)

    def get_description(self) -> str:
        return "NoLoneCalls"


def _without_queries(attributes: Attributes) -> Attributes:
    # A query holds what was searched for, a frame's token, an exchange's signature; a share's path is its key.
    if not attributes:
        return attributes
    return {name: _cut(value) if name in ADDRESSES else value for name, value in attributes.items()}


def _cut(address: AttributeValue) -> AttributeValue:
    return SHARE.sub("/share/…", str(address).partition("?")[0])
