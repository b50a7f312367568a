"""Values of the gate: who acts, what is called, what was drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from stores.changes import Change, NormalForm, RowKey
from stores.shapes import StoredDraws
from toolsets.arguments import hashed
from toolsets.cards import Card
from toolsets.deps import ToolDeps
from toolsets.pack import Pack
from toolsets.registry import ToolSpec
from toolsets.words import Locale


@dataclass(frozen=True, kw_only=True)
class Actor:
    """For whom, and within which turn, a call is made."""

    user_id: str
    conversation_id: str | None
    turn_id: str | None
    epoch: int
    zone: ZoneInfo
    locale: Locale
    claims: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True)
class GateCall:
    """One tool call under its server-made id, with normalized arguments."""

    id: str
    spec: ToolSpec
    pack: Pack
    arguments: Mapping[str, Any]

    @property
    def arguments_hash(self) -> str:
        return hashed([self.spec.name, self.arguments])


class Draws:
    """The ids and the moment of a call: drawn once at the proposal, given again at the execution."""

    def __init__(self, moment: datetime, ids: Mapping[str, str], fresh: Callable[[], str]) -> None:
        self.moment = moment
        self.ids = dict(ids)
        self._fresh = fresh
        self._counts: dict[str, int] = {}

    def new_id(self, purpose: str) -> str:
        nth = self._counts.get(purpose, 0)
        self._counts[purpose] = nth + 1
        return self.ids.setdefault(f"{purpose}#{nth}", self._fresh())

    def again(self) -> "Draws":
        """The same values from the start."""
        return Draws(self.moment, self.ids, self._fresh)

    def as_json(self, call: int) -> StoredDraws:
        """For `approvals.draws`; `call` is the place in the step."""
        return StoredDraws(moment=self.moment.isoformat(), ids=self.ids, call=call)

    @classmethod
    def stored(cls, value: StoredDraws, fresh: Callable[[], str]) -> "Draws":
        return cls(datetime.fromisoformat(value["moment"]), value["ids"], fresh)


Symbols = Mapping[RowKey, str]
"""What stands for database-made keys in normal forms."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Under what a call's function is run: what it draws, after what, and which rows it leaves out."""

    draws: Draws
    symbols: Symbols = field(default_factory=dict[RowKey, str])
    """Of the calls before it."""
    position: int = 0
    """Its place in the step, which names the keys that the database makes for it."""
    skip: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What one run of a write tool's function did (in a transaction that may still be rolled back)."""

    result: Mapping[str, Any]
    changes: tuple[Change, ...]
    normal: NormalForm
    card: Card


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A call that would work, and what it would change."""

    call: GateCall
    draws: Draws
    ran: Ran
    depends_on: tuple[str, ...]
    """Ids of earlier calls of the step that this one builds on."""
    skip: frozenset[str] = frozenset()
    position: int = 0
    """Its place in the step."""


def deps_for(actor: Actor, call: GateCall, session: AsyncSession, under: Conditions) -> ToolDeps:
    """What the tool gets for one run of its function."""
    deps = ToolDeps(
        user_id=actor.user_id,
        conversation_id=actor.conversation_id,
        session=session,
        clock=lambda: under.draws.moment,
        new_id=under.draws.new_id,
        zone=actor.zone,
        locale=actor.locale,
        skip=under.skip,
    )
    return with_pack(deps, call.pack)


def with_pack(deps: ToolDeps, pack: Pack) -> ToolDeps:
    """The deps with what the pack's own factory makes."""
    if pack.deps is None:
        return deps
    return replace(deps, pack=pack.deps(deps))
