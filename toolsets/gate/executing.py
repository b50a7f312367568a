"""Executing: the approved difference, once, or nothing."""

import logging
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from stores import approvals, ledger, turns
from stores.approvals import Approval
from stores.changes import Difference, differences, load_changes
from stores.errors import LeaseLost
from toolsets.errors import DomainError
from toolsets.gate.bench import Bench, begin, fence, retried
from toolsets.gate.calls import Actor, Conditions, Draws, GateCall, Ran, Symbols
from toolsets.gate.keeping import Mark, keep
from toolsets.gate.outcomes import Done, Executed, LedgerMismatch, Moved, NotExecuted
from toolsets.gate.seal import sealed

log = logging.getLogger("placet.gate")


@dataclass(frozen=True, kw_only=True)
class Approved:
    """A call that a person said yes to, and where it stands in its step."""

    call: GateCall
    approval: Approval
    """As it was read before the transaction; read again, and bound, within it."""
    position: int
    symbols: Symbols


class _OtherDifference(Exception):
    """Rolls the transaction back: the difference would not be the approved one."""

    def __init__(self, moved: tuple[Difference, ...], why: DomainError | None = None) -> None:
        super().__init__()
        self.moved = moved
        self.why = why


async def execute(bench: Bench, actor: Actor, approved: Approved) -> Done:
    """See `Gate.execute`."""
    try:
        return await retried(lambda: _execute_once(bench, actor, approved))
    except _OtherDifference as signal:
        return await _settle(bench, actor, approved.approval, Moved(moved=signal.moved, why=signal.why))
    except TimeoutError:
        return await _settle(bench, actor, approved.approval, NotExecuted.timed_out())
    except NotExecuted as refusal:
        return await _settle(bench, actor, approved.approval, refusal)
    except (LeaseLost, LedgerMismatch):
        raise
    except Exception as error:  # noqa: BLE001 - L1 (DESIGN.md §6): whatever a pack raises ends its call, not the run
        return await _broken(bench, actor, approved, error)


async def _execute_once(bench: Bench, actor: Actor, approved: Approved) -> Executed:
    call, approval = approved.call, approved.approval
    async with bench.database.write(user_id=actor.user_id) as connection:
        number = await begin(connection, actor)
        if entry := await ledger.get(connection, actor.user_id, call.id):
            return Executed.again(entry, call)
        await _claim(bench, connection, actor, approved)
        ran = await _run_approved(bench, connection, actor, approved)
        change_id = bench.new_id()
        mark = Mark(at=bench.clock(), change_id=change_id, number=number, approval=approval)
        await keep(connection, actor, call, ran, mark)
        await approvals.settle(
            connection, approval.id, expected=("executing",), status="executed", outcome={"change_id": change_id}
        )
    return Executed(result=ran.result, change_id=change_id, symbols=ran.normal.symbols)


async def _run_approved(bench: Bench, connection: AsyncConnection, actor: Actor, approved: Approved) -> Ran:
    approval = approved.approval
    under = Conditions(
        draws=Draws.stored(approval.draws, bench.new_id),
        symbols=approved.symbols,
        position=approved.position,
        skip=frozenset(approval.skip or ()),
    )
    try:
        ran = await bench.run(connection, actor, approved.call, under)
    except DomainError as why:
        raise _OtherDifference((), why) from why
    if ran.normal.digest != approval.change_digest:
        raise _OtherDifference(differences(load_changes(approval.changes), ran.changes))
    return ran


async def _claim(bench: Bench, connection: AsyncConnection, actor: Actor, approved: Approved) -> None:
    """Compare-and-set to `executing`. Raises NotExecuted when the approval doesn't (or no longer) bind this call."""
    call, settings = approved.call, bench.settings
    now = await approvals.get(connection, actor.user_id, approved.approval.id)
    if now is None or now.status != "approved" or now.version != approved.approval.version:
        raise NotExecuted.settled(now.status if now else "cancelled")
    if not sealed(now, settings.seal_key) or now.arguments_hash != call.arguments_hash:
        raise NotExecuted.tampered()
    if now.schema_hash != call.spec.schema_hash:
        raise NotExecuted.tool_changed(call.spec.name)
    if not await bench.allowed(connection, actor):
        raise NotExecuted.not_allowed()
    turn = await turns.get(connection, actor.user_id, now.turn_id)
    if turn and turn.decided_at and (bench.clock() - turn.decided_at).total_seconds() > settings.execute_ttl_s:
        raise NotExecuted.expired()
    await approvals.settle(connection, now.id, expected=("approved",), status="executing")


async def _settle(bench: Bench, actor: Actor, approval: Approval, refusal: NotExecuted) -> NotExecuted:
    """Write down why an approved call did not happen. A crash before it leaves `approved`: tried again."""
    async with bench.database.write() as connection:
        await fence(connection, actor)
        await approvals.settle(
            connection, approval.id, expected=("approved",), status=refusal.status, outcome=refusal.as_json()
        )
    return refusal


async def _broken(bench: Bench, actor: Actor, approved: Approved, error: Exception) -> Done:
    """The end of a call that broke off. If only the news of its commit was lost, it was executed."""
    async with bench.database.read() as connection:
        entry = await ledger.get(connection, actor.user_id, approved.call.id)
    if entry is not None:
        return Executed.again(entry, approved.call)
    reference = bench.new_id()
    log.error("tool %s failed, reference %s", approved.call.spec.name, reference, exc_info=error)
    return await _settle(bench, actor, approved.approval, NotExecuted.broke(reference))


async def execute_state(bench: Bench, actor: Actor, call: GateCall) -> Executed:
    """See `Gate.state`."""
    return await retried(lambda: _state_once(bench, actor, call))


async def _state_once(bench: Bench, actor: Actor, call: GateCall) -> Executed:
    async with bench.database.write(user_id=actor.user_id) as connection:
        number = await begin(connection, actor)
        if entry := await ledger.get(connection, actor.user_id, call.id):
            return Executed.again(entry, call)
        ran = await bench.run(connection, actor, call, Conditions(draws=bench.fresh_draws()))
        change_id = bench.new_id() if ran.changes else None
        await keep(connection, actor, call, ran, Mark(at=bench.clock(), change_id=change_id, number=number))
    return Executed(result=ran.result, change_id=change_id, symbols=ran.normal.symbols)
