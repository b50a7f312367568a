"""Scenes that change where tasks lie: place, move, swap, unplace, delete."""

import re
from collections.abc import Callable, Generator, Sequence
from typing import Any

from toolsets.scenes import Act, Call, Cue, Play, Result, Say, Scene, Use
from toolsets.scheduling.hearing import Facts, When, first_spot, heard, matching_days
from toolsets.scheduling.naming import named_tasks
from toolsets.scheduling.telling import facts, failure, outcome
from toolsets.words import Words

MOST_AT_ONCE = 6
REVISION = re.compile(r"复习|备考|revis|study")

Looked = tuple[list[Facts], list[Facts], Facts]
"""Scheduled tasks, pending tasks, and the overview."""


def look(cue: Cue) -> Generator[Act, tuple[Result, ...], Looked | str]:
    """The tasks and the days; a sentence when they can't be read."""
    listed, seen = yield Use(Call("list_tasks"), Call("get_overview"))
    tasks, overview = facts(listed), facts(seen)
    if tasks is None or overview is None:
        return failure(listed if tasks is None else seen, cue.locale)
    return tasks["existing"], tasks["pending"], overview


def place(cue: Cue) -> Play:
    """One task or several, on a day or in a week; also "plan my revision for next week"."""
    looked = yield from look(cue)
    if isinstance(looked, str):
        yield Say(looked)
        return
    existing, pending, overview = looked
    named, placed = named_tasks(cue.text, pending), named_tasks(cue.text, existing)
    wanted = named or ([] if placed else _kind(cue.text, pending))
    if not wanted:
        yield Say((_already(placed[0]) if placed else _unknown(pending)).said(cue.locale))
        return
    yield from _placed(cue, wanted[:MOST_AT_ONCE], overview, spread=not named)


def _placed(cue: Cue, wanted: Sequence[Facts], overview: Facts, *, spread: bool) -> Play:
    when = heard(cue.text)
    days = matching_days(when, overview)
    if when.names_a_day:
        days = days[:1]
    only = {"day": days[0]["day"]} if len(days) == 1 else {}
    (searched,) = yield Use(Call("find_free", {"duration": min(task["duration"] for task in wanted), **only}))
    free = facts(searched)
    if free is None or not days:
        yield Say(failure(searched, cue.locale) if days else _no_room(wanted[0]).said(cue.locale))
        return
    calls = _place_calls(when, days, free, wanted, spread=spread)
    if not calls:
        yield Say(_no_room(wanted[0]).said(cue.locale))
        return
    done = yield Use(*calls)
    left = [task["name"] for task in wanted[len(calls) :]]
    yield Say("\n".join([outcome(done, cue.locale), *([_left(left).said(cue.locale)] if left else [])]))


def _place_calls(
    when: When, days: Sequence[Facts], free: Facts, wanted: Sequence[Facts], *, spread: bool
) -> list[Call]:
    """A call for each task that finds room, in order; with `spread`, one task a day."""
    calls: list[Call] = []
    room: dict[str, Any] = {"free": list(free["free"]), "embeddable": list(free["embeddable"])}
    for task in wanted:
        spot = first_spot(when, days, room, task["duration"])
        if spot is None:
            break
        day, start = spot
        calls.append(Call("place", {"task_id": task["task_id"], "day": day, "slot_start": start}))
        room = _without(room, day, start, start + task["duration"] - 1)
        if spread and len(days) > 1:
            days = [*(one for one in days if one["day"] != day), *(one for one in days if one["day"] == day)]
    return calls


def _without(room: Facts, day: int, first: int, last: int) -> dict[str, Any]:
    """Free runs and easy courses, less the slots that were just given away."""
    runs: list[Facts] = []
    for run in room["free"]:
        if run["day"] != day or run["slot_end"] < first or run["slot_start"] > last:
            runs.append(run)
            continue
        runs += [
            {**run, "slot_start": start, "slot_end": end}
            for start, end in ((run["slot_start"], first - 1), (last + 1, run["slot_end"]))
            if start <= end
        ]
    hosts = [h for h in room["embeddable"] if h["day"] != day or h["slot_end"] < first or h["slot_start"] > last]
    return {"free": runs, "embeddable": hosts}


