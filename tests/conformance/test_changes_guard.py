"""What a recorded call may not do, one by one, on both databases."""

# ruff: noqa: PT012 - a transaction ends with its block

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    delete,
    event,
    exists,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.exc import IntegrityError, InvalidRequestError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, aliased, mapped_column, relationship

from stores.changes import check_pack_tables, recording
from stores.database import Database
from stores.errors import BrokenReference, EscapedStatement, StoreError
from tests.stores.recorded_tables import Course, Note, Tag, all_rows, make_tables

pytestmark = pytest.mark.anyio

Escape = Callable[[AsyncSession], Awaitable[Any]]

TAG = Tag.metadata.tables["tag"]


@pytest.fixture(autouse=True)
async def tables(database: Database) -> None:
    await make_tables(database)
    async with database.write() as connection:
        await connection.execute(insert(TAG), [{"id": "red", "version": 1}, {"id": "blue", "version": 1}])


async def bulk_update(session: AsyncSession) -> None:
    await session.execute(update(Tag).values(color="x"))


async def bulk_delete(session: AsyncSession) -> None:
    await session.execute(delete(Tag).where(Tag.id == "red"))


async def bulk_insert(session: AsyncSession) -> None:
    await session.execute(insert(Tag), [{"id": "x", "version": 1}])


async def query_delete(session: AsyncSession) -> None:
    await session.run_sync(lambda sync: sync.query(Tag).delete())


async def core_insert(session: AsyncSession) -> None:
    await session.execute(TAG.insert().values(id="x", version=1))


async def core_update_on_the_connection(session: AsyncSession) -> None:
    await (await session.connection()).execute(TAG.update().values(color="x"))


async def text_update(session: AsyncSession) -> None:
    await session.execute(text("UPDATE tag SET color = 'x'"))


async def text_select(session: AsyncSession) -> None:
    await session.execute(text("SELECT 1"))


async def text_delete_with_columns(session: AsyncSession) -> None:
    await session.execute(text("DELETE FROM tag RETURNING id").columns(TAG.c.id))


async def driver_sql(session: AsyncSession) -> None:
    await (await session.connection()).exec_driver_sql("DELETE FROM tag")


async def a_table_of_its_own(session: AsyncSession) -> None:
    await (await session.connection()).run_sync(Table("own", MetaData(), Column("id", Integer)).create)


async def bulk_save(session: AsyncSession) -> None:
    await session.run_sync(lambda sync: sync.bulk_save_objects([Tag(id="x", version=1)]))


async def bulk_mappings(session: AsyncSession) -> None:
    await session.run_sync(lambda sync: sync.bulk_insert_mappings(Tag.__mapper__, [{"id": "x", "version": 1}]))


async def delete_in_a_cte(session: AsyncSession) -> None:
    gone = delete(TAG).returning(TAG.c.id).cte()
    await session.execute(select(gone.c.id))


async def delete_in_a_cte_by_an_alias(session: AsyncSession) -> None:
    gone = delete(TAG).returning(TAG.c.id, TAG.c.color).cte()
    await session.execute(select(aliased(Tag, gone).color))


async def delete_in_a_cte_beside(session: AsyncSession) -> None:
    await session.execute(select(Course.id).add_cte(delete(TAG).returning(TAG.c.id).cte()))


async def delete_in_a_nested_cte(session: AsyncSession) -> None:
    gone = delete(TAG).returning(TAG.c.id).cte(nesting=True)
    await session.execute(select(literal(1)).where(exists(select(gone.c.id))))


async def text_in_a_cte(session: AsyncSession) -> None:
    gone = text("DELETE FROM tag RETURNING id").columns(TAG.c.id).cte()
    await session.execute(select(gone.c.id))


async def commit_of_the_connection(session: AsyncSession) -> None:
    await (await session.connection()).commit()


async def rollback_of_the_connection(session: AsyncSession) -> None:
    await (await session.connection()).rollback()


ESCAPES: list[Escape] = [
    bulk_update,
    bulk_delete,
    bulk_insert,
    query_delete,
    core_insert,
    core_update_on_the_connection,
    text_update,
    text_select,
    text_delete_with_columns,
    driver_sql,
    a_table_of_its_own,
    bulk_save,
    bulk_mappings,
    delete_in_a_cte,
    delete_in_a_cte_by_an_alias,
    delete_in_a_cte_beside,
    delete_in_a_nested_cte,
    text_in_a_cte,
    commit_of_the_connection,
    rollback_of_the_connection,
]


@pytest.mark.parametrize("escape", ESCAPES)
async def test_a_write_past_the_session_is_refused_and_changes_nothing(database: Database, escape: Escape) -> None:
    async with database.read() as connection:
        before = await connection.run_sync(all_rows)
    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            record.session.add(Tag(id="green"))
            await escape(record.session)
    async with database.read() as connection:
        assert await connection.run_sync(all_rows) == before


