"""The gate as PydanticAI sees it: a toolset whose calls are read, proposed, held, executed or asked."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from agents.setup import Setup
from agents.unbroken import unbroken
from stores.approvals import Approval
from stores.errors import LeaseLost
from stores.ledger import Entry
from toolsets.arguments import as_json
from toolsets.errors import DomainError
from toolsets.gate import Actor, Executed, GateCall, NotExecuted, Proposal, Symbols, stored_symbols
from toolsets.gate.outcomes import LedgerMismatch
from toolsets.registry import ToolSpec
from toolsets.toolset import Ask, Effect
from toolsets.words import Words

log = logging.getLogger("placet.run")

CORRECTIONS = 3
"""Consecutive calls with arguments that can't be used, before the turn gives up."""
MANY_RETRIES = 1000
"""PydanticAI's own count is per tool; ours, over all tools, is the one that stops the run."""


@dataclass(kw_only=True)
class Step:
    """What the calls of one response came to so far."""

    proposals: list[Proposal] = field(default_factory=list[Proposal])
    question: tuple[str, Ask] | None = None
    """The call that asked, and what."""
    failed: bool = False
    """A gated call would not work, or its arguments can't be used: none of the step's cards is shown."""
    previous: Literal["proposed", "held", "ran"] = "ran"

    @property
    def paused(self) -> bool:
        return bool(self.proposals) or self.question is not None


@dataclass(kw_only=True)
class TurnCalls:
    """What is known of the turn's calls when a run begins, and what the run adds."""

    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])
    ledger: dict[str, Entry] = field(default_factory=dict[str, Entry])
    known: set[str] = field(default_factory=set[str])
    """Calls that were charged in an earlier run."""
    waiting: set[str] = field(default_factory=set[str])
    """Calls that had to wait when the turn paused: what they read is kept, like what was executed."""
    symbols: dict[str, Symbols] = field(default_factory=dict[str, Symbols])
    """What stands for keys that the database made, by the call that was executed."""
    limit: int = 20
    charged: int = 0
    exhausted: bool = False

    def symbols_before(self, approval: Approval) -> Symbols:
        """Of the calls that were shown together with this one. Other steps count their places anew."""
        step = _step_of(approval)
        calls = [one.tool_call_id for one in self.approvals.values() if _step_of(one) == step]
        known = {call_id: stored_symbols(entry) for call_id, entry in self.ledger.items()} | self.symbols
        return {key: symbol for call_id in calls for key, symbol in known.get(call_id, {}).items()}


def _step_of(approval: Approval) -> int:
    """The place in the turn at which the approvals of its step begin."""
    return approval.position - approval.draws["call"]


Settled = Callable[[Approval], Awaitable[None]]
"""Told when an approval has come to its end."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The tools of a turn, by name."""

    now: Mapping[str, ToolSpec]
    deferred: Mapping[str, ToolSpec]
    """Found by tool search alone."""


