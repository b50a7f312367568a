"""The gate: around every tool that isn't `read`. Propose by a dry run, execute the approved difference once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import logfire
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm.exc import StaleDataError

from stores import approvals, conversations, ledger, turns
from stores.approvals import Approval
from stores.changes import Difference, RowKey, differences, dump_changes, irreversible, is_retryable, load_changes
from stores.database import Clock, Database
from stores.ledger import Entry, MadeChange
from toolsets.arguments import as_json
from toolsets.deps import ToolDeps
from toolsets.errors import DomainError
from toolsets.gate.calls import Actor, Draws, GateCall, Proposal, Ran, with_pack
from toolsets.gate.outcomes import Done, Executed, Moved, NotExecuted
from toolsets.gate.running import run_recorded, within
from toolsets.gate.seal import sealed
from toolsets.gate.shown import card_as_json
from toolsets.words import Words

T = TypeVar("T")

TRIES = 4
"""How often a transaction is begun again after a lock, a deadlock or a version clash."""

NOTHING_CHANGES = Words("这样做不会有任何改动。", "Nothing would change.")

Allowed = Callable[[AsyncConnection, Actor], Awaitable[bool]]
"""Whether the person may still do this: the user's row now, and the claims stored with the approval."""


@dataclass(frozen=True, kw_only=True)
class GateSettings:
    tool_s: float = 30
    """Seconds that a tool may run."""
    execute_ttl_s: float = 900
    """Seconds from the turn's last decision within which an approved call must start."""
    propose_lock_ms: int = 400
    seal_key: bytes = b"placet"
    secret_key: bytes = b""


class _Moved(Exception):
    def __init__(self, moved: tuple[Difference, ...], why: DomainError | None = None) -> None:
        super().__init__()
        self.moved = moved
        self.why = why


