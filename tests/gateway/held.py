"""A model that waits where a test wants it to."""

import asyncio
from collections.abc import AsyncIterator

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCalls, FunctionModel


class HeldModel(FunctionModel):
    """Says `before`, waits for `go`, says `after`. A title is refused: it comes without a stream."""

    def __init__(self, before: str, after: str = " And more.") -> None:
        super().__init__(self._whole, stream_function=self._pieces, model_name="held")
        self.reached = asyncio.Event()
        self.go = asyncio.Event()
        self._before = before
        self._after = after

    async def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("A title")])

    async def _pieces(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        if self._before:
            yield self._before
        self.reached.set()
        await self.go.wait()
        yield self._after
