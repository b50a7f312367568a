"""Decisions: what a person says to approvals, and the turn that goes on by it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import logfire
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.authority import may_still
from agents.closing import close_waiting
from agents.errors import ApprovalSettled, Forbidden, Invalid, NotFound, VersionConflict
from agents.requests import Decision, Door, Person
from agents.revising import Revised, asks_the_same, revise
from agents.setup import Setup
from stores import approvals, conversations, turns
from stores.approvals import Approval
from stores.turns import Turn
from toolsets.gate import sealed
from toolsets.words import Words

TWO_DECISIONS = Words("对同一项有两个不同的决定", "decide the same approval in two ways")
NOT_AS_SHOWN = Words("保存的内容和显示过的不一致", "names what isn't stored as it was shown")
NO_OPTION = Words("不是可选的回答", "is none of the options")
ALONG = "It builds on {}, which was denied."


@dataclass(frozen=True, kw_only=True)
class Vote:
    decision: Decision
    door: Door


async def decide(
    setup: Setup, person: Person, decisions: Sequence[Decision], door: Door
) -> tuple[list[Approval], list[Turn]]:
    """Take the decisions: all of them or none. Returns the approvals, and the turns that go on now (to be launched).

    Raises NotFound, Forbidden, ApprovalSettled, VersionConflict, Invalid.
    """
    chosen = _without_repeats(decisions)
    found = [await _found(setup, person, one) for one in chosen]
    revised = [await revise(setup, person, approval, one) for approval, one in zip(found, chosen, strict=True)]
    places = sorted({approval.conversation_id for approval in found})
    going: list[Turn] = []
    async with setup.database.write() as connection:
        for conversation_id in places:
            await conversations.lock(connection, person.user_id, conversation_id)
        expired = [one for one in found if await _past(connection, setup, one)]
        for approval, one, changed in zip(found, chosen, revised, strict=True):
            if expired:
                break
            if changed is not None:
                await _store(connection, approval, changed)
                if changed.only:
                    continue
            version = changed.approval.version if changed else one.expected_version
            await vote(connection, setup, person, Vote(decision=one, door=door), version=version)
        if not expired:
            for turn_id in sorted({approval.turn_id for approval in found}):
                turn = await turns.get(connection, person.user_id, turn_id)
                if turn and turn.status == "waiting" and (moved := await go_on(connection, setup, turn)):
                    going.append(moved)
    if expired:
        await expire(setup, person.user_id, expired[0].turn_id)
        raise ApprovalSettled("expired")
    async with setup.database.read() as connection:
        now = [await approvals.get(connection, person.user_id, one.id) for one in found]
    return [one for one in now if one is not None], going


def _without_repeats(decisions: Sequence[Decision]) -> list[Decision]:
    """The same decision twice counts once. Raises Invalid for two different ones on one approval."""
    by_id: dict[str, Decision] = {}
    for one in decisions:
        if by_id.setdefault(one.approval_id, one) != one:
            raise Invalid([{"field": "decisions", "message": TWO_DECISIONS}])
    return list(by_id.values())


async def _found(setup: Setup, person: Person, decision: Decision) -> Approval:
    async with setup.database.read() as connection:
        approval = await approvals.get(connection, person.user_id, decision.approval_id)
        if approval is None:
            raise NotFound
        if not await may_still(connection, person, approval.conversation_id):
            raise Forbidden
    return approval


async def vote(connection: AsyncConnection, setup: Setup, person: Person, said: Vote, *, version: int | None) -> None:
    """Settle one pending approval, if it is at `version`. The caller holds the conversation's lock.

    Raises ApprovalSettled, VersionConflict, Invalid.
    """
    decision = said.decision
    approval = await approvals.get(connection, person.user_id, decision.approval_id)
    if approval is None:
        raise NotFound
    with logfire.span(
        "decision", approval_id=approval.id, decision=decision.decision, door=said.door, turn_id=approval.turn_id
    ):
        if _same_vote(setup, approval, person, decision):
            return
        if approval.status != "pending":
            raise ApprovalSettled(approval.status)
        if version is not None and approval.version != version:
            raise VersionConflict(approval.version)
        if decision.decision == "approve" and not sealed(approval, setup.gate.settings.seal_key):
            raise Invalid([{"field": "approval_id", "message": NOT_AS_SHOWN}])
        status = "approved" if decision.decision == "approve" else "denied"
        record = _record(setup, person, said)
        await approvals.settle(connection, approval.id, expected=("pending",), status=status, decision=record)
        if status == "denied":
            await _deny_along(connection, approval, record)


def _same_vote(setup: Setup, approval: Approval, person: Person, decision: Decision) -> bool:
    """Whether the same user said the same before: then it is no late decision, whatever the version."""
    record: Mapping[str, Any] = approval.decision or {}
    return (
        record.get("decision") == decision.decision
        and record.get("by") == person.user_id
        and approval.status in ("approved", "executing", "executed", "denied", "stale", "failed", "unknown")
        and asks_the_same(setup, approval, decision)
    )


def _record(setup: Setup, person: Person, said: Vote) -> dict[str, Any]:
    return {
        "decision": said.decision.decision,
        "by": person.user_id,
        "at": setup.clock().isoformat(),
        "door": said.door,
        "reason": said.decision.reason,
        "skip": list(said.decision.skip),
    }


async def _deny_along(connection: AsyncConnection, denied: Approval, record: Mapping[str, Any]) -> None:
    """What builds on a denied call can't happen either."""
    siblings = await approvals.of_turns(connection, denied.user_id, [denied.turn_id])
    gone = {denied.id}
    for one in siblings:
        if one.id not in gone and gone & set(one.depends_on or ()):
            along = {**record, "reason": ALONG.format(denied.short_name)}
            if await approvals.settle(
                connection, one.id, expected=("pending", "approved"), status="denied", decision=along
            ):
                gone.add(one.id)


