"""The card that a person sees before a write: made by code from recorded changes, never by the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stores.changes import Change
from toolsets.deps import ToolDeps
from toolsets.words import Words

Op = Literal["add", "change", "remove"]


@dataclass(frozen=True, kw_only=True)
class CardRow:
    """One line of a card: what it is, what it was, what it becomes."""

    key: str
    """Stable within the card, also when rows are skipped: the wire's `row_id`."""
    op: Op
    table: str
    label: Words
    before: Words | None = None
    after: Words | None = None
    changes: tuple[int, ...] = ()
    """Indexes (into the change set) of the changes that this row stands for."""
    optional: bool = False
    """The person may untick this row; the tool then finds `key` in `deps.skip`."""
    depends_on: tuple[str, ...] = ()
    """Keys of rows without which this one can't be."""
    ref: Mapping[str, Any] | None = None
    """Where the row lives in its panel (API.md), so that it can be drawn as a ghost."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """The sentence and the rows. Rows together stand for every change; the gate adds those that are missing."""

    summary: Words
    rows: tuple[CardRow, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CardInput:
    """What a card is made of. `deps.session` still sees the world with the changes made."""

    deps: ToolDeps
    arguments: Mapping[str, Any]
    """The normalized arguments."""
    changes: tuple[Change, ...]
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the tool returned in the dry run."""


CardMaker = Callable[[CardInput], Card]
