"""The difference of two states, written as ORM changes; the recorder sees each row.

Sections are keyed by (date, slot, layer): one that changes hands is an update of its task. What disappears is flushed
before what appears. Nothing is committed here.
"""

from collections.abc import Mapping
from datetime import date

from sqlalchemy import select

from toolsets.deps import ToolDeps
from toolsets.scheduling.load import Section
from toolsets.scheduling.state import ScheduleState, Task, TaskClass
from toolsets.scheduling.tables import GUEST, HOST, SectionRow, TaskClassRow, TaskRow


async def save(deps: ToolDeps, before: ScheduleState, after: ScheduleState) -> None:
    """Write what differs between two states of the same window."""
    class_keys = await _save_classes(deps, before, after)
    keys = await _save_tasks(deps, before, after, class_keys)
    await _save_sections(deps, sections_of(before), sections_of(after), keys)
    await _remove_tasks(deps, [keys[n] for n in before.tasks.keys() - after.tasks.keys()])


def sections_of(state: ScheduleState) -> dict[Section, int]:
    """Every occupied section of the window, and the task that takes it."""
    return {
        (state.window.date_of(place.day), slot, HOST if task.embed_host is None else GUEST): task.id
        for task in state.tasks.values()
        for place in task.ranges
        for slot in place.slots
    }


async def _save_classes(deps: ToolDeps, before: ScheduleState, after: ScheduleState) -> dict[int, str]:
    for number in sorted(after.task_classes.keys() - before.task_classes.keys()):
        deps.session.add(_class_row(deps, after.task_classes[number]))
    await deps.session.flush()
    query = select(TaskClassRow.number, TaskClassRow.id).where(TaskClassRow.user_id == deps.user_id)
    return dict((await deps.session.execute(query)).tuples().all())


async def _save_tasks(
    deps: ToolDeps, before: ScheduleState, after: ScheduleState, class_keys: Mapping[int, str]
) -> dict[int, str]:
    """The keys of all tasks that the difference touches."""
    touched = [n for n in sorted(before.tasks.keys() | after.tasks.keys()) if before.tasks.get(n) != after.tasks.get(n)]
    query = select(TaskRow).where(TaskRow.user_id == deps.user_id, TaskRow.number.in_(touched))
    rows = {row.number: row for row in await deps.session.scalars(query)}
    for n in touched:
        if n not in rows:
            rows[n] = _task_row(deps, after.tasks[n], class_keys)
            deps.session.add(rows[n])
        elif n in after.tasks:
            _update(rows[n], before.tasks[n], after.tasks[n], deps)
    await deps.session.flush()
    return {n: row.id for n, row in rows.items()}


def _update(row: TaskRow, before: Task, after: Task, deps: ToolDeps) -> None:
    if (before.ranges, before.embed_host) != (after.ranges, after.embed_host) or before.duration != after.duration:
        row.duration = after.duration
        row.arranged_at = deps.clock()


async def _save_sections(
    deps: ToolDeps, before: Mapping[Section, int], after: Mapping[Section, int], keys: Mapping[int, str]
) -> None:
    changed = {at for at in before.keys() | after.keys() if before.get(at) != after.get(at)}
    rows = await _section_rows(deps, {day for day, _, _ in changed & before.keys()})
    for at in sorted(changed - after.keys()):
        await deps.session.delete(rows[at])
    await deps.session.flush()
    for at in sorted(changed & after.keys()):
        if at in before:
            rows[at].task_id = keys[after[at]]
        else:
            deps.session.add(_section_row(deps, at, keys[after[at]]))
    await deps.session.flush()


async def _section_rows(deps: ToolDeps, days: set[date]) -> dict[Section, SectionRow]:
    query = select(SectionRow).where(SectionRow.user_id == deps.user_id, SectionRow.date.in_(days))
    return {(row.date, row.slot, row.layer): row for row in await deps.session.scalars(query)}


async def _remove_tasks(deps: ToolDeps, keys: list[str]) -> None:
    for key in sorted(keys):
        await deps.session.delete(await deps.session.get_one(TaskRow, key))
    await deps.session.flush()


def _section_row(deps: ToolDeps, at: Section, task_key: str) -> SectionRow:
    day, slot, layer = at
    key = deps.new_id(f"section:{day}:{slot}:{layer}")
    return SectionRow(id=key, user_id=deps.user_id, date=day, slot=slot, layer=layer, task_id=task_key)


def _task_row(deps: ToolDeps, task: Task, class_keys: Mapping[int, str]) -> TaskRow:
    return TaskRow(
        id=deps.new_id(f"task:{task.name}"),
        user_id=deps.user_id,
        number=task.id,
        name=task.name,
        source=task.source,
        category=task.category,
        task_class_id=None if task.task_class_id is None else class_keys[task.task_class_id],
        duration=task.duration,
        locked=task.locked,
        can_embed=task.can_embed,
        location=task.location,
        arranged_at=deps.clock() if task.ranges else None,
    )


def _class_row(deps: ToolDeps, task_class: TaskClass) -> TaskClassRow:
    return TaskClassRow(
        id=deps.new_id(f"class:{task_class.name}"),
        user_id=deps.user_id,
        number=task_class.id,
        name=task_class.name,
        strategy=task_class.strategy,
        total_slots=task_class.total_slots,
        allow_filler_course=task_class.allow_filler_course,
        excluded_slots=list(task_class.excluded_slots),
        start_date=task_class.start_date,
        end_date=task_class.end_date,
        updated_at=deps.clock(),
    )
