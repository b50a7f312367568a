"""What the timetable looks like in SQL: one row per occupied section, so that the database refuses double bookings."""

import datetime as dt
from typing import Any

from sqlalchemy import Boolean, Date, ForeignKey, Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from stores.columns import JsonText, UtcDateTime
from stores.tables import Base

HOST, GUEST = "host", "guest"
VOLATILE = {"volatile": True}
LABEL = {"label": True}


class TermRow(Base):
    """A term of one user."""

    __tablename__ = "scheduling_terms"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(255), index=True)
    name: Mapped[str] = mapped_column(String(200), info=LABEL)
    starts_on: Mapped[dt.date] = mapped_column(Date)
    weeks: Mapped[int] = mapped_column(Integer)
    slots_per_day: Mapped[int] = mapped_column(Integer, default=12)
    clock: Mapped[list[Any]] = mapped_column(JsonText, default=list[Any])
    """[["08:00", "08:45"], …], one pair per slot, or empty."""
    holidays: Mapped[list[Any]] = mapped_column(JsonText, default=list[Any])
    """ISO dates."""
    updated_at: Mapped[dt.datetime] = mapped_column(UtcDateTime, info=VOLATILE)
    version: Mapped[int] = mapped_column(Integer, info=VOLATILE)

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class TaskClassRow(Base):
    """A task class; `number` is the id that the model and the person see."""

    __tablename__ = "scheduling_task_classes"
    __table_args__ = (UniqueConstraint("user_id", "number"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(255), index=True)
    number: Mapped[int] = mapped_column(Integer, info=VOLATILE)
    name: Mapped[str] = mapped_column(String(200), info=LABEL)
    strategy: Mapped[str] = mapped_column(String(16))
    total_slots: Mapped[int] = mapped_column(Integer)
    allow_filler_course: Mapped[bool] = mapped_column(Boolean)
    excluded_slots: Mapped[list[Any]] = mapped_column(JsonText, default=list[Any])
    start_date: Mapped[dt.date] = mapped_column(Date)
    end_date: Mapped[dt.date] = mapped_column(Date)
    updated_at: Mapped[dt.datetime] = mapped_column(UtcDateTime, info=VOLATILE)
    version: Mapped[int] = mapped_column(Integer, info=VOLATILE)

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class TaskRow(Base):
    """A course, an event or an item of a task class. Pending exactly when no section names it."""

    __tablename__ = "scheduling_tasks"
    __table_args__ = (UniqueConstraint("user_id", "number"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(255), index=True)
    number: Mapped[int] = mapped_column(Integer, info=VOLATILE)
    name: Mapped[str] = mapped_column(String(200), info=LABEL)
    source: Mapped[str] = mapped_column(String(16))
    category: Mapped[str] = mapped_column(String(200))
    """Of an event; an item's category is its class's name."""
    task_class_id: Mapped[str | None] = mapped_column(ForeignKey("scheduling_task_classes.id"), index=True)
    duration: Mapped[int] = mapped_column(Integer)
    locked: Mapped[bool] = mapped_column(Boolean)
    can_embed: Mapped[bool] = mapped_column(Boolean)
    location: Mapped[str] = mapped_column(String(200), default="")
    arranged_at: Mapped[dt.datetime | None] = mapped_column(UtcDateTime)
    """When its place last changed. Compared, so that a move carries the task's row and with it the name on the card: a
    rename in between makes an approval stale."""
    version: Mapped[int] = mapped_column(Integer, info=VOLATILE)

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


class SectionRow(Base):
    """One slot of one date, taken by a task: as `host` (the plain case) or as `guest` inside an easy course."""

    __tablename__ = "scheduling_sections"
    __table_args__ = (UniqueConstraint("user_id", "date", "slot", "layer"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(255))
    date: Mapped[dt.date] = mapped_column(Date, info=LABEL)
    slot: Mapped[int] = mapped_column(Integer, info=LABEL)
    layer: Mapped[str] = mapped_column(String(8))
    task_id: Mapped[str] = mapped_column(ForeignKey("scheduling_tasks.id"), index=True)
    version: Mapped[int] = mapped_column(Integer, info=VOLATILE)

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form


TABLES: tuple[type[Base], ...] = (TermRow, TaskClassRow, TaskRow, SectionRow)
