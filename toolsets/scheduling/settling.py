"""The one place that decides whether tasks may lie where they are to lie.

Every operation says where its tasks are to be; the *final* picture is judged as a whole, so the order in which tasks
are named can't matter.
"""

from collections.abc import Mapping
from dataclasses import replace

from toolsets.scheduling import refusals
from toolsets.scheduling.state import Range, ScheduleState, Task

Targets = Mapping[int, tuple[Range, ...]]
"""Where each of these tasks is to lie; empty means unscheduled."""


def settle(state: ScheduleState, targets: Targets) -> ScheduleState:
    """The state with these tasks at these ranges and all others where they are.

    A task with one range that lies in one range of an easy course goes inside it. Easy courses never go inside others.
    Whoever moves a host also targets its guest. Raises DomainError: slot_conflict or host_taken, then the rules of the
    tasks' classes.
    """
    hosts = _hosts(state, targets)
    _refuse_double_booking(state, targets, hosts)
    _refuse_second_guests(state, targets, hosts)
    after = _arranged(state, targets, hosts)
    for task_id in sorted(targets):
        _check_class(state, after, after.tasks[task_id])
    return after


def _hosts(state: ScheduleState, targets: Targets) -> dict[int, int]:
    """Guest → host among the tasks that are to be moved."""
    easy = [
        (place, task.id)
        for task in state.tasks.values()
        if task.can_embed
        for place in targets.get(task.id, task.ranges)
    ]
    found: dict[int, int] = {}
    for task_id, places in targets.items():
        if len(places) == 1 and not state.tasks[task_id].can_embed:
            found.update((task_id, host) for place, host in easy if places[0].within(place))
    return found


def _refuse_double_booking(state: ScheduleState, targets: Targets, hosts: Mapping[int, int]) -> None:
    grid: dict[tuple[int, int], int] = {}
    for task in state.tasks.values():
        if task.id not in targets and task.embed_host is None:
            grid.update(((place.day, slot), task.id) for place in task.ranges for slot in place.slots)
    for task_id in sorted(targets.keys() - hosts.keys()):
        for place in targets[task_id]:
            for slot in place.slots:
                other = grid.setdefault((place.day, slot), task_id)
                if other != task_id:
                    raise refusals.slot_conflict(state, state.tasks[task_id], place, state.tasks[other])


def _refuse_second_guests(state: ScheduleState, targets: Targets, hosts: Mapping[int, int]) -> None:
    guests = {
        task.embed_host: task.id
        for task in state.tasks.values()
        if task.embed_host is not None and task.id not in targets
    }
    for task_id, host in sorted(hosts.items()):
        guest = guests.setdefault(host, task_id)
        # Two guests may have come from windows that now overlap; they may follow their host.
        together = state.tasks[task_id].embed_host == state.tasks[guest].embed_host == host
        if guest != task_id and not together:
            task, place = state.tasks[task_id], targets[task_id][0]
            raise refusals.host_taken(state, task, place, state.tasks[host], state.tasks[guest])


def _arranged(state: ScheduleState, targets: Targets, hosts: Mapping[int, int]) -> ScheduleState:
    moved = state.with_tasks(
        replace(state.tasks[task_id], ranges=places, embed_host=hosts.get(task_id))
        for task_id, places in targets.items()
    )
    guests = {task.embed_host: task.id for task in moved.tasks.values()}
    return moved.with_tasks(
        replace(task, embedded_by=guests.get(task.id))
        for task in moved.tasks.values()
        if task.embedded_by != guests.get(task.id)
    )


def _check_class(before: ScheduleState, after: ScheduleState, task: Task) -> None:
    task_class = after.class_of(task)
    if task_class is None:
        return
    for place in task.ranges:
        if set(place.slots) & set(task_class.excluded_slots):
            raise refusals.excluded_slot(after, task, place, task_class)
        if not task_class.start_date <= after.window.date_of(place.day) <= task_class.end_date:
            raise refusals.outside_dates(after, task, place, task_class)
        if task.embed_host is not None and not task_class.allow_filler_course:
            raise refusals.filler_not_allowed(after, task, place, after.tasks[task.embed_host], task_class)
    used = after.used_slots(task_class)
    if used > task_class.total_slots and used > before.used_slots(task_class):
        raise refusals.budget_exceeded(task, task_class, used)
