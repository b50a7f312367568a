"""What a turn may use (DESIGN.md §6), counted across its runs; waiting doesn't count."""

from collections.abc import Callable
from typing import Any, Literal

from pydantic_ai.usage import RunUsage

from agents.gated import CORRECTIONS, TurnCalls
from agents.setup import Limits
from stores.shapes import Used

Limit = Literal["requests", "tool_calls", "seconds", "corrections"]

WRAP_UP_S = 15
"""Seconds that a last answer gets of its own."""


class Budget:
    """Counts requests, calls, seconds and corrections. Begins where the turn's earlier runs stopped."""

    def __init__(self, limits: Limits, before: Used | None, monotonic: Callable[[], float]) -> None:
        used = before or Used()
        self.usage = RunUsage(
            requests=used.get("requests", 0),
            input_tokens=used.get("input_tokens", 0),
            output_tokens=used.get("output_tokens", 0),
        )
        self.calls = TurnCalls(limit=limits.tool_calls, charged=used.get("tool_calls", 0))
        """Replaced once the turn's calls are read."""
        self.hit: Limit | None = None
        """The limit that stopped the run."""
        self.wrapping_up = False
        """A last answer without tools is being made: it is always allowed."""
        self._limits = limits
        self._before_s = used.get("seconds", 0.0)
        self._monotonic = monotonic
        self._started = monotonic()
        self._corrections = 0

    def exhausted(self) -> bool:
        """Whether another request is forbidden; notes by which limit."""
        if self.wrapping_up:
            return False
        if self.calls.exhausted:
            self.hit = "tool_calls"
        elif self._corrections > CORRECTIONS:
            self.hit = "corrections"
        elif self.usage.requests >= self._limits.requests:
            self.hit = "requests"
        elif self._elapsed() >= self._limits.seconds:
            self.hit = "seconds"
        return self.hit is not None

    def note_arguments(self, *, valid: bool) -> None:
        """A call was made; calls in a row whose arguments can't be used are counted."""
        self._corrections = 0 if valid else self._corrections + 1

    def seconds_left(self) -> float:
        return max(self._limits.seconds - self._elapsed(), WRAP_UP_S if self.wrapping_up else 1)

    def used(self) -> Used:
        return Used(
            requests=self.usage.requests,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            tool_calls=self.calls.charged,
            seconds=round(self._elapsed(), 3),
        )

    def shown(self, limit: Limit) -> dict[str, Any]:
        """The data of a `data-budget` part."""
        used: dict[Limit, int] = {
            "requests": self.usage.requests,
            "tool_calls": self.calls.charged,
            "seconds": round(self._elapsed()),
            "corrections": CORRECTIONS,
        }
        return {"limit": limit, "used": used[limit], "partial": True}

    def _elapsed(self) -> float:
        return self._before_s + self._monotonic() - self._started
