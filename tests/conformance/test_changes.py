"""Recording a call, on both databases."""

# ruff: noqa: PT012 - a transaction ends with its block

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import undefer

from stores.changes import Change, dump_changes, load_changes, normal_form, recording
from stores.database import Database
from stores.errors import UnrecordableValue
from tests.stores.recorded_tables import (
    METADATA,
    Account,
    Course,
    CourseTag,
    Everything,
    Mood,
    Note,
    Slot,
    Tag,
    Teacher,
    all_rows,
    discarded,
    make_tables,
)

pytestmark = pytest.mark.anyio

Call = Callable[[AsyncSession], Awaitable[object]]


@pytest.fixture(autouse=True)
async def tables(database: Database) -> None:
    await make_tables(database)
    async with database.write() as connection, AsyncSession(connection) as session:
        notes = [Note(text="bring paper"), Note(text="be early")]
        session.add_all([Tag(id="red"), Tag(id="blue")])
        session.add(Course(name="Maths", room="A1", summary="sums", meta={"k": [1]}, notes=notes))
        session.add(Course(name="Physics", room="B2"))
        await session.flush()
        session.add(CourseTag(course_id=1, tag_id="red"))
        await session.commit()


async def recorded(connection: AsyncConnection, call: Call) -> tuple[Change, ...]:
    async with recording(connection, secret_key=b"key") as record:
        await call(record.session)
        return await record.finish()


async def changes_of(database: Database, call: Call) -> tuple[Change, ...]:
    async with discarded(database) as connection:
        return await recorded(connection, call)
    raise AssertionError


def briefly(changes: tuple[Change, ...]) -> list[tuple[str, str]]:
    return [(change.op, change.table) for change in changes]


