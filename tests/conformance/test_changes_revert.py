"""Undoing a change set, on both databases."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest
from sqlalchemy import delete, insert, update
from sqlalchemy.ext.asyncio import AsyncSession

from stores.changes import Change, differences, dump_changes, inverse, load_changes, recording, revert
from stores.database import Database
from stores.errors import Irreversible, RowsMovedOn
from tests.stores.recorded_tables import (
    METADATA,
    Account,
    Course,
    CourseTag,
    Everything,
    Mood,
    Note,
    Slot,
    Tables,
    Tag,
    Teacher,
    all_rows,
    at_rest,
    make_tables,
)

pytestmark = pytest.mark.anyio

Call = Callable[[AsyncSession], Awaitable[object]]


@pytest.fixture(autouse=True)
async def tables(database: Database) -> None:
    await make_tables(database)
    async with database.write() as connection, AsyncSession(connection) as session:
        session.add_all([Tag(id="red"), Tag(id="blue"), Account(id="a", name="Exchange", token="hush")])
        session.add(Course(name="Maths", room="A1", notes=[Note(text="one"), Note(text="two")]))
        session.add(Course(name="Physics", room="B2"))
        await session.flush()
        session.add_all([CourseTag(course_id=1, tag_id="red"), Slot(id="s1", day=1, hour=8, course_id=2)])
        await session.commit()


async def did(database: Database, call: Call) -> tuple[Change, ...]:
    async with database.write() as connection, recording(connection) as record:
        await call(record.session)
        return await record.finish()
    raise AssertionError


async def undo(database: Database, changes: tuple[Change, ...]) -> tuple[Change, ...]:
    async with database.write() as connection:
        stored = load_changes(dump_changes(changes), metadata=METADATA)
        return await revert(connection, stored, metadata=METADATA)


async def rows(database: Database) -> Tables:
    async with database.read() as connection:
        return at_rest(await connection.run_sync(all_rows))


async def rename(session: AsyncSession) -> None:
    course = await session.get_one(Course, 1)
    course.name, course.meta = "Algebra", {"a": 1}


async def remove_with_children(session: AsyncSession) -> None:
    await session.delete(await session.get_one(Course, 1))


async def insert_with_children(session: AsyncSession) -> None:
    session.add(Course(name="Latin", notes=[Note(text="a")], tags=[CourseTag(tag_id="blue")]))


async def update_then_remove_with_children(session: AsyncSession) -> None:
    course = await session.get_one(Course, 1)
    course.name = "Algebra"
    await session.flush()
    await session.delete(course)


async def move_a_child_to_a_new_parent(session: AsyncSession) -> None:
    maths = await session.get_one(Course, 1)
    session.add(Course(name="Latin", notes=[maths.notes[0]]))


async def replace_the_holder_of_a_unique_value(session: AsyncSession) -> None:
    await session.delete(await session.get_one(Slot, "s1"))
    await session.flush()
    session.add(Slot(id="s2", day=1, hour=8))


async def move_away_and_fill_the_place(session: AsyncSession) -> None:
    (await session.get_one(Slot, "s1")).hour = 9
    await session.flush()
    session.add(Slot(id="s2", day=1, hour=8))


async def fill_a_place_that_was_deleted(session: AsyncSession) -> None:
    session.add(Slot(id="s2", day=1, hour=9))
    await session.flush()
    await session.delete(await session.get_one(Slot, "s1"))
    await session.flush()
    (await session.get_one(Slot, "s2")).hour = 8


async def rename_a_key(session: AsyncSession) -> None:
    (await session.get_one(Tag, "blue")).id = "navy"


async def insert_over_two_tables(session: AsyncSession) -> None:
    session.add(Teacher(name="Noether", subject="algebra"))


async def every_type(session: AsyncSession) -> None:
    row = Everything(
        number=1,
        ratio=-0.0,
        price=Decimal("0.10"),
        ready=False,
        day=date(2026, 12, 1),
        hour=time(8),
        moment=datetime(2026, 12, 1, tzinfo=UTC),
        content=b"\x00",
        mood=Mood.CALM,
        form=["\x00", {"b": 1, "a": None}],
    )
    session.add(row)


CALLS: list[Call] = [
    rename,
    remove_with_children,
    insert_with_children,
    update_then_remove_with_children,
    move_a_child_to_a_new_parent,
    replace_the_holder_of_a_unique_value,
    move_away_and_fill_the_place,
    fill_a_place_that_was_deleted,
    rename_a_key,
    insert_over_two_tables,
    every_type,
]


@pytest.mark.parametrize("call", CALLS)
async def test_a_revert_brings_every_row_back_and_can_be_reverted(database: Database, call: Call) -> None:
    before = await rows(database)
    changes = await did(database, call)
    after = await rows(database)
    assert changes

    undone = await undo(database, changes)
    assert await rows(database) == before
    redone = await undo(database, undone)
    assert await rows(database) == after
    await undo(database, redone)
    assert await rows(database) == before
    assert [(change.op, change.key) for change in undone] == [(change.op, change.key) for change in inverse(changes)]


async def test_a_revert_counts_the_version_on(database: Database) -> None:
    changes = await did(database, rename)
    (undone,) = await undo(database, changes)
    assert undone.after is not None
    assert undone.after["version"] == 3


async def refused(database: Database, changes: tuple[Change, ...]) -> list[tuple[str, tuple[object, ...], str | None]]:
    """What the refusal names; and it left everything as it was."""
    before = await rows(database)
    with pytest.raises(RowsMovedOn) as caught:
        await undo(database, changes)
    assert await rows(database) == before
    return [(row.table, row.key, row.column) for row in caught.value.rows]


async def test_a_changed_column_that_moved_on_refuses(database: Database) -> None:
    changes = await did(database, rename)
    async with database.write() as connection:
        await connection.execute(update(Course).where(Course.id == 1).values(name="Geometry"))
    with pytest.raises(RowsMovedOn) as caught:
        await undo(database, changes)
    (row,) = caught.value.rows
    assert (row.column, row.approved, row.found) == ("name", "Algebra", "Geometry")


async def test_another_column_that_moved_on_does_not(database: Database) -> None:
    changes = await did(database, rename)
    async with database.write() as connection:
        await connection.execute(update(Course).where(Course.id == 1).values(room="Z9"))
    (undone,) = await undo(database, changes)
    assert undone.after is not None
    assert (undone.after["name"], undone.after["room"]) == ("Maths", "Z9")


async def test_a_row_that_is_gone_refuses(database: Database) -> None:
    changes = await did(database, insert_over_two_tables)
    async with database.write() as connection:
        await connection.execute(delete(METADATA.tables["teacher"]))
    assert await refused(database, changes) == [("teacher", (1,), None)]


async def test_any_column_of_an_inserted_row_refuses(database: Database) -> None:
    changes = await did(database, insert_with_children)
    async with database.write() as connection:
        await connection.execute(update(Course).where(Course.id == 3).values(room="Z9"))
    assert await refused(database, changes) == [("course", (3,), "room")]


async def test_a_new_child_refuses_and_is_named(database: Database) -> None:
    changes = await did(database, insert_with_children)
    await did(database, lambda session: _add(session, Note(course_id=3, text="later")))
    assert await refused(database, changes) == [("note", (4,), None)]


async def test_a_unique_value_that_is_taken_refuses_and_its_holder_is_named(database: Database) -> None:
    async def free(session: AsyncSession) -> None:
        await session.delete(await session.get_one(Slot, "s1"))

    changes = await did(database, free)
    await did(database, lambda session: _add(session, Slot(id="s9", day=1, hour=8)))
    assert await refused(database, changes) == [("slot", ("s9",), None)]


async def test_a_parent_that_is_gone_refuses_and_is_named(database: Database) -> None:
    async def untie(session: AsyncSession) -> None:
        (await session.get_one(Slot, "s1")).course_id = None

    changes = await did(database, untie)
    async with database.write() as connection:
        await connection.execute(delete(Course).where(Course.id == 2))
    assert await refused(database, changes) == [("course", (2,), None)]


async def test_a_deleted_row_that_is_there_again_refuses(database: Database) -> None:
    changes = await did(database, remove_with_children)
    async with database.write() as connection:
        await connection.execute(
            insert(Course).values(
                id=1, version=1, name="Other", user_id="ann", seen=0, meta={}, updated=datetime.now(UTC)
            )
        )
    assert ("course", (1,), None) in await refused(database, changes)


async def test_a_second_revert_refuses(database: Database) -> None:
    changes = await did(database, rename)
    await undo(database, changes)
    assert [column for _, _, column in await refused(database, changes)] == ["name", "meta"]


async def test_two_swapped_unique_values_refuse(database: Database) -> None:
    async def exchange(session: AsyncSession) -> None:
        first, second = await session.get_one(Slot, "s1"), await session.get_one(Slot, "s2")
        first.hour = 10
        await session.flush()
        second.hour = 8
        await session.flush()
        first.hour = 9

    await did(database, lambda session: _add(session, Slot(id="s2", day=1, hour=9)))
    changes = await did(database, exchange)
    assert {key for _, key, _ in await refused(database, changes)} == {("s1",), ("s2",)}


async def test_what_is_not_compared_goes_back_where_nobody_moved_it(database: Database) -> None:
    async def look(session: AsyncSession) -> None:
        course = await session.get_one(Course, 1)
        course.seen, course.room = 5, "X"

    changes = await did(database, look)
    (undone,) = await undo(database, changes)
    assert undone.after is not None
    assert undone.after["seen"] == 0
    changes = await did(database, look)
    async with database.write() as connection:
        await connection.execute(update(Course).where(Course.id == 1).values(seen=7))
    (undone,) = await undo(database, changes)
    assert undone.after is not None
    assert (undone.after["seen"], undone.after["room"]) == (7, "A1")


async def test_a_secret_that_was_touched_is_irreversible(database: Database) -> None:
    async def replace(session: AsyncSession) -> None:
        (await session.get_one(Account, "a")).token = "new"

    with pytest.raises(Irreversible):
        await undo(database, await did(database, replace))


async def test_a_secret_that_was_not_touched_is_no_obstacle(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        (await session.get_one(Account, "a")).name = "Bourse"
        session.add(Account(id="b", name="Bare"))

    before = await rows(database)
    await undo(database, await did(database, call))
    assert await rows(database) == before


async def test_a_person_is_told_what_moved_since_the_proposal(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = await session.get_one(Course, 1)
        course.room = "X"
        if course.name == "Maths":
            session.add(Note(course=course, text="three"))

    proposed = await did(database, call)
    async with database.write() as connection:
        await connection.execute(update(Course).where(Course.id == 1).values(room="C3", name="Algebra"))
    executed = await did(database, call)
    found = [
        (gap.table, gap.column, gap.approved, gap.found) for gap in differences(proposed, executed, metadata=METADATA)
    ]
    assert found == [
        ("course", "name", "Maths", "Algebra"),
        ("course", "room", "A1", "C3"),
        ("note", None, "insert", None),
    ]


async def _add(session: AsyncSession, row: object) -> None:
    session.add(row)
