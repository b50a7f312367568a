"""How runs come to rest: what is written when a turn waits, completes, fails, is cancelled or is let go."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.asking import approvals_of, question_of
from agents.budget import Limit
from agents.closing import NOT_EXECUTED, closing_returns, retire
from agents.gated import Step
from agents.history import final_text, loaded, stored
from agents.reports import mechanical_report
from agents.setup import Setup
from agents.unbroken import unbroken
from agents.window import window_start
from agents.wire import question_data
from stores import approvals, conversations, messages, turns, usage
from stores.approvals import Approval
from stores.shapes import Used
from stores.turns import Turn
from toolsets.gate import NotExecuted

GONE = "Not executed: the tool isn't there any more."


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

    async def checkpoint(self, fresh: Sequence[ModelMessage], used: Used) -> None:
        await unbroken(self._checkpoint(fresh, used))

    async def _checkpoint(self, fresh: Sequence[ModelMessage], used: Used) -> None:
        async with self._setup.database.write() as connection:
            await self._change(connection, usage=used)
            await self._append(connection, fresh)

    async def mark_partial(self) -> None:
        async with self._setup.database.write() as connection:
            await self._change(connection, partial=True)

    async def waiting(
        self, step: Step, used: Used, earlier: Mapping[str, Approval]
    ) -> tuple[list[Approval], dict[str, Any] | None]:
        """The step's cards and question, stored as the turn begins to wait."""
        return await unbroken(self._waiting(step, used, earlier))

    async def _waiting(
        self, step: Step, used: Used, earlier: Mapping[str, Approval]
    ) -> tuple[list[Approval], dict[str, Any] | None]:
        turn = self._turn
        async with self._setup.database.write() as connection:
            conversation = await conversations.lock(connection, turn.user_id, turn.conversation_id)
            assert conversation is not None
            asked = approvals_of(
                self._setup, turn, step.proposals, made=conversation.approvals_made, earlier=len(earlier)
            )
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
                usage=used,
                owner=None,
                lease_until=None,
                delivered_at=self._setup.clock(),
            )
        return asked, question

    async def _question(self, connection: AsyncConnection, step: Step) -> dict[str, Any] | None:
        if step.question is None:
            return None
        question = question_of(self._setup, self._turn, *step.question)
        await approvals.add_question(connection, question)
        return question_data(question)

    async def completed(self, shown: Sequence[ModelMessage], used: Used, *, limit: Limit | None) -> str | None:
        """The turn is final. Returns a text made by code where the model left none."""
        reply = None
        if limit is not None and final_text(shown) is None:
            reply = await mechanical_report(self._setup, self._turn, limit)
        await unbroken(self._final("completed", used, reply=reply))
        return reply

    async def failed(self, code: str, reference: str | None, used: Used) -> None:
        await unbroken(self._final("failed", used, error_code=code, error_reference=reference))

    async def cancelled(self, partial: str, used: Used) -> None:
        """Partial text is kept and marked; what was open is retired."""
        if partial:
            self._kept = [ModelResponse(parts=[TextPart(partial)], state="interrupted")]
        await unbroken(self._final("cancelled", used, partial=bool(partial)))

    async def _final(self, status: str, used: Used, **values: object) -> None:
        turn, setup = self._turn, self._setup
        async with setup.database.write() as connection:
            conversation = await conversations.lock(connection, turn.user_id, turn.conversation_id)
            assert conversation is not None
            await self._change(
                connection,
                status=status,
                usage=used,
                owner=None,
                lease_until=None,
                finished_at=setup.clock(),
                **{key: value for key, value in values.items() if value is not None},
            )
            kept, self._kept = self._kept, []
            if status != "completed":
                await retire(connection, turn, "cancelled")
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
        return await closing_returns(connection, self._turn, [*loaded(rows), *kept], NOT_EXECUTED[status])

    async def let_go(self, used: Used) -> None:
        """This process stops: another one may take the turn over at once."""
        async with self._setup.database.write() as connection:
            await self._change(connection, usage=used, owner=None, lease_until=self._setup.clock())

    async def titled(self, title: str) -> None:
        async with self._setup.database.write() as connection:
            await conversations.change(connection, self._turn.user_id, self._turn.conversation_id, title=title)

    async def without_tool(self, calls: Sequence[ToolCallPart]) -> tuple[list[ModelMessage], list[Approval]]:
        """Calls whose tool a deploy took away or changed: what was approved of them fails.

        Returns what they are answered with (what was executed before keeps its result), and the approvals that failed.
        """
        turn, tools = self._turn, self._setup.registry.tools
        ids = {call.tool_call_id for call in calls}
        async with self._setup.database.write() as connection:
            await turns.fence(connection, turn.id, self._epoch)
            failed: list[Approval] = []
            for one in await approvals.of_turns(connection, turn.user_id, [turn.id]):
                if one.tool_call_id not in ids:
                    continue
                why = NotExecuted.tool_changed(one.tool) if one.tool in tools else NotExecuted.tool_gone(one.tool)
                if await approvals.settle(
                    connection, one.id, expected=("pending", "approved"), status=why.status, outcome=why.as_json()
                ):
                    failed.append(one)
            asked: list[ModelMessage] = [ModelResponse(parts=list(calls))]
            return await closing_returns(connection, turn, asked, GONE), failed

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
