"""Opening a turn: one transaction that settles what is pending, and inserts the turn with its message."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import logfire
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.deciding import Vote, go_on, pending_in, vote
from agents.endings import close_waiting
from agents.errors import Forbidden, IdempotencyConflict, Invalid, NotFound, NothingToUndo, RowsMovedOn, TurnInProgress
from agents.history import said_by_person, stored
from agents.replies import HELP, LIST, NOT_PENDING, UNKNOWN_COMMAND, listed
from agents.requests import Decision, Person, TurnRequest
from agents.setup import Setup
from agents.short import COMMANDS, Short, command_in, name_in, short_answer
from agents.undo import KEPT, MOVED, NOTHING, UNDONE, revert, undo_question
from stores import approvals, conversations, ledger, messages, turns
from stores.approvals import Approval
from stores.conversations import Conversation
from stores.turns import Turn
from toolsets.arguments import hashed
from toolsets.gate import summary_in
from toolsets.words import Locale

EARLIER = 3
"""The person's earlier messages that the selection looks at."""
STICKY = 2
"""The turns whose toolsets stay offered."""
TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What became of a message."""

    turn: Turn
    launch: bool = False
    """The turn is to be run now, under `turn.epoch`."""
    continued: bool = False
    """The turn was there before: only what comes now is new to the client."""
    superseded: Turn | None = None


class Busy(Exception):
    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self.turn = turn


class Opening:
    """Opens turns. Knows what words mean while something is pending (DESIGN.md §5)."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def __call__(self, request: TurnRequest) -> Opened:
        """Raises Busy, TurnInProgress, IdempotencyConflict, Invalid, Forbidden, NotFound."""
        said = spoken_locale(request.text, request.person.locale)
        request = replace(request, person=replace(request.person, locale=said))
        for attempt in range(TRIES):
            try:
                if undone := await self._undo_confirmed(request):
                    return undone
                return await self._open(request)
            except IntegrityError:
                # Somebody else made the same conversation, or opened a turn in it, at the same moment.
                if attempt == TRIES - 1:
                    raise TurnInProgress from None
        raise AssertionError("unreachable")

    async def _open(self, request: TurnRequest) -> Opened:
        setup, person = self._setup, request.person
        async with setup.database.write() as connection:
            conversation = await self._conversation(connection, request)
            self._may_use(person, conversation.assistant)
            key = f"{request.trigger}:{request.idempotency_key or request.message_id}"
            earlier = await turns.by_key(connection, person.user_id, conversation.id, key)
            if earlier and (joined := await self._joined(connection, request, earlier)):
                return joined
            attempt = earlier.attempt + 1 if earlier else 1
            fresh = _Fresh(request=request, conversation=conversation, key=key, attempt=attempt)
            pending = await turns.open_in(connection, person.user_id, conversation.id)
            if request.trigger == "regenerate-message":
                return await self._regenerate(connection, fresh, pending)
            if command := command_in(request.text):
                return await self._command(connection, fresh, command)
            if pending is not None:
                if settled := await self._settle(connection, fresh, pending):
                    return settled
            if conversation.undo_asked is not None:
                await self._forget_undo(connection, conversation)
                answer = short_answer(request.text)
                if answer and not answer.yes:
                    return await self._reply(connection, fresh, KEPT.said(person.locale))
            return Opened(turn=await self._insert(connection, fresh), launch=True, superseded=pending)

    async def _conversation(self, connection: AsyncConnection, request: TurnRequest) -> Conversation:
        person = request.person
        found = await conversations.lock(connection, person.user_id, request.conversation_id)
        if found is not None:
            if request.assistant and request.assistant != found.assistant:
                raise Invalid([{"field": "assistant", "message": f"this conversation is with {found.assistant}"}])
            return found
        if request.trigger == "regenerate-message":
            raise NotFound
        name = request.assistant or self._setup.default_assistant
        if name not in self._setup.registry.assistants:
            raise Invalid([{"field": "assistant", "message": f"there is no assistant called {name!r}"}])
        self._may_use(person, name)
        now = self._setup.clock()
        made = Conversation(
            user_id=person.user_id,
            id=request.conversation_id,
            assistant=name,
            title=None,
            archived=False,
            next_seq=1,
            window_from_seq=0,
            approvals_made=0,
            undo_asked=None,
            created_at=now,
            updated_at=now,
        )
        await conversations.add(connection, made)
        return made

    def _may_use(self, person: Person, assistant: str) -> None:
        if person.assistants is not None and assistant not in person.assistants:
            raise Forbidden

    async def _joined(self, connection: AsyncConnection, request: TurnRequest, earlier: Turn) -> Opened | None:
        """The turn that the same message opened before; None when a new attempt is due."""
        if earlier.body_hash != _body_hash(request):
            raise IdempotencyConflict
        if request.trigger == "regenerate-message" and not (request.idempotency_key and earlier.open):
            return None
        if earlier.status in ("failed", "cancelled"):
            return None
        if continued := (earlier.context or {}).get("continued"):
            turn = await turns.get(connection, request.person.user_id, continued)
            return Opened(turn=turn or earlier)
        return Opened(turn=earlier)

    async def _regenerate(self, connection: AsyncConnection, fresh: "_Fresh", pending: Turn | None) -> Opened:
        """Answer the last message anew; the turn that answered it is replaced, its writes stay."""
        user_id, conversation_id = fresh.conversation.user_id, fresh.conversation.id
        if pending is not None:
            await self._busy_or_supersede(connection, fresh.request, pending)
        recent = await turns.latest(connection, user_id, conversation_id, 20)
        last = next((turn for turn in recent if turn.kind == "agent"), None)
        if last is None:
            raise Invalid([{"field": "trigger", "message": "there is no message to answer anew"}])
        turn = await self._insert(connection, fresh, again=last)
        for one in recent:
            if one.id == last.id:
                await turns.change(
                    connection, one.id, one.epoch + (pending is not None and one.id == pending.id), replaced_by=turn.id
                )
        return Opened(turn=turn, launch=True)

    async def _command(self, connection: AsyncConnection, fresh: "_Fresh", command: str) -> Opened:
        person, conversation = fresh.request.person, fresh.conversation
        if command == "/undo":
            change = await ledger.last_unreverted(connection, person.user_id, conversation.id)
            if change is None or not change.reversible:
                return await self._reply(connection, fresh, NOTHING.said(person.locale))
            await conversations.change(connection, person.user_id, conversation.id, undo_asked=change.id)
            return await self._reply(connection, fresh, undo_question(change, person.locale))
        if command == "/cancel":
            pending = await turns.open_in(connection, person.user_id, conversation.id)
            if pending is not None:
                await self._busy_or_supersede(connection, fresh.request, pending, status="cancelled")
            return await self._reply(connection, fresh, NOT_PENDING[pending is not None].said(person.locale))
        words = HELP if command == "/help" else UNKNOWN_COMMAND
        return await self._reply(connection, fresh, words.said(person.locale).format("  ".join(COMMANDS)))

    async def _settle(self, connection: AsyncConnection, fresh: "_Fresh", pending: Turn) -> Opened | None:
        """What the message means while something waits. None: a new turn is to be opened."""
        request = fresh.request
        if pending.status == "running":
            await self._busy_or_supersede(connection, request, pending)
        if question := await pending_question(connection, pending):
            values = {"status": "answered", "answer": request.text, "answered_at": self._setup.clock()}
            await approvals.settle_question(connection, question, **values)
            return await self._continued(connection, fresh, await go_on(connection, self._setup, pending))
        waiting = await pending_in(connection, pending, self._setup.clock())
        if not waiting:
            await self._busy_or_supersede(connection, request, pending)
            return None
        answer = _named_yes(request.text, waiting) or short_answer(request.text)
        if answer is None:
            await self._busy_or_supersede(connection, request, pending)
            return None
        chosen = _chosen(answer, waiting, undo=fresh.conversation.undo_asked is not None)
        if chosen is None or pending.delivered_at is None:
            return await self._reply(connection, fresh, listed(LIST, waiting, request.person.locale))
        verdict = "approve" if answer.yes else "deny"
        for approval in chosen:
            said = Vote(decision=Decision(approval_id=approval.id, decision=verdict), door="chat")
            await vote(connection, self._setup, request.person, said, version=approval.version)
        return await self._continued(connection, fresh, await go_on(connection, self._setup, pending))

    async def _continued(self, connection: AsyncConnection, fresh: "_Fresh", turn: Turn | None) -> Opened:
        """The message is kept beside the turn that it moved; that turn is what the client follows."""
        request = fresh.request
        pending = turn or await turns.open_in(connection, request.person.user_id, fresh.conversation.id)
        assert pending is not None
        await self._insert(connection, fresh, reply="", continued=pending.id)
        return Opened(turn=pending, launch=turn is not None, continued=True)

    async def _reply(self, connection: AsyncConnection, fresh: "_Fresh", text: str) -> Opened:
        """A turn answered by code: outside of the model's history, final at once."""
        return Opened(turn=await self._insert(connection, fresh, reply=text))

    async def _busy_or_supersede(
        self, connection: AsyncConnection, request: TurnRequest, pending: Turn, *, status: str = "superseded"
    ) -> None:
        if pending.status == "running":
            if request.on_busy == "interrupt":
                raise Busy(pending)
            raise TurnInProgress
        await close_waiting(connection, self._setup, pending, status)

    async def _undo_confirmed(self, request: TurnRequest) -> Opened | None:
        """A yes to the undo that was asked for: reverted in a transaction of its own, then told."""
        setup, person = self._setup, request.person
        answer = short_answer(request.text) if request.trigger == "submit-message" else None
        if answer is None or not answer.yes:
            return None
        async with setup.database.read() as connection:
            conversation = await conversations.get(connection, person.user_id, request.conversation_id)
            if conversation is None or conversation.undo_asked is None:
                return None
            key = f"{request.trigger}:{request.idempotency_key or request.message_id}"
            earlier = await turns.by_key(connection, person.user_id, conversation.id, key)
            pending = await turns.open_in(connection, person.user_id, conversation.id)
        if earlier is not None or (pending is not None and "UNDO" not in answer.names) or set(answer.names) - {"UNDO"}:
            return None
        try:
            text = UNDONE.said(person.locale).format(
                summary_in((await self._original(person, conversation.undo_asked)).card, person.locale)
            )
            await revert(setup, person, conversation.undo_asked)
        except (NotFound, NothingToUndo):
            text = NOTHING.said(person.locale)
        except RowsMovedOn:
            text = MOVED.said(person.locale)
        async with setup.database.write() as connection:
            locked = await conversations.lock(connection, person.user_id, conversation.id)
            assert locked is not None
            await self._forget_undo(connection, locked)
            return await self._reply(connection, _Fresh(request=request, conversation=locked, key=key, attempt=1), text)

    async def _original(self, person: Person, change_id: str) -> ledger.MadeChange:
        async with self._setup.database.read() as connection:
            change = await ledger.get_change(connection, person.user_id, change_id)
        if change is None:
            raise NotFound
        return change

    async def _forget_undo(self, connection: AsyncConnection, conversation: Conversation) -> None:
        await conversations.change(connection, conversation.user_id, conversation.id, undo_asked=None)

    async def _insert(
        self,
        connection: AsyncConnection,
        fresh: "_Fresh",
        *,
        again: Turn | None = None,
        reply: str | None = None,
        continued: str | None = None,
    ) -> Turn:
        """The turn's row; for an agent's turn also the selection and the message in the log."""
        setup, request, person = self._setup, fresh.request, fresh.request.person
        text = again.message_text if again else request.text
        command = reply is not None
        selected: Mapping[str, Any] = {"toolsets": [], "tools": None}
        if not command:
            selected = await self._select(connection, fresh, text, request.context or (again.context if again else {}))
        number = await conversations.draw_numbers(connection, person.user_id, fresh.conversation.id, 1)
        turn = Turn(
            id=setup.new_id(),
            user_id=person.user_id,
            conversation_id=fresh.conversation.id,
            number=number,
            kind="command" if command else "agent",
            status="completed" if command else "running",
            partial=False,
            epoch=1,
            owner=None if command else setup.owner,
            lease_until=None,
            cancel_requested_at=None,
            idempotency_key=fresh.key,
            attempt=fresh.attempt,
            body_hash=_body_hash(request),
            trigger=request.trigger,
            message_id=again.message_id if again else request.message_id,
            message_text=text,
            assistant_message_id=setup.new_id(),
            assistant=fresh.conversation.assistant,
            locale=spoken_locale(text, person.locale),
            zone=person.zone,
            claims=_claims(person),
            context={**request.context, **({"continued": continued} if continued else {})},
            toolsets=selected["toolsets"],
            tools=selected["tools"],
            live_views=[name for name in selected["toolsets"] if setup.registry.toolsets[name].live_view is not None],
            reply=reply,
            usage=None,
            error_code=None,
            error_reference=None,
            replaced_by=None,
            traceparent=None,
            created_at=setup.clock(),
            decided_at=None,
            delivered_at=None,
            finished_at=setup.clock() if command else None,
        )
        await turns.add(connection, turn, lease_until=None if command else setup.database.now(setup.limits.lease_s))
        if not command:
            fresh_messages = [stored(said_by_person(text))]
            await messages.append(
                connection, person.user_id, fresh.conversation.id, turn.id, fresh_messages, setup.clock()
            )
        await conversations.change(
            connection, person.user_id, fresh.conversation.id, updated_at=setup.clock(), archived=False
        )
        return turn

    async def _select(
        self, connection: AsyncConnection, fresh: "_Fresh", text: str, context: Mapping[str, Any]
    ) -> dict[str, Any]:
        setup, conversation = self._setup, fresh.conversation
        recent = await turns.latest(connection, conversation.user_id, conversation.id, EARLIER + STICKY)
        said = [turn.message_text for turn in recent][:EARLIER]
        sticky = [
            name for turn in [one for one in recent if one.kind == "agent"][:STICKY] for name in turn.toolsets or []
        ]
        toolsets = setup.registry.toolsets_of(conversation.assistant)
        with logfire.span("selection", conversation_id=conversation.id) as span:
            selection = setup.select(toolsets, text, said, sticky, context)
            span.set_attribute("offered", list(selection.offered))
            span.set_attribute("deferred", list(selection.deferred))
        offered = [spec.name for spec in setup.registry.tools_in(selection.offered)]
        deferred = [spec.name for spec in setup.registry.tools_in(selection.deferred)]
        schemas = {name: setup.registry.tools[name].schema_hash for name in [*offered, *deferred]}
        return {
            "toolsets": list(selection.offered),
            "tools": {"offered": offered, "deferred": deferred, "schemas": schemas},
        }


