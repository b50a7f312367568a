"""The labelled operations, judged by the rules: where an older system did wrong, the spec decides."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.toolsets.scheduling.worlds import assert_sound, week
from toolsets.errors import DomainError
from toolsets.scheduling import checks, queries, reports
from toolsets.scheduling.load import Loaded
from toolsets.scheduling.moving import Move, batch_move, move
from toolsets.scheduling.placing import place, unplace
from toolsets.scheduling.state import Range, ScheduleState, Task
from toolsets.scheduling.swapping import swap

Json = dict[str, Any]


def exchange(state: ScheduleState, moves: list[tuple[int, int, int]]) -> ScheduleState:
    return batch_move(state, [Move(task, day, slot) for task, day, slot in moves])


OPERATIONS: dict[str, Callable[..., ScheduleState]] = {
    "place": place,
    "move": move,
    "swap": swap,
    "unplace": unplace,
    "batch_move": exchange,
}


def read(state: ScheduleState, name: str, arguments: list[Any]) -> None:
    match name, arguments:
        case "find_free", [duration, *day]:
            loaded = Loaded(state=state, term=None, today=state.window.first)
            queries.free_report(loaded, duration, day[0] if day else None, "zh")
        case "list_tasks", category:
            queries.tasks_report(state, category[0] if category else None, "all", "zh")
        case "get_task_info", [task_id]:
            reports.task_facts(state, checks.known(state, task_id), "zh")
        case "query_range", [day, *bounds]:
            start, end = (*bounds, None, None)[:2]
            queries.range_report(state, day, start, end, "zh")
        case _:
            raise AssertionError(name)


OTHERWISE = {
    "smc-move-multi-end": "a task of several parts keeps them, so the second part fits where one block would not",
}
FAILED = ("失败", "冲突")


def read_world(line: Json) -> ScheduleState:
    tasks = [read_task(task) for task in line["expected"]["world"]["tasks"]]
    return ScheduleState(
        window=week(line["expected"]["world"]["total_days"]), tasks={t.id: t for t in tasks}, task_classes={}
    )


def read_task(given: Json) -> Task:
    ranges = tuple(Range(*place) for place in given.get("slots", []))
    return Task(
        id=given["id"],
        name=given["name"],
        source=given.get("source", "event"),
        category=given["cat"],
        duration=given.get("duration") or sum(r.length for r in ranges),
        ranges=ranges,
        locked=given.get("locked", False),
        can_embed=given.get("can_embed", False),
    )


def run(state: ScheduleState, operation: list[Any]) -> tuple[ScheduleState, bool]:
    """The state after an operation, and whether it was done."""
    name, *arguments = operation
    try:
        if name in OPERATIONS:
            return OPERATIONS[name](state, *arguments), True
        read(state, name, arguments)
        return state, True
    except DomainError:
        return state, False


def check(line: Json, world: ScheduleState) -> None:
    state, expected = world, line["expected"]
    for operation, text in zip(line["input"]["ops"], expected["texts"], strict=True):
        state, done = run(state, operation)
        assert_sound(state)
        if operation[0] == "list_tasks" or "DEFECT" in line.get("note", ""):
            continue
        assert done == (not any(word in text.split("\n")[0] for word in FAILED)), (line["id"], operation)
    if "DEFECT" not in line.get("note", ""):
        assert moved(world, state) == {int(n): task["slots"] for n, task in expected["changed_tasks"].items()}, line[
            "id"
        ]


def moved(before: ScheduleState, after: ScheduleState) -> dict[int, list[list[int]]]:
    changed = [task for task in after.tasks.values() if task != before.tasks[task.id]]
    return {task.id: [[place.day, place.start, place.end] for place in task.ranges] for task in changed}


def test_the_labelled_operations_end_as_the_rules_say(cases_folder: Path) -> None:
    lines = [json.loads(one) for one in (cases_folder / "scheduling.jsonl").read_text(encoding="utf-8").splitlines()]
    world = read_world(next(line for line in lines if line["kind"] == "schedule_world"))
    cases = [line for line in lines if line["kind"] == "schedule_tool_code" and line["id"] not in OTHERWISE]
    assert len(cases) > 30
    for line in cases:
        check(line, world)


def test_where_an_older_system_did_wrong_the_rules_refuse(cases_folder: Path) -> None:
    lines = {
        json.loads(one)["id"]: json.loads(one)
        for one in (cases_folder / "scheduling.jsonl").read_text("utf-8").splitlines()
    }
    world = read_world(lines["sm-world-doc"])
    for name in ("smc-embed-2nd", "smc-embed-partial"):
        *first, last = lines[name]["input"]["ops"]
        state = world
        for operation in first:
            state, _ = run(state, operation)
        assert run(state, last) == (state, False)
