"""What the gate writes down of a call that was carried out: the ledger's entry, and the change with what undoes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from stores import ledger
from stores.approvals import Approval
from stores.changes import RowKey, dump_changes, irreversible
from stores.ledger import Entry, MadeChange
from toolsets.gate.calls import Actor, GateCall, Ran, Symbols
from toolsets.gate.shown import card_as_json


@dataclass(frozen=True, kw_only=True)
class Mark:
    """When it was carried out, and how its change is called."""

    at: datetime
    change_id: str | None
    """None where no row changed."""
    number: int
    approval: Approval | None = None


async def keep(connection: AsyncConnection, actor: Actor, call: GateCall, ran: Ran, mark: Mark) -> None:
    """Entry and change, in the transaction that made them. Raises IntegrityError when the call was executed before."""
    approval_id = mark.approval.id if mark.approval else None
    answer = Answer(result=ran.result, symbols=ran.normal.symbols, approval_id=approval_id)
    await ledger.add(connection, entry_of(actor, call, answer, mark.at))
    if mark.change_id is None:
        return
    made = MadeChange(
        id=mark.change_id,
        user_id=actor.user_id,
        conversation_id=actor.conversation_id,
        number=mark.number,
        turn_id=actor.turn_id,
        tool_call_id=call.id,
        approval_id=approval_id,
        tool=call.spec.name,
        card=mark.approval.card if mark.approval else card_as_json(ran.card, 1),
        rows=dump_changes(ran.changes),
        reversible=not irreversible(ran.changes),
        reverts=None,
        reverted_by=None,
        at=mark.at,
    )
    await ledger.add_change(connection, made)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a call came back with."""

    result: Mapping[str, Any]
    symbols: Symbols = field(default_factory=dict[RowKey, str])
    approval_id: str | None = None


def entry_of(actor: Actor, call: GateCall, answer: Answer, at: datetime) -> Entry:
    return Entry(
        tool_call_id=call.id,
        user_id=actor.user_id,
        conversation_id=actor.conversation_id,
        turn_id=actor.turn_id,
        approval_id=answer.approval_id,
        tool=call.spec.name,
        effect=call.spec.effect.value,
        arguments_hash=call.arguments_hash,
        status="finished",
        result=dict(answer.result),
        symbols=[[table, list(key), symbol] for (table, key), symbol in answer.symbols.items()],
        at=at,
    )
