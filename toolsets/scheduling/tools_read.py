"""The tools that look at the timetable."""

from typing import Any, Literal

from toolsets.deps import ToolDeps
from toolsets.scheduling import checks, queries, refusals, reports
from toolsets.scheduling.load import load, load_state
from toolsets.scheduling.toolset import schedule
from toolsets.words import Words


@schedule.read
async def get_overview(deps: ToolDeps) -> dict[str, Any]:
    """The whole planned window: every day with what lies on it and what is free, easy courses that can take a task,
    pending tasks, and the rules of the task classes with what is used of them. Day numbers, dates and task ids of all
    other tools are those given here."""
    return {"status": "ok", **reports.overview(await load(deps), deps.locale)}


@schedule.read
async def query_range(
    deps: ToolDeps,
    day: int | None = None,
    slot_start: int | None = None,
    slot_end: int | None = None,
    date: str | None = None,
) -> dict[str, Any]:
    """What lies on one day: by pairs of slots, or slot by slot when a bound is given.

    Args:
        day: Number of the day within the window, from 1. Give either this or `date`.
        slot_start: First slot to look at; left out, the beginning of the day.
        slot_end: Last slot to look at; left out, the end of the day.
        date: Any date as YYYY-MM-DD, also outside the planned window.
    """
    if date is not None:
        wanted = checks.parsed_date("date", date)
        one_day = await load_state(deps, (wanted, wanted))
        return {"status": "ok", **queries.range_report(one_day, 1, slot_start, slot_end, deps.locale), "day": day}
    if day is None:
        raise refusals.invalid("day", Words(zh="要有第几天或日期。", en="A day or a date is needed."))
    state = await load_state(deps)
    return {"status": "ok", **queries.range_report(state, day, slot_start, slot_end, deps.locale)}


@schedule.read
async def find_free(deps: ToolDeps, duration: int, day: int | None = None) -> dict[str, Any]:
    """Every free run of at least `duration` slots, and easy courses that can really take that much.

    Args:
        duration: How many slots in a row are needed, at least 1.
        day: Only this day of the window; left out, all days.
    """
    return {"status": "ok", **queries.free_report(await load(deps), duration, day, deps.locale)}


@schedule.read
async def list_tasks(
    deps: ToolDeps, category: str | None = None, status: Literal["all", "existing", "pending"] = "all"
) -> dict[str, Any]:
    """Courses, events and study tasks with their ids, scheduled ones apart from pending ones.

    Args:
        category: Only this category: `course`, another kind of event, or the name of a task class.
        status: `existing` for what has a place, `pending` for what waits for one, `all` for both.
    """
    return {"status": "ok", **queries.tasks_report(await load_state(deps), category, status, deps.locale)}


@schedule.read
async def get_task_info(deps: ToolDeps, task_id: int) -> dict[str, Any]:
    """Everything about one task: where it lies, whether it is fixed, what lies inside it or what it lies in.

    Args:
        task_id: The task's id as other tools give it.
    """
    state = await load_state(deps)
    return {"status": "ok", **reports.task_facts(state, checks.known(state, task_id), deps.locale)}
