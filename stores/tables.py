"""The tables of the runtime. A pack's tables derive from the same `Base` and live in the pack.

Conversations are found by (user, id): ids chosen by clients are unique per user, so every row that belongs to a
conversation carries both. Nothing here is ordered by time: messages, turns and changes take their numbers from
`conversations.next_seq`.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from stores.columns import JsonText, UtcDateTime


class Base(DeclarativeBase):
    """Every table of the house and of its packs."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


ID = String(64)
"""Ids made by the server."""
CLIENT_ID = String(200)
"""Ids chosen by clients, and user names."""
OPEN_TURN = text("status IN ('running', 'waiting')")


class UserRow(Base):
    __tablename__ = "users"

    id: Mapped[str] = mapped_column(CLIENT_ID, primary_key=True)
    active: Mapped[bool] = mapped_column(Boolean, default=True)
    scopes: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """List of scopes, or null: no limit beyond the token's."""
    assistants: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """List of assistants, or null: no limit beyond the token's."""
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ConversationRow(Base):
    __tablename__ = "conversations"

    user_id: Mapped[str] = mapped_column(CLIENT_ID, primary_key=True)
    id: Mapped[str] = mapped_column(CLIENT_ID, primary_key=True)
    assistant: Mapped[str] = mapped_column(String(64))
    title: Mapped[str | None] = mapped_column(Text)
    archived: Mapped[bool] = mapped_column(Boolean, default=False)
    next_seq: Mapped[int] = mapped_column(Integer, default=1)
    window_from_seq: Mapped[int] = mapped_column(Integer, default=0)
    """What the model sees begins here; moved by compaction and `/clear`."""
    approvals_made: Mapped[int] = mapped_column(Integer, default=0)
    """Counts short names (A1, A2, …)."""
    undo_asked: Mapped[str | None] = mapped_column(ID)
    """The change whose undo was asked for in chat and waits for a yes."""
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (Index(None, "user_id", "archived", "updated_at"),)


def _of_conversation() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["user_id", "conversation_id"], ["conversations.user_id", "conversations.id"])


class TurnRow(Base):
    __tablename__ = "turns"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID)
    conversation_id: Mapped[str] = mapped_column(CLIENT_ID)
    number: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(String(16))
    """`agent`, or `command`: answered by code, outside of the model's history."""
    status: Mapped[str] = mapped_column(String(16))
    partial: Mapped[bool] = mapped_column(Boolean, default=False)
    epoch: Mapped[int] = mapped_column(Integer, default=1)
    """The fence: whoever takes the turn over increments it; a write with an old one affects no row."""
    owner: Mapped[str | None] = mapped_column(ID)
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    cancel_requested_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    idempotency_key: Mapped[str] = mapped_column(String(300))
    attempt: Mapped[int] = mapped_column(Integer, default=1)
    body_hash: Mapped[str] = mapped_column(String(64))
    trigger: Mapped[str] = mapped_column(String(32))
    message_id: Mapped[str] = mapped_column(CLIENT_ID)
    message_text: Mapped[str] = mapped_column(Text)
    assistant_message_id: Mapped[str] = mapped_column(ID)
    assistant: Mapped[str] = mapped_column(String(64))
    locale: Mapped[str] = mapped_column(String(2))
    zone: Mapped[str] = mapped_column(String(64))
    claims: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """What the request's token allowed: `{"scopes", "assistants"}`."""
    context: Mapped[Any] = mapped_column(JsonText, nullable=True)
    toolsets: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """Names of the selected toolsets; null before the selection."""
    tools: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """`{"offered": [...], "deferred": [...], "schemas": {name: hash}}`."""
    live_views: Mapped[Any] = mapped_column(JsonText, nullable=True)
    reply: Mapped[str | None] = mapped_column(Text)
    """What a command answered, or the mechanical text of a turn that ended without the model."""
    usage: Mapped[Any] = mapped_column(JsonText, nullable=True)
    error_code: Mapped[str | None] = mapped_column(String(64))
    error_reference: Mapped[str | None] = mapped_column(ID)
    replaced_by: Mapped[str | None] = mapped_column(ID)
    traceparent: Mapped[str | None] = mapped_column(String(128))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    decided_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    """The turn's last decision: approved calls must start within `EXECUTE_TTL_S` of it."""
    delivered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    """When the stream that showed the waiting cards reached its `finish`."""
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    __table_args__ = (
        _of_conversation(),
        UniqueConstraint("user_id", "conversation_id", "idempotency_key", "attempt"),
        Index(None, "user_id", "conversation_id", "number"),
        Index(
            "uq_turns_open",
            "user_id",
            "conversation_id",
            unique=True,
            sqlite_where=OPEN_TURN,
            postgresql_where=OPEN_TURN,
        ),
        Index("ix_turns_open_lease", "lease_until", sqlite_where=OPEN_TURN, postgresql_where=OPEN_TURN),
    )


