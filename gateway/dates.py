"""Ranges of days in queries."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

from annotated_types import Ge, Le
from fastapi import Depends, Query

from gateway.errors import Unprocessable
from gateway.problems import Problem
from toolsets.words import Words

Day = Annotated[date, Ge(date(1970, 1, 1)), Le(date(9000, 1, 1))]
MOST_DAYS = 366
ORDER = Words(
    zh=f"结束日期不能早于开始日期，最多 {MOST_DAYS} 天", en=f"must not be before `from`, {MOST_DAYS} days at most"
)


@dataclass(frozen=True, kw_only=True)
class Days:
    """`from` and `to` of a query, both included; None where the query is silent."""

    first: date | None
    last: date | None

    def around(self, today: date, *, before: int, after: int) -> tuple[date, date]:
        """First and last day; what is missing is counted from the other, or from today. Raises Unprocessable."""
        first, last = self.first, self.last
        if first is None:
            first = (last - timedelta(days=before + after)) if last else today - timedelta(days=before)
        if last is None:
            last = first + timedelta(days=before + after)
        if not timedelta(0) <= last - first < timedelta(days=MOST_DAYS):
            raise Unprocessable(Problem(field="to", words=ORDER))
        return first, last


def _days(
    first: Annotated[Day | None, Query(alias="from")] = None,
    last: Annotated[Day | None, Query(alias="to")] = None,
) -> Days:
    return Days(first=first, last=last)


DaysQuery = Annotated[Days, Depends(_days)]
