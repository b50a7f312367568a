"""Cards of the pack: one row for each part of a task that moves, made of what the dry run came to."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from toolsets.cards import Card, CardInput, CardRow
from toolsets.scheduling.card_rows import covered_rows, task_rows
from toolsets.scheduling.labels import UNSCHEDULED, day_words, listed, span_words
from toolsets.scheduling.tables import TaskClassRow, TaskRow
from toolsets.words import Words

Facts = Mapping[str, Any]


def tasks_moved(given: CardInput) -> Card:
    """For place, move, batch_move and unplace."""
    tasks = given.result["tasks"]
    named = tasks[: len(given.arguments["moves"])] if "moves" in given.arguments else tasks[:1]
    if len(named) == 1:
        summary = _moved(named[0])
    else:
        total = sum(_length(place) for task in named for place in task["to"])
        summary = Words(
            zh=f"把 {len(named)} 项移到新位置，共 {total} 节。",
            en=f"Move {len(named)} tasks to new places, {total} slots in all.",
        )
    return Card(summary=summary, rows=task_rows(given))


def tasks_swapped(given: CardInput) -> Card:
    first, second = given.result["tasks"][:2]
    summary = Words(
        zh=f"把“{first['name']}”（{where(first['from']).zh}）和“{second['name']}”（{where(second['from']).zh}）对调。",
        en=f"Swap {first['name']} ({where(first['from']).en}) and {second['name']} ({where(second['from']).en}).",
    )
    return Card(summary=summary, rows=task_rows(given))


def event_added(given: CardInput) -> Card:
    task = given.result["tasks"][0]
    times = len(task["to"])
    weekly = Words(zh=f"，每周一次，共 {times} 次", en=f", weekly, {times} times") if times > 1 else Words.same("")
    spot, inside = where(task["to"][:1]), _inside(task)
    summary = Words(
        zh=f"在{spot.zh}添加“{task['name']}”{weekly.zh}{inside.zh}。",
        en=f"Add {task['name']} on {spot.en}{weekly.en}{inside.en}.",
    )
    return Card(summary=summary, rows=task_rows(given))


def removed(given: CardInput) -> Card:
    task = given.result["tasks"][0]
    name, day = task["name"], given.arguments.get("date")
    if task["status"] == "removed":
        slots = sum(_length(place) for place in task["from"])
        summary = Words(
            zh=f"把“{name}”从课表删除，共 {slots} 节。" if slots else f"删除待安排的“{name}”。",
            en=f"Delete {name} from the timetable, {slots} slots in all." if slots else f"Delete the pending {name}.",
        )
    else:
        one = day_words(date.fromisoformat(str(day)))
        summary = Words(zh=f"删除“{name}”在{one.zh}的安排。", en=f"Delete {name} on {one.en}.")
    return Card(summary=summary, rows=task_rows(given))


def class_created(given: CardInput) -> Card:
    made, items = given.result["task_class"], given.result["tasks"]
    first, last = (day_words(date.fromisoformat(made[edge])) for edge in ("start_date", "end_date"))
    with_items = Words(zh=f"，含 {len(items)} 项任务", en=f" with {len(items)} tasks") if items else Words.same("")
    summary = Words(
        zh=f"新建任务类“{made['name']}”{with_items.zh}，{first.zh}至{last.zh}，共 {made['total_slots']} 节。",
        en=f"Create the task class {made['name']}{with_items.en}, {first.en} to {last.en}, "
        f"{made['total_slots']} slots in all.",
    )
    rules = CardRow(
        key=f"class:{made['class_id']}",
        op="add",
        table=TaskClassRow.__tablename__,
        label=Words.same(made["name"]),
        after=_rules(made),
        changes=tuple(n for n, one in enumerate(given.changes) if one.table == TaskClassRow.__tablename__),
    )
    return Card(summary=summary, rows=(rules, *_item_rows(given)))


def items_added(given: CardInput) -> Card:
    items = given.result["tasks"]
    names, slots = [item["name"] for item in items], sum(item["duration"] for item in items)
    shown = listed([Words(zh=f"“{name}”", en=name) for name in names[:3]]) or UNSCHEDULED
    if len(items) <= 3:
        zh, en = f"添加任务{shown.zh}", f"Add {shown.en}"
    else:
        zh, en = f"添加 {len(items)} 项任务", f"Add {len(items)} tasks"
    category = items[0]["category"]
    summary = Words(
        zh=f"{zh}到“{category}”，共 {slots} 节，待安排。", en=f"{en} to {category}, {slots} slots in all, unscheduled."
    )
    return Card(summary=summary, rows=_item_rows(given))


def where(places: list[Facts]) -> Words:
    """Ranges in words; none means unscheduled."""
    spans = [span_words(date.fromisoformat(p["date"]), p["slot_start"], p["slot_end"]) for p in places]
    return listed(spans) or UNSCHEDULED


def _moved(task: Facts) -> Words:
    name, old, new, inside = task["name"], where(task["from"]), where(task["to"]), _inside(task)
    if not task["from"]:
        return Words(zh=f"把“{name}”安排到{new.zh}{inside.zh}。", en=f"Place {name} on {new.en}{inside.en}.")
    if not task["to"]:
        return Words(zh=f"把“{name}”从{old.zh}取下，改为待安排。", en=f"Unschedule {name}, now on {old.en}.")
    return Words(
        zh=f"把“{name}”从{old.zh}移到{new.zh}{inside.zh}。", en=f"Move {name} from {old.en} to {new.en}{inside.en}."
    )


def _inside(task: Facts) -> Words:
    host = task["embedded_in"]
    if host is None:
        return Words.same("")
    return Words(zh=f"，嵌入“{host['name']}”", en=f", inside {host['name']}")


def _item_rows(given: CardInput) -> tuple[CardRow, ...]:
    rows = [
        CardRow(
            key=f"item:{n}",
            op="add",
            table=TaskRow.__tablename__,
            label=Words.same(item["name"]),
            after=Words(zh=f"待安排，{item['duration']} 节", en=f"Unscheduled, {item['duration']} slots"),
        )
        for n, item in enumerate(given.result["tasks"])
    ]
    return covered_rows(given, rows, [item["task_id"] for item in given.result["tasks"]])


def _rules(made: Facts) -> Words:
    steady = made["strategy"] == "steady"
    excluded = ", ".join(str(slot) for slot in made["excluded_slots"])
    zh = ["平均分布" if steady else "尽早完成", "可嵌入课程" if made["allow_filler_course"] else "不嵌入课程"]
    en = ["spread evenly" if steady else "early"]
    en.append("may go inside courses" if made["allow_filler_course"] else "not inside courses")
    if excluded:
        zh.append(f"不用第 {excluded} 节")
        en.append(f"never slots {excluded}")
    return Words(zh="，".join(zh), en=", ".join(en))


def _length(place: Facts) -> int:
    return place["slot_end"] - place["slot_start"] + 1
