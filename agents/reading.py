"""What pages ask for: conversations, approvals, changes, the messages of a thread."""

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from agents.chunks import UiMessage
from agents.errors import Invalid, NotFound
from agents.history import loaded
from agents.requests import Person
from agents.retelling import retold
from agents.setup import Setup
from agents.wire import change_data, question_data, usage_data, whole_approval
from stores import approvals, conversations, ledger, messages, turns
from stores.approvals import Approval, Question
from stores.conversations import Conversation
from stores.messages import Message
from stores.turns import Turn
from toolsets.words import Words

NO_CURSOR = {"field": "cursor", "message": Words("不是列表给出的位置", "isn't one that a list gave out")}
Page = tuple[list[dict[str, Any]], str | None]


class Reading:
    """Reads for one person at a time; a foreign id answers as a missing one (NotFound)."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def conversations(
        self, person: Person, *, search: str | None, archived: bool, cursor: str | None, limit: int
    ) -> Page:
        async with self._setup.database.read() as connection:
            found = await conversations.page(
                connection, person.user_id, search=search, archived=archived, before=_place(cursor), limit=limit + 1
            )
            busy = await turns.open_ones(connection, person.user_id, [one.id for one in found])
            waiting = await approvals.pending_counts(connection, person.user_id)
        items = [_conversation(one, busy.get(one.id), waiting.get(one.id, 0)) for one in found[:limit]]
        return items, _next([(one.updated_at, one.id) for one in found], limit)

    async def conversation(self, person: Person, conversation_id: str) -> dict[str, Any]:
        async with self._setup.database.read() as connection:
            found = await conversations.get(connection, person.user_id, conversation_id)
            if found is None:
                raise NotFound
            said = await turns.all_in(connection, person.user_id, conversation_id)
            ids = [turn.id for turn in said]
            rows = await messages.of_turns(connection, person.user_id, conversation_id)
            asked = await approvals.of_turns(connection, person.user_id, ids)
            questions = await approvals.questions_of(connection, person.user_id, ids)
        telling = _Thread(self._setup, rows, asked, questions)
        opened = next((turn for turn in said if turn.open), None)
        pending = sum(one.status == "pending" for one in asked)
        return _conversation(found, opened, pending) | {
            "open_turn_id": opened.id if opened else None,
            "messages": [message for turn in said for message in telling.messages(turn)],
        }

    async def turn(self, person: Person, turn_id: str) -> dict[str, Any]:
        """A turn that rests, as `POST /api/conversation` answers it."""
        async with self._setup.database.read() as connection:
            turn = await turns.get(connection, person.user_id, turn_id)
            if turn is None:
                raise NotFound
            rows = await messages.of_turns(connection, person.user_id, turn.conversation_id, [turn_id])
            asked = await approvals.of_turns(connection, person.user_id, [turn_id])
            questions = await approvals.questions_of(connection, person.user_id, [turn_id])
        message = UiMessage.of(_Thread(self._setup, rows, asked, questions).chunks(turn))
        registry = self._setup.registry
        return {
            "conversation_id": turn.conversation_id,
            "turn_id": turn.id,
            "status": turn.status,
            "partial": turn.partial,
            "text": message.text,
            "parts": message.parts,
            "approvals": [whole_approval(one, registry, person.locale) for one in asked if one.status == "pending"],
            "question": next((question_data(one) for one in questions if one.status == "waiting"), None),
            "usage": usage_data(turn.usage),
            "error": {"code": turn.error_code, "reference": turn.error_reference} if turn.error_code else None,
        }

    async def chunks(self, turn: Turn) -> list[dict[str, Any]]:
        """The turn's stream so far, told again from the store."""
        async with self._setup.database.read() as connection:
            rows = await messages.of_turns(connection, turn.user_id, turn.conversation_id, [turn.id])
            asked = await approvals.of_turns(connection, turn.user_id, [turn.id])
            questions = await approvals.questions_of(connection, turn.user_id, [turn.id])
        return _Thread(self._setup, rows, asked, questions).chunks(turn)

    async def approvals(
        self, person: Person, *, status: str | None, conversation_id: str | None, cursor: str | None, limit: int
    ) -> Page:
        async with self._setup.database.read() as connection:
            found = await approvals.page(
                connection,
                person.user_id,
                status=status,
                conversation_id=conversation_id,
                before=_place(cursor),
                limit=limit + 1,
            )
        items = [whole_approval(one, self._setup.registry, person.locale) for one in found[:limit]]
        return items, _next([(one.created_at, one.id) for one in found], limit)

    async def approval(self, person: Person, approval_id: str) -> dict[str, Any]:
        async with self._setup.database.read() as connection:
            found = await approvals.get(connection, person.user_id, approval_id)
        if found is None:
            raise NotFound
        return whole_approval(found, self._setup.registry, person.locale)

    async def changes(self, person: Person, conversation_id: str, cursor: str | None, limit: int) -> Page:
        async with self._setup.database.read() as connection:
            if await conversations.get(connection, person.user_id, conversation_id) is None:
                raise NotFound
            before = _number(cursor)
            found = await ledger.changes_page(
                connection, person.user_id, conversation_id, before=before, limit=limit + 1
            )
        items = [change_data(one, person.locale) for one in found[:limit]]
        return items, str(found[limit - 1].number) if len(found) > limit else None


