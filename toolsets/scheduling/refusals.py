"""The sentences of every rule that says no. Codes are stable; details help the model to do better.

not_found not_pending already_pending pending locked outside_window day_out_of_window slot_out_of_range
slot_conflict host_taken would_not_fit length_mismatch duplicate_task empty unchanged weekday_mismatch
excluded_slot outside_dates filler_not_allowed budget_exceeded invalid_date invalid
"""

from datetime import date

from toolsets.errors import DomainError
from toolsets.scheduling.labels import day_words, quoted, range_words, runs_words, slots_words
from toolsets.scheduling.occupancy import free_runs
from toolsets.scheduling.state import Range, ScheduleState, Task, TaskClass
from toolsets.scheduling.window import Window
from toolsets.words import Words


def not_found(task_id: int) -> DomainError:
    return DomainError("not_found", Words(zh=f"没有编号为 {task_id} 的任务。", en=f"There is no task {task_id}."))


def class_not_found(class_id: int) -> DomainError:
    words = Words(zh=f"没有编号为 {class_id} 的任务类。", en=f"There is no task class {class_id}.")
    return DomainError("not_found", words)


def not_pending(task: Task) -> DomainError:
    name = quoted(task)
    words = Words(
        zh=f"{name.zh}已经安排了，要换位置就用移动。",
        en=f"{name.en} is already scheduled; move it to change its place.",
    )
    return DomainError("not_pending", words, task_id=task.id, name=task.name, use="move")


def already_pending(task: Task) -> DomainError:
    name = quoted(task)
    words = Words(zh=f"{name.zh}本来就是待安排。", en=f"{name.en} is unscheduled already.")
    return DomainError("already_pending", words, task_id=task.id, name=task.name)


def pending(task: Task) -> DomainError:
    name = quoted(task)
    words = Words(zh=f"{name.zh}还没有安排，应先放置它。", en=f"{name.en} isn't scheduled yet; place it first.")
    return DomainError("pending", words, task_id=task.id, name=task.name, use="place")


def locked(task: Task) -> DomainError:
    name = quoted(task)
    words = Words(zh=f"{name.zh}是固定的，不能改动。", en=f"{name.en} is fixed and can't be changed.")
    return DomainError("locked", words, task_id=task.id, name=task.name)


def outside_window(task: Task) -> DomainError:
    name = quoted(task)
    words = Words(
        zh=f"{name.zh}在计划日期之外还占 {task.outside} 节，不能整个改动。",
        en=f"{name.en} also takes {task.outside} slots outside the planned days, so it can't be changed as a whole.",
    )
    return DomainError("outside_window", words, task_id=task.id, name=task.name, outside=task.outside)


def day_out_of_window(day: int, window: Window) -> DomainError:
    first, last = day_words(window.first), day_words(window.last)
    words = Words(
        zh=f"第 {day} 天不在计划范围内（第 1–{window.total_days} 天，{first.zh}至{last.zh}）。",
        en=f"Day {day} is outside the planned days (1–{window.total_days}, {first.en} to {last.en}).",
    )
    return DomainError("day_out_of_window", words, day=day, first_day=1, last_day=window.total_days)


def slot_out_of_range(start: int, end: int, slots_per_day: int) -> DomainError:
    slots = slots_words(start, end)
    words = Words(
        zh=f"{slots.zh}超出了一天的 1–{slots_per_day} 节。",
        en=f"{slots.en.capitalize()}: a day has slots 1–{slots_per_day}.",
    )
    return DomainError("slot_out_of_range", words, slot_start=start, slot_end=end, slots_per_day=slots_per_day)


def slot_conflict(state: ScheduleState, task: Task, place: Range, other: Task) -> DomainError:
    runs, where, name, holder = (
        free_runs(state, place.day),
        range_words(state.window, place),
        quoted(task),
        quoted(other),
    )
    fixed = Words(zh="（固定）", en=" (fixed)") if other.locked else Words.same("")
    free = runs_words(runs)
    words = Words(
        zh=f"{name.zh}放不进{where.zh}：{holder.zh}{fixed.zh}占着。当天空闲：{free.zh}。",
        en=f"{name.en} can't go on {where.en}: {holder.en}{fixed.en} is there. Free that day: {free.en}.",
    )
    return DomainError(
        "slot_conflict", words, **_spot(state, task, place), **_holder(other), free_runs=[_bounds(r) for r in runs]
    )


def host_taken(state: ScheduleState, task: Task, place: Range, host: Task, guest: Task) -> DomainError:
    runs, name = free_runs(state, place.day), quoted(task)
    free = runs_words(runs)
    words = Words(
        zh=f"{name.zh}不能嵌入“{host.name}”：里面已经有“{guest.name}”。当天空闲：{free.zh}。",
        en=f"{name.en} can't go inside {host.name}: {guest.name} is in it already. Free that day: {free.en}.",
    )
    return DomainError(
        "host_taken",
        words,
        **_spot(state, task, place),
        host_id=host.id,
        guest_id=guest.id,
        free_runs=[_bounds(r) for r in runs],
    )


