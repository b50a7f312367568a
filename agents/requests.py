"""What the gateway asks of the runtime, and what it gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolsets.words import Locale

Door = Literal["page", "chat", "stream", "openai", "agui"]
"""By which way a decision came: the approvals API, words in chat, `useChat` parts, other protocols."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """Who asks, as the gateway authenticated them: the token's claims cut down to the user's row now."""

    user_id: str
    scopes: frozenset[str] | None = None
    """None: everything."""
    assistants: frozenset[str] | None = None
    zone: str = "UTC"
    locale: Locale = "en"


@dataclass(frozen=True, kw_only=True)
class TurnRequest:
    """A message that asks for a turn."""

    person: Person
    conversation_id: str
    message_id: str
    text: str
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    assistant: str | None = None
    """None: the conversation's own, or the default one."""
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    on_busy: Literal["reject", "interrupt"] = "reject"
    idempotency_key: str | None = None
    """Replaces the message id as the key."""


@dataclass(frozen=True, kw_only=True)
class TurnOpened:
    """A turn to follow: new, joined, or gone on by a confirmation or an answer."""

    turn_id: str
    conversation_id: str
    after: int
    """Events up to this id belong to earlier runs of the turn: follow from here."""
    created: bool


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What a person says to one approval."""

    approval_id: str
    decision: Literal["approve", "deny"]
    expected_version: int | None = None
    """None only by words in chat, where the version shown is the version meant."""
    reason: str | None = None
    arguments: Mapping[str, Any] | None = None
    execute: bool = False
    skip: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cancelled:
    """What cancelling found and did."""

    turn_id: str | None
    status: str
    applied: tuple[Mapping[str, Any], ...] = ()
    """Changes that were already made in this turn: `{"change_id", "tool", "summary"}`."""
