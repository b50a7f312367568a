"""Making task classes, items and events, and deleting them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from toolsets.scheduling import checks, refusals
from toolsets.scheduling.settling import settle
from toolsets.scheduling.state import Range, ScheduleState, Strategy, Task, TaskClass
from toolsets.words import Words

MAX_NAME = 120


@dataclass(frozen=True, kw_only=True)
class NewClass:
    """A task class to be; its id is given by the state."""

    name: str
    total_slots: int
    start_date: date
    end_date: date
    strategy: Strategy = "steady"
    allow_filler_course: bool = True
    excluded_slots: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class NewEvent:
    """An event to be, at one range or at several."""

    name: str
    ranges: tuple[Range, ...]
    category: str = "event"
    location: str = ""
    locked: bool = False
    can_embed: bool = False


def add_class(state: ScheduleState, wanted: NewClass) -> ScheduleState:
    """Raises `invalid` when dates are turned round, the budget is below 1 or a slot isn't of the day."""
    slots_per_day = state.window.slots_per_day
    if wanted.end_date < wanted.start_date:
        raise refusals.invalid(
            "end_date", Words(zh="结束日期早于开始日期。", en="The end date is before the start date.")
        )
    if wanted.total_slots < 1:
        raise refusals.invalid("total_slots", Words(zh="总节数至少为 1。", en="The budget is at least 1 slot."))
    strange = [slot for slot in wanted.excluded_slots if not 1 <= slot <= slots_per_day]
    if strange:
        raise refusals.slot_out_of_range(strange[0], strange[0], slots_per_day)
    number = max(state.task_classes, default=0) + 1
    task_class = TaskClass(
        id=number,
        name=_named(wanted.name),
        strategy=wanted.strategy,
        total_slots=wanted.total_slots,
        allow_filler_course=wanted.allow_filler_course,
        excluded_slots=tuple(sorted(set(wanted.excluded_slots))),
        start_date=wanted.start_date,
        end_date=wanted.end_date,
    )
    return replace(state, task_classes={**state.task_classes, number: task_class})


def add_items(state: ScheduleState, class_id: int, names: Sequence[str], duration: int | None = None) -> ScheduleState:
    """New pending tasks of a class. Without a duration each takes `max(1, total_slots // items)` slots."""
    if class_id not in state.task_classes:
        raise refusals.class_not_found(class_id)
    if not names:
        raise refusals.empty()
    task_class = state.task_classes[class_id]
    already = sum(task.task_class_id == class_id for task in state.tasks.values())
    needed = duration or min(max(1, task_class.total_slots // (already + len(names))), state.window.slots_per_day)
    if not 1 <= needed <= state.window.slots_per_day:
        raise refusals.slot_out_of_range(1, needed, state.window.slots_per_day)
    first = max(state.tasks, default=0) + 1
    return state.with_tasks(
        Task(
            id=number,
            name=_named(name),
            source="task_item",
            category=task_class.name,
            duration=needed,
            task_class_id=class_id,
        )
        for number, name in enumerate(names, start=first)
    )


def add_event(state: ScheduleState, wanted: NewEvent) -> ScheduleState:
    """A new event in its place; refused like any placing when the place is taken."""
    for place in wanted.ranges:
        checks.in_window(state.window, place)
    task = Task(
        id=max(state.tasks, default=0) + 1,
        name=_named(wanted.name),
        source="event",
        category=wanted.category,
        duration=sum(place.length for place in wanted.ranges),
        locked=wanted.locked,
        can_embed=wanted.can_embed,
        location=wanted.location,
    )
    return settle(state.with_tasks([task]), {task.id: tuple(sorted(wanted.ranges))})


def remove(state: ScheduleState, task_id: int, day: int | None = None) -> ScheduleState:
    """Without the task, or without what it does on one day. A guest inside what goes becomes pending.

    The window must hold all that the task takes (`outside == 0`), or a day be named.
    """
    task = checks.known(state, task_id)
    going = tuple(place for place in task.ranges if day in (None, place.day))
    if day is not None and not going:
        raise refusals.nothing_that_day(task, state.window.date_of(day))
    kept = tuple(place for place in task.ranges if place not in going)
    after = settle(state, {task_id: kept, **_stranded(state, task, going)})
    if kept or task.outside:
        return after.with_tasks([replace(after.tasks[task_id], duration=task.duration - _length(going))])
    return replace(after, tasks={n: t for n, t in after.tasks.items() if n != task_id})


def _stranded(state: ScheduleState, task: Task, going: tuple[Range, ...]) -> dict[int, tuple[Range, ...]]:
    return {
        guest.id: ()
        for guest in state.guests_of(task)
        if any(place.within(host) for place in guest.ranges for host in going)
    }


def _length(ranges: tuple[Range, ...]) -> int:
    return sum(place.length for place in ranges)


def _named(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= MAX_NAME:
        words = Words(zh=f"名称要有 1–{MAX_NAME} 个字。", en=f"A name has 1 to {MAX_NAME} characters.")
        raise refusals.invalid("name", words)
    return name
