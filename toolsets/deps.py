"""What a tool is given: who asks, a session, the time, new ids. Nothing else reaches a tool."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from toolsets.words import Locale


class NewId(Protocol):
    """Draws a new id. The gate gives the execution the same ids as the proposal.

    `purpose` names what the id is for. A tool that honours `skip` passes the row's own key in it, so that leaving a
    row out doesn't shift the ids of the others.
    """

    def __call__(self, purpose: str) -> str: ...


@dataclass(frozen=True, kw_only=True)
class ToolDeps:
    """Everything that a tool may use."""

    user_id: str
    conversation_id: str | None
    session: AsyncSession
    """In a read tool: can't write. In a write tool: everything flushed here is recorded. Never commit."""
    clock: Callable[[], datetime]
    """The present, aware, UTC. In a write tool: the moment of the proposal, also when it is executed."""
    new_id: NewId
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    """The person's zone; decides what "today" is."""
    locale: Locale = "en"
    skip: frozenset[str] = frozenset()
    """Keys of the optional card rows that the person left out (bulk tools)."""
    pack: object | None = None
    """What the pack's own deps factory made for this run."""
