"""How a run ends, each way one transaction: checkpoint, wait, complete, fail, cancel, let go."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pydantic_ai.exceptions import AgentRunError, FallbackExceptionGroup
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.errors import NewerHistory, RunError
from agents.gated import Step
from agents.history import final_text, loaded, stored, told, unanswered
from agents.reports import mechanical_report
from agents.setup import Setup
from agents.unbroken import unbroken
from agents.window import window_start
from agents.wire import question_data
from stores import approvals, conversations, messages, turns, usage
from stores.approvals import Approval, Question
from stores.changes import dump_changes, irreversible
from stores.turns import Turn
from toolsets.gate import Proposal, card_as_json, seal_of
from toolsets.words import Locale, Words

log = logging.getLogger("placet.run")

FAILED = {
    "model_unavailable": Words(
        "模型暂时不可用，请稍后再试。", "The model can't be reached at the moment. Try again later."
    ),
    "internal": Words("内部错误。", "Something went wrong inside."),
    "unavailable": Words(
        "这段对话由更新的版本写成，这个服务器读不了。",
        "A newer release wrote this conversation; this server can't read it.",
    ),
}
NOT_EXECUTED = {
    "superseded": "Not executed: superseded by the person's next message.",
    "cancelled": "Not executed: cancelled by the person.",
    "expired": "Not executed: expired before the person decided.",
    "failed": "Not executed: the turn ended with an error.",
    "completed": "Not executed: the turn's budget was used up.",
}
GONE = "Not executed: the tool {} isn't there any more."


class Ending:
    """Writes what a run came to. Every write carries the epoch and affects nothing when it is old (LeaseLost)."""

    def __init__(self, setup: Setup, turn: Turn, epoch: int) -> None:
        self._setup = setup
        self._turn = turn
        self._epoch = epoch
        self._kept: list[ModelMessage] = []

    def keep(self, fresh: Sequence[ModelMessage]) -> None:
        """Messages that will be committed with the turn's end."""
        self._kept = list(fresh)

    async def checkpoint(self, fresh: Sequence[ModelMessage], used: Mapping[str, Any]) -> None:
        await unbroken(self._checkpoint(fresh, used))

    async def _checkpoint(self, fresh: Sequence[ModelMessage], used: Mapping[str, Any]) -> None:
        async with self._setup.database.write() as connection:
            await self._change(connection, usage=dict(used))
            await self._append(connection, fresh)

    async def mark_partial(self) -> None:
        async with self._setup.database.write() as connection:
            await self._change(connection, partial=True)

    async def waiting(
        self, step: Step, used: Mapping[str, Any], earlier: Mapping[str, Approval]
    ) -> tuple[list[Approval], dict[str, Any] | None]:
        """The step's cards and question, stored as the turn begins to wait."""
        return await unbroken(self._waiting(step, used, earlier))

    async def _waiting(
        self, step: Step, used: Mapping[str, Any], earlier: Mapping[str, Approval]
    ) -> tuple[list[Approval], dict[str, Any] | None]:
        turn = self._turn
        async with self._setup.database.write() as connection:
            conversation = await conversations.lock(connection, turn.user_id, turn.conversation_id)
            assert conversation is not None
            asked = self._approvals(step.proposals, conversation.approvals_made, len(earlier))
            await approvals.add(connection, asked)
            question = await self._question(connection, step)
            await conversations.change(
                connection,
                turn.user_id,
                turn.conversation_id,
                approvals_made=conversation.approvals_made + len(asked),
                updated_at=self._setup.clock(),
            )
            await self._change(
                connection,
                status="waiting",
                usage=dict(used),
                owner=None,
                lease_until=None,
                delivered_at=self._setup.clock(),
            )
        return asked, question

    def _approvals(self, proposals: Sequence[Proposal], made: int, earlier: int) -> list[Approval]:
        ids = {one.call.id: self._setup.new_id() for one in proposals}
        number = 1
        found: list[Approval] = []
        for index, one in enumerate(proposals):
            card = card_as_json(one.ran.card, number)
            number += len(card["rows"])
            found.append(
                approval_of(
                    self._setup,
                    self._turn,
                    one,
                    id=ids[one.call.id],
                    position=earlier + index,
                    in_step=index,
                    short_name=f"A{made + index + 1}",
                    card=card,
                    depends_on=[ids[call_id] for call_id in one.depends_on],
                )
            )
        return found

    async def _question(self, connection: AsyncConnection, step: Step) -> dict[str, Any] | None:
        if step.question is None:
            return None
        call_id, asked = step.question
        question = Question(
            id=self._setup.new_id(),
            user_id=self._turn.user_id,
            conversation_id=self._turn.conversation_id,
            turn_id=self._turn.id,
            tool_call_id=call_id,
            status="waiting",
            question=asked.question,
            options=list(asked.options),
            allow_free_text=asked.allow_free_text,
            secret=False,
            answer=None,
            created_at=self._setup.clock(),
            answered_at=None,
        )
        await approvals.add_question(connection, question)
        return question_data(question)

    async def completed(
        self, shown: Sequence[ModelMessage], used: Mapping[str, Any], *, limit: str | None
    ) -> str | None:
        """The turn is final. Returns a text made by code where the model left none."""
        reply = None
        if limit is not None and final_text(shown) is None:
            reply = await mechanical_report(self._setup, self._turn, limit)
        await unbroken(self._final("completed", used, reply=reply))
        return reply

    async def failed(self, code: str, reference: str | None, used: Mapping[str, Any]) -> None:
        await unbroken(self._final("failed", used, error_code=code, error_reference=reference))

    async def cancelled(self, partial: str, used: Mapping[str, Any]) -> None:
        """Partial text is kept and marked; what was open is retired."""
        if partial:
            self._kept = [ModelResponse(parts=[TextPart(partial)], state="interrupted")]
        await unbroken(self._final("cancelled", used, partial=bool(partial)))

    async def _final(self, status: str, used: Mapping[str, Any], **values: object) -> None:
        turn, setup = self._turn, self._setup
        async with setup.database.write() as connection:
            conversation = await conversations.lock(connection, turn.user_id, turn.conversation_id)
            assert conversation is not None
            await self._change(
                connection,
                status=status,
                usage=dict(used),
                owner=None,
                lease_until=None,
                finished_at=setup.clock(),
                **{key: value for key, value in values.items() if value is not None},
            )
            kept, self._kept = self._kept, []
            if status == "cancelled":
                await self._retire(connection, "cancelled")
            await self._append(connection, [*kept, *await self._returns(connection, kept, status)])
            await conversations.change(
                connection,
                turn.user_id,
                turn.conversation_id,
                updated_at=setup.clock(),
                **await window_start(connection, setup, turn, conversation.window_from_seq),
            )
            await usage.add(connection, turn, used, model=setup.model.model_name, at=setup.clock())

    async def _returns(
        self, connection: AsyncConnection, kept: Sequence[ModelMessage], status: str
    ) -> list[ModelMessage]:
        """One truthful return for every call that has none: the history stays valid for a strict provider."""
        if status == "completed" and kept and final_text(kept) is not None:
            # The answer of a model that saw every return.
            return []
        rows = await messages.of_turns(connection, self._turn.user_id, self._turn.conversation_id, [self._turn.id])
        return closing_returns([*loaded(rows), *kept], NOT_EXECUTED[status])

    async def _retire(self, connection: AsyncConnection, status: str) -> None:
        await retire(connection, self._turn, status)

    async def let_go(self, used: Mapping[str, Any]) -> None:
        """This process stops: another one may take the turn over at once."""
        async with self._setup.database.write() as connection:
            await self._change(connection, usage=dict(used), owner=None, lease_until=self._setup.clock())

    async def titled(self, title: str) -> None:
        async with self._setup.database.write() as connection:
            await conversations.change(connection, self._turn.user_id, self._turn.conversation_id, title=title)

    async def tool_is_gone(self, call: ToolCallPart, approval: Approval | None) -> str:
        """A tool that a deploy took away: its approval fails; what the model and the person are told."""
        text = GONE.format(call.tool_name)
        if approval is not None and approval.status in ("pending", "approved"):
            words = {"zh": f"工具 {call.tool_name} 已不存在，没有执行。", "en": text}
            outcome = {"code": "tool_gone", "message": words, "changed": False, "safe_to_retry": False, "moved": []}
            async with self._setup.database.write() as connection:
                await turns.fence(connection, self._turn.id, self._epoch)
                await approvals.settle(
                    connection, approval.id, expected=("pending", "approved"), status="failed", outcome=outcome
                )
        return text

    async def _append(self, connection: AsyncConnection, fresh: Sequence[ModelMessage]) -> None:
        await messages.append(
            connection,
            self._turn.user_id,
            self._turn.conversation_id,
            self._turn.id,
            [stored(one) for one in fresh],
            self._setup.clock(),
        )

    async def _change(self, connection: AsyncConnection, **values: object) -> None:
        await turns.change(connection, self._turn.id, self._epoch, **values)


