"""Demo data is put in place once, for one user, completely or not at all."""

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.demo import put_demo
from stores.database import Database
from stores.tables import FactRow
from toolsets.pack import DemoInput, Pack

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 12, 8, 9, 30, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


async def a_fact(session: AsyncSession, demo: DemoInput) -> None:
    known = select(FactRow.id).where(FactRow.user_id == demo.user_id)
    if (await session.scalars(known)).first() is None:
        text = f"{demo.now.astimezone(demo.zone):%H:%M}"
        session.add(FactRow(id=demo.new_id(), user_id=demo.user_id, text=text, created_at=demo.now))


async def nothing_works(session: AsyncSession, demo: DemoInput) -> None:
    raise RuntimeError


def numbers() -> Callable[[], str]:
    counter = count(1)
    return lambda: f"id-{next(counter)}"


async def put(packs: list[Pack], database: Database, user_id: str, new_id: Callable[[], str]) -> tuple[str, ...]:
    return await put_demo(packs, database, user_id=user_id, clock=lambda: NOW, new_id=new_id, zone=SHANGHAI)


async def facts(database: Database) -> list[tuple[str, str, str]]:
    async with database.read() as connection:
        rows = await connection.execute(select(FactRow.id, FactRow.user_id, FactRow.text).order_by(FactRow.id))
        return [(row.id, row.user_id, row.text) for row in rows]


async def test_a_pack_gets_the_user_the_time_the_zone_and_ids(store: Database) -> None:
    packs = [Pack(name="facts", toolsets=(), demo=a_fact), Pack(name="empty", toolsets=())]

    assert await put(packs, store, "alice", numbers()) == ("facts",)

    assert await facts(store) == [("id-1", "alice", "17:30")]


async def test_a_second_time_changes_nothing(store: Database) -> None:
    packs, new_id = [Pack(name="facts", toolsets=(), demo=a_fact)], numbers()

    await put(packs, store, "alice", new_id)
    await put(packs, store, "alice", new_id)
    await put(packs, store, "bob", new_id)

    assert await facts(store) == [("id-1", "alice", "17:30"), ("id-2", "bob", "17:30")]


async def test_a_pack_that_fails_takes_the_others_with_it(store: Database) -> None:
    packs = [Pack(name="facts", toolsets=(), demo=a_fact), Pack(name="broken", toolsets=(), demo=nothing_works)]

    with pytest.raises(RuntimeError):
        await put(packs, store, "alice", numbers())

    assert await facts(store) == []
