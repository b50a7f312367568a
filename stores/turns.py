"""Turns: opened once, leased to one process, fenced by their epoch, settled once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.errors import LeaseLost
from stores.rows import columns, read, table_of
from stores.shapes import Claims, TurnTools, Used
from stores.tables import OPEN_TURN, ApprovalRow, QuestionRow, TurnRow

TABLE = table_of(TurnRow)
APPROVALS = table_of(ApprovalRow)
QUESTIONS = table_of(QuestionRow)
OPEN = ("running", "waiting")
FINAL = ("completed", "failed", "cancelled", "superseded")


@dataclass(frozen=True)
class Turn:
    """One row; see `stores.tables.TurnRow` for what the fields mean."""

    id: str
    user_id: str
    conversation_id: str
    number: int
    kind: str
    status: str
    partial: bool
    epoch: int
    owner: str | None
    lease_until: datetime | None
    cancel_requested_at: datetime | None
    idempotency_key: str
    attempt: int
    body_hash: str
    trigger: str
    message_id: str
    message_text: str
    assistant_message_id: str
    assistant: str
    locale: str
    zone: str
    claims: Claims | None
    context: dict[str, Any]
    toolsets: list[str] | None
    tools: TurnTools | None
    live_views: list[str] | None
    reply: str | None
    usage: Used | None
    error_code: str | None
    error_reference: str | None
    replaced_by: str | None
    traceparent: str | None
    created_at: datetime
    decided_at: datetime | None
    delivered_at: datetime | None
    finished_at: datetime | None

    @property
    def open(self) -> bool:
        return self.status in OPEN


@dataclass(frozen=True)
class Recent:
    """What a selection has to know of a turn."""

    kind: str
    message_text: str
    toolsets: list[str] | None


COLUMNS = columns(TurnRow, Turn)
RECENT_COLUMNS = columns(TurnRow, Recent)


def _of(user_id: str, conversation_id: str) -> ColumnElement[bool]:
    return (TABLE.c.user_id == user_id) & (TABLE.c.conversation_id == conversation_id)


async def add(connection: AsyncConnection, turn: Turn, *, lease_until: ColumnElement[datetime] | None = None) -> None:
    """Raises IntegrityError when the conversation has an open turn already.

    `lease_until` is by the database's clock.
    """
    values = {column.name: getattr(turn, column.name) for column in COLUMNS}  # field names are column names
    if lease_until is not None:
        values["lease_until"] = lease_until
    await connection.execute(insert(TABLE).values(values))


async def get(connection: AsyncConnection, user_id: str, turn_id: str) -> Turn | None:
    statement = select(*COLUMNS).where(TABLE.c.id == turn_id, TABLE.c.user_id == user_id)
    row = (await connection.execute(statement)).first()
    return read(Turn, row) if row else None


async def open_in(connection: AsyncConnection, user_id: str, conversation_id: str) -> Turn | None:
    """The conversation's open turn."""
    statement = select(*COLUMNS).where(_of(user_id, conversation_id), OPEN_TURN)
    row = (await connection.execute(statement)).first()
    return read(Turn, row) if row else None


async def by_key(connection: AsyncConnection, user_id: str, conversation_id: str, key: str) -> Turn | None:
    """The latest attempt under an idempotency key."""
    statement = select(*COLUMNS).where(_of(user_id, conversation_id), TABLE.c.idempotency_key == key)
    row = (await connection.execute(statement.order_by(TABLE.c.attempt.desc()).limit(1))).first()
    return read(Turn, row) if row else None


async def latest(connection: AsyncConnection, user_id: str, conversation_id: str, count: int) -> list[Turn]:
    """The latest turns that weren't replaced, newest first."""
    statement = select(*COLUMNS).where(_of(user_id, conversation_id), TABLE.c.replaced_by.is_(None))
    statement = statement.order_by(TABLE.c.number.desc()).limit(count)
    return [read(Turn, row) for row in await connection.execute(statement)]


async def recent(connection: AsyncConnection, user_id: str, conversation_id: str, count: int) -> list[Recent]:
    """As `latest`, without all that a turn carries: every turn begins with this."""
    statement = select(*RECENT_COLUMNS).where(_of(user_id, conversation_id), TABLE.c.replaced_by.is_(None))
    statement = statement.order_by(TABLE.c.number.desc()).limit(count)
    return [read(Recent, row) for row in await connection.execute(statement)]