def approval_of(
    setup: Setup,
    turn: Turn,
    proposal: Proposal,
    *,
    id: str,
    position: int,
    in_step: int,
    short_name: str,
    card: dict[str, Any],
    depends_on: Sequence[str],
) -> Approval:
    """A proposal as the row that waits for a person, sealed."""
    call, now = proposal.call, setup.clock()
    unsealed = Approval(
        id=id,
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        tool_call_id=call.id,
        position=position,
        version=1,
        status="pending",
        origin="model",
        short_name=short_name,
        tool=call.spec.name,
        schema_hash=call.spec.schema_hash,
        effect=call.spec.effect.value,
        always_confirm=call.spec.always_confirm,
        reversible=not irreversible(proposal.ran.changes),
        arguments=dict(call.arguments),
        arguments_hash=call.arguments_hash,
        changes=dump_changes(proposal.ran.changes),
        normal_form=proposal.ran.normal.text,
        change_digest=proposal.ran.normal.digest,
        seal="",
        card=card,
        draws=proposal.draws.as_json() | {"call": in_step},
        depends_on=list(depends_on),
        skip=None,
        decision=None,
        outcome=None,
        versions=None,
        claims=turn.claims,
        traceparent=None,
        created_at=now,
        expires_at=now + timedelta(seconds=setup.limits.approval_ttl_s),
    )
    return resealed(unsealed, setup)