def would_not_fit(state: ScheduleState, task: Task, place: Range) -> DomainError:
    where, name = range_words(state.window, place), quoted(task)
    words = Words(
        zh=f"{name.zh}要连着动的一段会落到{where.zh}，放不下。",
        en=f"{name.en} doesn't fit: one of its parts would come to {where.en}.",
    )
    return DomainError("would_not_fit", words, **_spot(state, task, place))


def nothing_that_day(task: Task, day: date) -> DomainError:
    named = day_words(day)
    words = Words(zh=f"“{task.name}”在{named.zh}没有安排。", en=f"{task.name} has nothing on {named.en}.")
    return DomainError("not_found", words, task_id=task.id, name=task.name, date=day.isoformat())


def length_mismatch(first: Task, second: Task) -> DomainError:
    words = Words(
        zh=f"“{first.name}”占 {first.length} 节，“{second.name}”占 {second.length} 节，长度不同，不能对调。",
        en=f"{first.name} takes {first.length} slots and {second.name} {second.length}: "
        "only tasks of equal length can be swapped.",
    )
    return DomainError("length_mismatch", words, lengths={str(first.id): first.length, str(second.id): second.length})


def duplicate_task(task_id: int) -> DomainError:
    words = Words(zh=f"任务 {task_id} 出现了两次。", en=f"Task {task_id} is named twice.")
    return DomainError("duplicate_task", words, task_id=task_id)


def empty() -> DomainError:
    return DomainError("empty", Words(zh="列表是空的。", en="The list is empty."))


def unchanged() -> DomainError:
    return DomainError("unchanged", Words(zh="这样不会有任何变化。", en="Nothing would change."))


def weekday_mismatch(day: date, weekday: int) -> DomainError:
    named = day_words(day)
    words = Words(
        zh=f"{day.month}月{day.day}日是{named.zh.split()[0]}，和说的星期对不上。",
        en=f"{day.isoformat()} is a {named.en.split()[0]}, which isn't the weekday that was named.",
    )
    return DomainError("weekday_mismatch", words, date=day.isoformat(), weekday=day.isoweekday(), named=weekday)


def excluded_slot(state: ScheduleState, task: Task, place: Range, task_class: TaskClass) -> DomainError:
    excluded = "、".join(str(s) for s in task_class.excluded_slots)
    words = Words(
        zh=f"“{task_class.name}”不用第 {excluded} 节，“{task.name}”不能放在{range_words(state.window, place).zh}。",
        en=f"{task_class.name} never takes slots {excluded.replace('、', ', ')}, "
        f"so {task.name} can't go on {range_words(state.window, place).en}.",
    )
    return DomainError(
        "excluded_slot", words, **_spot(state, task, place), excluded_slots=list(task_class.excluded_slots)
    )


def outside_dates(state: ScheduleState, task: Task, place: Range, task_class: TaskClass) -> DomainError:
    first, last = day_words(task_class.start_date), day_words(task_class.end_date)
    words = Words(
        zh=f"“{task.name}”只能安排在{first.zh}至{last.zh}（“{task_class.name}”的日期）。",
        en=f"{task.name} belongs between {first.en} and {last.en}, the dates of {task_class.name}.",
    )
    return DomainError(
        "outside_dates",
        words,
        **_spot(state, task, place),
        start_date=task_class.start_date.isoformat(),
        end_date=task_class.end_date.isoformat(),
    )


def filler_not_allowed(
    state: ScheduleState, task: Task, place: Range, host: Task, task_class: TaskClass
) -> DomainError:
    words = Words(
        zh=f"“{task_class.name}”不允许嵌入课程，“{task.name}”不能放进“{host.name}”。",
        en=f"{task_class.name} doesn't allow tasks inside courses, so {task.name} can't go into {host.name}.",
    )
    return DomainError("filler_not_allowed", words, **_spot(state, task, place), host_id=host.id)


def budget_exceeded(task: Task, task_class: TaskClass, used: int) -> DomainError:
    words = Words(
        zh=f"“{task_class.name}”一共 {task_class.total_slots} 节，安排“{task.name}”后会到 {used} 节。",
        en=f"{task_class.name} has a budget of {task_class.total_slots} slots; with {task.name} it would be {used}.",
    )
    return DomainError(
        "budget_exceeded", words, task_id=task.id, name=task.name, total_slots=task_class.total_slots, would_use=used
    )


def invalid(field: str, words: Words) -> DomainError:
    return DomainError("invalid", words, field=field)


def invalid_date(field: str, text: str) -> DomainError:
    words = Words(zh=f"“{text}”不是日期，日期写作 2026-12-08。", en=f"{text!r} isn't a date; write it as 2026-12-08.")
    return DomainError("invalid_date", words, field=field)


def _spot(state: ScheduleState, task: Task, place: Range) -> dict[str, int | str]:
    return {
        "task_id": task.id,
        "name": task.name,
        "day": place.day,
        "date": state.window.date_of(place.day).isoformat(),
        "slot_start": place.start,
        "slot_end": place.end,
    }


def _holder(other: Task) -> dict[str, dict[str, int | str | bool]]:
    return {"occupied_by": {"task_id": other.id, "name": other.name, "fixed": other.locked}}


def _bounds(run: Range) -> dict[str, int]:
    return {"slot_start": run.start, "slot_end": run.end}
