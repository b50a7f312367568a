"""The questions every operation asks first, in the order that makes errors most useful."""

from datetime import date

from toolsets.scheduling import refusals
from toolsets.scheduling.state import Range, ScheduleState, Task
from toolsets.scheduling.window import Window
from toolsets.words import Words


def known(state: ScheduleState, task_id: int) -> Task:
    if task_id not in state.tasks:
        raise refusals.not_found(task_id)
    return state.tasks[task_id]


def waiting(state: ScheduleState, task_id: int) -> Task:
    """A task that exists and has no place yet."""
    task = known(state, task_id)
    if not task.pending:
        raise refusals.not_pending(task)
    return task


def movable(state: ScheduleState, task_id: int) -> Task:
    """A task that has a place in the window and may leave it."""
    task = known(state, task_id)
    if task.pending:
        raise refusals.pending(task)
    return released(task)


def released(task: Task) -> Task:
    if task.locked:
        raise refusals.locked(task)
    if not task.ranges:
        raise refusals.outside_window(task)
    return task


def in_window(window: Window, place: Range) -> None:
    """Raises day_out_of_window or slot_out_of_range."""
    if place.day not in window:
        raise refusals.day_out_of_window(place.day, window)
    if not 1 <= place.start <= place.end <= window.slots_per_day:
        raise refusals.slot_out_of_range(place.start, place.end, window.slots_per_day)


def weekday_agrees(day: date, weekday: int | None) -> None:
    """Raises weekday_mismatch when a named weekday (1 is Monday) isn't the date's."""
    if weekday is not None and day.isoweekday() != weekday:
        raise refusals.weekday_mismatch(day, weekday)


def parsed_date(field: str, text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise refusals.invalid_date(field, text) from None


MOST_DAYS = 366


def days_in_order(first: date, last: date) -> None:
    """Raises `invalid` unless the days are in order and not too many."""
    if not 0 <= (last - first).days < MOST_DAYS:
        words = Words(zh=f"日期要按先后，最多 {MOST_DAYS} 天。", en=f"Dates go forward, {MOST_DAYS} days at most.")
        raise refusals.invalid("to", words)
