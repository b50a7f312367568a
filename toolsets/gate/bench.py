"""What the gate works with, and how the work of one transaction is begun, run, timed and tried again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm.exc import StaleDataError

from stores import conversations, turns
from stores.changes import is_retryable
from stores.database import Clock, Database
from toolsets.gate.calls import Actor, Conditions, Draws, GateCall, Ran
from toolsets.gate.running import run_recorded, within

T = TypeVar("T")

TRIES = 4
"""How often a transaction is begun again after a lock, a deadlock or a version clash."""

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


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The database, the rules of the house, and what is drawn."""

    database: Database
    settings: GateSettings
    clock: Clock
    new_id: Callable[[], str]
    allowed: Allowed

    async def run(self, connection: AsyncConnection, actor: Actor, call: GateCall, under: Conditions) -> Ran:
        """The call's function once, recorded. Raises DomainError, TimeoutError, or what the tool raises."""
        running = run_recorded(connection, actor, call, under, secret_key=self.settings.secret_key)
        return await within(self.seconds(call), running, connection)

    def seconds(self, call: GateCall) -> float:
        return call.spec.declaration.timeout_s or self.settings.tool_s

    def fresh_draws(self) -> Draws:
        return Draws(self.clock(), {}, self.new_id)


async def fence(connection: AsyncConnection, actor: Actor) -> None:
    """Lock the turn that the call belongs to. Raises LeaseLost when another process runs it."""
    if actor.turn_id:
        await turns.fence(connection, actor.turn_id, actor.epoch)


async def begin(connection: AsyncConnection, actor: Actor) -> int:
    """Conversation, then turn (DESIGN.md §3, lock order); returns a number for a change."""
    if actor.conversation_id is None:
        return 0
    await conversations.lock(connection, actor.user_id, actor.conversation_id)
    await fence(connection, actor)
    return await conversations.draw_numbers(connection, actor.user_id, actor.conversation_id, 1)


async def retried(work: Callable[[], Awaitable[T]]) -> T:
    """The whole transaction again after a lock, a deadlock or a row version that moved."""
    for attempt in range(TRIES):
        try:
            return await work()
        except (DBAPIError, StaleDataError) as error:
            if attempt == TRIES - 1 or not is_retryable(error):
                raise
    raise AssertionError("unreachable")