class Gate:
    """Proposes and executes. Knows approvals, ledger and change sets; no model and no HTTP."""

    def __init__(
        self, database: Database, *, settings: GateSettings, clock: Clock, new_id: Callable[[], str], allowed: Allowed
    ) -> None:
        self.database = database
        self.settings = settings
        self.clock = clock
        self.new_id = new_id
        self._allowed = allowed

    async def read(self, actor: Actor, call: GateCall) -> Mapping[str, Any]:
        """Run a read tool on a connection that can't write. Raises what the tool raises, and TimeoutError."""
        arguments = call.spec.arguments.validate_python(dict(call.arguments))
        async with self.database.read() as connection, AsyncSession(connection, expire_on_commit=False) as session:
            deps = self._reading(actor, session, call)
            return as_json(await within(self._seconds(call), call.spec.declaration.function(deps, **arguments)))

    async def propose(
        self,
        actor: Actor,
        earlier: Sequence[Proposal],
        call: GateCall,
        *,
        skip: frozenset[str] = frozenset(),
        draws: Draws | None = None,
    ) -> Proposal:
        """Dry-run the call after the step's earlier proposals; everything is rolled back.

        Raises DomainError (also when nothing would change), TimeoutError, or what the tool raises.
        """
        with logfire.span("proposal {tool}", tool=call.spec.name, tool_call_id=call.id) as span:
            ran, drawn = await self._retried(lambda: self._dry_run(actor, earlier, call, skip, draws))
            span.set_attribute("rows", len(ran.changes))
        if not ran.changes:
            raise DomainError("nothing_changes", NOTHING_CHANGES)
        return Proposal(call=call, draws=drawn, ran=ran, depends_on=_built_on(earlier, ran), skip=skip)

    async def _dry_run(
        self, actor: Actor, earlier: Sequence[Proposal], call: GateCall, skip: frozenset[str], draws: Draws | None
    ) -> tuple[Ran, Draws]:
        wait = self.settings.propose_lock_ms
        async with self.database.dry_run(user_id=actor.user_id, lock_timeout_ms=wait) as connection:
            symbols: dict[RowKey, str] = {}
            for position, one in enumerate(earlier):
                ran = await self._run(connection, actor, one.call, one.draws.again(), symbols, position, one.skip)
                symbols |= ran.normal.symbols
            fresh = draws.again() if draws else Draws(self.clock(), {}, self.new_id)
            return await self._run(connection, actor, call, fresh, symbols, len(earlier), skip), fresh

    async def _run(
        self,
        connection: AsyncConnection,
        actor: Actor,
        call: GateCall,
        draws: Draws,
        symbols: Mapping[RowKey, str],
        position: int,
        skip: frozenset[str],
    ) -> Ran:
        running = run_recorded(
            connection,
            actor,
            call,
            draws,
            symbols=symbols,
            position=position,
            skip=skip,
            secret_key=self.settings.secret_key,
        )
        return await within(self._seconds(call), running, connection)

    async def execute(
        self, actor: Actor, call: GateCall, approval: Approval, *, position: int, symbols: Mapping[RowKey, str]
    ) -> Done:
        """Carry out an approved call: the approved difference, once, or nothing.

        Claim, run, compare, ledger and result share one transaction. Raises LeaseLost when another process runs the
        turn; everything else that stops the call is told as NotExecuted, and the approval is settled with it.
        """
        with logfire.span("execution {tool}", tool=approval.tool, approval_id=approval.id) as span:
            done = await self._execute(actor, call, approval, position, symbols)
            span.set_attribute("outcome", done.status)
            return done

    async def _execute(
        self, actor: Actor, call: GateCall, approval: Approval, position: int, symbols: Mapping[RowKey, str]
    ) -> Done:
        try:
            return await self._retried(lambda: self._execute_once(actor, call, approval, position, symbols))
        except _Moved as signal:
            return await self._settle(actor, approval, Moved(moved=signal.moved, why=signal.why))
        except TimeoutError:
            return await self._settle(actor, approval, NotExecuted.timed_out())
        except NotExecuted as refusal:
            return await self._settle(actor, approval, refusal)

    async def _execute_once(
        self, actor: Actor, call: GateCall, approval: Approval, position: int, symbols: Mapping[RowKey, str]
    ) -> Executed:
        async with self.database.write(user_id=actor.user_id) as connection:
            number = await self._begin(connection, actor)
            if entry := await ledger.get(connection, actor.user_id, call.id):
                return Executed.again(entry, call)
            await self._claim(connection, actor, call, approval)
            ran = await self._run_approved(connection, actor, call, approval, position, symbols)
            change_id = self.new_id()
            await self._record(connection, actor, call, ran, approval=approval, number=number, change_id=change_id)
            await approvals.settle(
                connection, approval.id, expected=("executing",), status="executed", outcome={"change_id": change_id}
            )
        return Executed(result=ran.result, change_id=change_id, symbols=ran.normal.symbols)

    async def _run_approved(
        self,
        connection: AsyncConnection,
        actor: Actor,
        call: GateCall,
        approval: Approval,
        position: int,
        symbols: Mapping[RowKey, str],
    ) -> Ran:
        draws = Draws.stored(approval.draws, self.new_id)
        try:
            ran = await self._run(connection, actor, call, draws, symbols, position, frozenset(approval.skip or ()))
        except DomainError as why:
            raise _Moved((), why) from why
        if ran.normal.digest != approval.change_digest:
            raise _Moved(differences(load_changes(approval.changes), ran.changes))
        return ran

    async def _claim(self, connection: AsyncConnection, actor: Actor, call: GateCall, approval: Approval) -> None:
        """Compare-and-set to `executing`. Raises NotExecuted when the approval doesn't (or no longer) bind this call."""
        now = await approvals.get(connection, actor.user_id, approval.id)
        if now is None or now.status != "approved" or now.version != approval.version:
            raise NotExecuted.settled(now.status if now else "cancelled")
        if not sealed(now, self.settings.seal_key) or now.arguments_hash != call.arguments_hash:
            raise NotExecuted.tampered()
        if now.schema_hash != call.spec.schema_hash:
            raise NotExecuted.tool_changed(call.spec.name)
        if not await self._allowed(connection, actor):
            raise NotExecuted.not_allowed()
        turn = await turns.get(connection, actor.user_id, now.turn_id)
        if turn and turn.decided_at and (self.clock() - turn.decided_at).total_seconds() > self.settings.execute_ttl_s:
            raise NotExecuted.expired()
        await approvals.settle(connection, approval.id, expected=("approved",), status="executing")

    async def state(self, actor: Actor, call: GateCall) -> Executed:
        """Run a `state` tool: no approval, but in the ledger and undoable. Raises what the tool raises."""
        return await self._retried(lambda: self._state_once(actor, call))

    async def _state_once(self, actor: Actor, call: GateCall) -> Executed:
        async with self.database.write(user_id=actor.user_id) as connection:
            number = await self._begin(connection, actor)
            if entry := await ledger.get(connection, actor.user_id, call.id):
                return Executed.again(entry, call)
            draws = Draws(self.clock(), {}, self.new_id)
            ran = await self._run(connection, actor, call, draws, {}, 0, frozenset())
            change_id = self.new_id() if ran.changes else None
            await self._record(connection, actor, call, ran, approval=None, number=number, change_id=change_id)
        return Executed(result=ran.result, change_id=change_id, symbols=ran.normal.symbols)

    async def keep_read(self, actor: Actor, call: GateCall, result: Mapping[str, Any]) -> None:
        """Keep what a read answered that had to wait for a write: after a crash it must not answer another state."""
        async with self.database.write() as connection:
            if actor.turn_id:
                await turns.fence(connection, actor.turn_id, actor.epoch)
            await ledger.add(connection, self._entry(actor, call, result, None, {}))

    async def _begin(self, connection: AsyncConnection, actor: Actor) -> int:
        """Conversation, then turn (DESIGN.md §3, lock order); returns a number for a change."""
        if actor.conversation_id is None:
            return 0
        await conversations.lock(connection, actor.user_id, actor.conversation_id)
        if actor.turn_id:
            await turns.fence(connection, actor.turn_id, actor.epoch)
        return await conversations.draw_numbers(connection, actor.user_id, actor.conversation_id, 1)

    async def _record(
        self,
        connection: AsyncConnection,
        actor: Actor,
        call: GateCall,
        ran: Ran,
        *,
        approval: Approval | None,
        number: int,
        change_id: str | None,
    ) -> None:
        entry = self._entry(actor, call, ran.result, approval.id if approval else None, ran.normal.symbols)
        await ledger.add(connection, entry)
        if change_id is None:
            return
        made = MadeChange(
            id=change_id,
            user_id=actor.user_id,
            conversation_id=actor.conversation_id,
            number=number,
            turn_id=actor.turn_id,
            tool_call_id=call.id,
            approval_id=approval.id if approval else None,
            tool=call.spec.name,
            card=approval.card if approval else card_as_json(ran.card, 1),
            rows=dump_changes(ran.changes),
            reversible=not irreversible(ran.changes),
            reverts=None,
            reverted_by=None,
            at=self.clock(),
        )
        await ledger.add_change(connection, made)

    def _entry(
        self,
        actor: Actor,
        call: GateCall,
        result: Mapping[str, Any],
        approval_id: str | None,
        symbols: Mapping[RowKey, str],
    ) -> Entry:
        return Entry(
            tool_call_id=call.id,
            user_id=actor.user_id,
            conversation_id=actor.conversation_id,
            turn_id=actor.turn_id,
            approval_id=approval_id,
            tool=call.spec.name,
            effect=call.spec.effect.value,
            arguments_hash=call.arguments_hash,
            status="finished",
            result=dict(result),
            symbols=[[table, list(key), symbol] for (table, key), symbol in symbols.items()],
            at=self.clock(),
        )

    async def _settle(self, actor: Actor, approval: Approval, refusal: NotExecuted) -> NotExecuted:
        """Write down why an approved call did not happen. A crash before it leaves `approved`: tried again."""
        async with self.database.write() as connection:
            if actor.turn_id:
                await turns.fence(connection, actor.turn_id, actor.epoch)
            await approvals.settle(
                connection, approval.id, expected=("approved",), status=refusal.status, outcome=refusal.as_json()
            )
        return refusal

    async def _retried(self, work: Callable[[], Awaitable[T]]) -> T:
        """The whole transaction again after a lock, a deadlock or a row version that moved."""
        for attempt in range(TRIES):
            try:
                return await work()
            except (DBAPIError, StaleDataError) as error:
                if attempt == TRIES - 1 or not is_retryable(error):
                    raise
        raise AssertionError("unreachable")

    def _reading(self, actor: Actor, session: AsyncSession, call: GateCall) -> ToolDeps:
        deps = ToolDeps(
            user_id=actor.user_id,
            conversation_id=actor.conversation_id,
            session=session,
            clock=self.clock,
            new_id=lambda purpose: self.new_id(),
            zone=actor.zone,
            locale=actor.locale,
        )
        return with_pack(deps, call.pack)

    def _seconds(self, call: GateCall) -> float:
        return call.spec.declaration.timeout_s or self.settings.tool_s


def _built_on(earlier: Sequence[Proposal], ran: Ran) -> tuple[str, ...]:
    """Earlier calls whose rows this one touches or refers to."""
    keys = {(change.table, change.key) for change in ran.changes}
    values = {
        str(value) for change in ran.changes for row in (change.before, change.after) if row for value in row.values()
    }
    found: list[str] = []
    for one in earlier:
        touched = {(change.table, change.key) for change in one.ran.changes}
        made = {str(part) for change in one.ran.changes if change.op == "insert" for part in change.key}
        if keys & touched or made & values:
            found.append(one.call.id)
    return tuple(found)
