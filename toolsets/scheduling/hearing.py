"""What a message says of days, parts of the day and slots. Plain rules, for the rehearsal's scenes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from toolsets.scheduling.window import monday_of

Facts = Mapping[str, Any]

_ZH_DAY = re.compile(r"(下下?|这|本|上)?(?:个)?(?:周|星期|礼拜)([一二三四五六日天])")
_EN_DAY = re.compile(r"\b(next |this )?(mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs|day|sday|nesday|rsday|urday)?\b")
_EN_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_RELATIVE = (
    (re.compile(r"大后天"), 3),
    (re.compile(r"后天|day after tomorrow"), 2),
    (re.compile(r"明[天早晚]|tomorrow|tmrw|\btmr\b"), 1),
    (re.compile(r"今[天早晚]|today|tonight"), 0),
)
_NEXT_WEEK = re.compile(r"下(?:个)?(?:周|星期|礼拜)|next week")
_PARTS = (
    (re.compile(r"上午|早上|早晨|morning"), (1, 4)),
    (re.compile(r"下午|afternoon"), (5, 8)),
    (re.compile(r"晚上|今晚|明晚|夜里|evening|tonight|\bnight"), (9, 12)),
)
_SLOTS = re.compile(
    r"第?\s*(\d{1,2})\s*(?:[-–—~到至]\s*(\d{1,2}))?\s*节|slots?\s*(\d{1,2})\s*(?:(?:[-–—~]|to)\s*(\d{1,2}))?"
)


@dataclass(frozen=True, kw_only=True)
class When:
    """A day and a part of it, as far as they were named."""

    weekday: int | None = None
    next_week: bool = False
    this_week: bool = False
    relative: int | None = None
    """Days from today."""
    part: tuple[int, int] | None = None
    """First and last slot of the part of the day."""
    slots: tuple[int, int] | None = None

    @property
    def names_a_day(self) -> bool:
        return self.weekday is not None or self.relative is not None


def heard(text: str) -> When:
    """What the last mention of a day in the text says, and the last part of the day and slots."""
    text = text.casefold()
    weekday, which = _weekday(text)
    return When(
        weekday=weekday,
        next_week=which.startswith(("下", "next")) or bool(_NEXT_WEEK.search(text)),
        this_week=which.startswith(("这", "本", "this")),
        relative=None if weekday else next((days for pattern, days in _RELATIVE if pattern.search(text)), None),
        part=next((slots for pattern, slots in _PARTS if pattern.search(text)), None),
        slots=_slots(text),
    )


def _weekday(text: str) -> tuple[int | None, str]:
    zh, en = list(_ZH_DAY.finditer(text)), list(_EN_DAY.finditer(text))
    if zh:
        return "一二三四五六日".index(zh[-1][2].replace("天", "日")) + 1, zh[-1][1] or ""
    if en:
        return _EN_DAYS.index(en[-1][2]) + 1, en[-1][1] or ""
    return None, ""


def _slots(text: str) -> tuple[int, int] | None:
    found = list(_SLOTS.finditer(text))
    if not found:
        return None
    first = found[-1][1] or found[-1][3]
    last = found[-1][2] or found[-1][4] or first
    return int(first), int(last)


def matching_days(when: When, overview: Facts) -> list[Facts]:
    """The planned days that a `When` may mean, the likeliest first; all from today on when none was named."""
    today = date.fromisoformat(overview["today"]["date"])
    days = [day for day in overview["days"] if date.fromisoformat(day["date"]) >= today] or list(overview["days"])
    if when.relative is not None:
        wanted = (today + timedelta(days=when.relative)).isoformat()
        return [day for day in overview["days"] if day["date"] == wanted]
    if when.weekday is not None:
        days = [day for day in days if day["weekday"] == when.weekday]
    if when.next_week or when.this_week:
        monday = monday_of(today) + timedelta(days=7 if when.next_week else 0)
        span = (monday.isoformat(), (monday + timedelta(days=6)).isoformat())
        days = [day for day in days if span[0] <= day["date"] <= span[1]]
    return days


def first_spot(when: When, days: Sequence[Facts], free: Facts, duration: int) -> tuple[int, int] | None:
    """(day, first slot) of the first free run in these days that fits the named part of the day.

    A free run first, an easy course when there is none. `free` is what `find_free` said. Slots that were named are
    taken as they are: the tool says whether they are free.
    """
    if when.slots and days:
        return days[0]["day"], when.slots[0]
    first, last = when.part or (1, 99)
    for runs in (free["free"], free["embeddable"]):
        for day in days:
            for run in runs:
                start, end = max(run["slot_start"], first), min(run["slot_end"], last)
                if run["day"] == day["day"] and end - start + 1 >= duration:
                    return day["day"], start
    return None
