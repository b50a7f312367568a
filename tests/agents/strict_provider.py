"""A scripted model for tests. It refuses what a strict provider would refuse, and can fail like a real one.

model = ScriptedModel([
    [say("Let me look."), call("find_free", {"day": 1})],
    lambda seen: say(f"There are {len(seen.returns)} answers."),
])
"""

import asyncio
import copy
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from agents.titles import INSTRUCTIONS as TITLE_INSTRUCTIONS


@dataclass(frozen=True)
class Said:
    text: str


@dataclass(frozen=True, kw_only=True)
class Called:
    tool: str
    arguments: str
    """As the provider sends them: perhaps not JSON."""
    id: str | None


@dataclass(frozen=True)
class Failure:
    """The provider fails before it answers."""

    error: Exception


@dataclass(frozen=True, kw_only=True)
class Cut:
    """The connection breaks after some pieces; a request that isn't streamed fails as a whole."""

    pieces: int
    reply: tuple["Said | Called", ...]
    error: Exception


@dataclass(frozen=True, kw_only=True)
class Held:
    """The provider stands still after some pieces, until a test lets it `go`."""

    pieces: int
    reply: tuple["Said | Called", ...]
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)


Part = Said | Called
Reply = Part | Failure | Cut | Held | Sequence[Part]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request, as the provider sees it."""

    messages: list[ModelMessage]
    offered: tuple[str, ...]
    instructions: str | None

    @property
    def returns(self) -> list[ToolReturnPart]:
        """What came back since the last response, in order."""
        tail = itertools.takewhile(lambda message: isinstance(message, ModelRequest), reversed(self.messages))
        return [part for message in reversed(list(tail)) for part in message.parts if isinstance(part, ToolReturnPart)]


Step = Reply | Callable[[Seen], Reply]


def say(text: str) -> Said:
    return Said(text)


def call(tool: str, arguments: Mapping[str, Any] | str | None = None, *, id: str | None = None) -> Called:
    """A tool call. Arguments given as a string are sent verbatim, broken or not."""
    verbatim = arguments if isinstance(arguments, str) else json.dumps(dict(arguments or {}), ensure_ascii=False)
    return Called(tool=tool, arguments=verbatim, id=id)


def fail(error: Exception) -> Failure:
    return Failure(error)


def cut_after(pieces: int, *reply: Part, error: Exception | None = None) -> Cut:
    broken = ModelAPIError(model_name="scripted", message="the peer closed the connection in mid-stream")
    return Cut(pieces=pieces, reply=reply, error=error or broken)


def hold_after(pieces: int, *reply: Part) -> Held:
    return Held(pieces=pieces, reply=reply)


@dataclass
class _Record:
    seen: list[Seen] = field(default_factory=list[Seen])
    violations: list[str] = field(default_factory=list[str])
    titles: int = 0


class ScriptedModel(FunctionModel):
    """Answers each request with the next step, streamed or not, after validating it like a strict provider.

    A violation raises AssertionError in the run and is kept, so that `check` finds it even when something in between
    has swallowed it. Requests for a title take no step. Streamed, all text of a response becomes one part.

    `repeat_ids`: ids begin at `call_0` in every response, as some providers do. `piece`: characters per streamed piece.
    """

    def __init__(
        self, steps: Sequence[Step], *, repeat_ids: bool = False, piece: int = 8, title: str = "A scripted title"
    ) -> None:
        super().__init__(self._request, stream_function=self._stream, model_name="scripted")
        self._steps = list(steps)
        self._repeat_ids = repeat_ids
        self._piece = piece
        self._title = title
        self._ids = itertools.count()
        self._record = _Record()

    @property
    def requests(self) -> list[list[ModelMessage]]:
        """The messages of each request, copied when it was made."""
        return [seen.messages for seen in self._record.seen]

    @property
    def offered(self) -> list[tuple[str, ...]]:
        """The names of the tools offered in each request."""
        return [seen.offered for seen in self._record.seen]

    @property
    def instructions(self) -> list[str | None]:
        return [seen.instructions for seen in self._record.seen]

    @property
    def titles(self) -> int:
        """How many titles were asked for."""
        return self._record.titles

    @property
    def left(self) -> int:
        """How many steps haven't been taken."""
        return len(self._steps) - len(self._record.seen)

    def check(self) -> None:
        """Assert that no request was refused and that the script was played to its end."""
        assert not self._record.violations, self._record.violations
        assert self.left == 0, f"{self.left} steps of the script were not played"

    async def _request(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        match self._answer(messages, info):
            case Failure(error) | Cut(error=error):
                raise error
            case Held(reply=parts) as held:
                held.reached.set()
                await held.go.wait()
            case parts:
                pass
        return ModelResponse(parts=[self._part(part, number) for part, number in _numbered(parts)])

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        match self._answer(messages, info):
            case Failure(error):
                raise error
            case Cut(pieces=pieces, reply=reply, error=error):
                for piece in itertools.islice(self._pieces(reply), pieces):
                    yield piece
                raise error
            case Held(pieces=pieces, reply=reply) as held:
                before, after = itertools.tee(self._pieces(reply))
                for piece in itertools.islice(before, pieces):
                    yield piece
                held.reached.set()
                await held.go.wait()
                for piece in itertools.islice(after, pieces, None):
                    yield piece
            case parts:
                for piece in self._pieces(parts):
                    yield piece

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> Failure | Cut | Held | tuple[Part, ...]:
        if info.instructions in (TITLE_INSTRUCTIONS.zh, TITLE_INSTRUCTIONS.en):
            self._record.titles += 1
            return (say(self._title),)
        seen = Seen(
            messages=copy.deepcopy(messages),
            offered=tuple(tool.name for tool in info.function_tools),
            instructions=info.instructions,
        )
        number = len(self._record.seen)
        self._record.seen.append(seen)
        problems = violations(messages)
        if number >= len(self._steps):
            problems.append(f"the script has {len(self._steps)} steps, and this is request {number + 1}")
        if problems:
            self._record.violations.extend(problems)
            raise AssertionError("; ".join(problems))
        step = self._steps[number]
        reply = step(seen) if callable(step) else step
        match reply:
            case Failure() | Cut() | Held():
                return reply
            case Said() | Called():
                return (reply,)
            case _:
                return tuple(reply)

    def _part(self, part: Part, number: int) -> ModelResponsePart:
        if isinstance(part, Said):
            return TextPart(part.text)
        return ToolCallPart(part.tool, part.arguments, tool_call_id=self._id(part, number))

    def _pieces(self, reply: Sequence[Part]) -> Iterator[str | DeltaToolCalls]:
        for part, number in _numbered(reply):
            if isinstance(part, Said):
                yield from _sliced(part.text, self._piece)
                continue
            yield {number: DeltaToolCall(part.tool, "", tool_call_id=self._id(part, number))}
            for arguments in _sliced(part.arguments, self._piece):
                yield {number: DeltaToolCall(json_args=arguments)}

    def _id(self, part: Called, number: int) -> str:
        if part.id is not None:
            return part.id
        return f"call_{number}" if self._repeat_ids else f"scripted_{next(self._ids)}"


def violations(messages: Sequence[ModelMessage]) -> list[str]:
    """What a strict provider would refuse in this request; empty when it would accept it."""
    if not messages or not isinstance(messages[0], ModelRequest):
        return ["the first message is not a request"]
    problems = _unsaid(messages[0])
    if not isinstance(messages[-1], ModelRequest):
        problems.append("the last message is a response")
    open_calls: dict[str, ToolCallPart] = {}
    retried = _retried(messages)
    ids: set[str] = set()
    for message in messages:
        if isinstance(message, ModelResponse):
            problems += [f"call {id_} ({made.tool_name}) has no return" for id_, made in open_calls.items()]
            calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
            problems += _empty(message) + _bad_calls(calls, ids, retried)
            open_calls = {made.tool_call_id: made for made in calls}
            ids |= open_calls.keys()
        else:
            problems += _settle(message, open_calls)
    problems += [f"call {id_} ({made.tool_name}) has no return" for id_, made in open_calls.items()]
    return problems


def _unsaid(request: ModelRequest) -> list[str]:
    prompts = [part for part in request.parts if isinstance(part, UserPromptPart)]
    return [] if prompts else ["the first message has no user content"]


def _empty(response: ModelResponse) -> list[str]:
    problems = [] if response.parts else ["a response is empty"]
    if any(isinstance(part, TextPart) and not part.content.strip() for part in response.parts):
        problems.append("a response has an empty text")
    return problems


def _bad_calls(calls: Sequence[ToolCallPart], ids: set[str], retried: set[str]) -> list[str]:
    problems: list[str] = []
    for index, made in enumerate(calls):
        if made.tool_call_id in ids or made.tool_call_id in {other.tool_call_id for other in calls[:index]}:
            problems.append(f"call id {made.tool_call_id} repeats")
        try:
            made.args_as_dict(raise_if_invalid=True)
        except (ValueError, AssertionError):
            # PydanticAI sends refused arguments wrapped in an object; anywhere else they are a fault of ours.
            if made.tool_call_id not in retried:
                problems.append(f"the arguments of call {made.tool_call_id} are not a JSON object: {made.args!r}")
    return problems


def _settle(request: ModelRequest, open_calls: dict[str, ToolCallPart]) -> list[str]:
    problems: list[str] = []
    for part in request.parts:
        if isinstance(part, UserPromptPart) and not part.content:
            problems.append("a user message is empty")
        if not isinstance(part, ToolReturnPart):
            continue
        made = open_calls.pop(part.tool_call_id, None)
        if made is None:
            problems.append(f"a return answers no open call: {part.tool_call_id} ({part.tool_name})")
        elif made.tool_name != part.tool_name:
            problems.append(f"call {part.tool_call_id} of {made.tool_name} is answered by {part.tool_name}")
        if not part.model_response_str():
            problems.append(f"the return of {part.tool_call_id} is empty")
    return problems


def _retried(messages: Sequence[ModelMessage]) -> set[str]:
    returns = (part for message in messages for part in message.parts if isinstance(part, ToolReturnPart))
    return {part.tool_call_id for part in returns if part.outcome == "retried"}


def _numbered(reply: Sequence[Part]) -> Iterator[tuple[Part, int]]:
    """Each part with the number of calls before it."""
    calls = 0
    for part in reply:
        yield part, calls
        calls += isinstance(part, Called)


def _sliced(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
