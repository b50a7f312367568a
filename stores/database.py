"""One engine, two kinds of transaction: readers that can't write, and writers that queue instead of failing."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, event, func, literal, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from stores.columns import UtcDateTime

Clock = Callable[[], datetime]
"""Gives the present, aware, UTC."""

BUSY_TIMEOUT_MS = 5000


class _RolledBack(Exception):
    pass


class Database:
    """Opens transactions. Everything durable goes through `read` or `write`; nobody else begins or commits."""

    def __init__(self, writer: AsyncEngine, reader: AsyncEngine, clock: Clock | None = None) -> None:
        self.writer = writer
        self.reader = reader
        self.clock = clock
        """Given: decides what `now` is (tests). None: the database's own clock."""
        self.sqlite = writer.dialect.name == "sqlite"
        self._turnstile = asyncio.Lock()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one state and can't write (the database itself refuses)."""
        async with self.reader.connect() as connection:
            yield connection

    @asynccontextmanager
    async def write(self, *, user_id: str | None = None, lock_timeout_ms: int = 5000) -> AsyncIterator[AsyncConnection]:
        """A transaction that commits when the block ends and rolls back when it raises.

        `user_id` takes the user's lock first (DESIGN.md §3, lock order): needed by whoever writes pack tables.
        SQLite: `BEGIN IMMEDIATE`, one writer of this process at a time, others wait up to `BUSY_TIMEOUT_MS`.
        """
        async with AsyncExitStack() as stack:
            if self.sqlite:
                await stack.enter_async_context(self._turnstile)
            connection = await stack.enter_async_context(self.writer.connect())
            async with connection.begin():
                if not self.sqlite:
                    await self._lock(connection, user_id, lock_timeout_ms)
                yield connection

    @asynccontextmanager
    async def dry_run(self, *, user_id: str, lock_timeout_ms: int) -> AsyncIterator[AsyncConnection]:
        """As `write`, but always rolled back."""
        try:
            async with self.write(user_id=user_id, lock_timeout_ms=lock_timeout_ms) as connection:
                yield connection
                raise _RolledBack
        except _RolledBack:
            return

    async def _lock(self, connection: AsyncConnection, user_id: str | None, lock_timeout_ms: int) -> None:
        await connection.execute(text(f"SET LOCAL lock_timeout = {int(lock_timeout_ms)}"))
        if user_id is not None:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock_key(user_id)})

    def now(self, plus_s: float = 0) -> ColumnElement[datetime]:
        """The present (plus seconds) as an SQL expression, by the database's clock: one clock for all replicas."""
        if self.clock is None and not self.sqlite:
            return func.clock_timestamp() + timedelta(seconds=plus_s)
        # SQLite lives on this machine: its clock is ours.
        moment = self.clock() if self.clock else datetime.now(UTC)
        return literal(moment + timedelta(seconds=plus_s), UtcDateTime())

    async def close(self) -> None:
        await self.writer.dispose()
        await self.reader.dispose()


def lock_key(user_id: str) -> int:
    """The user's advisory lock: a signed 64-bit number."""
    return int.from_bytes(hashlib.blake2b(user_id.encode(), digest_size=8).digest(), "big", signed=True)


def open_database(url: str, clock: Clock | None = None) -> Database:
    """A database by its SQLAlchemy URL (`sqlite+aiosqlite:///…` or `postgresql+asyncpg://…`). Connects lazily."""
    if make_url(url).get_backend_name() == "sqlite":
        # Parameters may be what a person said: they stay out of error texts.
        writer, reader = create_async_engine(url, hide_parameters=True), create_async_engine(url, hide_parameters=True)
        for engine in (writer, reader):
            event.listen(engine.sync_engine, "connect", _prepare_sqlite)
            event.listen(engine.sync_engine, "begin", _begin_sqlite)
        event.listen(reader.sync_engine, "connect", _forbid_writing)
        return Database(writer.execution_options(placet_write=True), reader, clock)
    engine = create_async_engine(url, pool_size=10, max_overflow=20, pool_pre_ping=True, hide_parameters=True)
    return Database(engine, engine.execution_options(postgresql_readonly=True), clock)


def _prepare_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # The driver must not begin by itself: `_begin_sqlite` says which kind of transaction it is.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", f"busy_timeout={BUSY_TIMEOUT_MS}", "foreign_keys=ON", "synchronous=NORMAL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _forbid_writing(connection: Any, _entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get("placet_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
