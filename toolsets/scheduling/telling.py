"""The last words of the rehearsal's scenes: only what the results say."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypeGuard

from toolsets.scenes import Result
from toolsets.scheduling.labels import listed, span_words
from toolsets.words import Locale, Words

Facts = Mapping[str, Any]


def facts(result: Result) -> dict[str, Any] | None:
    """What a successful call returned; None when it failed or was denied."""
    return result.content if result.status == "ok" and _is_object(result.content) else None


def _is_object(content: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(content, dict)


def failure(result: Result, locale: Locale) -> str:
    """Why nothing came of a call."""
    if result.status == "denied":
        return Words(zh="你没有批准，什么也没有改。", en="You didn't approve it, so nothing was changed.").said(locale)
    content = result.content
    message = str(content["message"]) if _is_object(content) and "message" in content else str(content)
    return Words(zh=f"没有改动：{message}", en=f"Nothing was changed: {message}").said(locale)


def outcome(results: Sequence[Result], locale: Locale) -> str:
    """One line for each write: what happened, or why it didn't."""
    return "\n".join(_line(result, locale) for result in results)


def _line(result: Result, locale: Locale) -> str:
    content = facts(result)
    if content is None:
        return failure(result, locale)
    return "\n".join(_told(task).said(locale) for task in content["tasks"])


def _told(task: Facts) -> Words:
    name = task["name"]
    if "duration" in task:
        return Words(
            zh=f"已添加“{name}”，待安排，{task['duration']} 节。",
            en=f"Added {name}: {task['duration']} slots, unscheduled.",
        )
    if task["status"] == "removed":
        return Words(zh=f"已删除“{name}”。", en=f"Deleted {name}.")
    if task["status"] == "pending":
        return Words(zh=f"“{name}”现在待安排。", en=f"{name} is unscheduled now.")
    inside = task["embedded_in"]
    host = Words(zh=f"，嵌入“{inside['name']}”", en=f", inside {inside['name']}") if inside else Words.same("")
    spot = places(task["to"])
    return Words(zh=f"“{name}”现在在{spot.zh}{host.zh}。", en=f"{name} is now on {spot.en}{host.en}.")


def places(found: Sequence[Facts], most: int = 4) -> Words:
    """Ranges with their dates; of many, the first few."""
    spans = [span_words(date.fromisoformat(p["date"]), p["slot_start"], p["slot_end"]) for p in found[:most]]
    named = listed(spans) or Words(zh="无", en="nowhere")
    more = len(found) - len(spans)
    return Words(zh=f"{named.zh}等 {len(found)} 处", en=f"{named.en} and {more} more") if more > 0 else named
