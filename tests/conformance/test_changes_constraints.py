"""What the databases refuse, named alike; and which failures are worth another try."""

# ruff: noqa: PT012 - a transaction ends with its block

import asyncio

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm.exc import StaleDataError

from stores.changes import Constraint, constraint_of, is_retryable
from stores.database import Database, open_database
from tests.stores.recorded_tables import METADATA, Course, Note, Slot, Tag, make_tables

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
async def tables(database: Database) -> None:
    await make_tables(database)
    async with database.write() as connection, AsyncSession(connection) as session:
        session.add_all([Tag(id="red"), Slot(id="s1", day=1, hour=8, phrase="x"), Course(name="Maths")])
        await session.flush()
        session.add(Note(course_id=1, text="one"))
        await session.commit()


async def broken(database: Database, row: object) -> Constraint | None:
    with pytest.raises(IntegrityError) as caught:
        async with database.write() as connection, AsyncSession(connection) as session:
            session.add(row)
            await session.flush()
    assert not is_retryable(caught.value)
    return constraint_of(caught.value, METADATA)


async def test_a_unique_constraint_is_named_by_its_columns(database: Database) -> None:
    found = await broken(database, Slot(id="s2", day=1, hour=8))
    assert found == Constraint(kind="unique", table="slot", columns=("day", "hour"))


async def test_a_unique_index_is_named_by_its_columns(database: Database) -> None:
    found = await broken(database, Slot(id="s2", day=2, hour=8, phrase="x"))
    assert found == Constraint(kind="unique", table="slot", columns=("phrase",))


async def test_a_primary_key_is_a_unique_constraint(database: Database) -> None:
    assert await broken(database, Tag(id="red")) == Constraint(kind="unique", table="tag", columns=("id",))


async def test_a_missing_value_is_named_by_its_column(database: Database) -> None:
    assert await broken(database, Note(course_id=1)) == Constraint(kind="not_null", table="note", columns=("text",))


async def test_a_check_is_named_by_its_table(database: Database) -> None:
    found = await broken(database, Slot(id="s2", day=1, hour=30))
    assert found is not None
    assert (found.kind, found.table) == ("check", "slot")


async def test_a_foreign_key_is_named_where_the_database_names_it(database: Database) -> None:
    found = await broken(database, Note(course_id=9, text="nowhere"))
    assert found is not None
    assert found.kind == "foreign_key"
    assert (found.table, found.columns) == ((None, ()) if database.sqlite else ("note", ("course_id",)))


async def test_a_row_that_is_still_used_is_a_foreign_key(database: Database) -> None:
    with pytest.raises(IntegrityError) as caught:
        async with database.write() as connection:
            await connection.execute(delete(Course))
    found = constraint_of(caught.value, METADATA)
    assert found is not None
    assert found.kind == "foreign_key"


async def test_a_version_that_moved_on_is_worth_another_try(database: Database) -> None:
    with pytest.raises(StaleDataError) as caught:
        async with database.write() as connection, AsyncSession(connection) as session:
            course = await session.get_one(Course, 1)
            await connection.execute(update(Course).values(version=9))
            course.room = "X"
            await session.flush()
    assert is_retryable(caught.value)


async def test_a_writer_in_the_way_is_worth_another_try(database: Database, empty_database_url: str) -> None:
    other = open_database(empty_database_url)
    try:
        async with other.writer.connect() as waiting:
            if database.sqlite:
                await waiting.exec_driver_sql("ROLLBACK")
                await waiting.exec_driver_sql("PRAGMA busy_timeout=1")
            async with database.write() as connection:
                await connection.execute(update(Tag).values(color="x"))
                with pytest.raises(DBAPIError) as caught:
                    await waiting.exec_driver_sql("BEGIN IMMEDIATE" if database.sqlite else "SET lock_timeout = 1")
                    await waiting.execute(update(Tag).values(color="y"))
            await waiting.rollback()
            if database.sqlite:
                await waiting.invalidate()
    finally:
        await other.close()
    assert is_retryable(caught.value)


async def test_a_deadlock_is_worth_another_try(database: Database) -> None:
    if database.sqlite:  # one writer at a time: nobody waits in a circle
        return
    async with database.write() as connection:
        await connection.execute(insert(Tag).values(id="blue", version=1, user_id="ann", color="x"))
    met = [asyncio.Event(), asyncio.Event()]

    async def lock(first: str, second: str, mine: int) -> BaseException | None:
        try:
            async with database.write() as connection:
                await connection.execute(select(Tag).where(Tag.id == first).with_for_update())
                met[mine].set()
                await met[1 - mine].wait()
                await connection.execute(select(Tag).where(Tag.id == second).with_for_update())
        except DBAPIError as error:
            return error
        return None

    errors = await asyncio.gather(lock("red", "blue", 0), lock("blue", "red", 1))
    assert [is_retryable(error) for error in errors if error] == [True]