async def _store(connection: AsyncConnection, seen: Approval, revised: Revised) -> None:
    """The new version of an approval and of the siblings that it moved. Raises what a late decision gets."""
    for one, before in revised.rows:
        values = {
            name: getattr(one, name)  # field names are column names
            for name in (
                "version",
                "status",
                "arguments",
                "arguments_hash",
                "changes",
                "normal_form",
                "change_digest",
                "seal",
                "card",
                "draws",
                "depends_on",
                "skip",
                "decision",
                "outcome",
                "versions",
                "reversible",
            )
        }
        if not await approvals.settle(
            connection, one.id, expected=("pending", "approved"), at_version=before.version, **values
        ):
            now = await approvals.get(connection, seen.user_id, one.id)
            assert now is not None
            if now.status in ("pending", "approved"):
                raise VersionConflict(now.version)
            raise ApprovalSettled(now.status)


async def _past(connection: AsyncConnection, setup: Setup, seen: Approval) -> bool:
    approval = await approvals.get(connection, seen.user_id, seen.id)
    return approval is not None and approval.status == "pending" and approval.expires_at <= setup.clock()


async def pending_in(connection: AsyncConnection, turn: Turn, now: datetime) -> list[Approval]:
    """The approvals of a turn that can still be decided."""
    found = await approvals.of_turns(connection, turn.user_id, [turn.id])
    return [one for one in found if one.status == "pending" and one.expires_at > now]


async def go_on(connection: AsyncConnection, setup: Setup, turn: Turn) -> Turn | None:
    """Take a waiting turn over if nothing in it waits any more; None while something does.

    The caller holds the conversation's lock.
    """
    now = setup.clock()
    found = await approvals.of_turns(connection, turn.user_id, [turn.id])
    questions = await approvals.questions_of(connection, turn.user_id, [turn.id])
    if any(one.status == "pending" for one in found) or any(one.status == "waiting" for one in questions):
        await turns.change(connection, turn.id, turn.epoch, decided_at=now)
        return None
    lease = setup.database.now(setup.limits.lease_s)
    await turns.take_over(connection, turn, owner=setup.owner, lease_until=lease, decided_at=now, delivered_at=None)
    return await turns.get(connection, turn.user_id, turn.id)


async def answer(setup: Setup, person: Person, question_id: str, text: str) -> tuple[Turn, bool]:
    """Answer a question. Returns its turn, and whether it goes on now (to be launched).

    Raises NotFound, ApprovalSettled (the question was settled before), Invalid.
    """
    async with setup.database.read() as connection:
        question = await approvals.get_question(connection, person.user_id, question_id)
    if question is None:
        raise NotFound
    if not question.allow_free_text and text not in (question.options or []):
        raise Invalid([{"field": "option", "message": NO_OPTION}])
    async with setup.database.write() as connection:
        await conversations.lock(connection, person.user_id, question.conversation_id)
        values = {"status": "answered", "answer": text, "answered_at": setup.clock()}
        if not await approvals.settle_question(connection, question_id, **values):
            now = await approvals.get_question(connection, person.user_id, question_id)
            raise ApprovalSettled(now.status if now else "cancelled")
        turn = await turns.get(connection, person.user_id, question.turn_id)
        assert turn is not None
        moved = await go_on(connection, setup, turn)
    return moved or turn, moved is not None


async def expire(setup: Setup, user_id: str, turn_id: str) -> Turn | None:
    """Let what is past its time in a turn expire. Returns the turn if it goes on now (to be launched).

    Approved ones run and the turn goes on as after a denial; if none was approved it closes without the model.
    """
    async with setup.database.write() as connection:
        turn = await turns.get(connection, user_id, turn_id)
        if turn is None:
            return None
        await conversations.lock(connection, user_id, turn.conversation_id)
        turn = await turns.get(connection, user_id, turn_id)
        if turn is None or turn.status != "waiting":
            return None
        past = approvals.TABLE.c.expires_at <= setup.clock()
        for one in await approvals.of_turns(connection, user_id, [turn_id]):
            await approvals.settle(connection, one.id, expected=("pending",), in_time=past, status="expired")
        found = await approvals.of_turns(connection, user_id, [turn_id])
        questions = await approvals.questions_of(connection, user_id, [turn_id])
        if any(one.status == "pending" for one in found) or any(one.status == "waiting" for one in questions):
            return None
        if any(one.status == "approved" for one in found) or questions:
            return await go_on(connection, setup, turn)
        await close_waiting(connection, setup, turn, "completed", why="expired")
        return None
