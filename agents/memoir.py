"""What a run starts from: the conversation's window, and all that happened in the turn so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelMessage
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.gated import TurnCalls
from agents.history import calls_in, final_text, loaded, unanswered
from agents.setup import Setup
from agents.wire import locale_of
from stores import approvals, conversations, ledger, messages
from stores.approvals import Approval, Question
from stores.ledger import Entry
from stores.turns import Turn
from toolsets.gate import summary_in
from toolsets.words import Words

UNDONE = Words("本人撤销了：{}", "The person undid: {}")
STANDS = Words(
    "被重新回答的那一轮已经执行，仍然有效：{}", "Done by the answer that is being replaced, and it stands: {}"
)


@dataclass(frozen=True, kw_only=True)
class Memoir:
    window: list[ModelMessage]
    """What the model sees; ends with the turn's own messages."""
    own: list[ModelMessage]
    approvals: list[Approval]
    questions: list[Question]
    ledger: dict[str, Entry]
    notes: list[str]
    """What the model has to know that isn't in its history."""
    needs_title: bool
    tool_names: frozenset[str]
    """The tools that the turn was given."""

    @property
    def first(self) -> bool:
        """Nothing but the person's message is there."""
        return len(self.own) == 1

    @property
    def resumed(self) -> bool:
        return bool(unanswered(self.own))

    @property
    def settled(self) -> list[Approval]:
        """Approvals that came to an end while the turn waited; their calls haven't been told yet."""
        waiting = {call.tool_call_id for call in unanswered(self.own)}
        return [
            one for one in self.approvals if one.tool_call_id in waiting and one.status not in ("pending", "approved")
        ]

    @property
    def answered(self) -> list[Question]:
        """Questions that were answered while the turn waited."""
        waiting = {call.tool_call_id for call in unanswered(self.own)}
        return [one for one in self.questions if one.tool_call_id in waiting and one.status == "answered"]

    @property
    def finished(self) -> bool:
        """The last answer is stored; only the turn wasn't settled."""
        return final_text(self.own) is not None

    @property
    def announced(self) -> Mapping[str, Mapping[str, Any] | None]:
        """Calls that readers know, with their arguments where the person changed them."""
        edited = {one.tool_call_id: one.arguments for one in self.approvals if one.versions}
        return {call.tool_call_id: edited.get(call.tool_call_id) for call in calls_in(self.own)}

    def calls(self, limit: int) -> TurnCalls:
        """The turn's calls for the next run, of which there may be `limit` in all."""
        return TurnCalls(
            approvals={one.tool_call_id: one for one in self.approvals},
            ledger=self.ledger,
            known={call.tool_call_id for call in calls_in(self.own)},
            waiting={call.tool_call_id for call in unanswered(self.own)},
            limit=limit,
            charged=len(calls_in(self.own)),
        )


async def read_memoir(setup: Setup, turn: Turn) -> Memoir:
    """In one reading transaction. Raises NewerHistory."""
    async with setup.database.read() as connection:
        conversation = await conversations.get(connection, turn.user_id, turn.conversation_id)
        assert conversation is not None
        rows = await messages.window(connection, turn.user_id, turn.conversation_id, conversation.window_from_seq)
        asked = await approvals.of_turns(connection, turn.user_id, [turn.id])
        questions = await approvals.questions_of(connection, turn.user_id, [turn.id])
        entries = await ledger.of_turn(connection, turn.user_id, turn.id)
        notes = await _notes(connection, turn)
    own_rows = [row for row in rows if row.turn_id == turn.id]
    return Memoir(
        window=loaded(rows),
        own=loaded(own_rows),
        approvals=asked,
        questions=questions,
        ledger=entries,
        notes=notes,
        needs_title=conversation.title is None,
        tool_names=frozenset(turn.tools["schemas"] if turn.tools else ()),
    )


async def _notes(connection: AsyncConnection, turn: Turn) -> list[str]:
    locale = locale_of(turn)
    undone = await ledger.reverts_before(connection, turn.user_id, turn.conversation_id, turn.number)
    notes = [UNDONE.said(locale).format(summary_in(one.card, locale)) for one in undone]
    if turn.trigger == "regenerate-message":
        stands = await ledger.of_replaced(connection, turn.user_id, turn.conversation_id, turn.id)
        notes += [STANDS.said(locale).format(summary_in(one.card, locale)) for one in stands]
    return notes