@pytest.mark.parametrize("escape", [bulk_update, driver_sql, commit_of_the_connection, rollback_of_the_connection])
async def test_an_escape_that_the_call_swallows_still_fails(database: Database, escape: Escape) -> None:
    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            try:
                await escape(record.session)
            except StoreError:
                pass
            await record.finish()


async def test_a_write_after_finish_is_refused(database: Database) -> None:
    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            await record.finish()
            record.session.add(Tag(id="green"))
            await record.session.flush()


async def test_an_unflushed_change_after_finish_is_refused(database: Database) -> None:
    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            tag = await record.session.get_one(Tag, "red")
            await record.finish()
            tag.color = "crimson"


async def test_a_flush_without_work_opens_no_door(database: Database) -> None:
    def expunge(session: Session, *_: object) -> None:
        session.expunge_all()

    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            event.listen(record.session.sync_session, "before_flush", expunge)
            record.session.add(Tag(id="green"))
            await record.session.flush()
            await record.session.execute(delete(TAG))


async def test_a_failed_flush_opens_no_door(database: Database) -> None:
    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            record.session.add(Tag(id="red"))
            with pytest.raises(IntegrityError):
                await record.session.flush()
            await record.session.rollback()
            await record.session.execute(delete(TAG))


async def test_reading_is_free(database: Database) -> None:
    async with database.write() as connection, recording(connection) as record:
        counted = select(func.count()).select_from(select(Tag).cte()).scalar_subquery()
        assert await record.session.scalar(select(counted)) == 2
        assert await record.session.scalar(func.now()) is not None
        newest = select(Tag).order_by(text("id")).with_for_update()
        assert [tag.id for tag in await record.session.scalars(newest)] == ["blue", "red"]
        assert await record.finish() == ()


async def test_the_connection_is_free_again_afterwards(database: Database) -> None:
    async with database.write() as connection:
        async with recording(connection) as record:
            await record.finish()
        await connection.execute(delete(TAG))
        assert await connection.scalar(select(func.count()).select_from(TAG)) == 0


async def test_the_connection_is_free_again_after_an_error(database: Database) -> None:
    async with database.write() as connection:
        with pytest.raises(EscapedStatement):
            async with recording(connection) as record:
                await bulk_delete(record.session)
        await connection.execute(delete(TAG))


async def test_a_session_kept_beyond_its_recording_is_dead(database: Database) -> None:
    async with database.write() as connection:
        async with recording(connection) as record:
            await record.finish()
        with pytest.raises(InvalidRequestError):
            await record.session.get(Tag, "red")


async def test_other_connections_are_not_guarded(database: Database) -> None:
    reader = database.read() if database.sqlite else database.write()
    async with database.write() as connection, recording(connection) as record, reader as other:
        assert (await other.execute(text("SELECT 1"))).scalar() == 1
        assert await record.finish() == ()


class Club(DeclarativeBase):
    pass


MEMBERSHIP = Table(
    "membership",
    Club.metadata,
    Column[str]("team", ForeignKey("team.id"), primary_key=True),
    Column[str]("player", ForeignKey("player.id"), primary_key=True),
)


class Team(Club):
    __tablename__ = "team"
    id: Mapped[str] = mapped_column(primary_key=True)
    players: Mapped[list["Player"]] = relationship(secondary=MEMBERSHIP, lazy="selectin")


class Player(Club):
    __tablename__ = "player"
    id: Mapped[str] = mapped_column(primary_key=True)
    captain_id: Mapped[str | None] = mapped_column(ForeignKey("player.id", deferrable=True, initially="DEFERRED"))


async def test_a_row_of_an_association_without_a_class_is_refused(database: Database) -> None:
    async with database.write() as connection:
        await connection.run_sync(Club.metadata.create_all)
    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            record.session.add(Team(id="t", players=[Player(id="p")]))
            await record.finish()
    assert any("secondary" in sentence for sentence in check_pack_tables([Team]))


async def test_a_deferred_constraint_is_checked_before_the_call_is_over(database: Database) -> None:
    async with database.write() as connection:
        await connection.run_sync(Club.metadata.create_all)
    with pytest.raises(BrokenReference if database.sqlite else IntegrityError):
        async with database.write() as connection, recording(connection) as record:
            record.session.add(Player(id="p", captain_id="nobody"))
            await record.finish()


async def test_a_listener_that_writes_in_a_flush_past_the_unit_of_work_is_refused(database: Database) -> None:
    def write(session: Session, *_: object) -> None:
        connection: Connection = session.connection()
        connection.execute(Note.__table__.delete())  # type: ignore[attr-defined]

    with pytest.raises(EscapedStatement):
        async with database.write() as connection, recording(connection) as record:
            event.listen(record.session.sync_session, "before_flush", write)
            record.session.add(Tag(id="green"))
            await record.finish()
