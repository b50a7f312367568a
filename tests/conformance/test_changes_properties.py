"""What holds of any call: found by random ones, on both databases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from stores.changes import Change, differences, dump_changes, load_changes, normal_form, recording, revert
from stores.database import Database
from tests.stores.recorded_tables import (
    METADATA,
    Course,
    CourseTag,
    Note,
    Slot,
    Tables,
    Tag,
    all_rows,
    at_rest,
    discarded,
    make_tables,
)

pytestmark = pytest.mark.anyio

SEEN = 20
"""Examples of each property on each database."""

any_call = settings(
    max_examples=SEEN,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass(frozen=True)
class Act:
    """One thing that a call does; numbers choose among what is there."""

    verb: str
    which: int = 0
    value: int = 0


VERBS = ["add course", "add note", "add slot", "rename", "empty", "delete course", "delete note", "move note", "tag"]
MORE_VERBS = ["untag", "edit meta", "touch", "recolor", "free slot", "flush", "commit", "undone"]

acts = st.builds(Act, st.sampled_from(VERBS + MORE_VERBS), st.integers(0, 5), st.integers(0, 3))
calls = st.lists(acts, min_size=1, max_size=8)


@pytest.fixture(autouse=True)
async def tables(database: Database) -> None:
    await make_tables(database)
    async with database.write() as connection, AsyncSession(connection) as session:
        session.add_all([Tag(id="red"), Tag(id="blue"), Slot(id="first", day=0, hour=0)])
        session.add(Course(name="Maths", room="A1", notes=[Note(text="one"), Note(text="two")]))
        session.add(Course(name="Physics", meta={"k": [1]}, tags=[CourseTag(tag_id="red")]))
        await session.commit()


async def perform(session: AsyncSession, call: Sequence[Act]) -> None:
    for act in call:
        if act.verb == "undone":
            savepoint = await session.begin_nested()
            await perform(session, [Act("rename", act.which, act.value), Act("add note", act.which, act.value)])
            await session.flush()
            await savepoint.rollback()
        elif act.verb in ("flush", "commit"):
            await (session.flush() if act.verb == "flush" else session.commit())
        else:
            await step(session, act)


async def step(session: AsyncSession, act: Act) -> None:  # noqa: C901 - one line for each verb
    courses, notes = await found(session, Course), await found(session, Note)
    course = courses[act.which % len(courses)] if courses else None
    note = notes[act.which % len(notes)] if notes else None
    match act.verb:
        case "add course":
            session.add(Course(name=f"course {act.value}", notes=[Note(text="its own")] * (act.value % 2)))
        case "add note" if course:
            course.notes.append(Note(text=f"note {act.value}"))
        case "add slot":
            await fill(session, act, course)
        case "rename" if course:
            course.name = f"name {act.value}"
        case "empty" if course:
            course.room = None
        case "delete course" if course:
            await untie(session, course)
            await session.delete(course)
        case "delete note" if note:
            await session.delete(note)
        case "move note" if note and course:
            note.course_id = course.id
        case "tag" if course:
            await tag(session, course, "blue" if act.value % 2 else "red")
        case "untag" if course and course.tags:
            course.tags.pop()
        case "edit meta" if course:
            course.meta["n"] = act.value
        case "touch" if course:
            course.meta = dict(course.meta)
            course.seen = act.value
        case "recolor":
            (await session.get_one(Tag, "red")).color = f"red {act.value}"
        case "free slot":
            for slot in (await found(session, Slot))[: act.value]:
                await session.delete(slot)
        case _:
            pass
    await session.flush()
    session.expire_all()


async def found(session: AsyncSession, kind: type[Any]) -> list[Any]:
    return list(await session.scalars(select(kind).order_by(kind.id)))


async def fill(session: AsyncSession, act: Act, course: Course | None) -> None:
    taken = select(Slot).where(Slot.day == act.which, Slot.hour == act.value)
    if (await session.scalars(taken)).first() is None:
        key = f"{act.which} {act.value}"
        if await session.get(Slot, key) is None:
            session.add(Slot(id=key, day=act.which, hour=act.value, course_id=course.id if course else None))


async def untie(session: AsyncSession, course: Course) -> None:
    for slot in await session.scalars(select(Slot).where(Slot.course_id == course.id)):
        slot.course_id = None
    await session.flush()


async def tag(session: AsyncSession, course: Course, name: str) -> None:
    if name not in [link.tag_id for link in course.tags]:
        course.tags.append(CourseTag(tag_id=name))


async def recorded(connection: AsyncConnection, call: Sequence[Act]) -> tuple[Change, ...]:
    async with recording(connection) as record:
        await perform(record.session, call)
        return await record.finish()
    raise AssertionError


async def rows(connection: AsyncConnection) -> Tables:
    return await connection.run_sync(all_rows)


def compared(all_of: Tables) -> Tables:
    return {place: {k: v for k, v in row.items() if k != "seen"} for place, row in at_rest(all_of).items()}


@any_call
@given(call=calls)
async def test_the_changes_are_the_difference_of_all_tables(database: Database, call: list[Act]) -> None:
    async with discarded(database) as connection:
        before = await rows(connection)
        changes = await recorded(connection, call)
        after = await rows(connection)
    told = {(change.table, change.key): (change.before, change.after) for change in changes}
    moved = {
        place for place in before.keys() | after.keys() if compared(before).get(place) != compared(after).get(place)
    }
    assert told == {place: (before.get(place), after.get(place)) for place in moved}
    assert load_changes(dump_changes(changes), metadata=METADATA) == changes


@any_call
@given(call=calls)
async def test_a_revert_is_exact_and_so_is_its_own_revert(database: Database, call: list[Act]) -> None:
    async with discarded(database) as connection:
        before = compared(await rows(connection))
        changes = await recorded(connection, call)
        after = compared(await rows(connection))
        undone = await revert(connection, changes, metadata=METADATA)
        assert compared(await rows(connection)) == before
        await revert(connection, undone, metadata=METADATA)
        assert compared(await rows(connection)) == after


@any_call
@given(call=calls, between=calls)
async def test_a_call_has_one_normal_form_however_often_it_runs(
    database: Database, call: list[Act], between: list[Act]
) -> None:
    forms: list[str] = []
    sets: list[tuple[Change, ...]] = []
    for _ in range(2):
        async with discarded(database) as connection:
            changes = await recorded(connection, call)
            sets.append(changes)
            forms.append(normal_form(changes, metadata=METADATA).text)
        async with discarded(database) as connection:
            await recorded(connection, between)
    assert forms[0] == forms[1]
    assert differences(sets[0], sets[1], metadata=METADATA) == ()


@any_call
@given(call=calls, other=calls)
async def test_differences_are_told_exactly_when_the_normal_forms_differ(
    database: Database, call: list[Act], other: list[Act]
) -> None:
    async with discarded(database) as connection:
        ours = await recorded(connection, call)
    async with discarded(database) as connection:
        theirs = await recorded(connection, other)
    same = normal_form(ours, metadata=METADATA).digest == normal_form(theirs, metadata=METADATA).digest
    assert (differences(ours, theirs, metadata=METADATA) == ()) is same


@any_call
@given(first=calls, second=calls)
async def test_the_calls_of_a_step_keep_their_symbols(database: Database, first: list[Act], second: list[Act]) -> None:
    texts: list[str] = []
    for _ in range(2):
        async with discarded(database) as connection:
            one = normal_form(await recorded(connection, first), metadata=METADATA)
            two = normal_form(await recorded(connection, second), one.symbols, call=1, metadata=METADATA)
            texts.append(one.text + two.text)
        async with discarded(database) as connection:
            await recorded(connection, [Act("add course", 1, 1), Act("add note", 0, 1)])
    assert texts[0] == texts[1]