async def all_in(connection: AsyncConnection, user_id: str, conversation_id: str) -> list[Turn]:
    """Every turn that wasn't replaced, oldest first."""
    statement = select(*COLUMNS).where(_of(user_id, conversation_id), TABLE.c.replaced_by.is_(None))
    return [read(Turn, row) for row in await connection.execute(statement.order_by(TABLE.c.number))]


async def open_ones(connection: AsyncConnection, user_id: str, conversation_ids: Sequence[str]) -> dict[str, Turn]:
    """The open turns of several conversations, by conversation."""
    statement = select(*COLUMNS).where(TABLE.c.user_id == user_id, OPEN_TURN)
    statement = statement.where(TABLE.c.conversation_id.in_(conversation_ids))
    turns = [read(Turn, row) for row in await connection.execute(statement)]
    return {turn.conversation_id: turn for turn in turns}


async def change(connection: AsyncConnection, turn_id: str, epoch: int, /, **values: object) -> None:
    """Set columns by name. Raises LeaseLost when another process holds a newer epoch."""
    result = await connection.execute(update(TABLE).where(TABLE.c.id == turn_id, TABLE.c.epoch == epoch).values(values))
    if result.rowcount != 1:
        raise LeaseLost(turn_id)


async def fence(connection: AsyncConnection, turn_id: str, epoch: int) -> None:
    """Lock the turn. Raises LeaseLost unless it is still run under this epoch."""
    statement = select(TABLE.c.epoch, TABLE.c.status).where(TABLE.c.id == turn_id).with_for_update()
    row = (await connection.execute(statement)).first()
    if row is None or row.epoch != epoch or row.status not in OPEN:
        raise LeaseLost(turn_id)


async def take_over(
    connection: AsyncConnection,
    turn: Turn,
    *,
    owner: str,
    lease_until: ColumnElement[datetime],
    **values: object,
) -> int:
    """Make this process the one that runs the turn; returns the new epoch. The caller holds the row's lock.

    Raises LeaseLost when somebody was quicker.
    """
    statement = (
        update(TABLE)
        .where(TABLE.c.id == turn.id, TABLE.c.epoch == turn.epoch)
        .values(status="running", epoch=turn.epoch + 1, owner=owner, lease_until=lease_until, **values)
    )
    if (await connection.execute(statement)).rowcount != 1:
        raise LeaseLost(turn.id)
    return turn.epoch + 1


async def lapsed(connection: AsyncConnection, now: ColumnElement[datetime], limit: int = 20) -> list[Turn]:
    """Running turns whose lease has lapsed, locked; those that another sweeper holds are left out."""
    statement = select(*COLUMNS).where(TABLE.c.status == "running")
    statement = statement.where(or_(TABLE.c.lease_until.is_(None), TABLE.c.lease_until < now))
    statement = statement.order_by(TABLE.c.lease_until).limit(limit).with_for_update(skip_locked=True)
    return [read(Turn, row) for row in await connection.execute(statement)]


async def count_running(connection: AsyncConnection, user_id: str) -> int:
    """How many turns of the user are running, in whatever process."""
    statement = select(func.count()).select_from(TABLE).where(TABLE.c.user_id == user_id, TABLE.c.status == "running")
    return (await connection.execute(statement)).scalar_one()


async def request_cancel(connection: AsyncConnection, turn_id: str, at: datetime) -> None:
    """Ask whoever runs the turn to stop it; seen at the next renewal of the lease."""
    await connection.execute(update(TABLE).where(TABLE.c.id == turn_id).values(cancel_requested_at=at))


async def waiting_in_vain(connection: AsyncConnection, now: datetime, limit: int = 50) -> list[tuple[str, str]]:
    """Waiting turns (user, id) in which nothing waits any more, or something is past its time."""
    pending = select(APPROVALS.c.id).where(APPROVALS.c.turn_id == TABLE.c.id, APPROVALS.c.status == "pending")
    asked = select(QUESTIONS.c.id).where(QUESTIONS.c.turn_id == TABLE.c.id, QUESTIONS.c.status == "waiting")
    past = pending.where(APPROVALS.c.expires_at <= now)
    statement = select(TABLE.c.user_id, TABLE.c.id).where(TABLE.c.status == "waiting")
    statement = statement.where(or_(past.exists(), ~pending.exists() & ~asked.exists())).limit(limit)
    return [(row.user_id, row.id) for row in await connection.execute(statement)]
