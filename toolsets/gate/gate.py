"""The gate: around every tool that isn't `read`. Propose by a dry run, execute the approved difference once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import logfire
from sqlalchemy.ext.asyncio import AsyncSession

from stores import ledger
from stores.approvals import Approval
from stores.database import Clock, Database
from toolsets.arguments import as_json
from toolsets.deps import ToolDeps
from toolsets.gate.bench import Allowed, Bench, GateSettings, fence
from toolsets.gate.calls import Actor, Conditions, Draws, GateCall, Proposal, Symbols, with_pack
from toolsets.gate.executing import Approved, execute, execute_state
from toolsets.gate.keeping import Answer, entry_of
from toolsets.gate.outcomes import Done, Executed
from toolsets.gate.proposing import propose
from toolsets.gate.running import within


class Gate:
    """Proposes and executes. Knows approvals, ledger and change sets; no model and no HTTP."""

    def __init__(
        self, database: Database, *, settings: GateSettings, clock: Clock, new_id: Callable[[], str], allowed: Allowed
    ) -> None:
        self.settings = settings
        self._bench = Bench(database=database, settings=settings, clock=clock, new_id=new_id, allowed=allowed)

    async def read(self, actor: Actor, call: GateCall) -> Mapping[str, Any]:
        """Run a read tool on a connection that can't write. Raises what the tool raises, and TimeoutError."""
        bench = self._bench
        arguments = call.spec.arguments.validate_python(dict(call.arguments))
        async with bench.database.read() as connection, AsyncSession(connection, expire_on_commit=False) as session:
            deps = _reading(bench, actor, session, call)
            return as_json(await within(bench.seconds(call), call.spec.declaration.function(deps, **arguments)))

    async def propose(
        self,
        actor: Actor,
        earlier: Sequence[Proposal],
        call: GateCall,
        *,
        skip: frozenset[str] = frozenset(),
        draws: Draws | None = None,
        position: int | None = None,
    ) -> Proposal:
        """Dry-run the call after the step's earlier proposals; everything is rolled back.

        `position` is its place in the step, where it isn't the one right behind `earlier`.

        Raises DomainError (also when nothing would change), TimeoutError, or what the tool raises.
        """
        with logfire.span("proposal {tool}", tool=call.spec.name, tool_call_id=call.id) as span:
            place = len(earlier) if position is None else position
            under = Conditions(draws=draws or self._bench.fresh_draws(), skip=skip, position=place)
            proposal = await propose(self._bench, actor, earlier, call, under)
            span.set_attribute("rows", len(proposal.ran.changes))
            return proposal

    async def execute(
        self, actor: Actor, call: GateCall, approval: Approval, *, position: int, symbols: Symbols
    ) -> Done:
        """Carry out an approved call: the approved difference, once, or nothing.

        Claim, run, compare, ledger and result share one transaction. Raises LeaseLost when another process runs the
        turn; everything else that stops the call is told as NotExecuted, and the approval is settled with it.
        """
        approved = Approved(call=call, approval=approval, position=position, symbols=symbols)
        with logfire.span("execution {tool}", tool=approval.tool, approval_id=approval.id) as span:
            done = await execute(self._bench, actor, approved)
            span.set_attribute("outcome", done.status)
            return done

    async def state(self, actor: Actor, call: GateCall) -> Executed:
        """Run a `state` tool: no approval, but in the ledger and undoable. Raises what the tool raises."""
        return await execute_state(self._bench, actor, call)

    async def keep_read(self, actor: Actor, call: GateCall, result: Mapping[str, Any]) -> None:
        """Keep what a read answered that had to wait for a write: after a crash it must not answer another state."""
        async with self._bench.database.write() as connection:
            await fence(connection, actor)
            await ledger.add(connection, entry_of(actor, call, Answer(result=result), self._bench.clock()))


def _reading(bench: Bench, actor: Actor, session: AsyncSession, call: GateCall) -> ToolDeps:
    deps = ToolDeps(
        user_id=actor.user_id,
        conversation_id=actor.conversation_id,
        session=session,
        clock=bench.clock,
        new_id=lambda purpose: bench.new_id(),
        zone=actor.zone,
        locale=actor.locale,
    )
    return with_pack(deps, call.pack)
