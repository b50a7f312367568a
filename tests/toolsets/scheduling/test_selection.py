"""Words that ask for the timetable, measured on the labelled lines where they are there."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gateway.selection import select
from toolsets.scheduling import build_pack

(SCHEDULE,) = build_pack().toolsets


def offered(text: str, earlier: Iterable[str] = ()) -> bool:
    return bool(select([SCHEDULE], text, tuple(earlier)).offered)


@pytest.mark.parametrize(
    "text",
    [
        "我这周三下午有没有空",
        "把跑步换到周五",
        "下周的实验课在几号楼",
        "帮我排个复习",
        "明早八点的会别忘了",
        "星期日夜晚有冇堂",
        "could you squeeze in an hour of piano on Sunday",
        "what's my Monday like",
        "cancel the dentist",
        "when is my next lecture",
    ],
)
def test_what_asks_for_the_timetable_is_heard(text: str) -> None:
    assert offered(text)


@pytest.mark.parametrize(
    "text", ["谢谢你", "你好", "hello there", "who wrote Hamlet", "人工智能是什么", "investigate the plot"]
)
def test_small_talk_is_left_alone(text: str) -> None:
    assert not offered(text)


def test_a_follow_up_is_heard_by_what_was_said_before() -> None:
    assert not offered("换成五吧")
    assert offered("换成五吧", ["周四有什么课"])


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def heard(line: dict[str, Any]) -> bool:
    return offered(line["text"], line.get("history", [])[-3:])


def test_the_public_lines_are_heard_and_the_others_mostly_left_alone(cases_folder: Path) -> None:
    labelled = [(line, "schedule" in str(line["toolsets_needed"])) for line in lines(cases_folder / "selection.jsonl")]
    needed = [line for line, needs in labelled if needs]
    idle = [line for line, _ in labelled if line["toolsets_needed"] == []]
    assert sum(map(heard, needed)) / len(needed) >= 0.99
    assert sum(map(heard, idle)) / len(idle) <= 0.3


def test_the_assistants_lines_are_heard(cases_folder: Path) -> None:
    own = [x for x in lines(cases_folder / "selection_assistants.jsonl") if x["assistant"] == "scheduling"]
    needed = [line for line in own if "schedule" in str(line["needs"])]
    assert sum(map(heard, needed)) / len(needed) >= 0.99