def move(cue: Cue) -> Play:
    looked = yield from look(cue)
    if isinstance(looked, str):
        yield Say(looked)
        return
    existing, pending, overview = looked
    named = named_tasks(cue.text, existing)
    if not named:
        waiting = named_tasks(cue.text, pending)
        if waiting:
            yield from _placed(cue, waiting[:MOST_AT_ONCE], overview, spread=False)
            return
        yield Say(_unknown(existing).said(cue.locale))
        return
    when = heard(cue.text)
    days = matching_days(when, overview)[: 1 if when.names_a_day else None]
    only = {"day": days[0]["day"]} if len(days) == 1 else {}
    (searched,) = yield Use(Call("find_free", {"duration": min(named[0]["duration"], 12), **only}))
    free = facts(searched)
    spot = first_spot(when, days, free, named[0]["duration"]) if free else None
    if spot is None:
        yield Say(_no_room(named[0]).said(cue.locale) if free else failure(searched, cue.locale))
        return
    done = yield Use(Call("move", {"task_id": named[0]["task_id"], "new_day": spot[0], "new_slot_start": spot[1]}))
    yield Say(outcome(done, cue.locale))


def swap(cue: Cue) -> Play:
    yield from _on_existing(cue, 2, lambda tasks: Call("swap", {"task_a": tasks[0], "task_b": tasks[1]}))


def unplace(cue: Cue) -> Play:
    yield from _on_existing(cue, 1, lambda tasks: Call("unplace", {"task_id": tasks[0]}))


def remove(cue: Cue) -> Play:
    yield from _on_existing(cue, 1, lambda tasks: Call("remove_event", {"task_id": tasks[0]}), pending_too=True)


def _on_existing(cue: Cue, many: int, call: Callable[[list[int]], Call], *, pending_too: bool = False) -> Play:
    looked = yield from look(cue)
    if isinstance(looked, str):
        yield Say(looked)
        return
    existing, pending, _ = looked
    tasks = [*existing, *pending] if pending_too else existing
    named = [task["task_id"] for task in named_tasks(cue.text, tasks)]
    if len(named) < many:
        yield Say(_unknown(tasks).said(cue.locale))
        return
    done = yield Use(call(named))
    yield Say(outcome(done, cue.locale))


def _kind(text: str, pending: Sequence[Facts]) -> list[Facts]:
    """Pending tasks of a kind that the text names: a category, or revision of any sort."""
    text = text.casefold()
    named = [task for task in pending if task["category"].casefold() in text]
    if named or not REVISION.search(text):
        return named
    return [t for t in pending if REVISION.search(f"{t['name']} {t['category']}".casefold())] or list(pending)


def _already(task: Facts) -> Words:
    where = "、".join(task["slots"])
    return Words(zh=f"“{task['name']}”已经在{where}了，没有改动。", en=f"{task['name']} is scheduled already: {where}.")


def _unknown(tasks: Sequence[Facts]) -> Words:
    names = [task["name"] for task in tasks[:8]]
    return Words(
        zh=f"没听出是哪一项。可选的有：{'、'.join(names) or '（无）'}。",
        en=f"I couldn't tell which task you mean. There are: {', '.join(names) or 'none'}.",
    )


def _no_room(task: Facts) -> Words:
    return Words(
        zh=f"那个时间没有能放下“{task['name']}”（{task['duration']} 节）的空档，没有改动。",
        en=f"There is no room for {task['name']} ({task['duration']} slots) then. Nothing was changed.",
    )


def _left(names: Sequence[str]) -> Words:
    return Words(zh=f"没有空档，仍待安排：{'、'.join(names)}。", en=f"No room, still unscheduled: {', '.join(names)}.")


SWAP = Scene(name="swap", patterns=(r"对调|互换|交换|换个位置|换一下", r"\bswap\b"), play=swap)
REMOVE = Scene(name="delete", patterns=(r"删掉|删除|删了|删去", r"\b(?:delete|remove)\b"), play=remove)
UNPLACE = Scene(
    name="unplace",
    patterns=(r"取消.*(?:安排|任务)|取下|待安排$|先不排|撤下", r"\b(?:unschedule|unplace)\b|\btake\b.+\boff\b"),
    play=unplace,
)
MOVE = Scene(
    name="move",
    patterns=(r"挪|移到|移动|移至|调到|调整到|改到|换到|推迟到|提前到|搬到", r"\b(?:move|shift|reschedule)\b"),
    play=move,
)
PLACE = Scene(
    name="place",
    patterns=(
        r"(?<!的)安排|放到|放进|放在|排到|排进|排上|塞进|塞到",
        r"\b(?:put|place|schedule|fit|plan|book)\b",
    ),
    play=place,
)
