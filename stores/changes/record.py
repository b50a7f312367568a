"""Recording a call: everything it writes through its session, and nothing else, ends in a change set."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from stores.changes.change import Change
from stores.changes.guard import Guard
from stores.changes.touched import RecordedSession, Touched
from stores.errors import BrokenReference


class Recording:
    """A call that is being recorded. `session` is all that the call gets."""

    def __init__(self, connection: AsyncConnection, session: AsyncSession, touched: Touched, guard: Guard) -> None:
        self.session = session
        self._connection = connection
        self._touched = touched
        self._guard = guard
        self._changes: tuple[Change, ...] | None = None

    @property
    def finished(self) -> bool:
        return self._changes is not None

    async def finish(self) -> tuple[Change, ...]:
        """What the call changed, sorted by table, op and key; empty when nothing did. Then the session reads only.

        Raises EscapedStatement also when the call swallowed it, UnrecordableValue, and the database's own errors.
        """
        if self._changes is None:
            self._guard.raise_escaped()
            await self.session.flush()
            with self._guard.lifted():
                await self._connection.run_sync(check_deferred, self._touched)
            self._guard.close()
            self._changes = await self._connection.run_sync(self._touched.changes)
        return self._changes


@asynccontextmanager
async def recording(connection: AsyncConnection, *, secret_key: bytes = b"") -> AsyncIterator[Recording]:
    """Record a call on a connection whose transaction has begun.

    The call runs in a savepoint of its own: its session's `commit` commits nothing, its `rollback` loses only its own
    work. When the block ends after `finish`, the changes are part of the outer transaction; when it raises, or ends
    unfinished, nothing stays. `secret_key` keys the digests of secret columns.
    """
    touched = Touched(secret_key)
    guard = Guard(touched)
    async with connection.begin_nested() as savepoint:
        session = AsyncSession(
            connection,
            sync_session_class=RecordedSession,
            touched=touched,
            guard=guard,
            join_transaction_mode="create_savepoint",
            expire_on_commit=False,
            close_resets_only=False,
        )
        async with session:
            recorded = Recording(connection, session, touched, guard)
            assert connection.sync_connection is not None
            with guard.on(connection.sync_connection):
                yield recorded
                if recorded.finished:
                    await session.commit()
        if not recorded.finished:
            await savepoint.rollback()


def check_deferred(connection: Connection, touched: Touched) -> None:
    """Check the constraints that would else wait for the commit. Raises IntegrityError or BrokenReference."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))
        return
    tables = {table for changed in touched.tables() for table in changed.metadata.tables.values()}
    for table in sorted(tables, key=lambda table: table.fullname):
        if any(constraint.deferrable for constraint in table.foreign_key_constraints):
            for broken in connection.exec_driver_sql(f'PRAGMA foreign_key_check("{table.name}")'):
                raise BrokenReference(broken[0], broken[2])
