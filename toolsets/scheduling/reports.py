"""What the tools tell the model: plain values in, JSON-able facts out, labels in the person's language."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from toolsets.scheduling.labels import day_words, range_words
from toolsets.scheduling.load import Loaded
from toolsets.scheduling.occupancy import free_runs, on_day, open_hosts, taken_slots
from toolsets.scheduling.state import COURSE, Range, ScheduleState, Task, TaskClass
from toolsets.words import Locale

Facts = dict[str, Any]


def overview(loaded: Loaded, locale: Locale) -> Facts:
    """Window, totals, what lies on each day, open hosts, pending tasks, task classes."""
    state = loaded.state
    days = [day_facts(state, day.day_index, locale) for day in state.window.days]
    occupied, pending = sum(day["occupied"] for day in days), state.pending_tasks()
    slots = state.window.total_days * state.window.slots_per_day
    return {
        "window": window_facts(state),
        "today": today_facts(state, loaded.today, locale),
        "totals": {"slots": slots, "occupied": occupied, "free": slots - occupied, "pending": len(pending)},
        "days": days,
        "embeddable": hosts(state, locale),
        "pending": [pending_facts(task) for task in pending],
        "task_classes": [class_facts(state, one) for _, one in sorted(state.task_classes.items())],
    }


def window_facts(state: ScheduleState) -> Facts:
    window = state.window
    return {
        "from": window.first.isoformat(),
        "to": window.last.isoformat(),
        "total_days": window.total_days,
        "slots_per_day": window.slots_per_day,
    }


def today_facts(state: ScheduleState, today: date, locale: Locale) -> Facts:
    """Today's date and label; `day` is None when it lies outside the window."""
    return {"date": today.isoformat(), "label": day_words(today).said(locale), "day": state.window.index_of(today)}


def day_label(state: ScheduleState, day: int, locale: Locale) -> Facts:
    """What names a day."""
    one = state.window.days[day - 1]
    return {
        "day": day,
        "date": one.date.isoformat(),
        "label": day_words(one.date).said(locale),
        "week": one.week,
        "weekday": one.day_of_week,
    } | ({"holiday": True} if one.holiday else {})


def day_facts(state: ScheduleState, day: int, locale: Locale) -> Facts:
    """A day with all that lies on it, and what is free."""
    return {
        **day_label(state, day, locale),
        "occupied": len(taken_slots(state, day)),
        "items": [item(task, place) for place, task in on_day(state, day)],
        "free": [bounds(run) for run in free_runs(state, day)],
    }


def range_facts(state: ScheduleState, place: Range, locale: Locale) -> Facts:
    """Where one range lies."""
    return {
        "day": place.day,
        "date": state.window.date_of(place.day).isoformat(),
        "label": range_words(state.window, place).said(locale),
        **bounds(place),
    }


def ranges_facts(state: ScheduleState, places: Iterable[Range], locale: Locale) -> list[Facts]:
    return [range_facts(state, place, locale) for place in places]


def bounds(place: Range) -> Facts:
    return {"slot_start": place.start, "slot_end": place.end}


def item(task: Task, place: Range) -> Facts:
    """A task at one of its ranges, in few words."""
    inside = {} if task.embed_host is None else {"embedded_in": task.embed_host}
    return {"task_id": task.id, "name": task.name, **bounds(place), "fixed": task.locked, **inside}


def pending_facts(task: Task) -> Facts:
    return {"task_id": task.id, "name": task.name, "category": task.category, "duration": task.duration}


def hosts(state: ScheduleState, locale: Locale, day: int | None = None, at_least: int = 1) -> list[Facts]:
    """Easy courses that can take a task."""
    return [
        {"host_id": task.id, "name": task.name, **range_facts(state, place, locale)}
        for place, task in open_hosts(state, day, at_least)
    ]


def class_facts(state: ScheduleState, task_class: TaskClass) -> Facts:
    """The rules of a class and what is used of them."""
    items = [task for task in state.tasks.values() if task.task_class_id == task_class.id]
    return {
        "class_id": task_class.id,
        "name": task_class.name,
        "strategy": task_class.strategy,
        "total_slots": task_class.total_slots,
        "used_slots": state.used_slots(task_class),
        "items": len(items),
        "pending": sum(task.pending for task in items),
        "allow_filler_course": task_class.allow_filler_course,
        "excluded_slots": list(task_class.excluded_slots),
        "start_date": task_class.start_date.isoformat(),
        "end_date": task_class.end_date.isoformat(),
    }


def task_facts(state: ScheduleState, task: Task, locale: Locale) -> Facts:
    """All that is known of a task, with its embed relation."""
    facts: Facts = {
        "task_id": task.id,
        "name": task.name,
        "source": task.source,
        "category": task.category,
        "status": task.status,
        "locked": task.locked,
        "duration": task.duration,
        "slots": ranges_facts(state, task.ranges, locale),
        "can_embed": task.can_embed,
        "embed_host": named(state, task.embed_host),
        "embedded_by": named(state, task.embedded_by),
    }
    if task.location:
        facts["location"] = task.location
    if task.outside:
        facts["slots_outside_window"] = task.outside
    if task.task_class_id is not None:
        facts["task_class"] = class_facts(state, state.task_classes[task.task_class_id])
    return facts


def named(state: ScheduleState, task_id: int | None) -> Facts | None:
    return None if task_id is None else {"task_id": task_id, "name": state.tasks[task_id].name}


def listed_task(state: ScheduleState, task: Task, locale: Locale) -> Facts:
    """A line of `list_tasks`."""
    flags = {"fixed": True} if task.locked else {}
    host = {} if task.embed_host is None else {"embedded_in": named(state, task.embed_host)}
    slots = [range_words(state.window, place).said(locale) for place in task.ranges]
    placed = {"slots": slots} if slots else {}
    return {**pending_facts(task), **placed, **flags, **host}


def in_category(task: Task, category: str | None) -> bool:
    """Whether a task belongs to a category, by its name or the word for courses in either language."""
    if category is None or not category.strip():
        return True
    wanted = category.strip().casefold()
    return task.category.casefold() == (COURSE if wanted in {"course", "courses", "课程", "课", "課程"} else wanted)