class GatedToolset(AbstractToolset[None]):
    """The tools of one run. Made for each run from prebuilt definitions; holds the state of the present step."""

    def __init__(self, setup: Setup, actor: Actor, offer: Offer, calls: TurnCalls, settled: Settled) -> None:
        self._gate = setup.gate
        self._actor = actor
        self._registry = setup.registry
        self._specs = {**offer.deferred, **offer.now}
        self._definitions = {
            **{name: spec.definition for name, spec in offer.now.items()},
            **{name: replace(spec.definition, defer_loading=True) for name, spec in offer.deferred.items()},
        }
        self.calls = calls
        self.step = Step()
        self._settled = settled
        self._new_id = setup.new_id

    @property
    def id(self) -> str:
        return "placet"

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=definition,
                max_retries=MANY_RETRIES,
                args_validator=self._specs[name].arguments,
            )
            for name, definition in self._definitions.items()
        }

    def begin_step(self) -> None:
        """A new response: nothing proposed yet."""
        self.step = Step()

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[None], tool: ToolsetTool[None]
    ) -> Any:
        """The result; or a signal of PydanticAI's: held, proposed, asked, failed."""
        assert ctx.tool_call_id is not None
        spec = self._specs[name]
        approval = self.calls.approvals.get(ctx.tool_call_id)
        # Whatever the history says, what runs is what was approved: edited arguments live in the approval.
        arguments = approval.arguments if approval else as_json(tool_args)
        pack = self._registry.packs[spec.pack]
        call = GateCall(id=ctx.tool_call_id, spec=spec, pack=pack, arguments=arguments)
        try:
            return await self._answer(call, approval)
        except NotExecuted as refusal:
            raise self._failed(refusal.as_result(self._actor.locale)) from refusal
        except DomainError as error:
            raise self._failed(error.as_result(self._actor.locale)) from error
        except TimeoutError as error:
            raise self._failed(self._error("timed_out", TIMED_OUT)) from error
        except (ApprovalRequired, CallDeferred, ToolFailed, LeaseLost, LedgerMismatch):
            raise
        except Exception as error:
            # L1 (DESIGN.md §6): whatever a pack raises becomes a result with a reference, never the end of the run.
            reference = self._new_id()
            log.exception("tool %s failed, reference %s", name, reference)
            self.step.failed |= spec.gated
            words = Words(f"内部错误，编号 {reference}。", f"Internal error, reference {reference}.")
            raise self._failed(self._error("tool_failed", words)) from error

    async def _answer(self, call: GateCall, approval: Approval | None) -> Any:
        if entry := self.calls.ledger.get(call.id):
            return self._told(Executed.again(entry, call), call, approval)
        if approval is not None:
            return await self._approved(call, approval)
        self._charge(call)
        if call.spec.gated:
            return await self._propose(call)
        if self.step.paused:
            self.step.previous = "held"
            raise ApprovalRequired(metadata={"after": True})
        self.step.previous = "ran"
        if call.spec.effect is Effect.STATE:
            return await self._state(call)
        result = await self._gate.read(self._actor, call)
        if call.id in self.calls.waiting:
            await unbroken(self._gate.keep_read(self._actor, call, result))
        return result

    async def _propose(self, call: GateCall) -> Any:
        if self.step.paused and self.step.previous != "proposed":
            self.step.previous = "held"
            raise ApprovalRequired(metadata={"after": True})
        try:
            proposal = await unbroken(self._gate.propose(self._actor, self.step.proposals, call))
        except (DomainError, TimeoutError):
            self.step.failed = True
            self.step.previous = "ran"
            raise
        self.step.proposals.append(proposal)
        self.step.previous = "proposed"
        raise ApprovalRequired(metadata={"proposed": True})

    async def _state(self, call: GateCall) -> Any:
        try:
            done = await unbroken(self._gate.state(self._actor, call))
        except Ask as question:
            self.step.question = (call.id, question)
            raise CallDeferred(metadata={"question": True}) from question
        return done.result

    async def _approved(self, call: GateCall, approval: Approval) -> Any:
        if approval.status != "approved":
            raise _already(approval)
        position = approval.draws["call"]
        symbols = self.calls.symbols_before(approval)
        done = await unbroken(self._gate.execute(self._actor, call, approval, position=position, symbols=symbols))
        await self._settled(approval)
        if isinstance(done, NotExecuted):
            raise done
        self.calls.symbols[call.id] = done.symbols
        return self._told(done, call, approval)

    def _told(self, done: Executed, call: GateCall, approval: Approval | None) -> Mapping[str, Any]:
        """The result as the model reads it; after an edit it begins with what ran, and who changed it."""
        if approval is None or not approval.versions:
            return done.result
        changed = Words(
            "本人改过参数后批准，按下面的参数执行。", "The person edited the arguments; these were executed."
        )
        return {"edited": changed.said(self._actor.locale), "arguments": approval.arguments, **done.result}

    def _charge(self, call: GateCall) -> None:
        if call.id in self.calls.known:
            return
        self.calls.charged += 1
        if self.calls.charged > self.calls.limit:
            self.calls.exhausted = True
            self.step.failed |= call.spec.gated
            raise self._failed(self._error("budget_exhausted", NO_BUDGET))

    def _error(self, code: str, words: Words) -> dict[str, Any]:
        return {"status": "error", "code": code, "message": words.said(self._actor.locale)}

    def _failed(self, result: Mapping[str, Any]) -> ToolFailed:
        return ToolFailed(json.dumps(result, ensure_ascii=False, default=str))


TIMED_OUT = Words("超时，没有完成，也没有任何改动。", "It took too long and was stopped; nothing was changed.")
NO_BUDGET = Words("没有执行：这一轮的调用次数已用完。", "Not executed: this turn's calls are used up.")


def _already(approval: Approval) -> NotExecuted:
    """Why a call isn't executed whose approval came to its end before."""
    if approval.outcome and "message" in approval.outcome:
        words = Words(**approval.outcome["message"])
        return NotExecuted(approval.status, approval.outcome["code"], words, safe_to_retry=True)
    return NotExecuted.expired() if approval.status == "expired" else NotExecuted.settled(approval.status)
