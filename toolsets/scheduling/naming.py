"""Which tasks a message names, whatever the language of their names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolsets.scheduling.demo_plan import NAMES

Facts = Mapping[str, Any]


def named_tasks(text: str, tasks: Sequence[Facts]) -> list[Facts]:
    """The tasks that the text names, in the order in which it names them; longer names win."""
    text = _plain(text)
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, Facts]] = []
    for name, task in sorted(_named(tasks), key=lambda pair: -len(pair[0])):
        start = text.find(name)
        while start >= 0 and any(start < end and begin < start + len(name) for begin, end in taken):
            start = text.find(name, start + 1)
        if start >= 0 and all(task["task_id"] != other["task_id"] for _, other in found):
            taken.append((start, start + len(name)))
            found.append((start, task))
    return [task for _, task in sorted(found, key=lambda pair: pair[0])] or _loosely(text, tasks)


def _named(tasks: Iterable[Facts]) -> list[tuple[str, Facts]]:
    return [(_plain(name), task) for task in tasks for name in _names(task["name"])]


def _names(name: str) -> set[str]:
    """A task's name, and what the demo calls it in the other language."""
    return {name} | {said for words in NAMES if name in (words.zh, words.en) for said in (words.zh, words.en)}


def _loosely(text: str, tasks: Sequence[Facts]) -> list[Facts]:
    """Tasks all of whose words (Chinese: characters) occur in the text."""
    words = set(re.findall(r"[a-z0-9]+", text)) | set(re.findall(r"[\u3400-\u9fff]", text))
    return [
        task
        for task in tasks
        if any(set(re.findall(r"[a-z0-9]+|[\u3400-\u9fff]", _plain(name))) <= words for name in _names(task["name"]))
    ]


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’s", "").replace("'s", "").split())
