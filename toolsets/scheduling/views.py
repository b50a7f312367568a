"""The timetable as others look at it: the model before a turn, and the page's week grid."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from toolsets.deps import ToolDeps
from toolsets.scheduling import checks, reports
from toolsets.scheduling.labels import day_words
from toolsets.scheduling.load import Loaded, load, today_of
from toolsets.scheduling.occupancy import taken_slots
from toolsets.scheduling.state import COURSE, Range, ScheduleState, Task
from toolsets.scheduling.window import Term, monday_of
from toolsets.words import Words

MOST_PENDING = 30


async def live_view(deps: ToolDeps) -> str:
    """Window, today, occupancy by day, pending tasks: a few lines."""
    loaded = await load(deps)
    lines = [_window_line(loaded), _occupancy_line(loaded.state), _pending_line(loaded.state)]
    return "\n".join(line.said(deps.locale) for line in lines)


def _window_line(loaded: Loaded) -> Words:
    window, today = loaded.state.window, day_words(loaded.today)
    first, last, day = day_words(window.first), day_words(window.last), window.index_of(loaded.today)
    here = Words(zh=f"第 {day} 天", en=f"day {day}") if day else Words(zh="不在计划内", en="not among them")
    return Words(
        zh=f"计划 {window.total_days} 天：第 1 天 {first.zh}，最后一天 {last.zh}；今天 {today.zh}（{here.zh}）。"
        f"每天 {window.slots_per_day} 节。",
        en=f"{window.total_days} planned days: day 1 is {first.en}, the last is {last.en}; today is {today.en} "
        f"({here.en}). {window.slots_per_day} slots a day.",
    )


def _occupancy_line(state: ScheduleState) -> Words:
    days = [(day.day_index, len(taken_slots(state, day.day_index))) for day in state.window.days]
    shown = ", ".join(f"{day}: {taken}" for day, taken in days)
    return Words(zh=f"每天已占节数（天: 节）：{shown}", en=f"Slots taken (day: slots): {shown}")


def _pending_line(state: ScheduleState) -> Words:
    tasks = state.pending_tasks()
    shown = [f"[{task.id}] {task.name} ×{task.duration}" for task in tasks[:MOST_PENDING]]
    more = len(tasks) - len(shown)
    names = "; ".join(shown) or "–"
    return Words(
        zh=f"待安排 {len(tasks)} 项（×节数）：{names}" + (f"，还有 {more} 项" if more else ""),
        en=f"{len(tasks)} pending (×slots): {names}" + (f", and {more} more" if more else ""),
    )


async def week(deps: ToolDeps, first: date, last: date) -> dict[str, Any]:
    """The grid from `first` to `last`, both included: days, slots, items, pending tasks, task classes."""
    loaded = await load(deps, (first, last))
    state = loaded.state
    return {
        "from": first.isoformat(),
        "to": last.isoformat(),
        "today": loaded.today.isoformat(),
        "term": _term(loaded.term),
        "slots": _slots(state, loaded.term),
        "days": [_day(state, day, loaded.today, deps) for day in range(1, state.window.total_days + 1)],
        "items": [_item(state, task, place) for task in state.ordered() for place in task.ranges],
        "pending": [_pending(task) for task in state.pending_tasks()],
        "classes": [reports.class_facts(state, one) for _, one in sorted(state.task_classes.items())],
    }


async def week_view(deps: ToolDeps, query: Mapping[str, str]) -> dict[str, Any]:
    """`week` by the parameters `from` and `to`; without them, the current week."""
    monday = monday_of(today_of(deps))
    first = checks.parsed_date("from", query["from"]) if "from" in query else monday
    last = checks.parsed_date("to", query["to"]) if "to" in query else first + timedelta(days=6)
    checks.days_in_order(first, last)
    return await week(deps, first, last)


async def overview_view(deps: ToolDeps, query: Mapping[str, str]) -> dict[str, Any]:
    """What `get_overview` tells."""
    return reports.overview(await load(deps), deps.locale)


def _term(term: Term | None) -> dict[str, Any] | None:
    if term is None:
        return None
    return {"name": term.name, "starts_on": term.starts_on.isoformat(), "weeks": term.weeks}


def _slots(state: ScheduleState, term: Term | None) -> list[dict[str, Any]]:
    clock = term.clock if term else ()
    return [
        {"slot": n, "start": clock[n - 1][0], "end": clock[n - 1][1]} if n <= len(clock) else {"slot": n}
        for n in range(1, state.window.slots_per_day + 1)
    ]


def _day(state: ScheduleState, day: int, today: date, deps: ToolDeps) -> dict[str, Any]:
    one = state.window.days[day - 1]
    return {
        "date": one.date.isoformat(),
        "weekday": one.day_of_week,
        "week": one.week,
        "label": day_words(one.date).said(deps.locale),
        "today": one.date == today,
        "holiday": one.holiday,
        "occupied": len(taken_slots(state, day)),
    }


def _item(state: ScheduleState, task: Task, place: Range) -> dict[str, Any]:
    task_class = state.class_of(task)
    return {
        "task_id": task.id,
        "name": task.name,
        "kind": "task" if task.source == "task_item" else "course" if task.category == COURSE else "event",
        "category": task.category,
        "locked": task.locked,
        "can_embed": task.can_embed,
        "location": task.location,
        "date": state.window.date_of(place.day).isoformat(),
        "slot_start": place.start,
        "slot_end": place.end,
        "host_id": task.embed_host,
        "guest_id": _guest_in(state, task, place),
        "class_id": task.task_class_id,
        "class_name": task_class.name if task_class else None,
    }


def _guest_in(state: ScheduleState, host: Task, place: Range) -> int | None:
    """The guest, in the range of its host that it really lies in."""
    inside = (guest.id for guest in state.guests_of(host) for spot in guest.ranges if spot.within(place))
    return next(inside, None)


def _pending(task: Task) -> dict[str, Any]:
    return {
        "task_id": task.id,
        "name": task.name,
        "kind": "task" if task.source == "task_item" else "event",
        "category": task.category,
        "duration": task.duration,
        "class_id": task.task_class_id,
        "class_name": task.category if task.task_class_id is not None else None,
    }
