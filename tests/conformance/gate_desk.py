"""A gate with one user, one conversation and one running turn, and the way of a call through it by hand."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import MetaData
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from stores import approvals, conversations, turns
from stores.approvals import Approval
from stores.changes import dump_changes, irreversible
from stores.conversations import Conversation
from stores.database import Database
from stores.tables import Base
from stores.turns import Turn
from toolsets.gate import Actor, Done, Gate, GateCall, GateSettings, Proposal, card_as_json, seal_of
from toolsets.pack import DemoInput, Pack
from toolsets.registry import Registry

NOW = datetime(2026, 12, 8, 6, 31, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Shanghai")
ACTOR = Actor(user_id="ann", conversation_id="c", turn_id="t", epoch=1, zone=ZONE, locale="en")


async def everybody(_connection: AsyncConnection, _actor: Actor) -> bool:
    return True


@dataclass
class GateDesk:
    """Proposes, approves and executes for Ann."""

    database: Database
    registry: Registry
    settings: GateSettings = field(default_factory=lambda: GateSettings(tool_s=5))
    actor: Actor = ACTOR

    def __post_init__(self) -> None:
        numbers = itertools.count(1)
        self.gate = Gate(
            self.database,
            settings=self.settings,
            clock=lambda: NOW,
            new_id=lambda: f"id-{next(numbers)}",
            allowed=everybody,
        )

    async def open(self, *packs: Pack) -> None:
        """Conversation and turn; demo data of the packs."""
        async with self.database.write(user_id=self.actor.user_id) as connection:
            await conversations.add(connection, CONVERSATION)
            await turns.add(connection, TURN)
            async with AsyncSession(connection) as session:
                for number, pack in enumerate(packs):
                    ids = (f"demo-{number}-{one}" for one in itertools.count(1))
                    given = DemoInput(user_id="ann", now=NOW, zone=ZONE, new_id=ids.__next__, locale="en")
                    if pack.demo is not None:
                        await pack.demo(session, given)
                await session.flush()

    async def another_conversation(self, name: str) -> Actor:
        """Ann in a turn of another conversation."""
        async with self.database.write() as connection:
            await conversations.add(connection, replace(CONVERSATION, id=name))
            await turns.add(connection, replace(TURN, id=f"turn-{name}", conversation_id=name))
        return replace(self.actor, conversation_id=name, turn_id=f"turn-{name}")

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, *, id: str = "call") -> GateCall:
        spec = self.registry.tools[tool]
        normalized = spec.arguments.normalized(dict(arguments or {}))
        return GateCall(id=id, spec=spec, pack=self.registry.packs[spec.pack], arguments=normalized)

    async def approved(self, proposal: Proposal, *, actor: Actor | None = None) -> Approval:
        """The proposal as a row that the person said yes to."""
        call = proposal.call
        conversation_id, turn_id = (actor or self.actor).conversation_id, (actor or self.actor).turn_id
        assert conversation_id is not None
        assert turn_id is not None
        unsealed = Approval(
            id=f"approval-{call.id}",
            user_id=self.actor.user_id,
            conversation_id=conversation_id,
            turn_id=turn_id,
            tool_call_id=call.id,
            position=0,
            version=1,
            status="approved",
            origin="model",
            short_name="A1",
            tool=call.spec.name,
            schema_hash=call.spec.schema_hash,
            effect=call.spec.effect.value,
            always_confirm=False,
            reversible=not irreversible(proposal.ran.changes),
            arguments=dict(call.arguments),
            arguments_hash=call.arguments_hash,
            changes=dump_changes(proposal.ran.changes),
            normal_form=proposal.ran.normal.text,
            change_digest=proposal.ran.normal.digest,
            seal="",
            card=card_as_json(proposal.ran.card, 1),
            draws=proposal.draws.as_json(0),
            depends_on=[],
            skip=None,
            decision=None,
            outcome=None,
            versions=None,
            claims=None,
            traceparent=None,
            created_at=NOW,
            expires_at=NOW + timedelta(minutes=15),
        )
        approval = replace(unsealed, seal=seal_of(unsealed, self.settings.seal_key))
        async with self.database.write() as connection:
            await approvals.add(connection, [approval])
        return approval

    async def execute(self, call: GateCall, approval: Approval, *, actor: Actor | None = None) -> Done:
        return await self.gate.execute(actor or self.actor, call, approval, position=0, symbols={})

    async def approval(self, approval: Approval) -> Approval:
        """As it is stored now."""
        async with self.database.read() as connection:
            found = await approvals.get(connection, approval.user_id, approval.id)
        assert found is not None
        return found


async def dump(database: Database, metadata: MetaData = Base.metadata) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    async with database.read() as connection:
        return {
            table.name: sorted([repr(tuple(row)) for row in await connection.execute(table.select())])
            for table in metadata.sorted_tables
        }


CONVERSATION = Conversation(
    user_id="ann",
    id="c",
    assistant="scheduling",
    title=None,
    archived=False,
    next_seq=1,
    window_from_seq=0,
    approvals_made=0,
    undo_asked=None,
    created_at=NOW,
    updated_at=NOW,
)
TURN = Turn(
    id="t",
    user_id="ann",
    conversation_id="c",
    number=1,
    kind="agent",
    status="running",
    partial=False,
    epoch=1,
    owner="here",
    lease_until=NOW + timedelta(hours=1),
    cancel_requested_at=None,
    idempotency_key="submit-message:m",
    attempt=1,
    body_hash="",
    trigger="submit-message",
    message_id="m",
    message_text="do it",
    assistant_message_id="am",
    assistant="scheduling",
    locale="en",
    zone="Asia/Shanghai",
    claims=None,
    context={},
    toolsets=[],
    tools=None,
    live_views=[],
    reply=None,
    usage=None,
    error_code=None,
    error_reference=None,
    replaced_by=None,
    traceparent=None,
    created_at=NOW,
    decided_at=None,
    delivered_at=None,
    finished_at=None,
)
