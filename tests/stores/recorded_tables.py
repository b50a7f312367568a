"""Tables of a small course book, with everything that a recorder could miss."""

# ruff: noqa: RUF012 - SQLAlchemy's own form

import enum
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from sqlalchemy import CheckConstraint, Connection, ForeignKey, Index, MetaData, Numeric, UniqueConstraint, func, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.mutable import MutableDict
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from stores.columns import JsonText, UtcDateTime
from stores.database import Database
from stores.tables import Base as HouseBase

NUMBERED = {"sqlite_autoincrement": True}


def _now() -> datetime:
    return datetime.now(UTC)


class Book(DeclarativeBase):
    metadata = MetaData(naming_convention=HouseBase.metadata.naming_convention)


class Owned:
    user_id: Mapped[str] = mapped_column(default="ann")


class Course(Owned, Book):
    __tablename__ = "course"
    __table_args__ = NUMBERED
    id: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column()
    name: Mapped[str] = mapped_column(info={"label": True})
    room: Mapped[str | None]
    seen: Mapped[int] = mapped_column(default=0, info={"volatile": True})
    summary: Mapped[str | None] = mapped_column(deferred=True)
    meta: Mapped[dict[str, Any]] = mapped_column(MutableDict.as_mutable(JsonText()), default=dict)
    created: Mapped[datetime] = mapped_column(UtcDateTime, server_default=func.now())
    updated: Mapped[datetime] = mapped_column(UtcDateTime, default=_now, onupdate=_now)
    notes: Mapped[list["Note"]] = relationship(
        back_populates="course", cascade="all, delete-orphan", lazy="selectin", order_by="Note.id"
    )
    tags: Mapped[list["CourseTag"]] = relationship(cascade="all, delete-orphan", lazy="selectin")
    __mapper_args__ = {"version_id_col": version}


class Note(Owned, Book):
    __tablename__ = "note"
    __table_args__ = NUMBERED
    id: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column()
    course_id: Mapped[int] = mapped_column(ForeignKey("course.id"))
    text: Mapped[str]
    course: Mapped[Course] = relationship(back_populates="notes", lazy="selectin")
    __mapper_args__ = {"version_id_col": version}


class Tag(Owned, Book):
    __tablename__ = "tag"
    id: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column()
    color: Mapped[str] = mapped_column(default="grey")
    __mapper_args__ = {"version_id_col": version}


class CourseTag(Owned, Book):
    __tablename__ = "course_tag"
    course_id: Mapped[int] = mapped_column(ForeignKey("course.id"), primary_key=True)
    tag_id: Mapped[str] = mapped_column(ForeignKey("tag.id"), primary_key=True)
    version: Mapped[int] = mapped_column()
    __mapper_args__ = {"version_id_col": version}


class Slot(Owned, Book):
    __tablename__ = "slot"
    __table_args__ = (
        UniqueConstraint("day", "hour"),
        CheckConstraint("hour < 24", name="hour"),
        Index("ix_slot_phrase", "phrase", unique=True),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column()
    day: Mapped[int]
    hour: Mapped[int]
    phrase: Mapped[str | None]
    course_id: Mapped[int | None] = mapped_column(ForeignKey("course.id"))
    __mapper_args__ = {"version_id_col": version}


class Account(Owned, Book):
    __tablename__ = "account"
    id: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column()
    name: Mapped[str] = mapped_column(info={"label": True})
    token: Mapped[str | None] = mapped_column(info={"secret": True})
    __mapper_args__ = {"version_id_col": version}


class Mood(enum.StrEnum):
    CALM = "calm one"
    WILD = "wild one"


class Everything(Owned, Book):
    __tablename__ = "everything"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    version: Mapped[int] = mapped_column()
    number: Mapped[int]
    ratio: Mapped[float]
    price: Mapped[Decimal] = mapped_column(Numeric(12, 2))
    ready: Mapped[bool]
    day: Mapped[date]
    hour: Mapped[time]
    moment: Mapped[datetime] = mapped_column(UtcDateTime)
    content: Mapped[bytes]
    mood: Mapped[Mood]
    form: Mapped[Any] = mapped_column(JsonText)
    __mapper_args__ = {"version_id_col": version}


class Person(Owned, Book):
    __tablename__ = "person"
    __table_args__ = NUMBERED
    id: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column()
    kind: Mapped[str]
    name: Mapped[str]
    __mapper_args__ = {"version_id_col": version, "polymorphic_on": "kind", "polymorphic_identity": "person"}


class Teacher(Person):
    __tablename__ = "teacher"
    id: Mapped[int] = mapped_column(ForeignKey("person.id"), primary_key=True)
    subject: Mapped[str]
    __mapper_args__ = {"polymorphic_identity": "teacher"}


METADATA = Book.metadata

MOVING = {"version", "updated"}
"""Columns that no revert brings back."""

Tables = dict[tuple[str, tuple[Any, ...]], dict[str, Any]]


def all_rows(connection: Connection) -> Tables:
    """Every row of every table, by table and key."""
    found: Tables = {}
    for table in METADATA.sorted_tables:
        for row in connection.execute(select(table)):
            values = {column.name: value for column, value in zip(table.columns, row, strict=True)}
            found[table.name, tuple(values[column.name] for column in table.primary_key)] = values
    return found


def at_rest(rows: Tables) -> Tables:
    """The rows without what moves by itself."""
    return {place: without_moving(row) for place, row in rows.items()}


def without_moving(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in MOVING}


async def make_tables(database: Database) -> None:
    async with database.write() as connection:
        await connection.run_sync(METADATA.create_all)


class Discard(Exception):
    """Ends a transaction without a trace."""


@asynccontextmanager
async def discarded(database: Database) -> AsyncIterator[AsyncConnection]:
    """A transaction that leaves nothing."""
    try:
        async with database.write() as connection:
            yield connection
            raise Discard
    except Discard:
        pass
