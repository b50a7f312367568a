"""What a step asks of the person, as the rows that wait."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from agents.setup import Setup
from stores.approvals import Approval, Question
from stores.changes import dump_changes, irreversible
from stores.shapes import StoredCard
from stores.turns import Turn
from toolsets.gate import Proposal, card_as_json, seal_of
from toolsets.toolset import Ask


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an approval stands: in its turn, in its step, in the conversation."""

    id: str
    position: int
    in_step: int
    short_name: str
    card: StoredCard
    depends_on: list[str]


def approvals_of(setup: Setup, turn: Turn, proposals: Sequence[Proposal], *, made: int, earlier: int) -> list[Approval]:
    """A step's proposals, sealed. `made`: approvals of the conversation so far; `earlier`: those of the turn."""
    ids = {one.call.id: setup.new_id() for one in proposals}
    number = 1
    found: list[Approval] = []
    for index, one in enumerate(proposals):
        card = card_as_json(one.ran.card, number)
        number += len(card["rows"])
        place = Place(
            id=ids[one.call.id],
            position=earlier + index,
            in_step=index,
            short_name=f"A{made + index + 1}",
            card=card,
            depends_on=[ids[call_id] for call_id in one.depends_on],
        )
        found.append(_approval(setup, turn, one, place))
    return found


def _approval(setup: Setup, turn: Turn, proposal: Proposal, place: Place) -> Approval:
    call, now = proposal.call, setup.clock()
    unsealed = Approval(
        id=place.id,
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        tool_call_id=call.id,
        position=place.position,
        version=1,
        status="pending",
        origin="model",
        short_name=place.short_name,
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
        card=place.card,
        draws=proposal.draws.as_json(place.in_step),
        depends_on=place.depends_on,
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
    """The approval with the seal that its content asks for."""
    return replace(approval, seal=seal_of(approval, setup.gate.settings.seal_key))


def question_of(setup: Setup, turn: Turn, call_id: str, asked: Ask) -> Question:
    return Question(
        id=setup.new_id(),
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        tool_call_id=call_id,
        status="waiting",
        question=asked.question,
        options=list(asked.options),
        allow_free_text=asked.allow_free_text,
        secret=False,
        answer=None,
        created_at=setup.clock(),
        answered_at=None,
    )
