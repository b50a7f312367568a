"""Chunks: text in pieces, and a list of chunks read as the message that a page shows."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.chunks import ENDINGS, MAXIMUM, MINIMUM, UiMessage, data, encoded, pieces, spoken, status


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", []),
        ("好的。", ["好的。"]),
        ("Exactly twenty-four char", ["Exactly twenty-four char"]),
        (
            "周三下午有空，适合复习。我现在就把它放进你的课表里去吗？",
            ["周三下午有空，适合复习。", "我现在就把它放进你的课表里去吗？"],
        ),
        ("no ending anywhere in these many words", ["no ending anywhere in th", "ese many words"]),
        ("嗯，嗯，嗯，嗯，嗯，嗯，嗯，嗯，嗯，嗯，嗯，嗯，嗯", ["嗯，嗯，嗯，嗯，"] * 3 + ["嗯"]),
    ],
)
def test_text_is_cut_after_punctuation_or_at_24(text: str, cut: list[str]) -> None:
    assert pieces(text) == cut


def test_labelled_texts_are_cut_as_labelled(cases_folder: Path) -> None:
    lines = [json.loads(line) for line in (cases_folder / "runtime.jsonl").read_text("utf-8").splitlines()]
    cases = [case for case in lines if case["kind"] == "pseudo_stream"]
    assert cases
    for case in cases:
        assert [piece.strip() for piece in pieces(case["input"]["text"])] == case["expected"]["chunks"], case["id"]


@given(st.text(st.sampled_from("ab 好的 \n" + ENDINGS), max_size=200) | st.text(max_size=200))
def test_pieces_joined_are_the_text_and_none_is_too_long_or_too_short(text: str) -> None:
    found = pieces(text)
    assert "".join(found) == text
    assert all(0 < len(piece) <= MAXIMUM for piece in found)
    assert all(len(piece) >= MINIMUM for piece in found[:-1])
    assert all(piece[-1] in ENDINGS or len(piece) == MAXIMUM for piece in found[:-1])


@given(st.text(min_size=1, max_size=100))
def test_a_spoken_text_is_one_part_that_is_done(text: str) -> None:
    message = UiMessage.of(spoken(text, "p1"))
    assert message.parts == [{"type": "text", "text": text, "state": "done"}]
    assert message.text == text


def test_a_chunk_is_one_line_of_json_with_its_letters_as_they_are() -> None:
    assert encoded(data("title", {"title": "看\n课表"}, transient=True)) == (
        '{"type":"data-title","data":{"title":"看\\n课表"},"transient":true}'
    )


def test_steps_texts_and_reasoning_stand_in_their_order() -> None:
    chunks: list[dict[str, Any]] = [
        {"type": "start", "messageId": "m"},
        {"type": "start-step"},
        {"type": "reasoning-start", "id": "r"},
        {"type": "text-start", "id": "t"},
        {"type": "reasoning-delta", "id": "r", "delta": "hm"},
        {"type": "text-delta", "id": "t", "delta": "Good "},
        {"type": "reasoning-end", "id": "r"},
        {"type": "text-delta", "id": "t", "delta": "day"},
        {"type": "finish-step"},
        {"type": "finish"},
    ]
    assert UiMessage.of(chunks).parts == [
        {"type": "step-start"},
        {"type": "reasoning", "text": "hm", "state": "done"},
        {"type": "text", "text": "Good day", "state": "streaming"},
    ]


def test_the_text_of_a_message_is_what_was_said_without_reasoning() -> None:
    reasoning = [{"type": "reasoning-start", "id": "r"}, {"type": "reasoning-delta", "id": "r", "delta": "hm"}]
    message = UiMessage.of([*spoken("One.", "1"), *reasoning, *spoken("Two.", "2"), *spoken("", "3")])
    assert message.text == "One.\n\nTwo."


BEGUN = [
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "move"},
    {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": '{"day":'},
]
CALLED = [*BEGUN, {"type": "tool-input-available", "toolCallId": "c1", "toolName": "move", "input": {"day": 1}}]
ASKED = [*CALLED, {"type": "tool-approval-request", "approvalId": "ap1", "toolCallId": "c1"}]


APPROVED = {"id": "ap1", "approved": True}


def card(approval_status: str) -> dict[str, Any]:
    return data("approval", {"tool_call_id": "c1", "status": approval_status}, "ap1")


def call_after(*chunks: dict[str, Any]) -> dict[str, Any]:
    [part] = [part for part in UiMessage.of(chunks).parts if part["type"] == "tool-move"]
    return part


def test_a_call_goes_from_streaming_to_its_output() -> None:
    begun = {"type": "tool-move", "toolCallId": "c1", "state": "input-streaming"}
    assert call_after(*BEGUN) == begun
    called = {**begun, "state": "input-available", "input": {"day": 1}}
    assert call_after(*CALLED) == called
    output = {"type": "tool-output-available", "toolCallId": "c1", "output": {"status": "ok"}}
    assert call_after(*CALLED, output) == {**called, "state": "output-available", "output": {"status": "ok"}}


def test_a_call_whose_arguments_are_refused_shows_them_and_why() -> None:
    refused = {"type": "tool-input-error", "toolCallId": "c1", "toolName": "move", "input": "{", "errorText": "broken"}
    part = call_after(*BEGUN, refused)
    assert (part["state"], part["input"], part["errorText"]) == ("output-error", "{", "broken")


def test_a_call_that_waits_carries_its_approval() -> None:
    part = call_after(*ASKED)
    assert (part["state"], part["approval"]) == ("approval-requested", {"id": "ap1"})


@pytest.mark.parametrize(
    ("approval_status", "ending", "state", "approval"),
    [
        ("executed", {"type": "tool-output-available", "output": {}}, "output-available", APPROVED),
        ("stale", {"type": "tool-output-error", "errorText": "moved"}, "output-error", APPROVED),
        ("denied", {"type": "tool-output-denied"}, "output-denied", {"id": "ap1", "approved": False}),
        ("superseded", {"type": "tool-output-error", "errorText": "superseded"}, "output-error", None),
    ],
)
def test_an_output_keeps_the_vote_that_it_came_by(
    approval_status: str, ending: dict[str, Any], state: str, approval: dict[str, Any] | None
) -> None:
    part = call_after(*ASKED, card("pending"), card(approval_status), {**ending, "toolCallId": "c1"})
    assert (part["state"], part.get("approval")) == (state, approval)


def test_data_with_an_id_is_replaced_in_its_place_and_without_one_added() -> None:
    message = UiMessage.of([card("pending"), *spoken("x", "t"), card("executed"), data("note", 1), data("note", 2)])
    assert [part["type"] for part in message.parts] == ["data-approval", "text", "data-note", "data-note"]
    assert message.parts[0]["data"]["status"] == "executed"


def test_the_same_id_under_another_type_is_another_part() -> None:
    assert len(UiMessage.of([data("turn", 1, "x"), data("usage", 2, "x")]).parts) == 2


def test_what_is_transient_leaves_nothing() -> None:
    assert UiMessage.of([status("waiting", "Waiting for you"), data("title", {}, transient=True)]).parts == []


def test_a_reset_takes_back_the_parts_of_the_model_that_failed() -> None:
    reset = data("reset", {"part_ids": ["t", "c1"]})
    message = UiMessage.of([*spoken("Half an ans", "t"), *BEGUN, reset, *spoken("An answer.", "t2")])
    assert [part["type"] for part in message.parts] == ["data-reset", "text"]
    assert message.text == "An answer."
