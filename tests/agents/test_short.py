"""The closed lists: what code understands by itself, and nothing beyond."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.short import CONFIRMATIONS, REFUSALS, Short, command_in, name_in, short_answer

YES, NO = Short(yes=True), Short(yes=False)


@pytest.mark.parametrize(
    "text",
    [
        "是",
        "好",
        "好的",
        "可以",
        "确认",
        "行",
        "ok",
        "yes",
        "y",
        "confirm",
        "approve",
        "OK",
        "Yes!",
        " 好的。 ",
        "ＯＫ",
    ],
)
def test_short_confirmations(text: str) -> None:
    assert short_answer(text) == YES


@pytest.mark.parametrize(
    "text", ["不", "不用", "不要", "取消", "no", "n", "cancel", "stop", "No.", "不用了！", "Don’t"]
)
def test_short_refusals(text: str) -> None:
    assert short_answer(text) == NO


@pytest.mark.parametrize(
    "text",
    [
        "yes but on Friday",
        "好的，不过换到周五",
        "好不好",
        "可以吗？",
        "行不行",
        "不知道",
        "not yet",
        "no problem",
        "ok?",
        "确认一下时间",
        "yes no",
        "y n",
        "A1",
        "approve it all",
        "批准 B1",
        "",
        "  ",
        "。。。",
        "yesterday",
        "👍",
    ],
)
def test_everything_else_is_no_short_answer(text: str) -> None:
    assert short_answer(text) is None


@given(st.sampled_from(sorted(CONFIRMATIONS)), st.sampled_from(sorted(REFUSALS)), st.text("，,。 和"))
def test_yes_and_no_together_are_neither(yes: str, no: str, between: str) -> None:
    assert not CONFIRMATIONS & REFUSALS
    assert short_answer(f"{yes} {between} {no}") is None


@pytest.mark.parametrize(
    ("text", "yes", "names"),
    [
        ("approve A2", True, ("A2",)),
        ("a2 yes", True, ("A2",)),
        ("批准A1", True, ("A1",)),
        ("批准 A1、A2", True, ("A1", "A2")),
        ("A12 ok", True, ("A12",)),
        ("no A1", False, ("A1",)),
        ("不要a3。", False, ("A3",)),
        ("yes undo", True, ("UNDO",)),
        ("确认 撤销", True, ("UNDO",)),
    ],
)
def test_names_beside_a_vote(text: str, yes: bool, names: tuple[str, ...]) -> None:
    assert short_answer(text) == Short(yes=yes, names=names)


@pytest.mark.parametrize("text", ["yes A", "yes A1234567", "yes AA1", "approve B2", "approve A1 tomorrow", "yes A1?"])
def test_what_only_looks_like_a_name_is_none(text: str) -> None:
    assert short_answer(text) is None


@pytest.mark.parametrize(
    ("text", "name"), [("A1", "A1"), (" a12。", "A12"), ("A1 A2", None), ("A1 yes", None), ("B1", None)]
)
def test_a_name_alone(text: str, name: str | None) -> None:
    assert name_in(text) == name


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/undo", "/undo"),
        ("撤销", "/undo"),
        ("撤销。", "/undo"),
        ("撤回", "/undo"),
        ("Undo", "/undo"),
        ("/UNDO", "/undo"),
        ("/help", "/help"),
        ("  /cancel now", "/cancel"),
        ("/nothing like it", "/nothing"),
        ("undo the last move", None),
        ("帮我撤销会议", None),
        ("please /undo", None),
        ("1/2", None),
        ("", None),
        ("yes", None),
    ],
)
def test_commands(text: str, command: str | None) -> None:
    assert command_in(text) == command


@given(st.text())
def test_no_text_breaks_the_lists(text: str) -> None:
    short_answer(text)
    command_in(f"/{text}")
    name_in(text)
