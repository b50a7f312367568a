"""What is read of a body: one message, its text, or the votes in it."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from agents.requests import Decision
from gateway.dates import Days
from gateway.errors import TooLarge, Unprocessable
from gateway.locale import preferred_locale
from gateway.schemas import AnswerBody, DecisionBody, DecisionsBody, Message, TurnBody
from gateway.votes import MESSAGE_CHARACTERS, text_of, voted_on, votes_in


def said(text: str, message_id: str = "m1", role: str = "user") -> dict[str, Any]:
    return {"id": message_id, "role": role, "parts": [{"type": "text", "text": text}]}


def vote(approval_id: str, approved: object, **more: object) -> dict[str, Any]:
    approval = {"id": approval_id, "approved": approved, **more}
    return {"type": "tool-place", "state": "approval-responded", "toolCallId": "c1", "input": {}, "approval": approval}


def voting(*parts: dict[str, Any], **body: object) -> TurnBody:
    message = {"id": "m2", "role": "assistant", "parts": [{"type": "text", "text": "ignored"}, *parts]}
    return TurnBody.model_validate({"id": "c1", "messages": [said("hi"), message], **body})


def picked(**body: object) -> Message:
    message = TurnBody.model_validate(body).message
    assert message is not None
    return message


def test_of_several_messages_the_named_one_is_read_else_the_last() -> None:
    messages = [said("first", "m1"), said("second", "m2"), said("third", "m3")]
    assert text_of(picked(messages=messages)) == "third"
    assert text_of(picked(messages=messages, messageId="m2")) == "second"
    assert text_of(picked(messages=messages, messageId="gone")) == "third"
    assert text_of(picked(messages=messages, messageId=None)) == "third"
    assert text_of(picked(messages=messages, message=said("only"))) == "only"


def test_messages_that_are_not_read_may_hold_anything() -> None:
    assert text_of(picked(messages=[{"role": "system", "parts": 5}, said("last")])) == "last"


def test_parts_of_other_kinds_are_read_past() -> None:
    message = said("one")
    message["parts"] += [{"type": "file", "url": "x"}, {"type": "step-start"}, {"type": "text", "text": "two"}]
    assert text_of(Message.model_validate({**message, "metadata": {"any": "thing"}})) == "one\ntwo"


@pytest.mark.parametrize("parts", [[], [{"type": "text", "text": " \n"}], [{"type": "text"}], [{"type": "file"}]])
def test_a_message_without_words_is_refused(parts: list[dict[str, Any]]) -> None:
    with pytest.raises(Unprocessable):
        text_of(Message.model_validate({"role": "user", "parts": parts}))


def test_a_message_may_be_long_but_not_endless() -> None:
    assert text_of(picked(message=said("课" * MESSAGE_CHARACTERS)))
    with pytest.raises(TooLarge):
        text_of(picked(message=said("课" * (MESSAGE_CHARACTERS + 1))))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": [5]},
        {"messages": "hi"},
        {"message": said("x", role="system")},
        {"message": said("x", role="tool")},
        {"message": said("x"), "id": "a/b"},
        {"message": said("x"), "id": ""},
        {"message": said("x"), "id": "x" * 201},
        {"message": said("x"), "id": "a\nb"},
        {"message": said("x"), "id": 5},
        {"message": said("x", message_id="")},
        {"message": said("x"), "user_id": "bob"},
        {"message": said("x"), "trigger": "resume"},
        {"message": said("x"), "onBusy": "queue"},
        {"message": said("x"), "context": []},
        {"message": {"id": "m", "role": "user", "content": "no parts"}},
    ],
)
def test_a_body_that_is_not_ours_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TurnBody.model_validate(body)


def test_only_votes_on_pending_approvals_are_taken() -> None:
    body = voting(vote("a1", True), vote("forged", True), vote("a2", False, reason="not now"))
    assert votes_in(body, {"a1": 1, "a2": 3}) == [
        Decision(approval_id="a1", decision="approve", expected_version=1),
        Decision(approval_id="a2", decision="deny", expected_version=3, reason="not now"),
    ]
    assert voted_on(body.message) == ["a1", "forged", "a2"]


@pytest.mark.parametrize(
    "part",
    [
        vote("a1", "true"),
        vote("a1", 1),
        vote("a1", None),
        {**vote("a1", True), "state": "approval-requested"},
        {**vote("a1", True), "approval": "a1"},
        {**vote("a1", True), "approval": {"approved": True}},
        {"type": "tool-place", "state": "output-available", "output": {"approved": True}},
    ],
)
def test_what_is_not_exactly_a_vote_is_none(part: dict[str, Any]) -> None:
    assert votes_in(voting(part), {"a1": 1}) == []


def test_edits_and_skipped_rows_come_beside_the_vote() -> None:
    body = voting(vote("a1", True), editedInput={"a1": {"day": 3}, "a2": {}}, skip={"a1": ["r2"]})
    assert votes_in(body, {"a1": 1}) == [
        Decision(
            approval_id="a1",
            decision="approve",
            expected_version=1,
            arguments={"day": 3},
            execute=True,
            skip=("r2",),
        )
    ]
    denied = voting(vote("a1", False), editedInput={"a1": {"day": 3}}, skip={"a1": ["r2"]})
    assert votes_in(denied, {"a1": 1}) == [Decision(approval_id="a1", decision="deny", expected_version=1)]


def test_the_same_vote_twice_is_one_and_two_votes_are_none() -> None:
    assert len(votes_in(voting(vote("a1", True), vote("a1", True)), {"a1": 1})) == 1
    with pytest.raises(Unprocessable):
        votes_in(voting(vote("a1", True), vote("a1", False)), {"a1": 1})


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "approve"},
        {"decision": "yes", "expected_version": 1},
        {"decision": "approve", "expected_version": 0},
        {"decision": "approve", "expected_version": "1"},
        {"decision": "approve", "expected_version": 1, "resolved_by": "bob"},
        {"decision": "approve", "expected_version": 1, "args": {}},
        {"decision": "approve", "expected_version": 1, "execute": "true"},
        {"decision": "deny", "expected_version": 1, "arguments": {}},
        {"decision": "deny", "expected_version": 1, "skip": ["r1"]},
    ],
)
def test_a_decision_that_says_something_else_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DecisionBody.model_validate(body)


def test_a_batch_decides_each_approval_once() -> None:
    one = {"approval_id": "a1", "decision": "approve", "expected_version": 1}
    assert len(DecisionsBody.model_validate({"decisions": [one, {**one, "approval_id": "a2"}]}).decisions) == 2
    for decisions in ([], [one, one], [one, {**one, "decision": "deny"}]):
        with pytest.raises(ValidationError):
            DecisionsBody.model_validate({"decisions": decisions})


def test_an_answer_is_exactly_one_thing() -> None:
    assert AnswerBody.model_validate({"option": "Tuesday"}).words == "Tuesday"
    for body in ({}, {"text": " "}, {"text": "a", "option": "b"}, {"text": "a", "secret": "b"}, {"text": None}):
        with pytest.raises(ValidationError):
            AnswerBody.model_validate(body)


def test_missing_days_are_counted_from_the_given_ones() -> None:
    today = date(2026, 12, 9)
    assert Days(first=None, last=None).around(today, before=0, after=6) == (today, date(2026, 12, 15))
    assert Days(first=date(2026, 1, 1), last=None).around(today, before=0, after=6)[1] == date(2026, 1, 7)
    assert Days(first=None, last=date(2026, 1, 7)).around(today, before=0, after=6)[0] == date(2026, 1, 1)
    for first, last in ((date(2026, 1, 2), date(2026, 1, 1)), (date(2025, 1, 1), date(2026, 1, 2))):
        with pytest.raises(Unprocessable):
            Days(first=first, last=last).around(today, before=0, after=6)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        ("fr, de;q=0.5", None),
        ("zh", "zh"),
        ("zh-Hans-CN", "zh"),
        ("en;q=0.5, zh;q=0.8", "zh"),
        ("fr, en-GB;q=0.7", "en"),
        ("zh;q=0, en;q=0.1", "en"),
        ("en, zh", "en"),
        ("zh;q=x, en;q=0.1", "en"),
        ("*", None),
        (";;;,=", None),
    ],
)
def test_the_better_liked_language_is_taken(header: str | None, expected: str | None) -> None:
    assert preferred_locale(header) == expected
