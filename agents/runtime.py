"""The runtime: a turn from top to bottom. Opens, launches, pauses, goes on, cancels, recovers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from agents import deciding, undo
from agents.chunks import DONE, encoded
from agents.deciding import expire
from agents.endings import close_waiting
from agents.errors import NotFound
from agents.opening import Busy, Opening
from agents.reading import Page, Reading
from agents.requests import Cancelled, Decision, Door, Person, TurnOpened, TurnRequest
from agents.run import TurnRun
from agents.setup import Setup
from agents.streaming import follow_run, follow_turn
from agents.wire import change_data, whole_approval
from stores import conversations, ledger, turns
from stores.database import Database
from stores.errors import LeaseLost
from stores.events.protocol import Event
from stores.turns import Turn
from toolsets.deps import ToolDeps
from toolsets.gate import summary_in
from toolsets.registry import Registry

log = logging.getLogger("placet.runtime")

CANCEL_WAIT_S = 10.0
REMEMBERED = 1000
POLL_S = 0.05


class Runtime:
    """One per process. Turns run in tasks of their own: nobody who follows a stream keeps one alive."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.reading = Reading(setup)
        self._opening = Opening(setup)
        self._running: dict[str, tuple[TurnRun, asyncio.Task[None]]] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self._gone_on: dict[str, int] = {}
        """Where in its log a turn went on after a decision; the latest `REMEMBERED` of them."""

    @property
    def registry(self) -> Registry:
        return self.setup.registry

    @property
    def database(self) -> Database:
        return self.setup.database

    async def start(self) -> None:
        """Take over what was left lying, now and every few seconds."""
        self._sweeper = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        """Stop running; open turns are let go, for another process to take over at once."""
        tasks = [task for _, task in self._running.values()]
        if self._sweeper:
            tasks.append(self._sweeper)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def open(self, request: TurnRequest) -> TurnOpened:
        """A message: a new turn, the one that it opened before, or one that goes on by it.

        Raises TurnInProgress, IdempotencyConflict, Invalid, Forbidden, NotFound.
        """
        try:
            opened = await self._opening(request)
        except Busy as busy:
            await self._cancel(busy.turn)
            opened = await self._opening(request)
        if opened.launch:
            after = await self._launch(opened.turn)
        else:
            await self._tell(opened.turn)
            after = 0
        return TurnOpened(
            turn_id=opened.turn.id,
            conversation_id=opened.turn.conversation_id,
            after=after,
            created=opened.launch and not opened.continued,
        )

    async def follow(self, user_id: str, turn_id: str, after: int) -> AsyncIterator[list[Event]]:
        """From the beginning: the whole turn as one stream. Later: the run that begins there."""
        if after > 0:
            async for batch in follow_run(self.setup, turn_id, after):
                yield batch
            return
        async with self.database.read() as connection:
            turn = await turns.get(connection, user_id, turn_id)
        if turn is not None:
            async for batch in follow_turn(self.setup, self.reading, turn, 0):
                yield batch

    async def rejoin(
        self, person: Person, conversation_id: str, last_event_id: int
    ) -> AsyncIterator[list[Event]] | None:
        """The open turn as one stream, after an event; None when none is open. Raises NotFound."""
        async with self.database.read() as connection:
            if await conversations.get(connection, person.user_id, conversation_id) is None:
                raise NotFound
            turn = await turns.open_in(connection, person.user_id, conversation_id)
        return follow_turn(self.setup, self.reading, turn, last_event_id) if turn else None

    async def result(self, person: Person, turn_id: str) -> dict[str, Any]:
        """The turn once it rests. Raises NotFound."""
        async for _ in self.follow(person.user_id, turn_id, 0):
            pass
        return await self.reading.turn(person, turn_id)

    async def decide(self, person: Person, decisions: Sequence[Decision], door: Door) -> list[dict[str, Any]]:
        """All of the decisions or none; turns with nothing left to decide go on by themselves."""
        decided, going = await deciding.decide(self.setup, person, decisions, door)
        for one in decided:
            self._gone_on.pop(one.turn_id, None)
        for turn in going:
            self._gone_on[turn.id] = await self._launch(turn)
        for turn_id in list(self._gone_on)[: max(0, len(self._gone_on) - REMEMBERED)]:
            del self._gone_on[turn_id]
        return [whole_approval(one, self.registry, person.locale) for one in decided]

    async def continued(self, person: Person, turn_id: str) -> TurnOpened | None:
        """Where to follow a turn that went on after a decision; None while it waits for others."""
        async with self.database.read() as connection:
            turn = await turns.get(connection, person.user_id, turn_id)
        after = self._gone_on.get(turn_id)
        if turn is None or (after is None and turn.status == "waiting"):
            return None
        return TurnOpened(turn_id=turn.id, conversation_id=turn.conversation_id, after=after or 0, created=False)

    async def answer(self, person: Person, question_id: str, text: str) -> TurnOpened:
        turn, launch = await deciding.answer(self.setup, person, question_id, text)
        after = await self._launch(turn) if launch else 0
        return TurnOpened(turn_id=turn.id, conversation_id=turn.conversation_id, after=after, created=False)

    async def cancel(self, person: Person, conversation_id: str) -> Cancelled:
        """Stop what runs, or retire what waits; says what was applied before. Raises NotFound."""
        async with self.database.read() as connection:
            if await conversations.get(connection, person.user_id, conversation_id) is None:
                raise NotFound
            turn = await turns.open_in(connection, person.user_id, conversation_id)
        if turn is None:
            return Cancelled(turn_id=None, status="idle")
        await self._cancel(turn)
        async with self.database.read() as connection:
            now = await turns.get(connection, person.user_id, turn.id) or turn
            made = await ledger.changes_of_turns(connection, person.user_id, [turn.id])
        applied = tuple(
            {"change_id": one.id, "tool": one.tool, "summary": summary_in(one.card, person.locale)} for one in made
        )
        return Cancelled(turn_id=turn.id, status=now.status, applied=applied)

    async def revert(self, person: Person, change_id: str) -> dict[str, Any]:
        """Undo a change. Raises NotFound, NothingToUndo, RowsMovedOn."""
        return change_data(await undo.revert(self.setup, person, change_id), person.locale)

    async def approvals(
        self, person: Person, *, status: str | None, conversation_id: str | None, cursor: str | None, limit: int
    ) -> Page:
        return await self.reading.approvals(
            person, status=status, conversation_id=conversation_id, cursor=cursor, limit=limit
        )

    async def approval(self, person: Person, approval_id: str) -> dict[str, Any]:
        return await self.reading.approval(person, approval_id)

    async def changes(self, person: Person, conversation_id: str, cursor: str | None, limit: int) -> Page:
        return await self.reading.changes(person, conversation_id, cursor, limit)

    async def conversations(
        self, person: Person, *, search: str | None, archived: bool, cursor: str | None, limit: int
    ) -> Page:
        return await self.reading.conversations(person, search=search, archived=archived, cursor=cursor, limit=limit)

    async def conversation(self, person: Person, conversation_id: str) -> dict[str, Any]:
        return await self.reading.conversation(person, conversation_id)

    async def update_conversation(
        self, person: Person, conversation_id: str, *, title: str | None, archived: bool | None
    ) -> dict[str, Any]:
        values = {"title": title, "archived": archived}
        given = {name: value for name, value in values.items() if value is not None}
        async with self.database.write() as connection:
            if await conversations.lock(connection, person.user_id, conversation_id) is None:
                raise NotFound
            if given:
                await conversations.change(connection, person.user_id, conversation_id, **given)
        return await self.reading.conversation(person, conversation_id)

    async def delete_conversation(self, person: Person, conversation_id: str) -> None:
        await self.cancel(person, conversation_id)
        async with self.database.write() as connection:
            await conversations.lock(connection, person.user_id, conversation_id)
            if not await conversations.remove(connection, person.user_id, conversation_id):
                raise NotFound

    @asynccontextmanager
    async def reading_deps(self, person: Person) -> AsyncIterator[ToolDeps]:
        """What a pack's view reads with."""
        async with self.database.read() as connection, AsyncSession(connection, expire_on_commit=False) as session:
            yield ToolDeps(
                user_id=person.user_id,
                conversation_id=None,
                session=session,
                clock=self.setup.clock,
                new_id=lambda purpose: self.setup.new_id(),
                zone=ZoneInfo(person.zone),
                locale=person.locale,
            )

    async def _launch(self, turn: Turn) -> int:
        """Run a turn that this process holds; returns the event after which the run's own begin."""
        after = await self._told_before(turn)
        await self.setup.events.reopen(turn.id, turn.epoch)
        run = TurnRun(self.setup, turn, turn.epoch)
        task = asyncio.create_task(self._run(run))
        self._running[turn.id] = (run, task)
        task.add_done_callback(lambda _: self._forget(turn.id, task))
        return after

    def _forget(self, turn_id: str, task: asyncio.Task[None]) -> None:
        if self._running.get(turn_id, (None, None))[1] is task:
            del self._running[turn_id]

    async def _told_before(self, turn: Turn) -> int:
        """A run that goes on needs what came before in the log, if another process (or a life before) wrote it."""
        if not await self.setup.events.holds(turn.id):
            chunks = await self.reading.chunks(turn)
            if len(chunks) > 2:
                await self.setup.events.append(turn.id, turn.epoch, [encoded(chunk) for chunk in chunks])
        return await self.setup.events.length(turn.id)

    async def _tell(self, turn: Turn) -> None:
        """A turn that code answered at once: its stream, whole."""
        if turn.kind == "command" and not await self.setup.events.holds(turn.id):
            chunks = [encoded(chunk) for chunk in await self.reading.chunks(turn)]
            await self.setup.events.append(turn.id, turn.epoch, [*chunks, '{"type":"finish"}', DONE])

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
        task = asyncio.current_task()
        assert task is not None
        while True:
            await asyncio.sleep(self.setup.limits.lease_s / 3)
            try:
                async with self.database.write() as connection:
                    lease = self.database.now(self.setup.limits.lease_s)
                    await turns.change(connection, run.turn.id, run.epoch, lease_until=lease)
                    now = await turns.get(connection, run.turn.user_id, run.turn.id)
            except LeaseLost:
                self._interrupt(run, cancelled=False)
                return
            if now is None or now.cancel_requested_at is not None:
                self._interrupt(run, cancelled=True)
                return

    def _interrupt(self, run: TurnRun, *, cancelled: bool) -> None:
        _, task = self._running.get(run.turn.id, (None, None))
        run.cancelled = cancelled
        if task is not None:
            task.cancel()

    async def _cancel(self, turn: Turn) -> None:
        """Bring an open turn to its end, in whatever process it runs."""
        if turn.status == "waiting":
            async with self.database.write() as connection:
                await conversations.lock(connection, turn.user_id, turn.conversation_id)
                now = await turns.get(connection, turn.user_id, turn.id)
                if now is not None and now.status == "waiting":
                    await close_waiting(connection, self.setup, now, "cancelled")
                    return
        if turn.id in self._running:
            run, task = self._running[turn.id]
            self._interrupt(run, cancelled=True)
            await asyncio.wait({task}, timeout=CANCEL_WAIT_S)
            return
        async with self.database.write() as connection:
            await turns.request_cancel(connection, turn.id, self.setup.clock())
        await self._until_closed(turn)

    async def _until_closed(self, turn: Turn) -> None:
        for _ in range(int(CANCEL_WAIT_S / POLL_S)):
            async with self.database.read() as connection:
                now = await turns.get(connection, turn.user_id, turn.id)
            if now is None or not now.open:
                return
            await asyncio.sleep(POLL_S)

    async def _sweep(self) -> None:
        while True:
            try:
                await self.sweep()
            except Exception:
                # The database may be away for a while; the next sweep tries again.
                log.exception("sweeping failed")
            await asyncio.sleep(self.setup.limits.sweep_s)

    async def sweep(self) -> None:
        """Take over lapsed turns, let approvals expire, and go on with what nothing holds up any more."""
        taken: list[Turn] = []
        async with self.database.write() as connection:
            for turn in await turns.lapsed(connection, self.database.now()):
                lease = self.database.now(self.setup.limits.lease_s)
                await turns.take_over(connection, turn, owner=self.setup.owner, lease_until=lease)
                now = await turns.get(connection, turn.user_id, turn.id)
                assert now is not None
                taken.append(now)
        for turn in taken:
            log.info("taking over turn %s", turn.id)
            await self._launch(turn)
        async with self.database.read() as connection:
            due = await turns.waiting_in_vain(connection, self.setup.clock())
        for user_id, turn_id in due:
            if going := await expire(self.setup, user_id, turn_id):
                await self._launch(going)
