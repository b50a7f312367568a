"""What the reading tools answer, from a state."""

from typing import Literal

from toolsets.scheduling import checks, reports
from toolsets.scheduling.load import Loaded
from toolsets.scheduling.occupancy import free_runs, occupants, open_hosts
from toolsets.scheduling.reports import Facts
from toolsets.scheduling.state import Range, ScheduleState, Task
from toolsets.words import Locale


def range_report(state: ScheduleState, day: int, start: int | None, end: int | None, locale: Locale) -> Facts:
    """A day by pairs of slots, or slot by slot when a bound is given; the missing bound is the day's edge."""
    whole = start is None and end is None
    asked = Range(day, 1 if start is None else start, state.window.slots_per_day if end is None else end)
    checks.in_window(state.window, asked)
    runs = [_clipped(run, asked) for run in free_runs(state, day) if run.end >= asked.start and run.start <= asked.end]
    step = 2 if whole else 1
    cells = [Range(day, slot, min(slot + step - 1, asked.end)) for slot in range(asked.start, asked.end + 1, step)]
    free = sum(run.length for run in runs)
    return {
        **reports.day_label(state, day, locale),
        **reports.bounds(asked),
        "slots": [_cell(state, cell) for cell in cells],
        "free": [{**reports.bounds(run), "length": run.length} for run in runs],
        "free_slots": free,
        "occupied_slots": asked.length - free,
        "embeddable": [
            {"host_id": host.id, "name": host.name, **reports.bounds(place)}
            for place, host in open_hosts(state, day)
            if place.end >= asked.start and place.start <= asked.end
        ],
    }


def _clipped(run: Range, to: Range) -> Range:
    return Range(run.day, max(run.start, to.start), min(run.end, to.end))


def _cell(state: ScheduleState, cell: Range) -> Facts:
    return {**reports.bounds(cell), "items": [_occupant(task) for task in occupants(state, cell)]}


def _occupant(task: Task) -> Facts:
    inside = {} if task.embed_host is None else {"embedded_in": task.embed_host}
    return {"task_id": task.id, "name": task.name, "fixed": task.locked, "can_embed": task.can_embed, **inside}


def free_report(loaded: Loaded, duration: int, day: int | None, locale: Locale) -> Facts:
    """Every maximal free run of at least `duration`, and hosts that can take it."""
    state = loaded.state
    checks.in_window(state.window, Range(1 if day is None else day, 1, duration))
    days = [day] if day is not None else [one.day_index for one in state.window.days]
    runs = [run for one in days for run in free_runs(state, one, duration)]
    return {
        "today": reports.today_facts(state, loaded.today, locale),
        "duration": duration,
        "free": [{**reports.range_facts(state, run, locale), "length": run.length} for run in runs],
        "embeddable": reports.hosts(state, locale, day, duration),
    }


def tasks_report(
    state: ScheduleState, category: str | None, status: Literal["all", "existing", "pending"], locale: Locale
) -> Facts:
    """Tasks by status; those that lie wholly outside the window are only counted."""
    chosen = [task for task in state.ordered() if reports.in_category(task, category)]
    existing = [task for task in chosen if task.ranges and status != "pending"]
    pending = [task for task in chosen if task.pending and status != "existing"]
    return {
        "total": len(existing) + len(pending),
        "existing": [reports.listed_task(state, task, locale) for task in existing],
        "pending": [reports.pending_facts(task) for task in pending],
        "outside_window": sum(not task.ranges and not task.pending for task in chosen),
    }
