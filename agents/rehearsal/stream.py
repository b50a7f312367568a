"""A finished response, streamed in pieces like a real provider's."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime

import anyio
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent, TextPart, ToolCallPart
from pydantic_ai.models import StreamedResponse
from pydantic_ai.usage import RequestUsage

from agents.rehearsal import pieces


@dataclass
class RehearsedStream(StreamedResponse):
    """Streams `response`; between two pieces it waits `pace_s` seconds (with 0, it only yields to others)."""

    response: ModelResponse
    pace_s: float

    def __post_init__(self) -> None:
        self.finish_reason = self.response.finish_reason
        self._usage = RequestUsage(input_tokens=self.response.usage.input_tokens)

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        spent = 0.0
        for piece, events in self._pieces():
            spent += pieces.weight(piece)
            for event in events:
                yield event
            self._usage = RequestUsage(
                input_tokens=self.response.usage.input_tokens, output_tokens=pieces.tokens([spent])
            )
            await anyio.sleep(self.pace_s)

    def _pieces(self) -> Iterator[tuple[str, Iterator[ModelResponseStreamEvent]]]:
        for index, part in enumerate(self.response.parts):
            if isinstance(part, TextPart):
                for word in pieces.words(part.content):
                    yield word, self._parts_manager.handle_text_delta(vendor_part_id=index, content=word)
            elif isinstance(part, ToolCallPart):
                yield from self._call_pieces(index, part)

    def _call_pieces(self, index: int, call: ToolCallPart) -> Iterator[tuple[str, Iterator[ModelResponseStreamEvent]]]:
        yield (
            call.tool_name,
            self._parts_manager.handle_tool_call_delta_events(
                vendor_part_id=index, tool_name=call.tool_name, tool_call_id=call.tool_call_id
            ),
        )
        for piece in pieces.slices(call.args_as_json_str()):
            yield piece, self._parts_manager.handle_tool_call_delta_events(vendor_part_id=index, args=piece)

    async def close_stream(self) -> None:
        """There is no connection to close."""

    @property
    def model_name(self) -> str:
        return self.response.model_name or ""

    @property
    def provider_name(self) -> str | None:
        return self.response.provider_name

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self.response.timestamp
