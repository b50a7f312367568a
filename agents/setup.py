"""What the runtime is made of, put together by `app/wiring.py`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic_ai.models import Model

from stores.database import Clock, Database
from stores.events.protocol import EventLog
from toolsets.gate import Gate
from toolsets.registry import Registry
from toolsets.toolset import Toolset


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Per turn, across its runs (DESIGN.md §6); seconds of the rest."""

    requests: int = 10
    tool_calls: int = 20
    seconds: float = 120
    approval_ttl_s: float = 900
    lease_s: float = 15
    view_s: float = 0.5
    sweep_s: float = 5
    output_tokens: int = 8_000
    window_turns: int = 20
    window_tokens: int = 24_000


class Selected(Protocol):
    """Which toolsets a turn is offered, and which only tool search can find."""

    @property
    def offered(self) -> tuple[str, ...]: ...

    @property
    def deferred(self) -> tuple[str, ...]: ...

    @property
    def reasons(self) -> Mapping[str, Sequence[str]]: ...


class Select(Protocol):
    """The gateway's pure selection."""

    def __call__(
        self,
        assistant_toolsets: Sequence[Toolset],
        text: str,
        earlier: Sequence[str] = (),
        sticky: Sequence[str] = (),
        context: Mapping[str, Any] | None = None,
    ) -> Selected: ...


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Everything that a run needs; built once."""

    database: Database
    events: EventLog
    gate: Gate
    registry: Registry
    model: Model
    select: Select
    limits: Limits
    clock: Clock
    monotonic: Callable[[], float]
    new_id: Callable[[], str]
    owner: str
    """This process, in leases."""
    default_assistant: str