def resealed(approval: Approval, setup: Setup) -> Approval:
    return Approval(**{**vars(approval), "seal": seal_of(approval, setup.gate.settings.seal_key)})


def closing_returns(history: Sequence[ModelMessage], why: str) -> list[ModelMessage]:
    open_calls = unanswered(history)
    return [ModelRequest(parts=[told(call, why) for call in open_calls])] if open_calls else []


async def retire(connection: AsyncConnection, turn: Turn, status: str) -> None:
    """What still waits in the turn (approved and not yet executed, too) ends with the status."""
    for approval in await approvals.of_turns(connection, turn.user_id, [turn.id]):
        await approvals.settle(connection, approval.id, expected=("pending", "approved"), status=status)
    for question in await approvals.questions_of(connection, turn.user_id, [turn.id]):
        await approvals.settle_question(connection, question.id, status=status)


async def close_waiting(
    connection: AsyncConnection, setup: Setup, turn: Turn, status: str, *, why: str | None = None
) -> None:
    """A waiting turn ends: what is open in it is retired, and every call gets one truthful return.

    The caller holds the conversation's lock. `why` is what the calls are told, where it isn't the status.
    """
    await turns.change(
        connection, turn.id, turn.epoch, status=status, epoch=turn.epoch + 1, finished_at=setup.clock(), owner=None
    )
    await retire(connection, turn, why or status)
    rows = await messages.of_turns(connection, turn.user_id, turn.conversation_id, [turn.id])
    returns = [stored(one) for one in closing_returns(loaded(rows), NOT_EXECUTED[why or status])]
    await messages.append(connection, turn.user_id, turn.conversation_id, turn.id, returns, setup.clock())
    await usage.add(connection, turn, turn.usage or {}, model=setup.model.model_name, at=setup.clock())


def described(failure: BaseException, new_id: Callable[[], str], locale: Locale) -> tuple[str, str, str]:
    """Code, text and reference of a failure; the text is what the page shows, without internals."""
    reference = new_id()
    log.error("run failed, reference %s", reference, exc_info=failure)
    match failure:
        case RunError():
            code, words = failure.code, failure.words
        case NewerHistory():
            code, words = "unavailable", FAILED["unavailable"]
        case AgentRunError() | FallbackExceptionGroup():
            code, words = "model_unavailable", FAILED["model_unavailable"]
        case _:
            code, words = "internal", FAILED["internal"]
    return code, f"{code}: {words.said(locale)} ({reference})", reference
