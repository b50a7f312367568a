"""Selection: which toolsets a turn is offered. Inclusive, pure and monotone: more to go by never removes one."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolsets.toolset import Keywords, Toolset

EARLIER_MESSAGES = 3
"""How many of the person's earlier messages count."""
STICKY_TURNS = 2
"""The toolsets of that many turns stay offered."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What a turn is offered, in the assistant's order, and why."""

    offered: tuple[str, ...]
    deferred: tuple[str, ...]
    """Toolsets of the same assistant that tool search can still find."""
    reasons: Mapping[str, Sequence[str]]
    """Per offered toolset: `always`, `message: <keyword>`, `earlier: <keyword>`, `sticky`, `context: <key>`."""


def select(
    assistant_toolsets: Sequence[Toolset],
    text: str,
    earlier: Sequence[str] = (),
    sticky: Sequence[str] = (),
    context: Mapping[str, Any] | None = None,
) -> Selection:
    """Offer every toolset that might be needed.

    `earlier` are the person's latest messages before this one (the caller takes `EARLIER_MESSAGES`), `sticky` the
    names of the toolsets offered in the last `STICKY_TURNS` turns, `context` what is known of the conversation
    (`has_artifacts`, `class_id`, …): a key counts when its value is truthy.
    """
    message, before = normalized(text), [normalized(said) for said in earlier]
    known = {key for key, value in (context or {}).items() if value}
    reasons = {
        toolset.name: found
        for toolset in assistant_toolsets
        if (found := list(_reasons(toolset, message, before, sticky, known)))
    }
    names = [toolset.name for toolset in assistant_toolsets]
    return Selection(
        offered=tuple(name for name in names if name in reasons),
        deferred=tuple(name for name in names if name not in reasons),
        reasons=reasons,
    )


def normalized(text: str) -> str:
    """Text as it is matched: NFKC, case folded, plain apostrophes, single spaces."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.replace("\u2019", "'").split())


def _reasons(
    toolset: Toolset, message: str, before: Sequence[str], sticky: Sequence[str], known: set[str]
) -> Iterator[str]:
    if toolset.always:
        yield "always"
    pattern = _pattern(toolset.keywords)
    if found := pattern.search(message):
        yield f"message: {found[0]}"
    for said in before:
        if found := pattern.search(said):
            yield f"earlier: {found[0]}"
            break
    if toolset.name in sticky:
        yield "sticky"
    yield from (f"context: {key}" for key in toolset.context if key in known)


@lru_cache(maxsize=1024)
def _pattern(keywords: Keywords) -> re.Pattern[str]:
    """English words from a word's start, Chinese ones anywhere; nothing at all when there are none."""
    chinese = [re.escape(normalized(word)) for word in keywords.zh if word.strip()]
    english = [rf"(?<![a-z0-9]){re.escape(normalized(word))}" for word in keywords.en if word.strip()]
    return re.compile("|".join(chinese + english) or r"(?!)")
