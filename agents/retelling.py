"""A turn's stream told again from what is stored: for readers of a lost log, and for the conversation's messages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import (
    INVALID_JSON_KEY,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_core import to_jsonable_python

from agents.chunks import data, spoken
from agents.wire import approval_data, locale_of, question_data, turn_data, usage_data
from stores.approvals import Approval, Question
from stores.turns import Turn
from toolsets.registry import Registry


def retold(
    turn: Turn,
    messages: Sequence[ModelMessage],
    approvals: Sequence[Approval],
    questions: Sequence[Question],
    registry: Registry,
) -> list[dict[str, Any]]:
    """The chunks of the turn so far, from `start` on, without `finish`."""
    return [
        {"type": "start", "messageId": turn.assistant_message_id},
        data("turn", turn_data(turn), turn.id),
        *_Telling(turn, approvals, questions, registry).of(messages),
        *([data("usage", usage_data(turn.usage), turn.id)] if not turn.open else []),
    ]


class _Telling:
    def __init__(
        self, turn: Turn, approvals: Sequence[Approval], questions: Sequence[Question], registry: Registry
    ) -> None:
        self._turn = turn
        self._approvals: Mapping[str, Approval] = {one.tool_call_id: one for one in approvals}
        self._questions: Mapping[str, Question] = {one.tool_call_id: one for one in questions}
        self._registry = registry
        self._in_step = False
        self._texts = 0

    def of(self, messages: Sequence[ModelMessage]) -> Iterator[dict[str, Any]]:
        for message in messages:
            match message:
                case ModelResponse():
                    yield from self._step(message)
                case ModelRequest():
                    for part in message.parts:
                        if isinstance(part, ToolReturnPart):
                            yield from returned(part, asked=part.tool_call_id in self._approvals)
        if self._turn.reply:
            yield from self._begin_step()
            yield from spoken(self._turn.reply, self._text_id())
        if self._in_step:
            yield {"type": "finish-step"}

    def _begin_step(self) -> Iterator[dict[str, Any]]:
        if self._in_step:
            yield {"type": "finish-step"}
        self._in_step = True
        yield {"type": "start-step"}

    def _step(self, response: ModelResponse) -> Iterator[dict[str, Any]]:
        yield from self._begin_step()
        for part in response.parts:
            match part:
                case TextPart() if part.content:
                    yield from spoken(part.content, self._text_id())
                case ThinkingPart() if part.content:
                    part_id = self._text_id()
                    yield {"type": "reasoning-start", "id": part_id}
                    yield {"type": "reasoning-delta", "id": part_id, "delta": part.content}
                    yield {"type": "reasoning-end", "id": part_id}
                case ToolCallPart():
                    yield from self._call(part)
                case _:
                    pass
        for call in response.tool_calls:
            yield from self._asked(call)

    def _call(self, call: ToolCallPart) -> Iterator[dict[str, Any]]:
        named = {"toolCallId": call.tool_call_id, "toolName": call.tool_name}
        yield {"type": "tool-input-start", **named}
        approval = self._approvals.get(call.tool_call_id)
        arguments = approval.arguments if approval else call.args_as_dict()
        if INVALID_JSON_KEY not in arguments:
            yield {"type": "tool-input-available", **named, "input": arguments}

    def _asked(self, call: ToolCallPart) -> Iterator[dict[str, Any]]:
        if approval := self._approvals.get(call.tool_call_id):
            shown = approval_data(approval, self._registry, locale_of(self._turn))
            yield data("approval", shown, approval.id)
            yield {"type": "tool-approval-request", "approvalId": approval.id, "toolCallId": call.tool_call_id}
        if question := self._questions.get(call.tool_call_id):
            yield data("question", question_data(question), question.id)

    def _text_id(self) -> str:
        self._texts += 1
        return f"{self._turn.id}-{self._texts}"


def returned(part: ToolReturnPart, *, asked: bool) -> Iterator[dict[str, Any]]:
    """The output chunk of a call's return. Only what the person was `asked` can be denied; else the call failed."""
    if part.outcome == "denied" and asked:
        yield {"type": "tool-output-denied", "toolCallId": part.tool_call_id}
    elif part.outcome in ("denied", "failed", "retried", "interrupted"):
        yield {"type": "tool-output-error", "toolCallId": part.tool_call_id, "errorText": error_text(part)}
    else:
        output = to_jsonable_python(part.content)
        yield {"type": "tool-output-available", "toolCallId": part.tool_call_id, "output": output}


def error_text(part: ToolReturnPart) -> str:
    """What a page shows of a failed call: the sentence, not the data around it."""
    match part.content:
        case {"message": str() as message}:
            return message
        case str() as message:
            return _sentence_in(message)
        case [{"msg": str()}, *_] as problems:
            return "; ".join(_problem_in(one) for one in problems)
        case _:
            return part.model_response_str(wrap_if_error=False)


def _problem_in(found: object) -> str:
    match found:
        case {"msg": str() as message}:
            return message
        case _:
            return ""


def _sentence_in(text: str) -> str:
    """The `message` of an error that was told as JSON text, else the text."""
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except ValueError:
            return text
        match found:
            case {"message": str() as message}:
                return message
            case _:
                pass
    return text