class MessageRow(Base):
    __tablename__ = "messages"

    user_id: Mapped[str] = mapped_column(CLIENT_ID, primary_key=True)
    conversation_id: Mapped[str] = mapped_column(CLIENT_ID, primary_key=True)
    seq: Mapped[int] = mapped_column(Integer, primary_key=True)
    turn_id: Mapped[str] = mapped_column(ID, index=True)
    run_id: Mapped[str | None] = mapped_column(ID)
    kind: Mapped[str] = mapped_column(String(16))
    """`request` or `response`."""
    body: Mapped[str] = mapped_column(Text)
    """One PydanticAI message as ASCII JSON."""
    schema_version: Mapped[int] = mapped_column(Integer, default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (_of_conversation(),)


class ApprovalRow(Base):
    __tablename__ = "approvals"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID)
    conversation_id: Mapped[str] = mapped_column(CLIENT_ID)
    turn_id: Mapped[str] = mapped_column(ID, index=True)
    tool_call_id: Mapped[str] = mapped_column(ID, unique=True)
    position: Mapped[int] = mapped_column(Integer)
    """Order among the calls of the turn."""
    version: Mapped[int] = mapped_column(Integer, default=1)
    status: Mapped[str] = mapped_column(String(16))
    origin: Mapped[str] = mapped_column(String(16), default="model")
    short_name: Mapped[str] = mapped_column(String(16))
    tool: Mapped[str] = mapped_column(String(128))
    schema_hash: Mapped[str] = mapped_column(String(64))
    effect: Mapped[str] = mapped_column(String(16))
    always_confirm: Mapped[bool] = mapped_column(Boolean, default=False)
    reversible: Mapped[bool] = mapped_column(Boolean, default=True)
    arguments: Mapped[Any] = mapped_column(JsonText, nullable=True)
    arguments_hash: Mapped[str] = mapped_column(String(64))
    changes: Mapped[str] = mapped_column(Text)
    """Full rows, `stores.changes.dump_changes`."""
    normal_form: Mapped[str] = mapped_column(Text)
    change_digest: Mapped[str] = mapped_column(String(64))
    seal: Mapped[str] = mapped_column(String(64))
    """Keyed digest over all that the approval binds: a row changed behind the gate's back approves nothing."""
    card: Mapped[Any] = mapped_column(JsonText, nullable=True)
    draws: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """`{"moment": iso, "ids": {purpose: value}}`: the execution gets what the proposal got."""
    depends_on: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """Ids of earlier approvals of the step that this one builds on."""
    skip: Mapped[Any] = mapped_column(JsonText, nullable=True)
    decision: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """`{"decision", "by", "at", "door", "reason"}`."""
    outcome: Mapped[Any] = mapped_column(JsonText, nullable=True)
    versions: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """Earlier versions: `[{"version", "arguments", "rows", "edited_by", "at"}]`."""
    claims: Mapped[Any] = mapped_column(JsonText, nullable=True)
    traceparent: Mapped[str | None] = mapped_column(String(128))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (
        _of_conversation(),
        Index(None, "user_id", "status", "expires_at"),
        Index(None, "user_id", "conversation_id"),
    )


class QuestionRow(Base):
    __tablename__ = "questions"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID)
    conversation_id: Mapped[str] = mapped_column(CLIENT_ID)
    turn_id: Mapped[str] = mapped_column(ID, index=True)
    tool_call_id: Mapped[str] = mapped_column(ID, unique=True)
    status: Mapped[str] = mapped_column(String(16))
    question: Mapped[str] = mapped_column(Text)
    options: Mapped[Any] = mapped_column(JsonText, nullable=True)
    allow_free_text: Mapped[bool] = mapped_column(Boolean, default=True)
    secret: Mapped[bool] = mapped_column(Boolean, default=False)
    answer: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    answered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    __table_args__ = (_of_conversation(),)


