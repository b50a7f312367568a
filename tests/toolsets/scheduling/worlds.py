"""Small timetables for tests."""

import itertools
from collections.abc import Iterable
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from toolsets.deps import NewId, ToolDeps
from toolsets.scheduling.state import Range, ScheduleState, Task, TaskClass
from toolsets.scheduling.window import Window, window_between
from toolsets.words import Locale

MONDAY = date(2026, 12, 7)
NOW = datetime(2026, 12, 8, 6, 31, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Shanghai")


def week(days: int = 7) -> Window:
    return window_between(MONDAY, date.fromordinal(MONDAY.toordinal() + days - 1))


def placed(task_id: int, *places: tuple[int, int, int], name: str = "", **rest: bool) -> Task:
    """An event at these (day, first, last) slots."""
    ranges = tuple(Range(*place) for place in places)
    return Task(
        id=task_id,
        name=name or f"event {task_id}",
        source="event",
        category="course",
        duration=sum(r.length for r in ranges),
        ranges=ranges,
        locked=rest.get("locked", False),
        can_embed=rest.get("can_embed", False),
    )


def waiting(task_id: int, duration: int, class_id: int | None = 1, name: str = "") -> Task:
    """A pending item of a class."""
    return Task(
        id=task_id,
        name=name or f"item {task_id}",
        source="task_item",
        category="Revision" if class_id else "event",
        duration=duration,
        task_class_id=class_id,
    )


def revision(
    *,
    total_slots: int = 100,
    allow_filler_course: bool = True,
    excluded_slots: tuple[int, ...] = (),
    start_date: date = MONDAY,
    end_date: date = date(2026, 12, 13),
) -> TaskClass:
    return TaskClass(
        id=1,
        name="Revision",
        strategy="steady",
        total_slots=total_slots,
        allow_filler_course=allow_filler_course,
        excluded_slots=excluded_slots,
        start_date=start_date,
        end_date=end_date,
    )


def world(*tasks: Task, task_class: TaskClass | None = None, window: Window | None = None) -> ScheduleState:
    return ScheduleState(
        window=window or week(),
        tasks={task.id: task for task in tasks},
        task_classes={1: task_class or revision()},
    )


def counting_ids(prefix: str = "id") -> NewId:
    numbers = itertools.count(1)

    def new_id(purpose: str) -> str:
        return f"{prefix}-{next(numbers)}"

    return new_id


def deps_on(
    session: AsyncSession,
    *,
    user_id: str = "alice",
    locale: Locale = "en",
    new_id: NewId | None = None,
    now: datetime = NOW,
) -> ToolDeps:
    return ToolDeps(
        user_id=user_id,
        conversation_id=None,
        session=session,
        clock=lambda: now,
        new_id=new_id or counting_ids(user_id),
        zone=ZONE,
        locale=locale,
    )


def spots(state: ScheduleState, task_id: int) -> list[tuple[int, int, int]]:
    return [(r.day, r.start, r.end) for r in state.tasks[task_id].ranges]


def assert_sound(state: ScheduleState) -> None:
    """What holds in every state: no slot is taken twice, links are symmetric, guests lie inside their hosts."""
    taken: set[tuple[int, int]] = set()
    for task in state.tasks.values():
        assert task.duration >= 1
        for place in task.ranges:
            assert place.day in state.window
            assert 1 <= place.start <= place.end <= state.window.slots_per_day
            if task.embed_host is None:
                slots = {(place.day, slot) for slot in place.slots}
                assert not slots & taken
                taken |= slots
    for task in state.tasks.values():
        _assert_linked(state, task)


def _assert_linked(state: ScheduleState, task: Task) -> None:
    if task.embed_host is not None:
        host = state.tasks[task.embed_host]
        assert host.embedded_by == task.id
        assert host.can_embed
        assert len(task.ranges) == 1
        assert any(task.ranges[0].within(place) for place in host.ranges)
    if task.embedded_by is not None:
        assert state.tasks[task.embedded_by].embed_host == task.id


def free_slots(state: ScheduleState, day: int) -> Iterable[int]:
    taken = {s for t in state.tasks.values() for r in t.ranges if r.day == day for s in r.slots}
    return (slot for slot in range(1, state.window.slots_per_day + 1) if slot not in taken)
