"""What the rehearsal model can play: a pattern and a generator of tool calls that sees the results so far."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from toolsets.words import Locale


@dataclass(frozen=True)
class Call:
    """A tool call that the scene makes."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, init=False)
class Use:
    """Make these calls in one response, perhaps after saying something."""

    calls: tuple[Call, ...]
    text: str

    def __init__(self, *calls: Call, text: str = "") -> None:
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "text", text)


@dataclass(frozen=True)
class Say:
    """The last words of the turn."""

    text: str


@dataclass(frozen=True)
class Result:
    """What came back for one call."""

    status: Literal["ok", "error", "denied"]
    content: Any
    """The tool's result as JSON-able data; the reason or message when denied or failed."""


Act = Use | Say
Play = Generator[Act, tuple[Result, ...], None]
"""A scene yields acts. After a `Use` it is sent one `Result` per call; it ends with a `Say`."""


@dataclass(frozen=True, kw_only=True)
class Cue:
    """What a scene starts from."""

    text: str
    """The person's message of this turn."""
    match: Mapping[str, str]
    """Named groups of the pattern that matched (absent groups left out)."""
    locale: Locale
    earlier: tuple[str, ...] = ()
    """The person's earlier messages in the window, oldest first."""
    tools: frozenset[str] = frozenset()
    """Names of the tools that can be called in this step."""


class Player(Protocol):
    def __call__(self, cue: Cue) -> Play: ...


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A job that the rehearsal model can do.

    `patterns` are regular expressions (zh and en), searched in the message.
    """

    name: str
    patterns: tuple[str, ...]
    play: Player
