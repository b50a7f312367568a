"""Messages between PydanticAI and the log."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    INVALID_JSON_KEY,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agents.errors import NewerHistory
from agents.history import (
    calls_in,
    final_text,
    lenient,
    loaded,
    said_by_person,
    stored,
    told,
    unanswered,
    with_own_ids,
)
from stores.messages import SCHEMA_VERSION, Message
from tests.agents.strict_provider import violations

ZERO, LONE = chr(0), chr(0xD800)
AT = datetime(2026, 12, 7, tzinfo=UTC)


def kept(message: ModelMessage, *, version: int = SCHEMA_VERSION) -> Message:
    """As the log holds it."""
    new = stored(message)
    return Message(
        seq=1, turn_id="t", run_id=new.run_id, kind=new.kind, body=new.body, schema_version=version, created_at=AT
    )


def call(call_id: str, tool: str = "look", arguments: Any = None) -> ToolCallPart:
    return ToolCallPart(tool, arguments if arguments is not None else {}, tool_call_id=call_id)


def answer(call_id: str, content: Any = "ok", tool: str = "look") -> ToolReturnPart:
    return ToolReturnPart(tool, content, tool_call_id=call_id)


CONVERSATION: list[ModelMessage] = [
    ModelRequest(parts=[UserPromptPart("Look at Monday 看周一", timestamp=AT)], timestamp=AT, run_id="r1"),
    ModelResponse(
        parts=[ThinkingPart("hm"), TextPart("Let me look."), call("c1", arguments={"day": 1})],
        timestamp=AT,
        run_id="r1",
    ),
    ModelRequest(parts=[ToolReturnPart("look", {"free": [1, 2]}, tool_call_id="c1", timestamp=AT)], timestamp=AT),
    ModelResponse(parts=[TextPart("Free.")], timestamp=AT),
]


def test_what_is_stored_is_what_is_loaded() -> None:
    assert loaded([kept(message) for message in CONVERSATION]) == CONVERSATION


def test_bodies_are_ascii_whatever_is_said() -> None:
    body = stored(said_by_person("看周一 😀")).body
    assert body.isascii()
    [part] = loaded([kept(said_by_person("看周一 😀"))])[0].parts
    assert isinstance(part, UserPromptPart)
    assert part.content == "看周一 😀"


def test_instructions_are_made_anew_and_not_kept() -> None:
    request = ModelRequest(parts=[UserPromptPart("hi")], instructions="It is Monday.")
    assert "Monday" not in stored(request).body
    assert request.instructions == "It is Monday."


def test_a_newer_releases_message_is_refused_not_guessed_at() -> None:
    rows = [kept(CONVERSATION[0]), kept(CONVERSATION[1], version=SCHEMA_VERSION + 1)]
    with pytest.raises(NewerHistory):
        loaded(rows)


def test_every_call_gets_our_id_by_its_index() -> None:
    """Some providers begin at `call_0` in every response, or give no two calls different ids."""
    parts = [TextPart("x"), call("call_0"), call("call_0"), call("")]
    response = ModelResponse(parts=parts)
    with_own_ids(response, lambda index: f"ours{index}")
    assert [made.tool_call_id for made in response.tool_calls] == ["ours1", "ours2", "ours3"]


def test_a_fresh_response_holds_nothing_that_a_database_or_provider_refuses() -> None:
    response = ModelResponse(parts=[TextPart(f"a{ZERO}{LONE}"), call("c", arguments=f'{{"name": "b{ZERO}')])
    with_own_ids(response, lambda index: f"c{index}")
    assert response.parts[0] == TextPart("a\\u0000\\ud800")
    [made] = response.tool_calls
    assert made.args_as_dict(raise_if_invalid=True) == {INVALID_JSON_KEY: '{"name": "b\\u0000'}
    stored(response).body.encode("utf-8")


@pytest.mark.parametrize(
    ("sent", "kept_as"),
    [
        (None, {}),
        ("", {}),
        (" \n", {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("[1]", {INVALID_JSON_KEY: "[1]"}),
        ('{"a": NaN}', {INVALID_JSON_KEY: '{"a": NaN}'}),
        ('{"a": 1, "a": 2}', {INVALID_JSON_KEY: '{"a": 1, "a": 2}'}),
        ({f"k{ZERO}": [f"v{LONE}"]}, {"k\\u0000": ["v\\ud800"]}),
    ],
)
def test_arguments_become_an_object_without_guessing(sent: Any, kept_as: dict[str, Any]) -> None:
    assert lenient(sent) == kept_as


@given(st.text())
def test_any_arguments_become_an_object_that_can_be_sent_again(sent: str) -> None:
    json.dumps(lenient(sent), allow_nan=False).encode("utf-8")


def test_unanswered_are_the_calls_without_a_return_in_their_order() -> None:
    messages = [
        ModelRequest(parts=[UserPromptPart("hi")]),
        ModelResponse(parts=[call("c1"), call("c2"), call("c3")]),
        ModelRequest(parts=[answer("c2")]),
    ]
    assert [made.tool_call_id for made in unanswered(messages)] == ["c1", "c3"]
    assert [made.tool_call_id for made in calls_in(messages)] == ["c1", "c2", "c3"]


def test_every_call_told_makes_a_history_that_a_strict_provider_accepts() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("hi")]),
        ModelResponse(parts=[call("c1"), call("c2", "move")]),
    ]
    assert violations([*messages, said_by_person("and?")])
    messages.append(ModelRequest(parts=[told(made, "Not executed: cancelled.") for made in unanswered(messages)]))
    assert unanswered(messages) == []
    assert not violations([*messages, said_by_person("and?")])


def test_a_return_that_says_not_executed_is_no_success() -> None:
    assert told(call("c1"), "Not executed.").outcome == "interrupted"


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], None),
        (CONVERSATION, "Free."),
        (CONVERSATION[:2], None),
        (CONVERSATION[:3], None),
        ([ModelResponse(parts=[TextPart("a"), ThinkingPart("hm"), TextPart("b")])], "ab"),
        ([ModelResponse(parts=[ThinkingPart("hm")])], None),
        ([ModelResponse(parts=[TextPart("")])], None),
    ],
)
def test_the_final_text_is_of_a_last_response_that_calls_nothing(
    messages: list[ModelMessage], text: str | None
) -> None:
    assert final_text(messages) == text
