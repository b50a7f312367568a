"""What can go wrong in the stores.

StoreError
├── LeaseLost            another process runs the turn now: whoever sees this stops at once
├── EscapedStatement     a recorded call tried to write past its session
├── UnrecordableValue    a value that a change set can't hold exactly
├── BrokenReference      a deferred foreign key points nowhere
├── RowsMovedOn          a change set can't be reverted: its rows aren't as it left them
├── Irreversible         a change set can't be reverted, whatever its rows hold
└── UnknownVersion       the database's schema is ahead of this code
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stores.changes.difference import Difference


class StoreError(Exception):
    """Base of the errors of this package."""


class LeaseLost(StoreError):
    """The turn is run by another process (or is final): this one's epoch is old and its writes affect no row."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"turn {turn_id} is no longer run by this process")
        self.turn_id = turn_id


class EscapedStatement(StoreError):
    """A recorded call may read, and change objects of its session; it tried something else.

    `what` names the kind of statement. The statement itself isn't told: it may hold values that are secret.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"a recorded call may only change objects of its session, not use {what}")
        self.what = what


class UnrecordableValue(StoreError):
    """A column holds a value that can't be written down exactly. `where` names the column or the type."""

    def __init__(self, where: str) -> None:
        super().__init__(f"{where} can't be recorded")
        self.where = where


class BrokenReference(StoreError):
    """A row of `table` refers to a row of `referred` that isn't there."""

    def __init__(self, table: str, referred: str) -> None:
        super().__init__(f"a row of {table!r} refers to a missing row of {referred!r}")
        self.table = table
        self.referred = referred


class RowsMovedOn(StoreError):
    """The rows that a change set left behind have changed since, or others stand in the way. `rows` says which."""

    def __init__(self, rows: tuple[Difference, ...]) -> None:
        super().__init__(f"{len(rows)} rows moved on: {', '.join(sorted({row.table for row in rows}))}")
        self.rows = rows


class Irreversible(StoreError):
    """The change set holds a secret, whose value was never kept."""


class UnknownVersion(StoreError):
    """The database holds schema versions of a newer release, or of a pack that isn't installed."""

    def __init__(self, versions: tuple[str, ...]) -> None:
        super().__init__(
            f"the database is at version {', '.join(versions)}, which neither this release nor its packs know"
        )
        self.versions = versions
