"""Rules of pack tables, and the normal form of changes that are given."""

# ruff: noqa: RUF012 - SQLAlchemy's own form

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, ForeignKey, Identity, MetaData
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from stores.changes import Change, check_pack_tables, inverse, irreversible, is_retryable, normal_form
from tests.stores.recorded_tables import (
    METADATA,
    Account,
    Course,
    CourseTag,
    Everything,
    Note,
    Person,
    Slot,
    Tag,
)


class Broken(DeclarativeBase):
    metadata = MetaData()
    type_annotation_map = {dict[str, int]: JSON()}


SHARED = JSON()


class Parent(Broken):
    __tablename__ = "parent"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    first: Mapped[Any] = mapped_column(SHARED)
    second: Mapped[Any] = mapped_column(SHARED)
    third: Mapped[dict[str, int]]
    fourth: Mapped[dict[str, int]]


class Child(Broken):
    __tablename__ = "child"
    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str]
    version: Mapped[str] = mapped_column()
    parent_id: Mapped[int] = mapped_column(ForeignKey("parent.id", ondelete="CASCADE"))
    next_id: Mapped[str | None] = mapped_column(ForeignKey("child.id", deferrable=True))
    follower: Mapped["Child | None"] = relationship(post_update=True, remote_side="Child.id")
    __mapper_args__ = {"version_id_col": version, "version_id_generator": str}


def test_tables_that_keep_the_rules_have_nothing_to_be_told() -> None:
    assert check_pack_tables([Course, Note, Tag, CourseTag, Slot, Account, Everything, Person]) == []


def test_every_broken_rule_is_a_sentence() -> None:
    assert sorted(check_pack_tables([Parent, Child])) == [
        "child counts its versions in a column that isn't an integer",
        "child has a deferrable constraint: a dry run would miss it",
        "child lets the database change rows (ON DELETE or ON UPDATE of parent_id): use a cascade",
        "child.follower uses post_update: its updates can't be recorded",
        "parent has no column user_id: every row belongs to a user",
        "parent has no version_id_col: set it in __mapper_args__",
        "parent would use a deleted row's key again on SQLite: set sqlite_autoincrement=True",
        "parent.id is always generated: a deleted row couldn't return under its key",
        "parent.second and parent.first share one JSON type: make a new instance for each column",
    ]


def course(**values: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": 1,
        "version": 1,
        "name": "Maths",
        "room": "A1",
        "seen": 0,
        "summary": None,
        "meta": {},
        "user_id": "ann",
    }
    return {**row, "created": "x", "updated": "y", **values}


def update(before: dict[str, Any], after: dict[str, Any]) -> Change:
    return Change(table="course", key=(1,), op="update", before=before, after=after, version="version")


def text_of(*changes: Change) -> str:
    return normal_form(changes, metadata=METADATA).text


def test_an_update_is_compared_by_what_changed_and_by_its_label() -> None:
    change = update(course(), course(room="B2", version=2, updated="z", seen=4))
    columns = '{"name":["Maths","Maths"],"room":["A1","B2"]}'
    assert text_of(change) == f'[{{"columns":{columns},"key":[1],"op":"update","table":"course"}}]'


def test_another_label_is_another_change() -> None:
    assert text_of(update(course(), course(room="B2"))) != text_of(
        update(course(name="Algebra"), course(name="Algebra", room="B2"))
    )


def test_another_unchanged_column_is_the_same_change() -> None:
    assert text_of(update(course(), course(room="B2"))) == text_of(
        update(course(summary="new"), course(summary="new", room="B2"))
    )


def test_a_deletion_is_compared_by_the_whole_row() -> None:
    one = Change(table="course", key=(1,), op="delete", before=course(), after=None, version="version")
    other = Change(table="course", key=(1,), op="delete", before=course(summary="x"), after=None, version="version")
    later = Change(table="course", key=(1,), op="delete", before=course(version=9), after=None, version="version")
    assert text_of(one) != text_of(other)
    assert text_of(one) == text_of(later)


def test_the_order_of_the_changes_does_not_matter() -> None:
    changes = [
        Change(table="tag", key=(name,), op="insert", before=None, after={"id": name, "color": "x", "user_id": "ann"})
        for name in "abc"
    ]
    assert text_of(*changes) == text_of(*reversed(changes))


def test_a_text_that_looks_like_a_placeholder_is_not_one() -> None:
    after = {"id": 7, "version": 1, "course_id": 1, "text": "new:0:note:1", "user_id": "ann"}
    made = Change(table="note", key=(7,), op="insert", before=None, after=after, version="version", made=1)
    assert '"id":{"$new":"new:0:note:1"}' in text_of(made)
    assert '"text":"new:0:note:1"' in text_of(made)


def test_the_inverse_of_the_inverse_is_the_change() -> None:
    change = update(course(), course(room="B2"))
    assert inverse(inverse([change])) == (change,)


def test_only_a_touched_secret_is_irreversible() -> None:
    sealed, cleared = {"secret": "set", "digest": "d"}, {"secret": "cleared", "digest": ""}

    def change(before: Any, after: Any) -> Change:
        rows = [{"id": "a", "token": token} if token else None for token in (before, after)]
        op = "insert" if before is None else "delete" if after is None else "update"
        return Change(table="account", key=("a",), op=op, before=rows[0], after=rows[1])

    touched = [change(None, sealed), change(sealed, None), change(sealed, cleared), change(cleared, sealed)]
    untouched = [change(None, cleared), change(cleared, None), change(sealed, sealed)]
    assert all(irreversible([one], metadata=METADATA) for one in touched)
    assert not irreversible(untouched, metadata=METADATA)


RUN = """
import asyncio
import sys
from sqlalchemy.ext.asyncio import AsyncSession
from stores.changes import normal_form, recording
from stores.database import open_database
from tests.stores.recorded_tables import METADATA, Course, CourseTag, Note, Tag, make_tables

async def main():
    database = open_database(sys.argv[1])
    await make_tables(database)
    async with database.write() as connection, recording(connection) as record:
        courses = {Course(name=f"course {n}", tags=[]) for n in range(5)}
        for course in sorted(courses, key=lambda course: course.name):
            record.session.add(course)
        record.session.add_all({Tag(id=f"tag {n}") for n in range(5)})
        await record.session.flush()
        for course in courses:
            course.room = course.name
            course.tags.append(CourseTag(tag_id="tag 1"))
        print(normal_form(await record.finish(), metadata=METADATA).digest)
    await database.close()

asyncio.run(main())
"""


def test_every_process_finds_the_same_digest(tmp_path: Path) -> None:
    """Sets, and the session's own collections, have another order in every process."""
    digests: set[str] = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", RUN, f"sqlite+aiosqlite:///{tmp_path / seed}.db"]
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        digests.add(run.stdout)
    assert len(digests) == 1
    assert all(digests)


def test_other_errors_are_final() -> None:
    assert not is_retryable(ValueError("no"))
    assert not is_retryable(DBAPIError("SELECT", {}, ValueError("no")))
