"""The state from SQL: three queries, whatever the number of tasks."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from toolsets.deps import ToolDeps
from toolsets.scheduling.state import ScheduleState, Source, Strategy, Task, TaskClass, compressed
from toolsets.scheduling.tables import GUEST, HOST, SectionRow, TaskClassRow, TaskRow, TermRow
from toolsets.scheduling.window import Term, Window, planned_days, term_at, window_between

Section = tuple[date, int, str]
"""Date, slot and layer."""


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A state, with what is shown beside it."""

    state: ScheduleState
    term: Term | None
    today: date


def today_of(deps: ToolDeps) -> date:
    """The person's date: their zone decides."""
    return deps.clock().astimezone(deps.zone).date()


async def load_state(deps: ToolDeps, days: tuple[date, date] | None = None) -> ScheduleState:
    """The state of the planned days, or of other ones."""
    return (await load(deps, days)).state


async def load(deps: ToolDeps, days: tuple[date, date] | None = None) -> Loaded:
    today = today_of(deps)
    terms = await _terms(deps.session, deps.user_id)
    keys, classes = await _classes(deps.session, deps.user_id)
    first, last = days or planned_days(((c.start_date, c.end_date) for c in classes.values()), today)
    term = term_at(terms, today if days is None else first)
    window = window_between(first, last, term)
    tasks = await _tasks(deps.session, deps.user_id, window, keys, classes)
    return Loaded(state=ScheduleState(window=window, tasks=tasks, task_classes=classes), term=term, today=today)


async def _terms(session: AsyncSession, user_id: str) -> list[Term]:
    query = select(
        TermRow.name, TermRow.starts_on, TermRow.weeks, TermRow.slots_per_day, TermRow.clock, TermRow.holidays
    ).where(TermRow.user_id == user_id)
    return [
        Term(
            name=name,
            starts_on=starts_on,
            weeks=weeks,
            slots_per_day=slots_per_day,
            clock=tuple((str(start), str(end)) for start, end in clock),
            holidays=frozenset(date.fromisoformat(day) for day in holidays),
        )
        for name, starts_on, weeks, slots_per_day, clock, holidays in await session.execute(query)
    ]


async def _classes(session: AsyncSession, user_id: str) -> tuple[dict[str, int], dict[int, TaskClass]]:
    rows = (await session.scalars(select(TaskClassRow).where(TaskClassRow.user_id == user_id))).all()
    classes = {
        row.number: TaskClass(
            id=row.number,
            name=row.name,
            strategy=_strategy(row.strategy),
            total_slots=row.total_slots,
            allow_filler_course=row.allow_filler_course,
            excluded_slots=tuple(row.excluded_slots),
            start_date=row.start_date,
            end_date=row.end_date,
        )
        for row in rows
    }
    return {row.id: row.number for row in rows}, classes


async def _tasks(
    session: AsyncSession, user_id: str, window: Window, keys: dict[str, int], classes: dict[int, TaskClass]
) -> dict[int, Task]:
    # Slot 0 stands for a task without sections: the outer join gives it one row of nulls.
    slot = func.coalesce(SectionRow.slot, 0)
    query = (
        select(TaskRow, SectionRow.date, slot, SectionRow.layer)
        .outerjoin(SectionRow, SectionRow.task_id == TaskRow.id)
        .where(TaskRow.user_id == user_id)
        .order_by(TaskRow.number)
    )
    rows: dict[int, TaskRow] = {}
    sections: dict[int, list[Section]] = defaultdict(list)
    for row, day, at, layer in (await session.execute(query)).tuples():
        rows[row.number] = row
        if at:
            sections[row.number].append((day, at, layer))
    tasks = {
        n: _task(row, sections[n], window, classes.get(keys.get(row.task_class_id or "", 0))) for n, row in rows.items()
    }
    return _linked(tasks, sections, window)


def _task(row: TaskRow, sections: Sequence[Section], window: Window, task_class: TaskClass | None) -> Task:
    inside = [(index, slot) for day, slot, _ in sections if (index := window.index_of(day))]
    return Task(
        id=row.number,
        name=row.name,
        source=_source(row.source),
        category=task_class.name if task_class else row.category,
        duration=len(sections) or row.duration,
        ranges=compressed(inside),
        locked=row.locked,
        task_class_id=task_class.id if task_class else None,
        can_embed=row.can_embed,
        location=row.location,
        outside=len(sections) - len(inside),
    )


def _linked(tasks: dict[int, Task], sections: dict[int, list[Section]], window: Window) -> dict[int, Task]:
    """With the links between easy courses and what lies inside them."""
    hosts = {(day, slot): n for n, taken in sections.items() for day, slot, layer in taken if layer == HOST}
    links = {n: hosts.get(spot) for n, spot in _guest_spots(sections, window)}
    linked = dict(tasks)
    for guest, host in links.items():
        if host is not None:
            linked[guest] = replace(linked[guest], embed_host=host)
            linked[host] = replace(linked[host], embedded_by=guest)
    return linked


def _guest_spots(sections: dict[int, list[Section]], window: Window) -> Iterable[tuple[int, tuple[date, int]]]:
    for n, taken in sections.items():
        for day, slot, layer in taken:
            if layer == GUEST and window.index_of(day) is not None:
                yield n, (day, slot)


def _source(text: str) -> Source:
    return "task_item" if text == "task_item" else "event"


def _strategy(text: str) -> Strategy:
    return "rapid" if text == "rapid" else "steady"
