"""The runtime: a turn from top to bottom. Opens, launches, pauses, goes on, cancels, recovers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from agents import deciding, undo
from agents.arriving import Busy, Opened
from agents.chunks import DONE, encoded
from agents.deciding import expire
from agents.errors import NewerHistory, NotFound, TurnInProgress
from agents.opening import Opening
from agents.reading import Page, Reading
from agents.requests import Cancelled, Decision, Door, Person, TurnOpened, TurnRequest
from agents.setup import Setup
from agents.streaming import follow_run, follow_turn
from agents.tasks import Tasks
from agents.wire import change_data, whole_approval
from stores import conversations, ledger, turns
from stores.database import Database
from stores.events.protocol import Event
from stores.turns import Turn
from toolsets.deps import ToolDeps
from toolsets.gate import summary_in
from toolsets.registry import Registry

log = logging.getLogger("placet.runtime")

REMEMBERED = 1000
INTERRUPTIONS = 3
"""How often one message tries to take the place of others."""


class Runtime:
    """One per process. Turns run in tasks of their own: nobody who follows a stream keeps one alive."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.reading = Reading(setup)
        self.tasks = Tasks(setup, self.reading)
        self._opening = Opening(setup)
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
        if self._sweeper:
            self._sweeper.cancel()
            await asyncio.gather(self._sweeper, return_exceptions=True)
        await self.tasks.stop()

    async def open(self, request: TurnRequest) -> TurnOpened:
        """A message: a new turn, the one that it opened before, or one that goes on by it.

        Raises TurnInProgress, IdempotencyConflict, Invalid, Forbidden, NotFound.
        """
        opened = await self._opened(request)
        if opened.launch:
            after = await self.tasks.launch(opened.turn)
        else:
            await self._tell(opened.turn)
            after = 0
        return TurnOpened(
            turn_id=opened.turn.id,
            conversation_id=opened.turn.conversation_id,
            # What follows a message of the person's begins a message of its own in every client, so it is told whole.
            after=0 if opened.continued else after,
            created=opened.launch and not opened.continued,
        )

    async def _opened(self, request: TurnRequest) -> Opened:
        """Interrupts what is in the way, again if another message was quicker. Raises TurnInProgress in the end."""
        for _ in range(INTERRUPTIONS):
            try:
                return await self._opening(request)
            except Busy as busy:
                await self.tasks.cancel(busy.turn)
        raise TurnInProgress

    async def follow(self, user_id: str, turn_id: str, after: int) -> AsyncIterator[list[Event]]:
        """From the beginning: the whole turn as one stream. Later: the run that begins there. Nothing for others."""
        async with self.database.read() as connection:
            turn = await turns.get(connection, user_id, turn_id)
        if turn is None:
            return
        following = follow_run(self.setup, turn_id, after) if after else follow_turn(self.setup, self.reading, turn, 0)
        async for batch in following:
            yield batch

    async def rejoin(
        self, person: Person, conversation_id: str, last_event_id: int
    ) -> tuple[str, AsyncIterator[list[Event]]] | None:
        """The open turn's id, and the turn as one stream, after an event; None when none is open. Raises NotFound."""
        async with self.database.read() as connection:
            if await conversations.get(connection, person.user_id, conversation_id) is None:
                raise NotFound
            turn = await turns.open_in(connection, person.user_id, conversation_id)
        return (turn.id, follow_turn(self.setup, self.reading, turn, last_event_id)) if turn else None

    async def result(self, person: Person, turn_id: str) -> dict[str, Any]:
        """The turn once it rests. Raises NotFound."""
        async for _ in self.follow(person.user_id, turn_id, 0):
            pass
        return await self.reading.turn(person, turn_id)

    async def decide(self, person: Person, decisions: Sequence[Decision], door: Door) -> list[dict[str, Any]]:
        """All of the decisions or none; turns with nothing left to decide go on by themselves."""
        decided, going = await deciding.decide(self.setup, person, decisions, door)
        for turn_id in {one.turn_id for one in decided}:
            # The same vote again, once the turn has gone on, leads to where it went on.
            async with self.database.read() as connection:
                turn = await turns.get(connection, person.user_id, turn_id)
            if turn is not None and turn.status == "waiting":
                self._gone_on.pop(turn_id, None)
        for turn in going:
            self._gone_on[turn.id] = await self.tasks.launch(turn)
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
        after = await self.tasks.launch(turn) if launch else 0
        return TurnOpened(turn_id=turn.id, conversation_id=turn.conversation_id, after=after, created=False)

    async def cancel(self, person: Person, conversation_id: str) -> Cancelled:
        """Stop what runs, or retire what waits; says what was applied before. Raises NotFound."""
        async with self.database.read() as connection:
            if await conversations.get(connection, person.user_id, conversation_id) is None:
                raise NotFound
            turn = await turns.open_in(connection, person.user_id, conversation_id)
        if turn is None:
            return Cancelled(turn_id=None, status="idle")
        await self.tasks.cancel(turn)
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

    async def _tell(self, turn: Turn) -> None:
        """A turn that code answered at once: its stream, whole."""
        if turn.kind == "command" and not await self.setup.events.holds(turn.id):
            chunks = [encoded(chunk) for chunk in await self.reading.chunks(turn)]
            await self.setup.events.append(turn.id, turn.epoch, [*chunks, '{"type":"finish"}', DONE])

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
            await self._launch_taken(turn)
        async with self.database.read() as connection:
            due = await turns.waiting_in_vain(connection, self.setup.clock())
        for user_id, turn_id in due:
            if going := await expire(self.setup, user_id, turn_id):
                await self.tasks.launch(going)

    async def _launch_taken(self, turn: Turn) -> None:
        try:
            await self.tasks.launch(turn)
        except NewerHistory as error:
            # Its lease lapses again: a process of the newer release will come by.
            log.warning("turn %s is left for a newer release: %s", turn.id, error)
