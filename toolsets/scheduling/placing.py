"""Giving a pending task its place, and taking it away."""

from dataclasses import replace

from toolsets.scheduling import checks, refusals
from toolsets.scheduling.settling import settle
from toolsets.scheduling.state import Range, ScheduleState


def place(state: ScheduleState, task_id: int, day: int, slot_start: int) -> ScheduleState:
    """Pending → existing; inside an easy course when the range lies in a free one."""
    task = checks.waiting(state, task_id)
    target = Range(day, slot_start, slot_start + task.duration - 1)
    checks.in_window(state.window, target)
    return settle(state, {task_id: (target,)})


def unplace(state: ScheduleState, task_id: int) -> ScheduleState:
    """Existing → pending with its duration; a guest of the task becomes pending too."""
    task = checks.known(state, task_id)
    if task.pending:
        raise refusals.already_pending(task)
    checks.released(task)
    if task.outside:
        raise refusals.outside_window(task)
    leaving = [task, *state.guests_of(task)]
    kept = state.with_tasks(replace(one, duration=one.length + one.outside) for one in leaving)
    return settle(kept, {one.id: () for one in leaving})
