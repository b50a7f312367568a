"""The tools that change where tasks lie. Each loads the state, applies a rule, and saves the difference."""

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from toolsets.deps import ToolDeps
from toolsets.scheduling import cards, checks, moving, outcomes, placing, refusals, swapping
from toolsets.scheduling.load import load_state
from toolsets.scheduling.save import save
from toolsets.scheduling.state import ScheduleState
from toolsets.scheduling.toolset import schedule
from toolsets.words import Words


class MoveTo(TypedDict):
    """Where one task is to begin."""

    task_id: Annotated[int, Field(description="The task's id.")]
    new_day: Annotated[int, Field(description="Number of the day within the window, from 1.")]
    new_slot_start: Annotated[int, Field(description="First slot of the task's first part.")]


@schedule.write(title=Words(zh="安排任务", en="Place a task"), card=cards.tasks_moved)
async def place(deps: ToolDeps, task_id: int, day: int, slot_start: int, weekday: int | None = None) -> dict[str, Any]:
    """Give a pending task its place. It goes inside an easy course by itself when the slots lie in a free one.

    Args:
        task_id: The pending task's id.
        day: Number of the day within the window, from 1.
        slot_start: First slot; the task takes as many slots in a row as its duration says.
        weekday: The weekday that the person named (1 = Monday), if any: refused when the day is another one.
    """
    before = await load_state(deps)
    _agree(before, day, weekday)
    return await _saved(deps, before, placing.place(before, task_id, day, slot_start), task_id)


@schedule.write(title=Words(zh="移动任务", en="Move a task"), card=cards.tasks_moved)
async def move(
    deps: ToolDeps, task_id: int, new_day: int, new_slot_start: int, weekday: int | None = None
) -> dict[str, Any]:
    """Move a scheduled task that isn't fixed. A task of several parts keeps them: all move by the same offset, and what
    lies inside an easy course goes along with it.

    Args:
        task_id: The task's id.
        new_day: Number of the day for the task's first part.
        new_slot_start: First slot of the task's first part.
        weekday: The weekday that the person named (1 = Monday), if any: refused when the day is another one.
    """
    before = await load_state(deps)
    _agree(before, new_day, weekday)
    return await _saved(deps, before, moving.move(before, task_id, new_day, new_slot_start), task_id)


@schedule.write(title=Words(zh="对调任务", en="Swap two tasks"), card=cards.tasks_swapped)
async def swap(deps: ToolDeps, task_a: int, task_b: int) -> dict[str, Any]:
    """Let two scheduled tasks of equal total length change places. What lies inside an easy course goes with it.

    Args:
        task_a: Id of the one task.
        task_b: Id of the other task.
    """
    before = await load_state(deps)
    return await _saved(deps, before, swapping.swap(before, task_a, task_b), task_a, task_b)


@schedule.write(title=Words(zh="批量移动", en="Move several tasks"), card=cards.tasks_moved)
async def batch_move(deps: ToolDeps, moves: list[MoveTo]) -> dict[str, Any]:
    """Move several scheduled tasks at once: all or none. Only the final picture counts, so tasks may exchange places.

    Args:
        moves: One entry for each task; a task is named once.
    """
    before = await load_state(deps)
    wanted = [moving.Move(one["task_id"], one["new_day"], one["new_slot_start"]) for one in moves]
    return await _saved(deps, before, moving.batch_move(before, wanted), *(one.task_id for one in wanted))


@schedule.write(title=Words(zh="取消安排", en="Unschedule a task"), card=cards.tasks_moved)
async def unplace(deps: ToolDeps, task_id: int) -> dict[str, Any]:
    """Take a scheduled task off the timetable and make it pending again; it isn't deleted. A task inside it becomes
    pending too.

    Args:
        task_id: The task's id.
    """
    before = await load_state(deps)
    return await _saved(deps, before, placing.unplace(before, task_id), task_id)


def _agree(state: ScheduleState, day: int, weekday: int | None) -> None:
    if day in state.window:
        checks.weekday_agrees(state.window.date_of(day), weekday)


async def _saved(deps: ToolDeps, before: ScheduleState, after: ScheduleState, *named: int) -> dict[str, Any]:
    if before == after:
        raise refusals.unchanged()
    await save(deps, before, after)
    return outcomes.changed(before, after, named, deps.locale)
