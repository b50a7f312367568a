"""The turns that this process runs: each in a task of its own, so that nobody who follows a stream keeps one alive."""

import asyncio
import logging

from sqlalchemy.exc import SQLAlchemyError

from agents.chunks import encoded
from agents.closing import close_waiting
from agents.reading import Reading
from agents.run import TurnRun
from agents.setup import Setup
from agents.unbroken import unbroken
from stores import conversations, turns
from stores.errors import LeaseLost
from stores.turns import Turn

log = logging.getLogger("placet.runtime")

CANCEL_WAIT_S = 10.0
CANCEL_TRIES = 3
POLL_S = 0.05


class Tasks:
    """Launches turns, keeps their leases, ends them."""

    def __init__(self, setup: Setup, reading: Reading) -> None:
        self._setup = setup
        self._reading = reading
        self._running: dict[str, tuple[TurnRun, asyncio.Task[None]]] = {}

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """The turns that run here now."""
        return tuple(self._running)

    async def stop(self) -> None:
        """Stop running; open turns are let go, for another process to take over at once."""
        tasks = [task for _, task in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def launch(self, turn: Turn) -> int:
        """Run a turn that this process holds; returns the event after which the run's own begin."""
        after = await self._told_before(turn)
        await self._setup.events.reopen(turn.id, turn.epoch)
        run = TurnRun(self._setup, turn, turn.epoch)
        task = asyncio.create_task(self._run(run))
        self._running[turn.id] = (run, task)
        task.add_done_callback(lambda _: self._forget(turn.id, task))
        return after

    def _forget(self, turn_id: str, task: asyncio.Task[None]) -> None:
        if self._running.get(turn_id, (None, None))[1] is task:
            del self._running[turn_id]

    async def _told_before(self, turn: Turn) -> int:
        """A run that goes on needs what came before in the log, if another process (or a life before) wrote it."""
        if not await self._setup.events.holds(turn.id):
            chunks = await self._reading.chunks(turn)
            if len(chunks) > 2:
                await self._setup.events.append(turn.id, turn.epoch, [encoded(chunk) for chunk in chunks])
        return await self._setup.events.length(turn.id)

    async def _run(self, run: TurnRun) -> None:
        renewal = asyncio.create_task(self._renew(run))
        try:
            await run()
        except LeaseLost:
            log.info("turn %s is run by another process now", run.turn.id)
        except Exception as error:
            # Nothing may end without a trace, and nothing may be tried for ever.
            log.exception("turn %s broke off", run.turn.id)
            await self._broken(run, error)
        finally:
            renewal.cancel()

    async def _broken(self, run: TurnRun, error: Exception) -> None:
        try:
            await run.broken(error)
        except LeaseLost:
            log.info("turn %s is run by another process now", run.turn.id)
        except SQLAlchemyError:
            # The database is away: the lease lapses, and whoever reaches it first tries again.
            log.exception("turn %s could not be settled", run.turn.id)

    async def _renew(self, run: TurnRun) -> None:
        """Keep the lease; see a cancel that another process asked for."""
        while True:
            await asyncio.sleep(self._setup.limits.lease_s / 3)
            try:
                now = await unbroken(self._renewed(run))
            except LeaseLost:
                self._interrupt(run, cancelled=False)
                return
            except SQLAlchemyError as error:
                # A long write holds the row, or the database is away for a moment: the next renewal tries again.
                log.warning("the lease of turn %s was not renewed: %s", run.turn.id, type(error).__name__)
                continue
            if now is None or now.cancel_requested_at is not None:
                self._interrupt(run, cancelled=True)
                return

    async def _renewed(self, run: TurnRun) -> Turn | None:
        async with self._setup.database.write() as connection:
            lease = self._setup.database.now(self._setup.limits.lease_s)
            await turns.change(connection, run.turn.id, run.epoch, lease_until=lease)
            return await turns.get(connection, run.turn.user_id, run.turn.id)

    def _interrupt(self, run: TurnRun, *, cancelled: bool) -> None:
        _, task = self._running.get(run.turn.id, (None, None))
        run.cancelled = cancelled
        if task is not None:
            task.cancel()

    async def cancel(self, turn: Turn) -> None:
        """Bring an open turn to its end, in whatever process it runs, also one that begins to wait meanwhile."""
        now: Turn | None = turn
        for _ in range(CANCEL_TRIES):
            if now is None or not now.open:
                return
            await self._cancel_once(now)
            async with self._setup.database.read() as connection:
                now = await turns.get(connection, turn.user_id, turn.id)

    async def _cancel_once(self, turn: Turn) -> None:
        if turn.status == "waiting":
            async with self._setup.database.write() as connection:
                await conversations.lock(connection, turn.user_id, turn.conversation_id)
                now = await turns.get(connection, turn.user_id, turn.id)
                if now is not None and now.status == "waiting":
                    await close_waiting(connection, self._setup, now, "cancelled")
        elif turn.id in self._running:
            run, task = self._running[turn.id]
            self._interrupt(run, cancelled=True)
            await asyncio.wait({task}, timeout=CANCEL_WAIT_S)
        else:
            async with self._setup.database.write() as connection:
                await turns.request_cancel(connection, turn.id, self._setup.clock())
            await self._until_closed(turn)

    async def _until_closed(self, turn: Turn) -> None:
        for _ in range(int(CANCEL_WAIT_S / POLL_S)):
            async with self._setup.database.read() as connection:
                now = await turns.get(connection, turn.user_id, turn.id)
            if now is None or not now.open:
                return
            await asyncio.sleep(POLL_S)
