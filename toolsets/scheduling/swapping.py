"""Two tasks of equal length change places."""

from toolsets.scheduling import checks, refusals
from toolsets.scheduling.settling import settle
from toolsets.scheduling.state import Range, ScheduleState, Task, compressed


def swap(state: ScheduleState, task_a: int, task_b: int) -> ScheduleState:
    """Each task takes the other's ranges; a guest goes with its host, at the same distance from its beginning."""
    first, second = checks.movable(state, task_a), checks.movable(state, task_b)
    if task_a == task_b:
        raise refusals.duplicate_task(task_a)
    if first.length != second.length:
        raise refusals.length_mismatch(first, second)
    targets = {task_a: second.ranges, task_b: first.ranges}
    carried = {**_guest_targets(state, first, second.ranges), **_guest_targets(state, second, first.ranges)}
    return settle(state, {**carried, **targets})


def _guest_targets(state: ScheduleState, host: Task, new: tuple[Range, ...]) -> dict[int, tuple[Range, ...]]:
    new_slot = dict(zip(_slots(host.ranges), _slots(new), strict=True))
    targets: dict[int, tuple[Range, ...]] = {}
    for guest in state.guests_of(host):
        targets[guest.id] = compressed(new_slot[slot] for slot in _slots(guest.ranges))
        if len(targets[guest.id]) != 1:
            raise refusals.would_not_fit(state, guest, targets[guest.id][0])
    return targets


def _slots(ranges: tuple[Range, ...]) -> list[tuple[int, int]]:
    return [(place.day, slot) for place in ranges for slot in place.slots]
