"""States in SQL: what is saved is what is loaded, and the rows say no more than what changed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import pytest
from sqlalchemy import event, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from stores.changes import Change, recording
from stores.database import Database
from tests.toolsets.scheduling.stored import make_tables, reading, store_state, stored_state
from tests.toolsets.scheduling.worlds import NOW, counting_ids, deps_on, placed, spots, waiting, world
from toolsets.scheduling.load import load_state
from toolsets.scheduling.moving import Move, batch_move, move
from toolsets.scheduling.placing import place, unplace
from toolsets.scheduling.save import save
from toolsets.scheduling.state import ScheduleState
from toolsets.scheduling.swapping import swap
from toolsets.scheduling.tables import SectionRow, TaskRow

pytestmark = pytest.mark.anyio

START = world(
    placed(1, (1, 1, 2), (4, 1, 2), locked=True),
    placed(2, (1, 3, 4), can_embed=True),
    placed(3, (3, 1, 2)),
    placed(4, (5, 1, 2)),
    waiting(5, 1),
    waiting(6, 2),
)

CHANGES: dict[str, Callable[[ScheduleState], ScheduleState]] = {
    "over itself": lambda s: move(s, 3, 3, 2),
    "swap": lambda s: swap(s, 3, 4),
    "exchange": lambda s: batch_move(s, [Move(3, 5, 1), Move(4, 3, 1)]),
    "unplace": lambda s: unplace(s, 2),
    "host and guest": lambda s: move(place(s, 5, 1, 3), 2, 6, 9),
    "host swaps": lambda s: swap(place(s, 5, 1, 3), 2, 3),
}


@pytest.fixture(autouse=True)
async def tables(database: Database) -> None:
    await make_tables(database)


async def recorded(database: Database, before: ScheduleState, after: ScheduleState) -> tuple[Change, ...]:
    later = NOW + timedelta(minutes=5)
    async with database.write(user_id="alice") as connection, recording(connection) as record:
        await save(deps_on(record.session, new_id=counting_ids("later"), now=later), before, after)
        return await record.finish()


async def test_what_is_saved_is_what_is_loaded(database: Database) -> None:
    state = place(START, 5, 1, 4)
    await store_state(database, state)
    assert await stored_state(database) == state


async def test_a_pending_task_that_is_placed_stays_placed(database: Database) -> None:
    await store_state(database, START)
    await recorded(database, START, place(START, 6, 2, 7))
    assert spots(await stored_state(database), 6) == [(2, 7, 8)]


@pytest.mark.parametrize("name", CHANGES)
async def test_each_kind_of_change_comes_back(database: Database, name: str) -> None:
    await store_state(database, START)
    after = CHANGES[name](START)
    await recorded(database, START, after)
    assert await stored_state(database) == after


async def test_a_slot_that_changes_hands_is_an_update(database: Database) -> None:
    await store_state(database, START)
    changes = await recorded(database, START, swap(START, 3, 4))
    ops = {(one.table, one.op) for one in changes}
    assert ops == {("scheduling_sections", "update"), ("scheduling_tasks", "update")}


async def test_moving_over_itself_touches_only_the_slots_that_differ(database: Database) -> None:
    await store_state(database, START)
    changes = await recorded(database, START, move(START, 3, 3, 2))
    sections = [
        (one.op, (one.after or one.before or {})["slot"]) for one in changes if one.table == "scheduling_sections"
    ]
    assert sorted(sections) == [("delete", 1), ("insert", 3)]


async def test_a_move_carries_the_name_of_its_task(database: Database) -> None:
    await store_state(database, START)
    changes = await recorded(database, START, move(START, 3, 6, 1))
    (task,) = [one for one in changes if one.table == "scheduling_tasks"]
    assert task.before is not None
    assert task.before["name"] == "event 3"


async def test_the_database_itself_refuses_a_double_booking(database: Database) -> None:
    await store_state(database, START)
    async with reading(database) as deps:
        key = await deps.session.scalar(select(TaskRow.id).where(TaskRow.number == 3))
    async with database.write(user_id="alice") as connection, AsyncSession(connection) as session:
        session.add(SectionRow(id="x", user_id="alice", task_id=key, date=date(2026, 12, 7), slot=1, layer="host"))
        with pytest.raises(IntegrityError):
            await session.flush()
        await connection.rollback()


async def test_numbers_are_the_same_on_every_load(database: Database) -> None:
    await store_state(database, START)
    first, second = await stored_state(database), await stored_state(database)
    assert list(first.tasks) == list(second.tasks) == [1, 2, 3, 4, 5, 6]


async def test_one_user_never_sees_or_moves_what_another_has(database: Database) -> None:
    await store_state(database, START, user_id="bob")
    assert (await stored_state(database, user_id="alice")).tasks == {}
    await store_state(database, START, user_id="alice")
    await recorded(database, START, move(START, 3, 6, 1))
    assert await stored_state(database, user_id="bob") == START


@pytest.mark.parametrize("tasks", [3, 60])
async def test_loading_takes_three_queries_whatever_the_number_of_tasks(database: Database, tasks: int) -> None:
    events = [placed(n, (n % 7 + 1, n // 7 + 1, n // 7 + 1)) for n in range(1, tasks + 1)]
    await store_state(database, world(*events))
    selects: list[str] = []

    def count(_: object, __: object, statement: str, *rest: object) -> None:
        selects.extend([statement] if statement.startswith("SELECT") else [])

    async with database.read() as connection, AsyncSession(connection) as session:
        assert connection.sync_connection is not None
        event.listen(connection.sync_connection, "before_cursor_execute", count)
        loaded = await load_state(deps_on(session))
    assert len(loaded.tasks) == tasks
    assert len(selects) <= 3


async def test_slots_outside_the_window_are_counted_and_left_alone(database: Database) -> None:
    weekly = world(placed(1, (1, 1, 2), (3, 1, 2)))
    await store_state(database, weekly)
    async with reading(database) as deps:
        monday = await load_state(deps, (date(2026, 12, 7), date(2026, 12, 7)))
    assert (monday.tasks[1].outside, monday.tasks[1].duration) == (2, 4)
    await recorded(database, monday, move(monday, 1, 1, 5))
    assert spots(await stored_state(database), 1) == [(1, 5, 6), (3, 1, 2)]


async def test_saving_the_same_state_changes_nothing(database: Database) -> None:
    await store_state(database, START)
    assert await recorded(database, START, replace(START)) == ()
