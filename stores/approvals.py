"""Approvals and questions: what waits for a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.rows import columns, read, table_of
from stores.shapes import Claims, Made, NotMade, StoredCard, StoredDecision, StoredDraws, StoredVersion
from stores.tables import ApprovalRow, QuestionRow

TABLE = table_of(ApprovalRow)
QUESTIONS = table_of(QuestionRow)


@dataclass(frozen=True)
class Approval:
    """One row; see `stores.tables.ApprovalRow` for what the fields mean."""

    id: str
    user_id: str
    conversation_id: str
    turn_id: str
    tool_call_id: str
    position: int
    version: int
    status: str
    origin: str
    short_name: str
    tool: str
    schema_hash: str
    effect: str
    always_confirm: bool
    reversible: bool
    arguments: dict[str, Any]
    arguments_hash: str
    changes: str
    normal_form: str
    change_digest: str
    seal: str
    card: StoredCard
    draws: StoredDraws
    depends_on: list[str]
    skip: list[str] | None
    decision: StoredDecision | None
    outcome: Made | NotMade | None
    versions: list[StoredVersion] | None
    claims: Claims | None
    traceparent: str | None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class Question:
    id: str
    user_id: str
    conversation_id: str
    turn_id: str
    tool_call_id: str
    status: str
    question: str
    options: list[str]
    allow_free_text: bool
    secret: bool
    answer: str | None
    created_at: datetime
    answered_at: datetime | None


COLUMNS = columns(ApprovalRow, Approval)
QUESTION_COLUMNS = columns(QuestionRow, Question)


async def add(connection: AsyncConnection, approvals: Sequence[Approval]) -> None:
    rows = [{column.name: getattr(one, column.name) for column in COLUMNS} for one in approvals]  # same names
    if rows:
        await connection.execute(insert(TABLE), rows)


async def get(connection: AsyncConnection, user_id: str, approval_id: str) -> Approval | None:
    statement = select(*COLUMNS).where(TABLE.c.id == approval_id, TABLE.c.user_id == user_id)
    row = (await connection.execute(statement)).first()
    return read(Approval, row) if row else None


async def of_turns(connection: AsyncConnection, user_id: str, turn_ids: Sequence[str]) -> list[Approval]:
    """The approvals of turns, in the order of their calls."""
    statement = select(*COLUMNS).where(TABLE.c.user_id == user_id, TABLE.c.turn_id.in_(turn_ids))
    return [read(Approval, row) for row in await connection.execute(statement.order_by(TABLE.c.position))]


async def pending_counts(connection: AsyncConnection, user_id: str) -> dict[str, int]:
    """How many approvals wait, by conversation."""
    statement = select(TABLE.c.conversation_id).where(TABLE.c.user_id == user_id, TABLE.c.status == "pending")
    counts: dict[str, int] = {}
    for (conversation_id,) in await connection.execute(statement):
        counts[conversation_id] = counts.get(conversation_id, 0) + 1
    return counts


async def page(
    connection: AsyncConnection,
    user_id: str,
    *,
    status: str | None,
    conversation_id: str | None,
    before: tuple[datetime, str] | None,
    limit: int,
) -> list[Approval]:
    """The user's approvals, newest first."""
    statement = select(*COLUMNS).where(TABLE.c.user_id == user_id)
    if status:
        statement = statement.where(TABLE.c.status == status)
    if conversation_id:
        statement = statement.where(TABLE.c.conversation_id == conversation_id)
    if before:
        moment, approval_id = before
        earlier = (TABLE.c.created_at == moment) & (TABLE.c.id < approval_id)
        statement = statement.where(or_(TABLE.c.created_at < moment, earlier))
    statement = statement.order_by(TABLE.c.created_at.desc(), TABLE.c.id.desc()).limit(limit)
    return [read(Approval, row) for row in await connection.execute(statement)]


async def settle(
    connection: AsyncConnection,
    approval_id: str,
    *,
    expected: Sequence[str],
    at_version: int | None = None,
    in_time: ColumnElement[bool] | None = None,
    **values: object,
) -> bool:
    """Compare-and-set: change the approval only from one of the expected statuses (and version, and condition)."""
    statement = update(TABLE).where(TABLE.c.id == approval_id, TABLE.c.status.in_(expected))
    if at_version is not None:
        statement = statement.where(TABLE.c.version == at_version)
    if in_time is not None:
        statement = statement.where(in_time)
    return (await connection.execute(statement.values(values))).rowcount == 1


async def add_question(connection: AsyncConnection, question: Question) -> None:
    values = {column.name: getattr(question, column.name) for column in QUESTION_COLUMNS}  # same names
    await connection.execute(insert(QUESTIONS).values(values))


async def get_question(connection: AsyncConnection, user_id: str, question_id: str) -> Question | None:
    statement = select(*QUESTION_COLUMNS).where(QUESTIONS.c.id == question_id, QUESTIONS.c.user_id == user_id)
    row = (await connection.execute(statement)).first()
    return read(Question, row) if row else None


async def questions_of(connection: AsyncConnection, user_id: str, turn_ids: Sequence[str]) -> list[Question]:
    statement = select(*QUESTION_COLUMNS).where(QUESTIONS.c.user_id == user_id, QUESTIONS.c.turn_id.in_(turn_ids))
    return [read(Question, row) for row in await connection.execute(statement)]


async def settle_question(connection: AsyncConnection, question_id: str, **values: object) -> bool:
    """Compare-and-set from `waiting`."""
    statement = update(QUESTIONS).where(QUESTIONS.c.id == question_id, QUESTIONS.c.status == "waiting")
    return (await connection.execute(statement.values(values))).rowcount == 1
