"""The guard: on a recorded connection nothing but reading, and writing by the session's unit of work."""

from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Executable, Table, event
from sqlalchemy.engine import ExecutionContext
from sqlalchemy.sql import visitors
from sqlalchemy.sql.elements import (
    ClauseElement,
    ReleaseSavepointClause,
    RollbackToSavepointClause,
    SavepointClause,
    TextClause,
)

from stores.errors import EscapedStatement

SAVEPOINTS = (SavepointClause, ReleaseSavepointClause, RollbackToSavepointClause)


class Guard:
    """Looks at every statement of one connection, just before the driver gets it.

    A refusal is remembered: a call that swallows it fails all the same (`raise_escaped`). What the guard can't see is a
    function of the database that writes, and a connection that the call opens for itself.
    """

    def __init__(self, touched: Container[Table]) -> None:
        self._touched = touched
        self._flushes = False
        self._lifted = False
        self._closed = False
        self._escaped: EscapedStatement | None = None

    @contextmanager
    def on(self, connection: Connection) -> Iterator[None]:
        """Guard this connection, whose transaction has begun. Its transaction can't be ended meanwhile."""
        listeners = (
            ("before_cursor_execute", self._look),
            ("commit", self._refuse_commit),
            ("rollback", self._refuse_rollback),
        )
        for name, listener in listeners:
            event.listen(connection, name, listener)
        try:
            yield
        finally:
            for name, listener in listeners:
                event.remove(connection, name, listener)

    @contextmanager
    def unit_of_work(self) -> Iterator[None]:
        """The session flushes."""
        outer, self._flushes = self._flushes, True
        try:
            yield
        finally:
            self._flushes = outer

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """The recorder's own statements."""
        self._lifted = True
        try:
            yield
        finally:
            self._lifted = False

    def close(self) -> None:
        """From now on the session reads only."""
        self._closed = True

    def raise_escaped(self) -> None:
        if self._escaped is not None:
            raise self._escaped

    def _look(self, _c: Connection, _cursor: Any, _sql: str, _p: Any, context: ExecutionContext, _many: bool) -> None:
        # A driver's context of another kind has no compiled statement either.
        compiled = context.compiled
        statement = None if compiled is None else compiled.statement
        if self._lifted or isinstance(statement, SAVEPOINTS):
            return
        if self._flushes and self._is_flush(statement):
            return
        if what := _not_a_read(statement):
            self._refuse(what)

    def _is_flush(self, statement: ClauseElement | None) -> bool:
        # An association without a class is written by the flush too, but no mapper event tells its rows.
        return not self._closed and statement is not None and statement.is_dml and statement.table in self._touched  # type: ignore[attr-defined] - every DML statement has a table

    def _refuse_commit(self, _connection: Connection) -> None:
        self._refuse("the end of the transaction")

    def _refuse_rollback(self, _connection: Connection) -> None:
        self._refuse("the end of the transaction")

    def _refuse(self, what: str) -> None:
        self._escaped = self._escaped or EscapedStatement(what)
        raise self._escaped


def _not_a_read(statement: ClauseElement | None) -> str | None:
    """What the statement is, if it could do more than read. Text can't be judged and counts as writing."""
    if statement is None:
        return "a statement of the driver"
    if statement.is_dml:
        return "a statement that writes"
    if not isinstance(statement, Executable) or not statement.is_select:
        return "text"
    for node in visitors.iterate(statement):
        if isinstance(node, Executable) and node.is_dml:
            return "a reading statement with a writing part"
        if isinstance(node, Executable) and node.is_text and not isinstance(node, TextClause):
            return "a reading statement made of text"
    return None
