"""Ranges of days in queries."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

from annotated_types import Ge, Le
from fastapi import Depends, Query
from pydantic import BeforeValidator

from gateway.errors import Unprocessable
from gateway.problems import Problem, Wrong
from toolsets.words import Words

NO_DATE = Words(zh="必须是日期（年-月-日）", en="must be a date (YYYY-MM-DD)")


def _written(value: object) -> object:
    # Pydantic would read a bare number as seconds since 1970.
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        raise Wrong(NO_DATE)
    return value


Day = Annotated[date, BeforeValidator(_written), Ge(date(1970, 1, 1)), Le(date(9000, 1, 1))]
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
