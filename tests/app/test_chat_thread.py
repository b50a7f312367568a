"""Chunks add up to one assistant message."""

from functools import reduce

from app.chat.parts import ApprovalPart, Message, TextPart, ToolPart
from app.chat.thread import apply, from_ui
from app.chat.wire import UiMessage
from tests.app.chat_peer import Chunk, call, card, output, text


def told(*chunks: Chunk, onto: Message | None = None) -> Message:
    return reduce(apply, chunks, onto or Message())


def texts(message: Message) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in message.parts if isinstance(part, TextPart)]


def test_text_and_reasoning_grow_apart() -> None:
    message = told(
        {"type": "start", "messageId": "m1"},
        {"type": "reasoning-start", "id": "r"},
        {"type": "reasoning-delta", "id": "r", "delta": "hm"},
        *text("Good evening"),
        {"type": "finish"},
    )
    assert texts(message) == [("reasoning", "hm"), ("text", "Good evening")]
    assert message.message_id == "m1"
    assert message.finished


def test_an_id_used_again_begins_another_part() -> None:
    assert texts(told(*text("one"), *text("two"))) == [("text", "one"), ("text", "two")]


def test_a_call_goes_from_called_to_its_end() -> None:
    message = told(call("c1"), call("c2"), call("c3"), output("c1"), {"type": "tool-output-denied", "toolCallId": "c2"})
    message = told({"type": "tool-output-error", "toolCallId": "c3", "errorText": "slot taken"}, onto=message)
    assert [(p.state, p.error) for p in message.parts if isinstance(p, ToolPart)] == [
        ("done", ""),
        ("denied", ""),
        ("failed", "slot taken"),
    ]


def test_an_approval_is_awaited_until_its_status_or_its_call_says_that_it_is_settled() -> None:
    asked = told(call(), card(), {"type": "tool-approval-request", "approvalId": "ap-1", "toolCallId": "call-1"})
    assert asked.awaits_decision
    assert not told(card(status="executed"), output(), onto=asked).awaits_decision
    assert not told(output(), onto=asked).awaits_decision


def test_a_new_version_takes_the_place_of_the_old_one() -> None:
    message = told(card(), card(version=2, summary="Move maths to Friday"))
    assert [(a.version, a.summary) for a in message.approvals] == [(2, "Move maths to Friday")]


def test_a_null_is_as_good_as_nothing() -> None:
    assert told(card(title=None, live=None, outcome=None, expires_at=None, rows=None)).approvals[0].title == ""


def test_a_question_waits_until_the_model_goes_on() -> None:
    asked = told({"type": "data-question", "data": {"question_id": "q1", "question": "Which?", "options": ["A"]}})
    assert asked.question is not None
    assert told({"type": "start-step"}, onto=asked).question is None


def test_a_reset_takes_parts_back() -> None:
    message = told(*text("wrong", "t1"), call("c1"), {"type": "data-reset", "data": {"part_ids": ["t1", "c1"]}})
    assert message.parts == ()
    assert message.resets == 1


def test_what_is_said_beside_the_parts_is_kept() -> None:
    message = told(
        {"type": "data-turn", "data": {"turn_id": "turn-1"}},
        {"type": "data-title", "data": {"title": "Timetable"}},
        {"type": "data-status", "data": {"code": "tool", "text": "Looking"}},
        {"type": "error", "errorText": "The model is away."},
        {"type": "data-budget", "data": {"limit": "steps", "partial": True}},
        {"type": "abort"},
    )
    assert (message.turn_id, message.title, message.status) == ("turn-1", "Timetable", "Looking")
    assert message.errors == ("The model is away.",)
    assert message.partial
    assert message.aborted


def test_chunks_of_unknown_type_or_shape_change_nothing() -> None:
    strange: list[Chunk] = [
        {},
        {"type": 3},
        {"type": "data-new-thing", "data": {}},
        {"type": "data-approval", "data": {"approval_id": 1}},
        {"type": "data-question"},
        {"type": "data-reset", "data": None},
        {"type": "text-delta", "id": "nobody", "delta": "x"},
        {"type": "tool-output-available", "toolCallId": "nobody", "output": 1},
    ]
    assert told(*strange) == Message()


def test_a_stored_message_reads_as_if_it_had_been_streamed() -> None:
    stored = UiMessage(
        id="m1",
        role="assistant",
        parts=[
            {"type": "step-start"},
            {"type": "text", "text": "Moved."},
            {"type": "tool-move_block", "toolCallId": "call-1", "state": "output-available", "output": {}},
            {
                "type": "dynamic-tool",
                "toolName": "look",
                "toolCallId": "c2",
                "state": "output-error",
                "errorText": "no",
            },
            card(status="executed"),
        ],
    )
    message = from_ui(stored)
    assert texts(message) == [("text", "Moved.")]
    assert [(p.name, p.state) for p in message.parts if isinstance(p, ToolPart)] == [
        ("move_block", "done"),
        ("look", "failed"),
    ]
    assert any(isinstance(part, ApprovalPart) for part in message.parts)
