"""The model itself: reads the history, has the casting decide, renders the act as a provider's response."""

import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from agents.rehearsal import pieces
from agents.rehearsal.casting import Casting, Offer
from agents.rehearsal.reading import SEARCH_KIND, Moment, read
from agents.rehearsal.stream import RehearsedStream
from toolsets.scenes import Act, Call, Scene, Use
from toolsets.words import Words

NAME = "rehearsal"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class RehearsalModel(Model[None]):
    """A deterministic, bilingual model that needs no network and plays the packs' scenes.

    It keeps no state: what it does follows from the messages and the tools of the request alone, so that any process
    may go on with a turn. `suggestions` are messages that it offers when asked what it can do. `pace_s` is the pause
    between two streamed pieces, for demos.
    """

    def __init__(
        self,
        scenes: Sequence[Scene],
        *,
        suggestions: Sequence[Words] = (),
        pace_s: float = 0,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        # A system prompt in the middle of a history stays one: wrapped as a user prompt it would be taken for words.
        super().__init__(profile=ModelProfile(supports_inline_system_prompts=True))
        self._casting = Casting(scenes, suggestions)
        self._pace_s = pace_s
        self._clock = clock

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        return self._respond(messages, parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,  # the base class leaves the type of deps open
    ) -> AsyncGenerator[StreamedResponse]:
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        yield RehearsedStream(
            model_request_parameters=parameters,
            response=self._respond(messages, parameters),
            pace_s=self._pace_s,
        )

    @property
    def model_name(self) -> str:
        return NAME

    @property
    def system(self) -> str:
        return NAME

    def _respond(self, messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        moment = read(messages)
        act = self._casting.act(moment, _offer(parameters))
        parts = _parts(act, moment)
        return ModelResponse(
            parts=parts,
            usage=RequestUsage(input_tokens=pieces.input_tokens(messages), output_tokens=_output_tokens(parts)),
            model_name=NAME,
            provider_name=NAME,
            timestamp=self._clock(),
            finish_reason="tool_call" if isinstance(act, Use) else "stop",
        )


def _offer(parameters: ModelRequestParameters) -> Offer:
    tools = parameters.function_tools
    withheld = frozenset(tool.name for tool in tools if parameters.visibility_of(tool.name) == "withheld")
    search = next((tool.name for tool in tools if tool.tool_kind == SEARCH_KIND), None)
    callable_now = frozenset(tool.name for tool in tools) - withheld - {search}
    return Offer(tools=callable_now, deferred=withheld, search=search)


def _parts(act: Act, moment: Moment) -> list[ModelResponsePart]:
    texts: list[ModelResponsePart] = [TextPart(act.text)] if act.text.strip() else []
    calls = act.calls if isinstance(act, Use) else ()
    return texts + [_call_part(call, index, moment) for index, call in enumerate(calls)]


def _call_part(call: Call, index: int, moment: Moment) -> ToolCallPart:
    return ToolCallPart(
        call.tool,
        json.dumps(dict(call.arguments), ensure_ascii=False, separators=(",", ":")),
        tool_call_id=_call_id(moment, index),
    )


def _call_id(moment: Moment, index: int) -> str:
    """Follows from the history, so that a request asked again gives the same id; a chain, so that none repeats."""
    seed = "\x1f".join([moment.last_call_id, str(len(moment.earlier)), moment.text, str(index)])
    return f"rehearsal_{hashlib.sha256(seed.encode()).hexdigest()[:16]}"


def _output_tokens(parts: Sequence[ModelResponsePart]) -> int:
    texts = (
        part.content if isinstance(part, TextPart) else part.tool_name + part.args_as_json_str()
        for part in parts
        if isinstance(part, TextPart | ToolCallPart)
    )
    return pieces.tokens(pieces.weight(text) for text in texts)
