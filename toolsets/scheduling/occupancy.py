"""Who takes which slot, and what is free."""

from collections.abc import Iterator

from toolsets.scheduling.state import Range, ScheduleState, Task, compressed


def on_day(state: ScheduleState, day: int) -> list[tuple[Range, Task]]:
    """What lies on a day, by its slots; a host comes before the task inside it."""
    found = [(place, task) for task in state.tasks.values() for place in task.ranges if place.day == day]
    return sorted(found, key=lambda pair: (pair[0], pair[1].embed_host is not None, pair[1].id))


def taken_slots(state: ScheduleState, day: int) -> set[int]:
    return {slot for place, _ in on_day(state, day) for slot in place.slots}


def free_runs(state: ScheduleState, day: int, at_least: int = 1) -> list[Range]:
    """Every maximal run of free slots of a day."""
    taken = taken_slots(state, day)
    free = ((day, slot) for slot in range(1, state.window.slots_per_day + 1) if slot not in taken)
    return [run for run in compressed(free) if run.length >= at_least]


def occupants(state: ScheduleState, place: Range) -> list[Task]:
    """Tasks that take any slot of a range, hosts before guests."""
    return [task for other, task in on_day(state, place.day) if other.start <= place.end and place.start <= other.end]


def open_hosts(state: ScheduleState, day: int | None = None, at_least: int = 1) -> Iterator[tuple[Range, Task]]:
    """Ranges of easy courses that can really take a task: no guest yet, and long enough."""
    for task in state.ordered():
        if task.can_embed and task.embedded_by is None:
            for place in task.ranges:
                if place.length >= at_least and day in (None, place.day):
                    yield place, task