async def test_an_update_is_one_change_with_the_whole_row_before_and_after(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        (await session.get_one(Course, 1)).room = "C3"

    (change,) = await changes_of(database, call)
    assert (change.table, change.key, change.op) == ("course", (1,), "update")
    assert change.before is not None
    assert change.after is not None
    assert change.before["room"] == "A1"
    assert change.after["room"] == "C3"
    assert change.before["summary"] == change.after["summary"] == "sums"
    assert change.version == "version"


async def test_several_flushes_of_one_row_are_one_change(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = await session.get_one(Course, 1)
        for room in ("X", "Y", "Z"):
            course.room = room
            await session.flush()

    (change,) = await changes_of(database, call)
    assert change.before is not None
    assert change.after is not None
    assert (change.before["room"], change.after["room"]) == ("A1", "Z")


async def test_there_and_back_is_no_change(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = await session.get_one(Course, 1)
        course.room = "X"
        await session.flush()
        course.room = "A1"

    assert await changes_of(database, call) == ()


async def test_insert_and_delete_in_one_call_is_no_change(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = Course(name="Latin")
        session.add(course)
        await session.flush()
        await session.delete(course)

    assert await changes_of(database, call) == ()


async def test_what_a_rolled_back_savepoint_did_is_no_change(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = await session.get_one(Course, 1)
        savepoint = await session.begin_nested()
        course.room = "X"
        session.add(Course(name="Latin"))
        await session.flush()
        await savepoint.rollback()
        (await session.get_one(Course, 2)).room = "Y"

    (change,) = await changes_of(database, call)
    assert change.key == (2,)


async def test_what_a_query_flushes_by_itself_is_recorded(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        session.add(Note(course_id=2, text="by the way"))
        assert await session.scalar(select(func.count()).select_from(Note)) == 3

    (change,) = await changes_of(database, call)
    assert change.op == "insert"
    assert change.made == 1


async def test_an_attribute_set_blindly_has_its_true_value_before(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = await session.get_one(Course, 1)
        session.expire(course, ["room"])
        course.room = "X"

    (change,) = await changes_of(database, call)
    assert change.before is not None
    assert change.before["room"] == "A1"


async def test_a_deferred_column_has_its_true_value_before(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        (await session.get_one(Course, 1)).summary = "products"

    (change,) = await changes_of(database, call)
    assert change.before is not None
    assert change.before["summary"] == "sums"


async def test_a_changed_json_value_has_its_old_value_before(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = await session.get_one(Course, 1)
        course.meta["n"] = 2

    (change,) = await changes_of(database, call)
    assert change.before is not None
    assert change.after is not None
    assert (change.before["meta"], change.after["meta"]) == ({"k": [1]}, {"k": [1], "n": 2})


async def test_an_equal_json_value_assigned_is_no_change(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        (await session.get_one(Course, 1)).meta = {"k": [1]}

    assert await changes_of(database, call) == ()


async def test_only_a_volatile_column_changed_is_no_change(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        (await session.get_one(Course, 1)).seen = 9

    assert await changes_of(database, call) == ()


async def test_delete_and_insert_under_one_key_is_an_update(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        await session.delete(await session.get_one(Tag, "blue"))
        session.add(Tag(id="blue", color="navy"))

    (change,) = await changes_of(database, call)
    assert (change.op, change.key) == ("update", ("blue",))


async def test_a_child_that_moves_is_one_update(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        maths, physics = await session.get_one(Course, 1), await session.get_one(Course, 2)
        physics.notes.append(maths.notes[0])

    (change,) = await changes_of(database, call)
    assert change.after is not None
    assert (change.op, change.table, change.after["course_id"]) == ("update", "note", 2)


async def test_an_orphan_is_a_deletion(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        maths = await session.get_one(Course, 1)
        maths.notes.pop(0)

    assert briefly(await changes_of(database, call)) == [("delete", "note")]


async def test_a_deletion_tells_what_falls_with_it(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        await session.delete(await session.get_one(Course, 1))

    told = briefly(await changes_of(database, call))
    assert told == [("delete", "course"), ("delete", "course_tag"), ("delete", "note"), ("delete", "note")]


async def test_a_new_key_is_a_deletion_and_an_insertion(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        (await session.get_one(Tag, "blue")).id = "navy"

    assert briefly(await changes_of(database, call)) == [("delete", "tag"), ("insert", "tag")]


async def test_a_row_over_two_tables_is_two_changes(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        session.add(Teacher(name="Noether", subject="algebra"))

    changes = await changes_of(database, call)
    form = normal_form(changes, metadata=METADATA)
    assert briefly(changes) == [("insert", "person"), ("insert", "teacher")]
    assert form.text.count("new:0:person:1") == 4


async def test_two_calls_at_once_are_told_apart(database: Database) -> None:
    async def call(name: str) -> tuple[Change, ...]:
        async with database.write() as connection, recording(connection) as record:
            for n in range(5):
                record.session.add(Tag(id=f"{name} {n}"))
                await record.session.flush()
            return await record.finish()
        raise AssertionError

    for name, changes in zip("ab", await asyncio.gather(call("a"), call("b")), strict=True):
        assert [change.key for change in changes] == [(f"{name} {n}",) for n in range(5)]


async def test_an_empty_call_has_no_changes(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        await session.get_one(Course, 1, options=[undefer(Course.summary)])

    assert await changes_of(database, call) == ()


async def test_a_call_that_fails_leaves_nothing_and_the_next_one_works(database: Database) -> None:
    async def failing(session: AsyncSession) -> None:
        session.add(Note(course_id=1, text="kept by nobody"))
        await session.commit()
        session.add(Note(course_id=99, text="nowhere"))

    async def working(session: AsyncSession) -> None:
        session.add(Note(course_id=1, text="here"))

    async with database.write() as connection:
        with pytest.raises(IntegrityError):
            await recorded(connection, failing)
        changes = await recorded(connection, working)
        assert briefly(changes) == [("insert", "note")]
    async with database.read() as connection:
        texts = (await connection.scalars(select(Note.text))).all()
        assert sorted(texts) == ["be early", "bring paper", "here"]


async def test_an_error_that_the_call_survives_is_no_change(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        session.add(Note(course_id=99, text="nowhere"))
        with pytest.raises(IntegrityError):
            await session.flush()
        await session.rollback()
        session.add(Note(course_id=1, text="here"))

    assert briefly(await changes_of(database, call)) == [("insert", "note")]


async def test_a_commit_in_a_call_commits_nothing(database: Database) -> None:
    async with database.read() as connection:
        before = await connection.run_sync(all_rows)

    async def call(session: AsyncSession) -> None:
        (await session.get_one(Course, 1)).room = "X"
        await session.commit()
        session.add(Course(name="Latin"))
        await session.commit()

    assert briefly(await changes_of(database, call)) == [("insert", "course"), ("update", "course")]
    async with database.read() as connection:
        assert await connection.run_sync(all_rows) == before


async def test_a_rollback_in_a_call_loses_only_its_own_work(database: Database) -> None:
    async def first(session: AsyncSession) -> None:
        (await session.get_one(Course, 1)).room = "X"

    async def second(session: AsyncSession) -> None:
        (await session.get_one(Course, 2)).room = "Y"
        await session.flush()
        await session.rollback()

    async with database.write() as connection:
        await recorded(connection, first)
        assert await recorded(connection, second) == ()
    async with database.read() as connection:
        assert (await connection.scalars(select(Course.room).order_by(Course.id))).all() == ["X", "B2"]


async def test_a_recording_that_was_not_finished_leaves_nothing(database: Database) -> None:
    async with database.write() as connection, recording(connection) as record:
        (await record.session.get_one(Course, 1)).room = "X"
        await record.session.commit()
    async with database.read() as connection:
        assert await connection.scalar(select(Course.room).where(Course.id == 1)) == "A1"


async def test_the_session_sees_the_changes_after_finish(database: Database) -> None:
    async with database.write() as connection, recording(connection) as record:
        (await record.session.get_one(Course, 1)).room = "X"
        changes = await record.finish()
        assert await record.session.scalar(select(Course.room).where(Course.id == 1)) == "X"
        assert await record.finish() is changes


async def test_a_dry_run_and_the_execution_after_it_have_one_digest(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = Course(name="Latin", notes=[Note(text="a"), Note(text="b")], tags=[CourseTag(tag_id="red")])
        session.add(course)
        await session.flush()
        session.add(Slot(id="s1", day=1, hour=8, course_id=course.id))
        (await session.get_one(Course, 1)).notes[0].course = course

    proposed = await changes_of(database, call)
    async with database.write() as connection:
        await recorded(connection, lambda session: _add(session, Course(name="Greek")))
    async with database.write() as connection:
        executed = await recorded(connection, call)
    assert [change.key for change in proposed] != [change.key for change in executed]
    forms = [normal_form(changes, metadata=METADATA) for changes in (proposed, executed)]
    assert forms[0].text == forms[1].text
    assert forms[0].symbols != forms[1].symbols


async def _add(session: AsyncSession, row: object) -> None:
    session.add(row)


async def test_ten_new_rows_keep_their_numbers_when_the_keys_get_longer(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        session.add_all([Tag(id=f"t{n}") for n in range(6)])
        session.add_all([Note(course_id=1, text=f"note {n}") for n in range(6)])

    texts: set[str] = set()
    for _ in range(3):
        async with database.write() as connection:
            with pytest.raises(ZeroDivisionError):
                async with recording(connection) as record:
                    await call(record.session)
                    texts.add(normal_form(await record.finish(), metadata=METADATA).text)
                    raise ZeroDivisionError
            await recorded(connection, lambda session: _add(session, Note(course_id=2, text="between")))
    assert len(texts) == 1


async def test_a_later_call_names_the_rows_that_an_earlier_one_made(database: Database) -> None:
    async def make(session: AsyncSession) -> None:
        session.add(Course(name="Latin"))

    async def build_on_it(session: AsyncSession) -> None:
        course = (await session.scalars(select(Course).where(Course.name == "Latin"))).one()
        course.room = "D4"
        course.notes.append(Note(text="declensions"))

    texts: list[str] = []
    for _ in range(2):
        async with discarded(database) as connection:
            first = normal_form(await recorded(connection, make), metadata=METADATA)
            changes = await recorded(connection, build_on_it)
            texts.append(normal_form(changes, first.symbols, call=1, metadata=METADATA).text)
    assert texts[0] == texts[1]
    assert '"key":[{"$new":"new:0:course:1"}]' in texts[0]
    assert '"course_id":{"$new":"new:0:course:1"}' in texts[0]
    assert '"id":{"$new":"new:1:note:1"}' in texts[0]


async def test_a_column_that_fills_itself_is_compared_when_the_call_sets_it(database: Database) -> None:
    moment = datetime(2026, 12, 1, 8, tzinfo=UTC)

    async def call(session: AsyncSession) -> None:
        session.add(Course(name="Latin", created=moment))
        (await session.get_one(Course, 1)).updated = moment

    inserted, updated = await changes_of(database, call)
    assert inserted.chosen == ("created",)
    assert updated.chosen == ("updated",)


async def test_a_secret_is_never_in_clear(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        session.add(Account(id="a", name="Exchange", token="hush-hush"))
        session.add(Account(id="b", name="Other"))

    changes = await changes_of(database, call)
    text = dump_changes(changes) + repr(changes) + normal_form(changes, metadata=METADATA).text
    assert "hush" not in text
    assert [change.row["token"]["secret"] for change in changes] == ["set", "cleared"]
    assert len(changes[0].row["token"]["digest"]) == 64


async def test_every_type_survives_the_text(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        row = Everything(
            number=-(2**31),
            ratio=1e22,
            price=Decimal("10.50"),
            ready=True,
            day=date(2026, 12, 1),
            hour=time(8, 30, 0, 5),
            moment=datetime(2026, 12, 1, 8, 30, tzinfo=UTC),
            content=b"\x00\xff",
            mood=Mood.WILD,
            form={"$new": [1, 1.0, None, "\x00\ud83d"], "empty": {}},
        )
        session.add(row)

    changes = await changes_of(database, call)
    assert load_changes(dump_changes(changes), metadata=METADATA) == changes
    row = load_changes(dump_changes(changes), metadata=METADATA)[0].row
    assert row["mood"] is Mood.WILD
    assert isinstance(row["id"], uuid.UUID)
    assert '"$new":"new:0:everything:1"' in normal_form(changes, metadata=METADATA).text


async def test_a_key_of_another_type_is_refused(database: Database) -> None:
    async def call(session: AsyncSession) -> None:
        course = Course(name="Latin")
        course.id = "7"  # type: ignore[assignment]
        session.add(course)

    with pytest.raises(UnrecordableValue):
        await changes_of(database, call)