class _Thread:
    """The stored rows of several turns, turn by turn."""

    def __init__(
        self, setup: Setup, rows: Sequence[Message], asked: Sequence[Approval], questions: Sequence[Question]
    ) -> None:
        self._setup = setup
        self._rows = _by_turn(rows)
        self._asked = _by_turn(asked)
        self._questions = _by_turn(questions)

    def chunks(self, turn: Turn) -> list[dict[str, Any]]:
        return retold(
            turn,
            loaded(self._rows.get(turn.id, [])),
            self._asked.get(turn.id, []),
            self._questions.get(turn.id, []),
            self._setup.registry,
        )

    def messages(self, turn: Turn) -> list[dict[str, Any]]:
        """The turn's UI messages: the person's, and the assistant's unless the turn is open."""
        person = {
            "id": turn.message_id,
            "role": "user",
            "parts": [{"type": "text", "text": turn.message_text}],
            "metadata": {"created_at": turn.created_at.isoformat()},
        }
        if turn.open or turn.reply == "":
            return [person]
        metadata = {
            "created_at": turn.created_at.isoformat(),
            "turn_id": turn.id,
            "status": turn.status,
            "partial": turn.partial,
        }
        if turn.error_code:
            metadata |= {"error": {"code": turn.error_code, "reference": turn.error_reference}}
        assistant = {
            "id": turn.assistant_message_id,
            "role": "assistant",
            "parts": UiMessage.of(self.chunks(turn)).parts,
            "metadata": metadata,
        }
        return [person, assistant]


class _OfTurn(Protocol):
    @property
    def turn_id(self) -> str: ...


R = TypeVar("R", bound=_OfTurn)


def _by_turn(rows: Sequence[R]) -> dict[str, list[R]]:
    found: dict[str, list[R]] = {}
    for row in rows:
        found.setdefault(row.turn_id, []).append(row)
    return found


def _conversation(one: Conversation, opened: Turn | None, waiting: int) -> dict[str, Any]:
    return {
        "id": one.id,
        "assistant": one.assistant,
        "title": one.title,
        "archived": one.archived,
        "status": opened.status if opened else "idle",
        "pending_approvals": waiting,
        "created_at": one.created_at.isoformat(),
        "updated_at": one.updated_at.isoformat(),
    }


def _place(cursor: str | None) -> tuple[datetime, str] | None:
    """Where a page begins. Raises Invalid for what no page gave out."""
    if cursor is None:
        return None
    try:
        moment, _, last_id = b64decode(cursor.encode(), altchars=b"-_", validate=True).decode().partition("|")
        place = datetime.fromisoformat(moment)
    except ValueError:
        raise Invalid([NO_CURSOR]) from None
    if place.tzinfo is None or not last_id:
        raise Invalid([NO_CURSOR])
    return place, last_id


def _number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise Invalid([NO_CURSOR])
    return int(cursor)


def _next(places: Sequence[tuple[datetime, str]], limit: int) -> str | None:
    """The cursor of the page after `limit` rows; None when these are all."""
    if len(places) <= limit:
        return None
    moment, last_id = places[limit - 1]
    # An id may hold anything that can be printed; a cursor stands in addresses.
    return urlsafe_b64encode(f"{moment.isoformat()}|{last_id}".encode()).decode()
