"""The tools that make task classes, tasks and events, and delete them: so that anyone can start from nothing."""

import datetime as dt
from typing import Any

from sqlalchemy import func, select

from toolsets.deps import ToolDeps
from toolsets.scheduling import adding, cards, checks, outcomes, refusals, reports
from toolsets.scheduling.load import load_state
from toolsets.scheduling.save import save
from toolsets.scheduling.state import Range, ScheduleState, Strategy
from toolsets.scheduling.tables import SectionRow, TaskRow
from toolsets.scheduling.toolset import schedule
from toolsets.words import Words

MAX_WEEKS = 30


@schedule.write(title=Words(zh="新建任务类", en="Create a task class"), card=cards.class_created)
async def create_task_class(  # noqa: PLR0913 - the parameters are what the model reads
    deps: ToolDeps,
    name: str,
    total_slots: int,
    start_date: str,
    end_date: str,
    strategy: Strategy = "steady",
    allow_filler_course: bool = True,
    excluded_slots: list[int] | None = None,
    items: list[str] | None = None,
) -> dict[str, Any]:
    """Make a task class: a group of study tasks with a budget, dates and rules, perhaps with its first items.

    Args:
        name: Its name, such as "Linear algebra".
        total_slots: The budget: its items together take no more slots than this.
        start_date: First day of the class, YYYY-MM-DD.
        end_date: Last day, YYYY-MM-DD.
        strategy: `steady` spreads the items evenly, `rapid` puts them early.
        allow_filler_course: Whether items may lie inside easy courses.
        excluded_slots: Slots of the day that items never take, such as [11, 12].
        items: Names of the first items; each takes the budget divided by their number.
    """
    before = await load_state(deps)
    wanted = adding.NewClass(
        name=name,
        total_slots=total_slots,
        start_date=checks.parsed_date("start_date", start_date),
        end_date=checks.parsed_date("end_date", end_date),
        strategy=strategy,
        allow_filler_course=allow_filler_course,
        excluded_slots=tuple(excluded_slots or ()),
    )
    after = adding.add_class(before, wanted)
    class_id = max(after.task_classes)
    if items:
        after = adding.add_items(after, class_id, items)
    await save(deps, before, after)
    made = reports.class_facts(after, after.task_classes[class_id])
    return {"status": "ok", "task_class": made, **_new(before, after)}


@schedule.write(title=Words(zh="添加任务", en="Add tasks"), card=cards.items_added)
async def add_task_items(
    deps: ToolDeps, task_class_id: int, names: list[str], duration: int | None = None
) -> dict[str, Any]:
    """Add pending tasks to a task class. They have no place until they are placed.

    Args:
        task_class_id: Id of the task class (`class_id` in the overview).
        names: Their names, one for each task.
        duration: Slots that each needs in a row; left out, the class's budget divided by its items.
    """
    before = await load_state(deps)
    after = adding.add_items(before, task_class_id, names, duration)
    await save(deps, before, after)
    return {"status": "ok", **_new(before, after), "pending_left": len(after.pending_tasks())}


@schedule.write(title=Words(zh="添加日程", en="Add an event"), card=cards.event_added)
async def add_event(  # noqa: PLR0913 - the same
    deps: ToolDeps,
    name: str,
    date: str,
    slot_start: int,
    slot_end: int,
    weekday: int | None = None,
    weeks: int = 1,
    location: str = "",
    fixed: bool = False,
    course: bool = False,
) -> dict[str, Any]:
    """Put an event or a course on the timetable, once or every week.

    Args:
        name: Its name.
        date: Its (first) date, YYYY-MM-DD; also outside the planned window.
        slot_start: First slot.
        slot_end: Last slot.
        weekday: The weekday that the person named (1 = Monday), if any: refused when the date is another one.
        weeks: In how many weeks in a row it takes place, at the same weekday and slots.
        location: Where it takes place.
        fixed: Whether it may never be moved.
        course: Whether it is a course rather than a single event.
    """
    first = checks.parsed_date("date", date)
    checks.weekday_agrees(first, weekday)
    if not 1 <= weeks <= MAX_WEEKS:
        words = Words(zh=f"周数要在 1–{MAX_WEEKS} 之间。", en=f"An event repeats for 1 to {MAX_WEEKS} weeks.")
        raise refusals.invalid("weeks", words)
    before = await load_state(deps, (first, first + dt.timedelta(weeks=weeks - 1)))
    wanted = adding.NewEvent(
        name=name,
        ranges=tuple(Range(1 + 7 * n, slot_start, slot_end) for n in range(weeks)),
        category="course" if course else "event",
        location=location.strip(),
        locked=fixed,
    )
    after = adding.add_event(before, wanted)
    await save(deps, before, after)
    return outcomes.changed(before, after, [max(after.tasks)], deps.locale)


@schedule.write(title=Words(zh="删除日程", en="Delete from the timetable"), card=cards.removed, always_confirm=True)
async def remove_event(deps: ToolDeps, task_id: int, date: str | None = None) -> dict[str, Any]:
    """Delete an event, a course or a task for good, or only what it does on one date. To keep a task for later, unplace
    it instead.

    Args:
        task_id: Its id.
        date: Only this date (YYYY-MM-DD); left out, the whole thing.
    """
    day = None if date is None else checks.parsed_date("date", date)
    before = await load_state(deps, (day, day) if day else await _extent(deps, task_id))
    after = adding.remove(before, task_id, None if day is None else 1)
    await save(deps, before, after)
    return outcomes.changed(before, after, [task_id], deps.locale)


async def _extent(deps: ToolDeps, task_id: int) -> tuple[dt.date, dt.date] | None:
    """First and last date of a task, or None when it has none."""
    query = (
        select(func.min(SectionRow.date), func.max(SectionRow.date))
        .join(TaskRow, TaskRow.id == SectionRow.task_id)
        .where(TaskRow.user_id == deps.user_id, TaskRow.number == task_id)
    )
    first, last = (await deps.session.execute(query)).tuples().one()
    return (first, last) if first else None


def _new(before: ScheduleState, after: ScheduleState) -> dict[str, Any]:
    added = sorted(after.tasks.keys() - before.tasks.keys())
    return {"tasks": [reports.pending_facts(after.tasks[n]) for n in added]}
