"""What a write tells the model: what moved from where to where, and how the days look now."""

from collections.abc import Iterable

from toolsets.scheduling import reports
from toolsets.scheduling.reports import Facts
from toolsets.scheduling.state import ScheduleState
from toolsets.words import Locale


def changed(before: ScheduleState, after: ScheduleState, named: Iterable[int], locale: Locale) -> Facts:
    """The outcome of a call about these tasks; guests that went along are listed as well."""
    named = list(named)
    moved = [n for n in sorted(after.tasks) if n not in named and _elsewhere(before, after, n)]
    touched = {
        place.day
        for state in (before, after)
        for n in (*named, *moved)
        if n in state.tasks
        for place in state.tasks[n].ranges
    }
    return {
        "status": "ok",
        "tasks": [_task(before, after, n, locale) for n in (*named, *moved)],
        "days": [reports.day_facts(after, day, locale) for day in sorted(touched) if day in after.window],
        "pending_left": len(after.pending_tasks()),
    }


def _elsewhere(before: ScheduleState, after: ScheduleState, task_id: int) -> bool:
    return task_id in before.tasks and before.tasks[task_id].ranges != after.tasks[task_id].ranges


def _task(before: ScheduleState, after: ScheduleState, task_id: int, locale: Locale) -> Facts:
    old, new = before.tasks.get(task_id), after.tasks.get(task_id)
    known = new or old
    assert known is not None
    return {
        "task_id": task_id,
        "name": known.name,
        "status": new.status if new else "removed",
        "added": old is None,
        "from": reports.ranges_facts(before, old.ranges, locale) if old else [],
        "to": reports.ranges_facts(after, new.ranges, locale) if new else [],
        "was_embedded_in": reports.named(before, old.embed_host) if old else None,
        "embedded_in": reports.named(after, new.embed_host) if new else None,
    }
