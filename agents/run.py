"""One run of a turn: from where its log stands until it waits or is final."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import logfire
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied, ToolReturn
from pydantic_ai.exceptions import AgentRunError, FallbackExceptionGroup
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
)
from pydantic_ai.usage import RunUsage, UsageLimits
from pydantic_graph import End

from agents.build import build_agent, instructions, live_views, specs_of
from agents.chunks import data, spoken, status
from agents.encoder import TurnEncoder, wire
from agents.endings import Ending, described
from agents.gated import CORRECTIONS, GatedToolset, TurnCalls
from agents.history import calls_in, told, unanswered, with_own_ids
from agents.memoir import Memoir, read_memoir
from agents.out import Out
from agents.setup import Setup
from agents.titles import make_title
from agents.wire import approval_data, locale_of, turn_data, usage_data
from stores import approvals as approval_store
from stores.approvals import Approval
from stores.errors import LeaseLost
from stores.turns import Turn
from toolsets.gate import Actor
from toolsets.words import Words

log = logging.getLogger("placet.run")

OURS = UsageLimits(request_limit=None)
"""The budget is counted here, across runs; PydanticAI's own default would end long turns."""
NOT_PROPOSED = Words(
    "没有提交给本人：同一步里有调用行不通。先改正它，再一起重新调用。",
    "Not proposed: another call of this step would not work. Correct that first, then call again.",
)
WRAP_UP = Words(
    "这一轮的额度已用完，不能再调用工具。用手头的结果回答：做完了什么，什么没有做。",
    "This turn's budget is used up; no tools are left. Answer with what you have: what is done, and what is not.",
)


