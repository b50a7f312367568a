"""Scenes that look: the timetable, what is free."""

from collections.abc import Sequence
from datetime import date

from toolsets.scenes import Call, Cue, Play, Say, Scene, Use
from toolsets.scheduling.hearing import Facts, heard, matching_days
from toolsets.scheduling.labels import day_words, slots_words
from toolsets.scheduling.telling import facts, failure
from toolsets.words import Locale, Words

MOST_DAYS = 7


def overview(cue: Cue) -> Play:
    (seen,) = yield Use(Call("get_overview"))
    found = facts(seen)
    if found is None:
        yield Say(failure(seen, cue.locale))
        return
    when = heard(cue.text)
    days = matching_days(when, found)[: 1 if when.names_a_day else MOST_DAYS]
    if not days:
        yield Say(_not_planned(found).said(cue.locale))
        return
    lines = [_day_line(day).said(cue.locale) for day in days]
    if not when.names_a_day:
        lines.append(_pending_line(found).said(cue.locale))
    yield Say("\n".join(lines))


def free(cue: Cue) -> Play:
    (seen,) = yield Use(Call("get_overview"))
    found = facts(seen)
    if found is None:
        yield Say(failure(seen, cue.locale))
        return
    when = heard(cue.text)
    days = matching_days(when, found)[: 1 if when.names_a_day else MOST_DAYS]
    if not days:
        yield Say(_not_planned(found).said(cue.locale))
        return
    only = {"day": days[0]["day"]} if when.names_a_day else {}
    (looked,) = yield Use(Call("find_free", {"duration": 1, **only}))
    runs = facts(looked)
    yield Say(_free_lines(days, runs, when.part, cue.locale) if runs else failure(looked, cue.locale))


def follow_up(cue: Cue) -> Play:
    """ "And Friday?": what was asked before, of another day."""
    before = next((text for text in reversed(cue.earlier) if text != cue.text), "")
    yield from (
        free(cue) if any(word in before.casefold() for word in ("空", "free", "gap", "available")) else overview(cue)
    )


def _free_lines(days: Sequence[Facts], found: Facts, part: tuple[int, int] | None, locale: Locale) -> str:
    first, last = part or (1, 99)
    lines: list[str] = []
    for day in days:
        spans = [
            slots_words(max(run["slot_start"], first), min(run["slot_end"], last)).said(locale)
            for run in found["free"]
            if run["day"] == day["day"] and run["slot_start"] <= last and run["slot_end"] >= first
        ]
        name = day_words(date.fromisoformat(day["date"])).said(locale)
        shown = ("、" if locale == "zh" else ", ").join(spans) or ("没有空闲" if locale == "zh" else "nothing free")
        lines.append(f"{name}：{shown}" if locale == "zh" else f"{name}: {shown}")
    return "\n".join([("空闲：" if locale == "zh" else "Free:"), *(f"- {line}" for line in lines)])


def _day_line(day: Facts) -> Words:
    named = day_words(date.fromisoformat(day["date"]))
    items = [(item["name"], slots_words(item["slot_start"], item["slot_end"])) for item in day["items"]]
    zh = "，".join(f"{slots.zh}{name}" for name, slots in items) or "没有安排"
    en = ", ".join(f"{name} ({slots.en})" for name, slots in items) or "nothing"
    return Words(zh=f"- {named.zh}：{zh}", en=f"- {named.en}: {en}")


def _pending_line(found: Facts) -> Words:
    pending = found["pending"]
    names = [task["name"] for task in pending]
    return Words(
        zh=f"待安排 {len(pending)} 项：{'、'.join(names) or '无'}。",
        en=f"{len(pending)} unscheduled: {', '.join(names) or 'none'}.",
    )


def _not_planned(found: Facts) -> Words:
    first, last = (day_words(date.fromisoformat(found["window"][edge])) for edge in ("from", "to"))
    return Words(
        zh=f"那天不在计划范围内（{first.zh}至{last.zh}）。", en=f"That day isn't planned ({first.en} to {last.en})."
    )


LOOKING = (
    Scene(
        name="free_time",
        patterns=(
            r"^(?!.*(?:把|排进|放到|放进|安排到|安排进|塞|加)).*(?:有空|空闲|空档|空余|最空|没课|有时间)",
            r"^(?!.*\b(?:put|place|schedule|fit|move|add|plan|book)\b).*\b(?:free|gaps?|availab\w+|lightest|openings?)\b",
        ),
        play=free,
    ),
    Scene(
        name="follow_up",
        patterns=(r"^那?(?:么)?.{1,8}呢[？?]?$", r"^(?:and|what about|how about)\b.{1,40}\?$"),
        play=follow_up,
    ),
    Scene(
        name="timetable",
        patterns=(
            r"^(?:请|帮我|给我)?(?:看|查|显示|列出|说说).*(?:课|日程|安排|任务|待办)",
            r"(?:有什么|有啥|有哪些|什么|啥|几节|几门|多少)(?:课|安排|任务|待办|日程)|(?:课表|日程|安排)(?:是什么|有哪些|怎么样|如何)",
            r"(?:还有|哪些|几个|多少).*(?:没排|没安排|未安排|待安排)|(?:没排|没安排|未安排|待安排)的?.*(?:吗|哪些|几个|多少|有什么)",
            r"^(?:please )?(?:show|what|list|which|view|read|see|how)\b.*"
            r"\b(?:timetable|schedule|calendar|tasks?|classes|week|today|tomorrow|on|have)\b",
        ),
        play=overview,
    ),
)
ANYTHING_ELSE = (
    Scene(
        name="timetable_at_last", patterns=(r"课表|日程|总览", r"\b(?:timetable|overview|my schedule)\b"), play=overview
    ),
)
