"""PydanticAI's encoder for the AI SDK's stream, made ours: our ids, no provider metadata, no internals."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from pydantic_ai.messages import FunctionToolCallEvent, ToolReturnPart
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.ui.vercel_ai import VercelAIEventStream
from pydantic_ai.ui.vercel_ai.response_types import (
    BaseChunk,
    DoneChunk,
    ErrorChunk,
    FinishChunk,
    FinishStepChunk,
    StartStepChunk,
    ToolInputAvailableChunk,
    ToolInputErrorChunk,
    ToolOutputDeniedChunk,
    ToolOutputErrorChunk,
)

from agents.chunks import DONE
from agents.retelling import error_text

Closing = Callable[[BaseException | None], Awaitable[str | None]]
"""Settles the turn once the run is over (with the error that ended it); gives the text of an `error` chunk."""


@dataclass
class TurnEncoder(VercelAIEventStream[None, Any]):
    """One run's events as chunks. A resumed run doesn't announce again the calls that the client knows."""

    _: KW_ONLY
    closing: Closing
    known_calls: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict[str, Mapping[str, Any] | None])
    """Calls that earlier runs announced; with their new arguments when the person edited them."""
    failure: BaseException | None = None

    async def on_error(self, error: Exception) -> AsyncIterator[BaseChunk]:
        for part in self._streamed_call_parts.values():
            yield self._tool_input_available_chunk(part)
        self._streamed_call_parts.clear()
        self.failure = error
        self._finish_reason = "error"

    async def after_stream(self) -> AsyncIterator[BaseChunk]:
        if text := await self.closing(self.failure):
            self._finish_reason = "error"
            yield ErrorChunk(error_text=text)
        if self._step_started:
            yield FinishStepChunk()
        yield FinishChunk(finish_reason=self._finish_reason)
        yield DoneChunk()

    async def handle_run_result(self, event: AgentRunResultEvent[Any]) -> AsyncIterator[BaseChunk]:
        # Cards are ours: `closing` emits them under their own ids.
        return
        yield StartStepChunk()  # makes this a generator

    async def handle_function_tool_call(self, event: FunctionToolCallEvent) -> AsyncIterator[BaseChunk]:
        call = event.part
        if call.tool_call_id in self.known_calls:
            self._streamed_call_parts.pop(call.tool_call_id, None)
            if (edited := self.known_calls[call.tool_call_id]) is not None:
                yield ToolInputAvailableChunk(
                    tool_call_id=call.tool_call_id, tool_name=call.tool_name, input=dict(edited)
                )
            return
        async for chunk in super().handle_function_tool_call(event):
            yield chunk

    async def _handle_tool_result(self, part: ToolReturnPart) -> AsyncIterator[BaseChunk]:
        async for chunk in super()._handle_tool_result(part):
            if isinstance(chunk, ToolOutputDeniedChunk) and part.tool_call_id not in self.known_calls:
                # Nobody was asked: to a client this is a call that failed.
                yield ToolOutputErrorChunk(tool_call_id=part.tool_call_id, error_text=error_text(part))
                continue
            if isinstance(chunk, ToolOutputErrorChunk | ToolInputErrorChunk):
                chunk.error_text = error_text(part)
            yield chunk


def wire(chunk: BaseChunk) -> tuple[str, str]:
    """A chunk as it is sent, and its type: the server owns the history, so nothing of the provider's goes out."""
    if isinstance(chunk, DoneChunk):
        return DONE, ""
    if getattr(chunk, "provider_metadata", None) is not None:  # a field of most chunk types, not of their base
        chunk = chunk.model_copy(update={"provider_metadata": None})
    return chunk.encode(6), str(getattr(chunk, "type", ""))  # every chunk type but `DoneChunk` has one