class TurnRun:
    """Drives the agent, checkpoints every step, streams into the event log, settles the turn."""

    def __init__(self, setup: Setup, turn: Turn, epoch: int) -> None:
        self._setup = setup
        self.turn = turn
        self.epoch = epoch
        self.locale = locale_of(turn)
        self.cancelled = False
        """Set before the task is cancelled because the person asked; else a cancellation means this process stops."""
        self._ending = Ending(setup, turn, epoch)
        self._out = Out(setup.events, turn.id, epoch)
        self._usage = RunUsage()
        self._messages: list[ModelMessage] = []
        self._saved = 0
        self._corrections = 0
        self._partial: list[str] = []
        self._call_ids: dict[int, str] = {}
        self._paused: DeferredToolRequests | None = None
        self._limit: str | None = None
        self._title: asyncio.Task[str] | None = None
        self._started = setup.monotonic()
        self.calls = TurnCalls()

    async def __call__(self) -> None:
        """Run until the turn rests. Raises LeaseLost when another process took it over."""
        with logfire.span(
            "turn {assistant}",
            assistant=self.turn.assistant,
            turn_id=self.turn.id,
            conversation_id=self.turn.conversation_id,
            user_id=self.turn.user_id,
            epoch=self.epoch,
        ):
            try:
                await self._stream()
            except asyncio.CancelledError:
                if not self.cancelled:
                    await self._ending.let_go(self._used())
                    raise
                await self._end_cancelled()
            finally:
                if self._title:
                    self._title.cancel()

    async def _stream(self) -> None:
        memoir = await read_memoir(self._setup, self.turn)
        self._adopt(memoir)
        encoder = TurnEncoder(
            sdk_version=6,
            server_message_id=self.turn.assistant_message_id,
            closing=self._close,
            known_calls=memoir.announced,
        )
        async for chunk in encoder.transform_stream(self._events(memoir)):
            await self._out.put(*wire(chunk))

    def _adopt(self, memoir: Memoir) -> None:
        setup, turn = self._setup, self.turn
        self._messages = memoir.window
        self._saved = len(memoir.window)
        self._usage = memoir.usage
        actor = Actor(
            user_id=turn.user_id,
            conversation_id=turn.conversation_id,
            turn_id=turn.id,
            epoch=self.epoch,
            zone=ZoneInfo(turn.zone),
            locale=self.locale,
            claims=turn.claims or {},
        )
        self.calls = TurnCalls(
            approvals={one.tool_call_id: one for one in memoir.approvals},
            ledger=memoir.ledger,
            known={call.tool_call_id for call in calls_in(memoir.own)},
            waiting={call.tool_call_id for call in unanswered(memoir.own)},
            limit=setup.limits.tool_calls,
            charged=len(calls_in(memoir.own)),
        )
        self._toolset = GatedToolset(
            setup.gate,
            actor,
            setup.registry,
            offered=specs_of(setup.registry, turn, "offered"),
            deferred=specs_of(setup.registry, turn, "deferred"),
            calls=self.calls,
            settled=self._show_settled,
            new_id=setup.new_id,
        )

    async def _events(self, memoir: Memoir) -> AsyncIterator[AgentStreamEvent]:
        setup, turn = self._setup, self.turn
        if memoir.first:
            await self._out.emit(data("turn", turn_data(turn), turn.id))
        if memoir.needs_title:
            self._title = asyncio.create_task(make_title(setup.model, turn.message_text, self.locale))
        if memoir.finished:
            return
        views = await live_views(setup, turn)
        self._told = instructions(setup.registry, turn, views, memoir.notes, setup.clock())
        results = await self._answers(memoir)
        if memoir.resumed:
            await self._out.emit(status("resumed", Words("继续…", "Going on…").said(self.locale)))
        while True:
            self._paused = None
            agent = build_agent(setup.model, self._toolset, self._told, setup.limits.output_tokens)
            try:
                async for event in self._drive(agent, results):
                    yield event
            except TimeoutError:
                self._limit = "seconds"
            if self._limit:
                async for event in self._wrap_up():
                    yield event
                return
            if not (self._paused and self._toolset.step.failed):
                return
            results = self._not_proposed(self._paused)

    async def _drive(
        self, agent: Agent[None, object], results: DeferredToolResults | None
    ) -> AsyncIterator[AgentStreamEvent]:
        async with agent.iter(
            None, message_history=self._messages, deferred_tool_results=results, deps=None, usage=self._usage, usage_limits=OURS
        ) as run:
            node = run.next_node
            while not isinstance(node, End):
                if Agent.is_model_request_node(node):
                    if self._exhausted():
                        break
                    self._partial.clear()
                    self._call_ids.clear()
                    async with asyncio.timeout(self._seconds_left()), node.stream(run.ctx) as stream:
                        async for event in stream:
                            yield self._with_own_id(event)
                    node = await run.next(node)
                    if Agent.is_call_tools_node(node):
                        with_own_ids(node.model_response, self._call_id)
                        self._toolset.begin_step()
                    await self._checkpoint(run.all_messages())
                    self._partial.clear()
                elif Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for event in stream:
                            self._note(event)
                            yield event
                    node = await run.next(node)
                    request = [node.request] if Agent.is_model_request_node(node) else []
                    await self._checkpoint([*run.all_messages(), *request])
                else:
                    node = await run.next(node)
            if run.result and isinstance(run.result.output, DeferredToolRequests):
                self._paused = run.result.output

    async def _wrap_up(self) -> AsyncIterator[AgentStreamEvent]:
        """A last answer without tools; when that fails too, what is known by code."""
        assert self._limit is not None
        limit = self._limit
        used = {"requests": self._usage.requests, "tool_calls": self.calls.charged, "seconds": round(self._elapsed())}
        most = {"requests": self._setup.limits.requests, "tool_calls": self.calls.limit}
        shown = {"limit": limit, "used": used.get(limit, most.get(limit, CORRECTIONS)), "partial": True}
        await self._out.emit(data("budget", shown, self.turn.id))
        await self._ending.mark_partial()
        agent = build_agent(
            self._setup.model, None, f"{self._told}\n\n{WRAP_UP.said(self.locale)}", self._setup.limits.output_tokens
        )
        self._limit = None
        self._wrapping = True
        try:
            async for event in self._drive(agent, None):
                yield event
        except (TimeoutError, AgentRunError, FallbackExceptionGroup) as error:
            log.warning("turn %s could not be wrapped up: %s", self.turn.id, type(error).__name__)
        self._limit = limit

    _wrapping = False

    def _exhausted(self) -> bool:
        """Whether a budget forbids another request; notes which."""
        if self._wrapping:
            return False
        if self.calls.exhausted:
            self._limit = "tool_calls"
        elif self._corrections > CORRECTIONS:
            self._limit = "corrections"
        elif self._usage.requests >= self._setup.limits.requests:
            self._limit = "requests"
        elif self._elapsed() >= self._setup.limits.seconds:
            self._limit = "seconds"
        return self._limit is not None

    def _elapsed(self) -> float:
        return float((self.turn.usage or {}).get("seconds", 0)) + self._setup.monotonic() - self._started

    def _seconds_left(self) -> float:
        # A wrap-up gets a little of its own.
        return max(self._setup.limits.seconds - self._elapsed(), 15 if self._wrapping else 1)

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
                self._partial.append(text)
            case _:
                pass
        return event

    def _note(self, event: AgentStreamEvent) -> None:
        """Counts calls whose arguments can't be used."""
        if not isinstance(event, FunctionToolCallEvent) or event.args_valid is None:
            return
        self._corrections = 0 if event.args_valid else self._corrections + 1
        spec = self._setup.registry.tools.get(event.part.tool_name)
        if not event.args_valid and (spec is None or spec.gated):
            self._toolset.step.failed = True

    async def _answers(self, memoir: Memoir) -> DeferredToolResults | None:
        """What the unanswered calls of the log get: a decision, an answer, or their turn at last."""
        results = DeferredToolResults()
        gone: list[tuple[ToolCallPart, str]] = []
        questions = {one.tool_call_id: one for one in memoir.questions}
        for call in unanswered(memoir.own):
            approval = self.calls.approvals.get(call.tool_call_id)
            if call.tool_name not in self._setup.registry.tools and call.tool_name in memoir.tool_names:
                gone.append((call, await self._ending.tool_is_gone(call, approval)))
            elif approval is not None and approval.status == "denied":
                results.approvals[call.tool_call_id] = ToolDenied(denial(approval))
            elif (question := questions.get(call.tool_call_id)) and question.status == "answered":
                results.calls[call.tool_call_id] = ToolReturn({"status": "ok", "answer": question.answer})
            else:
                results.approvals[call.tool_call_id] = True
        if gone:
            request = ModelRequest(parts=[told(call, text) for call, text in gone])
            await self._checkpoint([*self._messages, request])
            for call, text in gone:
                await self._out.emit({"type": "tool-output-error", "toolCallId": call.tool_call_id, "errorText": text})
        return results if results.approvals or results.calls else None

    def _not_proposed(self, paused: DeferredToolRequests) -> DeferredToolResults:
        """A call of the step would not work: nobody is asked, and the model corrects first. Reads run now."""
        results = DeferredToolResults()
        for call in [*paused.approvals, *paused.calls]:
            spec = self._setup.registry.tools[call.tool_name]
            if spec.gated or call in paused.calls:
                results.approvals[call.tool_call_id] = ToolDenied(NOT_PROPOSED.said(self.locale))
            else:
                results.approvals[call.tool_call_id] = True
        if paused.calls:
            for call in paused.calls:
                del results.approvals[call.tool_call_id]
                results.calls[call.tool_call_id] = ToolReturn(
                    {"status": "error", "code": "not_proposed", "message": NOT_PROPOSED.said(self.locale)}
                )
        self._toolset.begin_step()
        return results

    async def _checkpoint(self, messages: Sequence[ModelMessage]) -> None:
        """Commit what is new before anything is done with it."""
        fresh = list(messages[self._saved :])
        self._messages = list(messages)
        self._saved = len(messages)
        if fresh and not self._resting(messages):
            await self._ending.checkpoint(fresh, self._used())
        elif fresh:
            self._ending.keep(fresh)

    def _resting(self, messages: Sequence[ModelMessage]) -> bool:
        """Whether the run ends with these: they are committed with the turn's new status, in one transaction."""
        last = messages[-1]
        return isinstance(last, ModelResponse) and not last.tool_calls

    async def _close(self, failure: BaseException | None) -> str | None:
        """Settle the turn and show what became of it. Gives the text of an `error` chunk."""
        if isinstance(failure, LeaseLost):
            raise failure
        text = None
        if failure is not None:
            code, text, reference = described(failure, self._setup.new_id, self.locale)
            await self._ending.failed(code, reference, self._used())
        elif self._paused:
            await self._wait()
        else:
            await self._complete()
        await self._send_title()
        await self._out.emit(data("usage", usage_data(self._used()), self.turn.id))
        return text

    async def _wait(self) -> None:
        step = self._toolset.step
        asked, question = await self._ending.waiting(step, self._used(), self.calls.approvals)
        for approval in asked:
            await self._show(approval)
            await self._out.emit(
                {"type": "tool-approval-request", "approvalId": approval.id, "toolCallId": approval.tool_call_id}
            )
        if question is not None:
            await self._out.emit(data("question", question, question["question_id"]))
        await self._out.emit(status("waiting", Words("等你决定", "Waiting for you").said(self.locale)))

    async def _complete(self) -> None:
        reply = await self._ending.completed(self._messages, self._used(), limit=self._limit)
        if reply:
            await self._out.emit(
                {"type": "start-step"}, *spoken(reply, f"{self.turn.id}-reply"), {"type": "finish-step"}
            )

    async def broken(self, error: Exception) -> None:
        """The run broke off where it should not: the turn fails, and its stream ends properly."""
        code, text, reference = described(error, self._setup.new_id, self.locale)
        await self._ending.failed(code, reference, self._used())
        await self._out.end_part()
        await self._out.emit({"type": "error", "errorText": text})
        await self._out.emit(data("usage", usage_data(self._used()), self.turn.id))
        await self._out.emit({"type": "finish", "finishReason": "error"})
        await self._out.done()

    async def _end_cancelled(self) -> None:
        await self._ending.cancelled("".join(self._partial), self._used())
        await self._out.end_part()
        await self._out.emit({"type": "abort", "reason": "cancelled"})
        await self._out.emit(data("usage", usage_data(self._used()), self.turn.id))
        await self._out.emit({"type": "finish"})
        await self._out.done()

    async def _show_settled(self, approval: Approval) -> None:
        async with self._setup.database.read() as connection:
            now = await approval_store.get(connection, self.turn.user_id, approval.id)
        if now is not None:
            self.calls.approvals[now.tool_call_id] = now
            await self._show(now)

    async def _show(self, approval: Approval) -> None:
        await self._out.emit(data("approval", approval_data(approval, self._setup.registry, self.locale), approval.id))

    async def _send_title(self) -> None:
        if self._title and self._title.done() and not self._title.cancelled():
            title = self._title.result()
            await self._ending.titled(title)
            await self._out.emit(data("title", {"title": title}, transient=True))

    def _used(self) -> dict[str, Any]:
        """The turn's budget so far, across its runs."""
        return {
            "requests": self._usage.requests,
            "input_tokens": self._usage.input_tokens,
            "output_tokens": self._usage.output_tokens,
            "tool_calls": self.calls.charged,
            "seconds": round(self._elapsed(), 3),
        }


def denial(approval: Approval) -> str:
    """What the model reads of a denied call."""
    reason = (approval.decision or {}).get("reason")
    return (
        f"The person denied this; nothing was changed. Reason: {reason}"
        if reason
        else ("The person denied this; nothing was changed.")
    )
