"""What the rehearsal model reads in a history: the person's words, and what has been done about them since."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_core import to_jsonable_python

from toolsets.scenes import Result
from toolsets.words import Locale

SEARCH_KIND = "tool-search"
"""The `tool_kind` of PydanticAI's tool search."""
SEARCH_TOOL = "search_tools"
"""Its name, for histories that carry no kind."""

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")

Status = Literal["ok", "error", "denied"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One response of this turn that called tools, with one result per call, in the calls' order."""

    tools: tuple[str, ...]
    results: tuple[Result, ...]


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Where a turn stands."""

    text: str
    """The person's latest message; empty when there is none."""
    earlier: tuple[str, ...]
    """Their messages before it, oldest first."""
    steps: tuple[Step, ...]
    """What was called since, tool searches left out."""
    searched: frozenset[str]
    """What was asked of tool search since."""
    last_call_id: str
    """Of the whole history; empty when there is none."""

    @property
    def locale(self) -> Locale:
        return language_of(self.text)


def language_of(text: str) -> Locale:
    """Chinese when there is a Chinese character in it, else English."""
    return "zh" if _CJK.search(text) else "en"


def read(messages: Sequence[ModelMessage]) -> Moment:
    """Read a history that ends with a request."""
    prompts = [
        (index, text_of(part.content))
        for index, message in enumerate(messages)
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    start, text = prompts[-1] if prompts else (0, "")
    steps: list[Step] = []
    searched: set[str] = set()
    for calls, returns in _exchanges(messages[start + 1 :]):
        searched.update(query for call in calls if is_search(call) for query in _queries(call))
        played = [call for call in calls if not is_search(call)]
        if played:
            steps.append(
                Step(
                    tools=tuple(call.tool_name for call in played),
                    results=tuple(result_of(returns.get(call.tool_call_id)) for call in played),
                )
            )
    return Moment(
        text=text,
        earlier=tuple(earlier for _, earlier in prompts[:-1]),
        steps=tuple(steps),
        searched=frozenset(searched),
        last_call_id=_last_call_id(messages),
    )


def text_of(content: str | Sequence[UserContent]) -> str:
    """The words of a message; files are left out."""
    if isinstance(content, str):
        return content
    words = (item if isinstance(item, str) else item.content for item in content if isinstance(item, str | TextContent))
    return "\n".join(words)


def is_search(call: ToolCallPart) -> bool:
    return call.tool_kind == SEARCH_KIND or call.tool_name == SEARCH_TOOL


def result_of(returned: ToolReturnPart | None) -> Result:
    """What a scene is told of a return. Text that looks like a JSON object or list is parsed; other text stays."""
    if returned is None:
        return Result(status="error", content="no result")
    content = _parsed(returned.content)
    return Result(status=_status(returned.outcome, content), content=content)


def _status(outcome: str, content: Any) -> Status:
    if outcome == "denied":
        return "denied"
    if outcome != "success":
        return "error"
    told: Mapping[str, object] | str | None = content
    said = told.get("status") if isinstance(told, Mapping) else None
    return "error" if said == "error" else "ok"


def _parsed(content: Any) -> Any:
    if not isinstance(content, str):
        return to_jsonable_python(content, fallback=str)
    if content.lstrip()[:1] not in ("{", "["):
        return content
    try:
        return json.loads(content)
    except ValueError:
        return content


def _exchanges(
    messages: Iterable[ModelMessage],
) -> list[tuple[list[ToolCallPart], dict[str, ToolReturnPart]]]:
    """Each response's calls with the returns that came before the next response: ids may repeat between responses."""
    exchanges: list[tuple[list[ToolCallPart], dict[str, ToolReturnPart]]] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            exchanges.append(([part for part in message.parts if isinstance(part, ToolCallPart)], {}))
        elif exchanges:
            returns = (part for part in message.parts if isinstance(part, ToolReturnPart))
            exchanges[-1][1].update({part.tool_call_id: part for part in returns})
    return exchanges


def _queries(call: ToolCallPart) -> list[str]:
    queries: list[object] | str | None = call.args_as_dict().get("queries")
    return [str(query) for query in queries] if isinstance(queries, list) else []


def _last_call_id(messages: Sequence[ModelMessage]) -> str:
    for message in reversed(messages):
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        if calls:
            return calls[-1].tool_call_id
    return ""
