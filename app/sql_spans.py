"""One span for every SQL statement: its text with placeholders, how long it took, whether it failed; never a value.

OpenTelemetry's own instrumentation of SQLAlchemy won't do: it records the driver's error text, in which PostgreSQL
quotes the row ("Key (name)=(…) already exists").
"""

from typing import Any

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, get_tracer
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext

from stores.database import Database

OPEN = "placet_span"


def trace_statements(database: Database) -> None:
    """Open a span around each statement of this database. Calling it again changes nothing."""
    # An engine made by `execution_options` shares the pool of its origin and hears what is said to the origin.
    engines = {engine.pool: engine for engine in (database.reader.sync_engine, database.writer.sync_engine)}
    for engine in engines.values():
        if not event.contains(engine, "before_cursor_execute", _begin):
            _listen(engine)


def _listen(engine: Engine) -> None:
    event.listen(engine, "before_cursor_execute", _begin)
    event.listen(engine, "after_cursor_execute", _end)
    event.listen(engine, "handle_error", _fail)


def _begin(connection: Connection, _cursor: Any, statement: str, *_rest: Any) -> None:
    operation = statement.split(maxsplit=1)[0].upper() if statement.strip() else "SQL"
    span = get_tracer("placet.sql").start_span(
        operation,
        kind=SpanKind.CLIENT,
        attributes={
            "db.system.name": connection.dialect.name,
            "db.operation.name": operation,
            "db.query.text": statement,
        },
    )
    _close(connection)  # a statement that another listener refused tells nobody that it is over
    connection.info[OPEN] = span


def _end(connection: Connection, *_rest: Any) -> None:
    _close(connection)


def _fail(context: ExceptionContext) -> None:
    # Errors of the pool come here too and have no connection; one that is lost has no place for a span.
    connection = context.connection
    if connection is not None and not connection.closed and not connection.invalidated:
        _close(connection, Status(StatusCode.ERROR, type(context.original_exception).__name__))


def _close(connection: Connection, status: Status | None = None) -> None:
    span: Span | None = connection.info.pop(OPEN, None)
    if span is not None:
        if status is not None:
            span.set_status(status)
        span.end()
