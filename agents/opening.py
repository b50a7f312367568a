"""Opening a turn: one transaction that settles what is pending, and inserts the turn with its message."""

from dataclasses import replace

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from agents.arriving import Fresh, Opened, body_hash, key_of, spoken_locale
from agents.errors import Forbidden, IdempotencyConflict, Invalid, NotFound, TurnInProgress
from agents.inserting import insert
from agents.replies import HELP, NOT_PENDING, UNKNOWN_COMMAND
from agents.requests import Person, TurnRequest
from agents.settling import give_way, reply, settle
from agents.setup import Setup
from agents.short import COMMANDS, command_in, short_answer
from agents.undo import KEPT
from agents.undoing_in_chat import ask_undo, forget_undo, undo_confirmed
from stores import conversations, turns
from stores.conversations import Conversation
from stores.turns import Turn
from toolsets.words import Words

TRIES = 3
OTHER_ASSISTANT = Words("这个对话属于另一个助手", "isn't the assistant that this conversation is with")
NO_ASSISTANT = Words("没有这个助手", "isn't the name of an assistant")
NO_MESSAGE = Words("没有可以重新回答的消息", "finds no message to answer anew")


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
                if undone := await undo_confirmed(self._setup, request):
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
            key = key_of(request)
            earlier = await turns.by_key(connection, person.user_id, conversation.id, key)
            if earlier and (joined := await self._joined(connection, request, earlier)):
                return joined
            attempt = earlier.attempt + 1 if earlier else 1
            fresh = Fresh(request=request, conversation=conversation, key=key, attempt=attempt)
            pending = await turns.open_in(connection, person.user_id, conversation.id)
            if request.trigger == "regenerate-message":
                return await self._regenerate(connection, fresh, pending)
            if command := command_in(request.text):
                return await self._command(connection, fresh, command)
            if pending is not None and (settled := await settle(connection, setup, fresh, pending)):
                return settled
            if conversation.undo_asked is not None:
                await forget_undo(connection, conversation)
                answer = short_answer(request.text)
                if answer and not answer.yes:
                    return await reply(connection, setup, fresh, KEPT.said(person.locale))
            return Opened(turn=await insert(connection, setup, fresh), launch=True, superseded=pending)

    async def _conversation(self, connection: AsyncConnection, request: TurnRequest) -> Conversation:
        person = request.person
        found = await conversations.lock(connection, person.user_id, request.conversation_id)
        if found is not None:
            if request.assistant and request.assistant != found.assistant:
                raise Invalid([{"field": "assistant", "message": OTHER_ASSISTANT}])
            return found
        if request.trigger == "regenerate-message":
            raise NotFound
        name = request.assistant or self._setup.default_assistant
        if name not in self._setup.registry.assistants:
            raise Invalid([{"field": "assistant", "message": NO_ASSISTANT}])
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
        if earlier.body_hash != body_hash(request):
            raise IdempotencyConflict
        if request.trigger == "regenerate-message" and not (request.idempotency_key and earlier.open):
            return None
        if earlier.status in ("failed", "cancelled"):
            return None
        if continued := earlier.context.get("continued"):
            turn = await turns.get(connection, request.person.user_id, continued)
            return Opened(turn=turn or earlier)
        return Opened(turn=earlier)

    async def _regenerate(self, connection: AsyncConnection, fresh: Fresh, pending: Turn | None) -> Opened:
        """Answer the last message anew; the turn that answered it is replaced, its writes stay."""
        setup = self._setup
        user_id, conversation_id = fresh.conversation.user_id, fresh.conversation.id
        if pending is not None:
            await give_way(connection, setup, fresh.request, pending)
        recent = await turns.latest(connection, user_id, conversation_id, 20)
        last = next((turn for turn in recent if turn.kind == "agent"), None)
        if last is None:
            raise Invalid([{"field": "trigger", "message": NO_MESSAGE}])
        turn = await insert(connection, setup, fresh, again=last)
        await turns.change(connection, last.id, last.epoch, replaced_by=turn.id)
        return Opened(turn=turn, launch=True)

    async def _command(self, connection: AsyncConnection, fresh: Fresh, command: str) -> Opened:
        setup, person, conversation = self._setup, fresh.request.person, fresh.conversation
        if command == "/undo":
            return await ask_undo(connection, setup, fresh)
        if command == "/cancel":
            pending = await turns.open_in(connection, person.user_id, conversation.id)
            if pending is not None:
                await give_way(connection, setup, fresh.request, pending, "cancelled")
            return await reply(connection, setup, fresh, NOT_PENDING[pending is not None].said(person.locale))
        words = HELP if command == "/help" else UNKNOWN_COMMAND
        return await reply(connection, setup, fresh, words.said(person.locale).format("  ".join(COMMANDS)))
