"""The timetable as a plain value: tasks on a window of days. Knows no database and no model.

Links between an easy course and the task inside it are symmetric: `task.embed_host == host.id` exactly when
`host.embedded_by == task.id`. Operations (placing, moving, swapping, adding) return a new state or raise a DomainError.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from toolsets.scheduling.window import Window

Source = Literal["event", "task_item"]
Status = Literal["existing", "pending"]
Strategy = Literal["steady", "rapid"]

COURSE = "course"


@dataclass(frozen=True, order=True, slots=True)
class Range:
    """Consecutive slots of one day, both ends included."""

    day: int
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start + 1

    @property
    def slots(self) -> range:
        return range(self.start, self.end + 1)

    def within(self, other: "Range") -> bool:
        return self.day == other.day and other.start <= self.start and self.end <= other.end

    def shifted(self, days: int, slots: int) -> "Range":
        return Range(self.day + days, self.start + slots, self.end + slots)


@dataclass(frozen=True, kw_only=True)
class Task:
    """Something that takes slots: a course, an event, or one item of a task class."""

    id: int
    """Small, and the same on every load."""
    name: str
    source: Source
    category: str
    """`course`, another word for events, or the task class's name."""
    duration: int
    """Slots it takes in all; of a pending task, the slots it needs in a row. At least 1."""
    ranges: tuple[Range, ...] = ()
    """Sorted, not touching each other. Only those within the window."""
    locked: bool = False
    task_class_id: int | None = None
    can_embed: bool = False
    embed_host: int | None = None
    embedded_by: int | None = None
    location: str = ""
    outside: int = 0
    """Slots that it takes on days outside the window."""

    @property
    def status(self) -> Status:
        return "existing" if self.ranges or self.outside else "pending"

    @property
    def pending(self) -> bool:
        return self.status == "pending"

    @property
    def length(self) -> int:
        """Slots taken within the window."""
        return sum(r.length for r in self.ranges)


@dataclass(frozen=True, kw_only=True)
class TaskClass:
    """A group of study tasks with the rules for all of them."""

    id: int
    name: str
    strategy: Strategy
    """`steady` spreads the items evenly, `rapid` puts them early."""
    total_slots: int
    """The budget: placed items together take no more."""
    allow_filler_course: bool
    """Whether items may go inside easy courses."""
    excluded_slots: tuple[int, ...]
    """Slots of the day that items never take."""
    start_date: date
    end_date: date


@dataclass(frozen=True, kw_only=True)
class ScheduleState:
    """Everything the rules look at."""

    window: Window
    tasks: Mapping[int, Task]
    task_classes: Mapping[int, TaskClass]

    def class_of(self, task: Task) -> TaskClass | None:
        return None if task.task_class_id is None else self.task_classes[task.task_class_id]

    def used_slots(self, task_class: TaskClass) -> int:
        """Slots that the placed items of a class take."""
        return sum(t.duration for t in self.tasks.values() if t.task_class_id == task_class.id and not t.pending)

    def guests_of(self, task: Task) -> list[Task]:
        """What lies inside an easy course: at most one task, unless windows that were apart came to overlap."""
        if task.embedded_by is None:
            return []
        return [other for other in self.ordered() if other.embed_host == task.id]

    def pending_tasks(self) -> list[Task]:
        return [task for task in self.ordered() if task.pending]

    def ordered(self) -> list[Task]:
        return [self.tasks[n] for n in sorted(self.tasks)]

    def with_tasks(self, changed: Iterable[Task]) -> "ScheduleState":
        return replace(self, tasks={**self.tasks, **{task.id: task for task in changed}})


def compressed(slots: Iterable[tuple[int, int]]) -> tuple[Range, ...]:
    """Single (day, slot) pairs as the fewest ranges, sorted."""
    ranges: list[Range] = []
    for day, slot in sorted(slots):
        last = ranges[-1] if ranges else None
        if last and last.day == day and last.end == slot - 1:
            ranges[-1] = Range(day, last.start, slot)
        else:
            ranges.append(Range(day, slot, slot))
    return tuple(ranges)
