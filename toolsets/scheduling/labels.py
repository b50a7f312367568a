"""Days and slots in words: "周三 12月9日 第7–8节", "Wed 9 Dec, slots 7–8"."""

from collections.abc import Iterable
from datetime import date

from toolsets.scheduling.state import Range, Task
from toolsets.scheduling.window import Window
from toolsets.words import Words

WEEKDAYS = tuple(
    Words(zh=f"周{zh}", en=en)
    for zh, en in zip("一二三四五六日", ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), strict=True)
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNSCHEDULED = Words(zh="待安排", en="Unscheduled")


def day_words(day: date) -> Words:
    weekday = WEEKDAYS[day.weekday()]
    return Words(
        zh=f"{weekday.zh} {day.month}月{day.day}日",
        en=f"{weekday.en} {day.day} {MONTHS[day.month - 1]}",
    )


def slots_words(start: int, end: int) -> Words:
    if start == end:
        return Words(zh=f"第{start}节", en=f"slot {start}")
    return Words(zh=f"第{start}–{end}节", en=f"slots {start}–{end}")


def span_words(day: date, start: int, end: int) -> Words:
    named, slots = day_words(day), slots_words(start, end)
    return Words(zh=f"{named.zh} {slots.zh}", en=f"{named.en}, {slots.en}")


def range_words(window: Window, place: Range) -> Words:
    return span_words(window.date_of(place.day), place.start, place.end)


def ranges_words(window: Window, places: Iterable[Range]) -> Words:
    """All ranges, or "unscheduled" when there is none."""
    return listed([range_words(window, place) for place in places]) or UNSCHEDULED


def listed(parts: list[Words]) -> Words | None:
    if not parts:
        return None
    return Words(zh="、".join(part.zh for part in parts), en="; ".join(part.en for part in parts))


def runs_words(runs: Iterable[Range]) -> Words:
    """Free runs of one day: "第5–8节、第11–12节"."""
    parts = [slots_words(run.start, run.end) for run in runs]
    return listed(parts) or Words(zh="无", en="none")


def quoted(task: Task) -> Words:
    """A task's name inside a sentence."""
    return Words(zh=f"“{task.name}”", en=task.name)
