"""Driving the agent: step by step, each committed before anything is done with it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.agent import AgentRun
from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
)
from pydantic_ai.result import AgentStream
from pydantic_ai.usage import UsageLimits
from pydantic_graph import End

from agents.budget import Budget
from agents.build import TurnAgent
from agents.endings import Ending
from agents.gated import GatedToolset
from agents.history import unanswered, with_own_ids
from agents.setup import Setup

OURS = UsageLimits(request_limit=None)
"""The budget is counted here, across runs; PydanticAI's own default would end long turns."""


class OutOfTime(Exception):
    """The model took longer than the turn has seconds left."""


class Driver:
    """One run's messages and how far they are committed; calls get ids of ours as they stream."""

    def __init__(
        self, setup: Setup, ending: Ending, budget: Budget, toolset: GatedToolset, window: Sequence[ModelMessage]
    ) -> None:
        self.messages = list(window)
        self.paused: DeferredToolRequests | None = None
        """What the last drive stopped at."""
        self.partial: list[str] = []
        """Text of a response that isn't committed yet."""
        self._setup = setup
        self._ending = ending
        self._budget = budget
        self._toolset = toolset
        self._call_ids: dict[int, str] = {}

    async def drive(self, agent: TurnAgent, results: DeferredToolResults | None) -> AsyncIterator[AgentStreamEvent]:
        """Go on until the run ends, pauses or has used up a limit. Raises OutOfTime, and what the model raises."""
        self.paused = None
        async with agent.iter(
            None,
            message_history=list(self.messages),
            deferred_tool_results=results,
            deps=None,
            usage=self._budget.usage,
            usage_limits=OURS,
        ) as run:
            node = run.next_node
            while not isinstance(node, End):
                if Agent.is_model_request_node(node):
                    if self._budget.exhausted():
                        break
                    self._begin_response()
                    async with AsyncExitStack() as stack:
                        async for event in self._in_time(stack.enter_async_context(node.stream(run.ctx))):
                            yield self._with_own_id(event)
                    node = await run.next(node)
                    if Agent.is_call_tools_node(node):
                        with_own_ids(node.model_response, self._call_id)
                        self._toolset.begin_step()
                        await self.commit(node.model_response)
                    self.partial.clear()
                elif Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for event in stream:
                            self._note(event)
                            yield event
                    node = await run.next(node)
                    if returned := node.request if Agent.is_model_request_node(node) else self._at_the_pause(run):
                        await self.commit(returned)
                else:
                    node = await run.next(node)
            self.paused = _paused(run)

    async def _in_time(self, opening: Awaitable[AgentStream[None, Any]]) -> AsyncIterator[AgentStreamEvent]:
        """A response's events. Only the model is timed: whoever takes the events is never cut off within his work."""
        deadline = asyncio.get_running_loop().time() + self._budget.seconds_left()
        events: AsyncIterator[AgentStreamEvent] | None = None
        while True:
            limit = asyncio.timeout_at(deadline)
            try:
                async with limit:
                    if events is None:
                        events = aiter(await opening)
                    event = await anext(events, None)
            except TimeoutError as error:
                if limit.expired():
                    raise OutOfTime from error
                raise
            if event is None:
                return
            yield event

    async def commit(self, message: ModelMessage) -> None:
        """Commit a message before anything is done with it; the last response goes with the turn's new status.

        Messages are taken one by one as they are made: PydanticAI's own list of them joins neighbours.
        """
        self.messages.append(message)
        if isinstance(message, ModelResponse) and not message.tool_calls:
            self._ending.keep([message])
        else:
            await self._ending.checkpoint([message], self._budget.used())

    def _at_the_pause(self, run: AgentRun[None, str | DeferredToolRequests]) -> ModelRequest | None:
        """What the calls returned that didn't have to wait."""
        last = run.all_messages()[-1]
        waiting = {call.tool_call_id for call in unanswered(self.messages)}
        parts = last.parts if isinstance(last, ModelRequest) else ()
        fresh = [part for part in parts if isinstance(part, ToolReturnPart) and part.tool_call_id in waiting]
        return ModelRequest(parts=fresh) if fresh else None

    def _begin_response(self) -> None:
        self.partial.clear()
        self._call_ids.clear()

    def _call_id(self, index: int) -> str:
        if index not in self._call_ids:
            self._call_ids[index] = f"call_{self._setup.new_id()}"
        return self._call_ids[index]

    def _with_own_id(self, event: AgentStreamEvent) -> AgentStreamEvent:
        """The event with our call id in the place of the provider's; text is kept for a cancelled run."""
        match event:
            case PartStartEvent(part=ToolCallPart() as part) | PartEndEvent(part=ToolCallPart() as part):
                return replace(event, part=replace(part, tool_call_id=self._call_id(event.index)))
            case PartDeltaEvent(delta=ToolCallPartDelta() as delta):
                return replace(event, delta=replace(delta, tool_call_id=self._call_id(event.index)))
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self.partial.append(text)
            case _:
                pass
        return event

    def _note(self, event: AgentStreamEvent) -> None:
        """Counts calls whose arguments can't be used; such a call of a gated tool spoils its step."""
        if not isinstance(event, FunctionToolCallEvent) or event.args_valid is None:
            return
        self._budget.note_arguments(valid=event.args_valid)
        spec = self._setup.registry.tools.get(event.part.tool_name)
        if not event.args_valid and (spec is None or spec.gated):
            self._toolset.step.failed = True


def _paused(run: AgentRun[None, str | DeferredToolRequests]) -> DeferredToolRequests | None:
    output = run.result.output if run.result else None
    return output if isinstance(output, DeferredToolRequests) else None
