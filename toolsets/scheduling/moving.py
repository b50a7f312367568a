"""Moving tasks that have a place, one or many at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolsets.errors import DomainError
from toolsets.scheduling import checks, refusals
from toolsets.scheduling.settling import settle
from toolsets.scheduling.state import Range, ScheduleState, Task


@dataclass(frozen=True)
class Move:
    """Where a task's first range is to begin."""

    task_id: int
    new_day: int
    new_slot_start: int


def move(state: ScheduleState, task_id: int, new_day: int, new_slot_start: int) -> ScheduleState:
    """The task with all its ranges, and its guest, moved by one offset."""
    return _moved(state, [Move(task_id, new_day, new_slot_start)])


def batch_move(state: ScheduleState, moves: Sequence[Move]) -> ScheduleState:
    """All moves or none, judged on the final state: two tasks may exchange their places.

    A DomainError of one move carries `move`, its place in the list (1..n).
    """
    if not moves:
        raise refusals.empty()
    named: set[int] = set()
    for number, one in enumerate(moves, start=1):
        if one.task_id in named:
            raise refusals.duplicate_task(one.task_id)
        named.add(one.task_id)
        _numbered(state, one, number)
    return _moved(state, moves)


def _numbered(state: ScheduleState, one: Move, number: int) -> None:
    try:
        _shifted(state, checks.movable(state, one.task_id), one)
    except DomainError as error:
        raise DomainError(error.code, error.words, **error.details, move=number) from None


def _moved(state: ScheduleState, moves: Iterable[Move]) -> ScheduleState:
    targets: dict[int, tuple[Range, ...]] = {}
    carried: dict[int, tuple[Range, ...]] = {}
    for one in moves:
        task = checks.movable(state, one.task_id)
        targets[task.id] = _shifted(state, task, one)
        carried.update((guest.id, _offset(guest.ranges, task, one)) for guest in state.guests_of(task))
    # A guest that is itself in the list goes where the list says, not with its host.
    return settle(state, {**carried, **targets})


def _shifted(state: ScheduleState, task: Task, one: Move) -> tuple[Range, ...]:
    first, *others = _offset(task.ranges, task, one)
    checks.in_window(state.window, first)
    for place in others:
        if place.day not in state.window or place.start < 1 or place.end > state.window.slots_per_day:
            raise refusals.would_not_fit(state, task, place)
    return (first, *others)


def _offset(ranges: Iterable[Range], task: Task, one: Move) -> tuple[Range, ...]:
    anchor = task.ranges[0]
    days, slots = one.new_day - anchor.day, one.new_slot_start - anchor.start
    return tuple(place.shifted(days, slots) for place in ranges)
