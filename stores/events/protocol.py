"""What an event log promises."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

IDS_OF_AN_EPOCH = 1_000_000
"""A log that is begun anew under a later epoch, because the earlier one was lost, has higher ids: a reader's place in
the one is never taken for a place in the other."""


@dataclass(frozen=True, slots=True)
class Event:
    """One frame of a turn's stream."""

    id: int
    """Strictly increasing within the turn; above `IDS_OF_AN_EPOCH` times the epoch that began the log."""
    data: str
    """A chunk as JSON, or `[DONE]`."""


class EventLog(Protocol):
    """Appends and follows the chunks of turns. Losing it loses no truth: the stream can be rebuilt from messages."""

    async def append(self, turn_id: str, epoch: int, chunks: Sequence[str]) -> None:
        """Add chunks in order. A no-op when a newer epoch has appended already."""
        ...

    async def reopen(self, turn_id: str, epoch: int) -> None:
        """More is to come: whoever has read to the last `[DONE]` waits for it."""
        ...

    async def holds(self, turn_id: str) -> bool:
        """Whether this log has the turn's chunks from the first one on."""
        ...

    async def length(self, turn_id: str) -> int:
        """The id of the turn's last event; 0 when there is none."""
        ...

    def follow(self, turn_id: str, after: int = 0) -> AsyncIterator[list[Event]]:
        """Batches of events with an id above `after`, as they come.

        Ends when the log rests: the last chunk is `[DONE]` and everything was handed out. An empty batch means that
        nothing happened for a while (at most 15 s): the moment for a comment frame.
        """
        ...

    async def drop(self, turn_id: str) -> None:
        """Forget the turn's chunks. Unknown turns are a no-op."""
        ...