@dataclass(frozen=True, kw_only=True)
class _Fresh:
    request: TurnRequest
    conversation: Conversation
    key: str
    attempt: int


async def pending_question(connection: AsyncConnection, turn: Turn) -> str | None:
    """The id of the question that the turn waits for with words."""
    found = await approvals.questions_of(connection, turn.user_id, [turn.id])
    return next((one.id for one in found if one.status == "waiting" and not one.secret), None)


def _chosen(answer: Short, waiting: Sequence[Approval], *, undo: bool) -> Sequence[Approval] | None:
    """The approvals that a short answer means; None when it isn't clear, or a card is needed."""
    if answer.names:
        named = [one for one in waiting if one.short_name in answer.names]
        return named if len(named) == len(set(answer.names)) else None
    if not answer.yes:
        return waiting
    if len(waiting) != 1 or waiting[0].always_confirm or undo:
        return None
    return waiting


def _named_yes(text: str, waiting: Sequence[Approval]) -> Short | None:
    """A short name typed alone approves what always needs to be confirmed by name."""
    name = name_in(text)
    if name and any(one.short_name == name and one.always_confirm for one in waiting):
        return Short(yes=True, names=(name,))
    return None


def spoken_locale(text: str, otherwise: Locale) -> Locale:
    """Chinese for who writes Chinese; else the language that the person's client asks for."""
    return "zh" if re.search("[\u3400-\u9fff]", text) else otherwise


def _claims(person: Person) -> dict[str, Any]:
    return {
        "scopes": None if person.scopes is None else sorted(person.scopes),
        "assistants": None if person.assistants is None else sorted(person.assistants),
    }


def _body_hash(request: TurnRequest) -> str:
    return hashed([request.text, request.trigger, request.assistant, dict(request.context)])
