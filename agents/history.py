"""Messages between PydanticAI and the log: every call under an id of ours, every call answered once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai.messages import (
    INVALID_JSON_KEY,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agents.errors import NewerHistory
from stores.messages import SCHEMA_VERSION, Message, NewMessage
from toolsets.arguments import repaired
from toolsets.json_text import NotAnObject, parse_object
from toolsets.text import storable

ONE = TypeAdapter[ModelMessage](ModelMessage)


def stored(message: ModelMessage) -> NewMessage:
    """A message for the log. Instructions are made anew for each run and not kept."""
    if isinstance(message, ModelRequest):
        message = replace(message, instructions=None)
    body = ONE.dump_json(message, exclude_none=True, ensure_ascii=True).decode()
    return NewMessage(kind=message.kind, body=body, run_id=message.run_id)


def loaded(messages: Sequence[Message]) -> list[ModelMessage]:
    """Messages of the log. Raises NewerHistory when a newer release wrote one of them."""
    if newer := [one for one in messages if one.schema_version > SCHEMA_VERSION]:
        raise NewerHistory(newer[0].schema_version)
    return [ONE.validate_json(one.body) for one in messages]


def said_by_person(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(content=text)])


def with_own_ids(response: ModelResponse, call_ids: Callable[[int], str]) -> None:
    """Give every call of a fresh response its server-made id and arguments that a provider accepts in a history.

    `call_ids` maps a part's index to its id: the stream has shown the same ids. Providers repeat theirs.
    """
    response.parts = [
        replace(part, tool_call_id=call_ids(index), args=lenient(part.args))
        if isinstance(part, ToolCallPart)
        else replace(part, content=storable(part.content))
        if isinstance(part, TextPart)
        else part
        for index, part in enumerate(response.parts)
    ]


def lenient(arguments: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Arguments as an object; what can't be read without guessing is kept whole under PydanticAI's own key."""
    if arguments is None:
        return {}
    if not isinstance(arguments, str):
        return repaired(dict(arguments), {})
    if not arguments.strip():
        return {}
    try:
        return repaired(parse_object(arguments), {})
    except NotAnObject:
        return {INVALID_JSON_KEY: storable(arguments)}


def calls_in(messages: Sequence[ModelMessage]) -> list[ToolCallPart]:
    return [part for one in messages if isinstance(one, ModelResponse) for part in one.tool_calls]


def unanswered(messages: Sequence[ModelMessage]) -> list[ToolCallPart]:
    """Calls without a return, in the order they were made."""
    returned = {
        part.tool_call_id
        for one in messages
        if isinstance(one, ModelRequest)
        for part in one.parts
        if isinstance(part, ToolReturnPart)
    }
    return [call for call in calls_in(messages) if call.tool_call_id not in returned]


def told(call: ToolCallPart, content: str) -> ToolReturnPart:
    """The return of a call that was not carried out: says so and why."""
    return ToolReturnPart(
        tool_name=call.tool_name, content=content, tool_call_id=call.tool_call_id, outcome="interrupted"
    )


def final_text(messages: Sequence[ModelMessage]) -> str | None:
    """The text of a last response that calls nothing."""
    last = messages[-1] if messages else None
    if isinstance(last, ModelResponse) and not last.tool_calls:
        return "".join(part.content for part in last.parts if isinstance(part, TextPart)) or None
    return None
