"""Scenes that make something new: a task, an event."""

from datetime import date, timedelta

from toolsets.scenes import Call, Cue, Play, Say, Scene, Use
from toolsets.scheduling.hearing import Facts, When, first_spot, heard, matching_days
from toolsets.scheduling.scenes_write import MOST_AT_ONCE
from toolsets.scheduling.telling import facts, failure, outcome
from toolsets.words import Words

DEFAULT_LENGTH = 2
DEFAULT_BUDGET = 8


def add_task(cue: Cue) -> Play:
    (seen,) = yield Use(Call("get_overview"))
    overview = facts(seen)
    if overview is None:
        yield Say(failure(seen, cue.locale))
        return
    names = _split(cue.match.get("names", ""))
    if not names:
        yield Say(Words(zh="要加哪个任务？请说出名称。", en="Which task? Give its name.").said(cue.locale))
        return
    done = yield Use(_task_call(cue, overview, names))
    yield Say(outcome(done, cue.locale))


def _task_call(cue: Cue, overview: Facts, names: list[str]) -> Call:
    classes = overview["task_classes"]
    if not classes:
        first = date.fromisoformat(overview["today"]["date"])
        return Call(
            "create_task_class",
            {
                "name": "任务" if cue.locale == "zh" else "Tasks",
                "total_slots": DEFAULT_BUDGET,
                "start_date": first.isoformat(),
                "end_date": (first + timedelta(days=13)).isoformat(),
                "items": names,
            },
        )
    text = cue.text.casefold()
    named = next((one for one in classes if one["name"].casefold() in text), classes[0])
    return Call("add_task_items", {"task_class_id": named["class_id"], "names": names, "duration": DEFAULT_LENGTH})


def add_event(cue: Cue) -> Play:
    (seen,) = yield Use(Call("get_overview"))
    overview = facts(seen)
    if overview is None:
        yield Say(failure(seen, cue.locale))
        return
    when, name = heard(cue.text), cue.match.get("name", "").strip(" “”\"'：:")
    days = matching_days(when, overview)
    if not name or not when.names_a_day or not days:
        ask = Words(
            zh="要加什么、在哪天？例如“周三晚上加一个讲座”。",
            en="What, and on which day? Say “add a talk on Wednesday evening”.",
        )
        yield Say(ask.said(cue.locale))
        return
    (searched,) = yield Use(Call("find_free", {"duration": _length(when), "day": days[0]["day"]}))
    free = facts(searched)
    spot = first_spot(when, days[:1], {**free, "embeddable": []}, _length(when)) if free else None
    if spot is None:
        full = Words(zh="那个时间没有空档，没有改动。", en="There is no room then. Nothing was changed.").said(
            cue.locale
        )
        yield Say(full if free else failure(searched, cue.locale))
        return
    event = {"name": name, "date": days[0]["date"], "slot_start": spot[1], "slot_end": spot[1] + _length(when) - 1}
    done = yield Use(Call("add_event", event))
    yield Say(outcome(done, cue.locale))


def _length(when: When) -> int:
    return when.slots[1] - when.slots[0] + 1 if when.slots and when.slots[1] > when.slots[0] else DEFAULT_LENGTH


def _split(text: str) -> list[str]:
    for mark in ("、", "，", "和", " and ", ";", "；"):
        text = text.replace(mark, ",")
    return [name.strip(" “”\"'。.：:") for name in text.split(",") if name.strip(" “”\"'。.：:")][:MOST_AT_ONCE]


ADD_TASK = Scene(
    name="add_task",
    patterns=(
        r"(?:加|添加|新增|新建|建)(?:一个|一项|几个|两个|个)?任务[:： ]*(?P<names>.+)",
        r"\b(?:add|create) (?:a |some |the )?(?:new )?(?:study )?tasks?:? (?:called |named )?(?P<names>.+)",
    ),
    play=add_task,
)
ADD_EVENT = Scene(
    name="add_event",
    patterns=(
        r"(?:加|添加|新增)(?:上)?(?:一个|一场|一次|一节|个|场)?(?P<name>[^，。,.！!？?]+)",
        r"\badd (?:an? |the )?(?P<name>.+?) (?:on|for|at|this|next|tomorrow|today|tonight|in)\b",
    ),
    play=add_event,
)
