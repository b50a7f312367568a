"""Users' rows and what users have used."""

import asyncio
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from sqlalchemy import insert

from stores import users
from stores.database import Database
from stores.rows import table_of
from stores.tables import UsageRow
from stores.usage import DayUsage, per_day

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 12, 7, 8, 0, tzinfo=UTC)


async def test_a_user_is_made_at_first_sight_and_only_once(store: Database) -> None:
    made = await asyncio.gather(*(users.get_or_create(store, "alice", NOW) for _ in range(8)))
    assert {user.created_at for user in made} == {NOW}
    async with store.read() as connection:
        user = await users.get(connection, "alice")
    assert user == users.User(id="alice", active=True, scopes=None, assistants=None, created_at=NOW)
    assert await users.get_or_create(store, "alice", NOW.replace(year=2027)) == user


async def test_rights_are_taken_and_given_back(store: Database) -> None:
    await users.get_or_create(store, "alice", NOW)
    async with store.write() as connection:
        assert await users.deactivate(connection, "alice")
        assert await users.set_scopes(connection, "alice", ["b", "a", "b"])
        assert await users.set_assistants(connection, "alice", [])
    user = await users.get_or_create(store, "alice", NOW)
    assert (user.active, user.scopes, user.assistants) == (False, ["a", "b"], [])
    async with store.write() as connection:
        await users.activate(connection, "alice")
        await users.set_scopes(connection, "alice", None)
        await users.set_assistants(connection, "alice", None)
    user = await users.get_or_create(store, "alice", NOW)
    assert (user.active, user.scopes, user.assistants) == (True, None, None)


async def test_who_is_not_there_cannot_be_changed(store: Database) -> None:
    async with store.write() as connection:
        assert not await users.deactivate(connection, "nobody")


def used(turn_id: str, user_id: str, day: str, cost: str | None) -> dict[str, object]:
    numbers = {"requests": 2, "input_tokens": 100, "output_tokens": 10}
    return {"turn_id": turn_id, "user_id": user_id, "day": day, "model": "m", "cost": cost, "at": NOW, **numbers}


async def test_usage_is_summed_per_day_of_one_user(store: Database) -> None:
    rows = [
        used("t1", "alice", "2026-12-06", "0.1"),
        used("t2", "alice", "2026-12-06", "0.2"),
        used("t3", "alice", "2026-12-07", None),
        used("t4", "alice", "2026-12-09", "5"),
        used("t5", "bob", "2026-12-06", "9"),
    ]
    async with store.write() as connection:
        await connection.execute(insert(table_of(UsageRow)), rows)
    async with store.read() as connection:
        days = await per_day(connection, "alice", date(2026, 12, 6), date(2026, 12, 8))
    assert days == [
        DayUsage(day="2026-12-06", turns=2, requests=4, input_tokens=200, output_tokens=20, cost=Decimal("0.3")),
        DayUsage(day="2026-12-07", turns=1, requests=2, input_tokens=100, output_tokens=10, cost=None),
    ]
