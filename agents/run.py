"""One run of a turn: from where its log stands until it waits or is final."""

import asyncio
import logging
from collections.abc import AsyncIterator

import logfire
from pydantic_ai import DeferredToolResults
from pydantic_ai.exceptions import AgentRunError, FallbackExceptionGroup
from pydantic_ai.messages import AgentStreamEvent

from agents.answers import answers, lost, not_proposed
from agents.budget import Budget, Limit
from agents.build import build_agent, instructions, live_views, turn_toolset
from agents.driving import Driver, OutOfTime
from agents.encoder import TurnEncoder, wire
from agents.endings import Ending
from agents.failures import described
from agents.gated import GatedToolset
from agents.history import unanswered
from agents.memoir import Memoir, read_memoir
from agents.out import Out
from agents.setup import Setup
from agents.showing import Showing
from agents.titles import make_title
from agents.wire import locale_of
from stores.approvals import Approval
from stores.errors import LeaseLost
from stores.turns import Turn
from toolsets.words import Locale, Words

log = logging.getLogger("placet.run")

WRAP_UP = Words(
    "这一轮的额度已用完，不能再调用工具。用手头的结果回答：做完了什么，什么没有做。",
    "This turn's budget is used up; no tools are left. Answer with what you have: what is done, and what is not.",
)


class TurnRun:
    """Runs the agent, streams into the event log, settles the turn."""

    def __init__(self, setup: Setup, turn: Turn, epoch: int) -> None:
        self._setup = setup
        self.turn = turn
        self.epoch = epoch
        self.locale: Locale = locale_of(turn)
        self.cancelled = False
        """Set before the task is cancelled because the person asked; else a cancellation means this process stops."""
        self._budget = Budget(setup.limits, turn.usage, setup.monotonic)
        self._ending = Ending(setup, turn, epoch)
        self._out = Out(setup.events, turn.id, epoch)
        self._show = Showing(setup, turn, self._out)
        self._driver: Driver | None = None
        self._title: asyncio.Task[str] | None = None

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
                    await self._ending.let_go(self._budget.used())
                    raise
                await self._end_cancelled()
            else:
                await self._late_title()
            finally:
                if self._title:
                    self._title.cancel()

    async def _stream(self) -> None:
        setup = self._setup
        memoir = await read_memoir(setup, self.turn)
        self._budget.calls = memoir.calls(setup.limits.tool_calls)
        toolset = turn_toolset(setup, self.turn, self.epoch, self._budget.calls, self._show_settled)
        driver = self._driver = Driver(setup, self._ending, self._budget, toolset, memoir.window)

        async def close(failure: BaseException | None) -> str | None:
            return await self._close(driver, toolset, failure)

        encoder = TurnEncoder(
            sdk_version=6,
            server_message_id=self.turn.assistant_message_id,
            closing=close,
            known_calls=memoir.announced,
        )
        async for chunk in encoder.transform_stream(self._events(memoir, driver, toolset)):
            await self._out.put(*wire(chunk))

    async def _events(self, memoir: Memoir, driver: Driver, toolset: GatedToolset) -> AsyncIterator[AgentStreamEvent]:
        setup, turn = self._setup, self.turn
        await self._begin(memoir)
        if memoir.finished:
            return
        views = await live_views(setup, turn)
        spoken = instructions(setup.registry, turn, views, memoir.notes, setup.clock())
        results = await self._answers(memoir, driver)
        if memoir.resumed:
            await self._show.resumed(memoir.settled, memoir.answered)
        while True:
            agent = build_agent(setup.model, toolset, spoken, setup.limits.output_tokens)
            try:
                async for event in driver.drive(agent, results):
                    yield event
            except OutOfTime:
                self._budget.hit = "seconds"
                await self._show.taken_back()
            if limit := self._budget.hit:
                async for event in self._wrap_up(driver, limit, spoken):
                    yield event
                return
            if not (driver.paused and toolset.step.failed):
                return
            results = not_proposed(driver.paused, setup.registry, self.locale)
            toolset.begin_step()

    async def _begin(self, memoir: Memoir) -> None:
        if memoir.first:
            await self._show.begun()
        if memoir.needs_title:
            self._title = asyncio.create_task(make_title(self._setup.model, self.turn.message_text, self.locale))

    async def _answers(self, memoir: Memoir, driver: Driver) -> DeferredToolResults | None:
        """What the unanswered calls of the log get; those whose tool is gone or another are answered here."""
        calls = unanswered(memoir.own)
        without = lost(memoir, calls, self._setup.registry)
        if without:
            returns, failed = await self._ending.without_tool(without)
            for message in returns:
                await driver.commit(message)
                await self._show.answered(message, self._budget.calls.approvals)
            for approval in failed:
                await self._show_settled(approval)
        return answers(memoir, [call for call in calls if call not in without])

    async def _wrap_up(self, driver: Driver, limit: Limit, spoken: str) -> AsyncIterator[AgentStreamEvent]:
        """A last answer without tools; when that fails too, what is known by code."""
        await self._show.budget(self._budget.shown(limit))
        await self._ending.mark_partial()
        last = f"{spoken}\n\n{WRAP_UP.said(self.locale)}"
        agent = build_agent(self._setup.model, None, last, self._setup.limits.output_tokens)
        self._budget.wrapping_up = True
        try:
            async for event in driver.drive(agent, None):
                yield event
        except (OutOfTime, AgentRunError, FallbackExceptionGroup) as error:
            await self._show.taken_back()
            log.warning("turn %s could not be wrapped up: %s", self.turn.id, type(error).__name__)

    async def _close(self, driver: Driver, toolset: GatedToolset, failure: BaseException | None) -> str | None:
        """Settle the turn and show what became of it. Gives the text of an `error` chunk."""
        if isinstance(failure, LeaseLost):
            raise failure
        text = None
        if failure is not None:
            text = await self._failed(failure)
        elif driver.paused:
            asked, question = await self._ending.waiting(
                toolset.step, self._budget.used(), self._budget.calls.approvals
            )
            await self._show.waiting(asked, question)
        else:
            reply = await self._ending.completed(driver.messages, self._budget.used(), limit=self._budget.hit)
            if reply:
                await self._show.reply(reply)
        await self._send_title()
        await self._show.usage(self._budget.used())
        return text

    async def _failed(self, failure: BaseException) -> str:
        code, text, reference = described(failure, self._setup.new_id, self.locale)
        await self._ending.failed(code, reference, self._budget.used())
        return text

    async def broken(self, error: Exception) -> None:
        """The run broke off where it should not: the turn fails, and its stream ends properly."""
        text = await self._failed(error)
        why = {"type": "error", "errorText": text}
        await self._show.cut_off(why, self._budget.used(), {"finishReason": "error"})

    async def _end_cancelled(self) -> None:
        partial = "".join(self._driver.partial) if self._driver else ""
        await self._ending.cancelled(partial, self._budget.used())
        await self._show.cut_off({"type": "abort", "reason": "cancelled"}, self._budget.used(), {})

    async def _show_settled(self, approval: Approval) -> None:
        if now := await self._show.present(approval):
            self._budget.calls.approvals[now.tool_call_id] = now

    async def _late_title(self) -> None:
        """A title that wasn't ready before the stream's end is kept all the same."""
        if self._title and not self._title.done():
            await self._ending.titled(await self._title)

    async def _send_title(self) -> None:
        if self._title and self._title.done() and not self._title.cancelled():
            title = self._title.result()
            await self._ending.titled(title)
            await self._show.title(title)
