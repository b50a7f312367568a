"""A pack: everything that one domain brings, as one object. Shipped packs and those from outside register alike."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from stores.tables import Base
from toolsets.deps import ToolDeps
from toolsets.scenes import Scene
from toolsets.toolset import Toolset
from toolsets.words import Locale, Words


@dataclass(frozen=True, kw_only=True)
class Assistant:
    """Who a person talks to: which toolsets may be offered, and how to behave."""

    name: str
    title: Words
    toolsets: tuple[str, ...]
    """Names of toolsets, of this pack or of the core (`planning`)."""
    instructions: Words
    """Markdown for the model, in the language of the person."""
    greeting: Words
    """One line for an empty thread: what to try first."""
    suggestions: tuple[Words, ...] = ()
    """Messages to try."""


@dataclass(frozen=True, kw_only=True)
class DemoInput:
    """Who demo data is made for, and when."""

    user_id: str
    now: datetime
    zone: ZoneInfo
    new_id: Callable[[], str]
    locale: Locale = "zh"
    """The language that the demo's names are in."""


View = Callable[[ToolDeps, Mapping[str, str]], Awaitable[Any]]
"""`GET /api/packs/{pack}/views/{name}`: gets reading deps and the query's parameters, gives JSON-able data."""


@dataclass(frozen=True, kw_only=True)
class Pack:
    """One domain. `name` is the folder's name and the prefix of its tables."""

    name: str
    toolsets: tuple[Toolset, ...]
    assistants: tuple[Assistant, ...] = ()
    tables: tuple[type[Base], ...] = ()
    migrations: Path | None = None
    """Folder with the pack's own Alembic versions (a branch labelled with the pack's name); None when its tables are
    part of the house's history."""
    demo: Callable[[AsyncSession, DemoInput], Awaitable[None]] | None = None
    """Puts demo data in place; does nothing for a user who has data already."""
    views: Mapping[str, View] = field(default_factory=dict[str, View])
    scenes: tuple[Scene, ...] = ()
    deps: Callable[[ToolDeps], object] | None = None
    """Called once per run; what it returns is `deps.pack` of every tool of the pack."""