class LedgerRow(Base):
    __tablename__ = "ledger"

    tool_call_id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID)
    conversation_id: Mapped[str | None] = mapped_column(CLIENT_ID)
    turn_id: Mapped[str | None] = mapped_column(ID, index=True)
    approval_id: Mapped[str | None] = mapped_column(ID)
    tool: Mapped[str] = mapped_column(String(128))
    effect: Mapped[str] = mapped_column(String(16))
    arguments_hash: Mapped[str] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(16))
    """`finished`; external effects also `started` and `unknown`."""
    result: Mapped[Any] = mapped_column(JsonText, nullable=True)
    symbols: Mapped[Any] = mapped_column(JsonText, nullable=True)
    """Database-made keys of this call and what stands for them in normal forms."""
    at: Mapped[datetime] = mapped_column(UtcDateTime)


class ChangeRow(Base):
    __tablename__ = "changes"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID)
    conversation_id: Mapped[str | None] = mapped_column(CLIENT_ID)
    number: Mapped[int] = mapped_column(Integer)
    turn_id: Mapped[str | None] = mapped_column(ID, index=True)
    tool_call_id: Mapped[str | None] = mapped_column(ID)
    approval_id: Mapped[str | None] = mapped_column(ID)
    tool: Mapped[str] = mapped_column(String(128))
    card: Mapped[Any] = mapped_column(JsonText, nullable=True)
    rows: Mapped[str] = mapped_column(Text)
    """Full rows, `stores.changes.dump_changes`."""
    reversible: Mapped[bool] = mapped_column(Boolean)
    reverts: Mapped[str | None] = mapped_column(ID)
    reverted_by: Mapped[str | None] = mapped_column(ID)
    at: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (Index(None, "user_id", "conversation_id", "number"),)


class PlanRow(Base):
    __tablename__ = "plans"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID)
    conversation_id: Mapped[str] = mapped_column(CLIENT_ID)
    status: Mapped[str] = mapped_column(String(16))
    goal: Mapped[str] = mapped_column(Text)
    steps: Mapped[Any] = mapped_column(JsonText, nullable=True)
    current_step_id: Mapped[str | None] = mapped_column(ID)
    observations: Mapped[Any] = mapped_column(JsonText, nullable=True)
    summary_notes: Mapped[str | None] = mapped_column(Text)
    rounds_used: Mapped[int] = mapped_column(Integer, default=0)
    final_answer: Mapped[str | None] = mapped_column(Text)
    last_error: Mapped[str | None] = mapped_column(Text)
    signature: Mapped[str] = mapped_column(String(64))
    version: Mapped[int] = mapped_column(Integer, default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (_of_conversation(), Index(None, "user_id", "conversation_id"))


class TaskStateRow(Base):
    __tablename__ = "task_states"

    user_id: Mapped[str] = mapped_column(CLIENT_ID, primary_key=True)
    conversation_id: Mapped[str] = mapped_column(CLIENT_ID, primary_key=True)
    state: Mapped[Any] = mapped_column(JsonText, nullable=True)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (_of_conversation(),)


class FactRow(Base):
    __tablename__ = "facts"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID, index=True)
    text: Mapped[str] = mapped_column(Text)
    source_message_id: Mapped[str | None] = mapped_column(CLIENT_ID)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class StandingApprovalRow(Base):
    __tablename__ = "standing_approvals"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID, index=True)
    conversation_id: Mapped[str | None] = mapped_column(CLIENT_ID)
    tool: Mapped[str] = mapped_column(String(128))
    schema_hash: Mapped[str] = mapped_column(String(64))
    arguments_hash: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class UsageRow(Base):
    __tablename__ = "usage"

    turn_id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(CLIENT_ID)
    day: Mapped[str] = mapped_column(String(10))
    """UTC, `2026-12-08`."""
    model: Mapped[str] = mapped_column(String(200))
    requests: Mapped[int] = mapped_column(Integer)
    input_tokens: Mapped[int] = mapped_column(Integer)
    output_tokens: Mapped[int] = mapped_column(Integer)
    cost: Mapped[str | None] = mapped_column(String(40))
    """US dollars as a decimal string; null when the model has no known price."""
    at: Mapped[datetime] = mapped_column(UtcDateTime)

    __table_args__ = (Index(None, "user_id", "day"),)
