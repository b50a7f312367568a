"""The days that are planned, and the term that they belong to."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

SLOTS_PER_DAY = 12


@dataclass(frozen=True, kw_only=True)
class Term:
    """A term: weeks are counted from its anchor, never from the calendar's week numbers."""

    name: str
    starts_on: date
    """Any day of week 1."""
    weeks: int
    slots_per_day: int = SLOTS_PER_DAY
    clock: tuple[tuple[str, str], ...] = ()
    """Start and end ("08:00") of each slot; empty when nobody said."""
    holidays: frozenset[date] = frozenset()

    def week_of(self, day: date) -> int:
        """1 for the anchor's week; days before it have weeks of 0 and less."""
        return (monday_of(day) - monday_of(self.starts_on)).days // 7 + 1

    def holds(self, day: date) -> bool:
        return 1 <= self.week_of(day) <= self.weeks


@dataclass(frozen=True, kw_only=True, slots=True)
class Day:
    """One planned day."""

    day_index: int
    """1..N within the window."""
    date: date
    week: int
    day_of_week: int
    """1 is Monday."""
    holiday: bool = False


@dataclass(frozen=True, kw_only=True)
class Window:
    """Consecutive days, each cut into slots `1..slots_per_day`."""

    days: tuple[Day, ...]
    slots_per_day: int = SLOTS_PER_DAY

    @property
    def total_days(self) -> int:
        return len(self.days)

    @property
    def first(self) -> date:
        return self.days[0].date

    @property
    def last(self) -> date:
        return self.days[-1].date

    def __contains__(self, day_index: int) -> bool:
        return 1 <= day_index <= len(self.days)

    def date_of(self, day_index: int) -> date:
        """The date of a day; defined outside the window too."""
        return self.first + timedelta(days=day_index - 1)

    def index_of(self, day: date) -> int | None:
        """The day's index, or None when it lies outside."""
        index = (day - self.first).days + 1
        return index if index in self else None


def monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def window_between(first: date, last: date, term: Term | None = None) -> Window:
    """The days from `first` to `last`, both included."""
    anchor = monday_of(first)
    dates = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return Window(
        days=tuple(
            Day(
                day_index=n,
                date=day,
                week=term.week_of(day) if term else (day - anchor).days // 7 + 1,
                day_of_week=day.isoweekday(),
                holiday=term is not None and day in term.holidays,
            )
            for n, day in enumerate(dates, start=1)
        ),
        slots_per_day=term.slots_per_day if term else SLOTS_PER_DAY,
    )


def planned_days(spans: Iterable[tuple[date, date]], today: date) -> tuple[date, date]:
    """First and last day to plan: the union of the task classes' dates, else the current week.

    Classes that ended before this week don't count, so that a finished term never hides the present.
    """
    monday = monday_of(today)
    current = [span for span in spans if span[1] >= monday]
    if not current:
        return monday, monday + timedelta(days=6)
    return min(first for first, _ in current), max(last for _, last in current)


def term_at(terms: Iterable[Term], day: date) -> Term | None:
    """The term that holds the day, else the one that began last before it, else the first to come."""
    ordered = sorted(terms, key=lambda term: term.starts_on)
    holding = [term for term in ordered if term.holds(day)]
    begun = [term for term in ordered if term.starts_on <= day]
    return (holding or begun or ordered[:1] or [None])[-1]
