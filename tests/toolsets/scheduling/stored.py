"""Timetables in a database, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date

from sqlalchemy.ext.asyncio import AsyncSession

from stores.database import Database
from stores.tables import Base
from tests.toolsets.scheduling.worlds import MONDAY, deps_on
from toolsets.deps import ToolDeps
from toolsets.scheduling.load import load_state
from toolsets.scheduling.save import save
from toolsets.scheduling.state import ScheduleState
from toolsets.scheduling.tables import TABLES
from toolsets.words import Locale

SUNDAY = date(2026, 12, 13)


async def make_tables(database: Database) -> None:
    tables = [Base.metadata.tables[table.__tablename__] for table in TABLES]
    async with database.write() as connection:
        await connection.run_sync(Base.metadata.create_all, tables=tables)


@asynccontextmanager
async def writing(database: Database, *, user_id: str = "alice", locale: Locale = "en") -> AsyncIterator[ToolDeps]:
    async with database.write(user_id=user_id) as connection, AsyncSession(connection) as session:
        yield deps_on(session, user_id=user_id, locale=locale)


@asynccontextmanager
async def reading(database: Database, *, user_id: str = "alice", locale: Locale = "en") -> AsyncIterator[ToolDeps]:
    async with database.read() as connection, AsyncSession(connection) as session:
        yield deps_on(session, user_id=user_id, locale=locale)


async def store_state(database: Database, state: ScheduleState, *, user_id: str = "alice") -> None:
    """Save a state into an empty timetable."""
    async with writing(database, user_id=user_id) as deps:
        nothing = replace(state, tasks={}, task_classes={})
        await save(deps, nothing, state)


async def stored_state(database: Database, *, user_id: str = "alice") -> ScheduleState:
    """The week as it is stored."""
    async with reading(database, user_id=user_id) as deps:
        return await load_state(deps, (MONDAY, SUNDAY))
