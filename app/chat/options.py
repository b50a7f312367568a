"""What a chat is started with."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from toolsets.words import Locale

ReadLine = Callable[[str], Awaitable[str]]
"""Asks with the given prompt. Gives the line without its end; raises `EOFError` when there are no more and
`Interrupted` on Ctrl-C."""

EditText = Callable[[str], Awaitable[str]]
"""Lets the person change a text and gives what it became; raises as `ReadLine` does."""


def _new_id() -> str:
    return uuid4().hex


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class ChatOptions:
    base_url: str
    assistant: str
    conversation_id: str | None = None
    """An existing conversation to go on with; else a new one is begun."""
    token: str | None = None
    locale: Locale = "en"
    interactive: bool = False
    """A person watches: panels, spinner, reasoning, questions back. Otherwise plain lines."""
    read_secret: ReadLine | None = None
    """As `ReadLine`, without showing what is typed; a plain line if None."""
    edit_text: EditText | None = None
    """If None, the text is shown and a line read in its place."""
    new_id: Callable[[], str] = _new_id
    clock: Callable[[], datetime] = _now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    backoff: tuple[float, ...] = (0.5, 1, 2, 4, 8)
    """Seconds between attempts to reach a lost server, the last one again and again."""
