"""Days, weeks and terms."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsets.scheduling.labels import day_words, span_words
from toolsets.scheduling.state import Range, compressed
from toolsets.scheduling.window import Term, planned_days, term_at, window_between

TODAY = date(2026, 12, 8)


def test_the_window_spans_the_dates_of_all_classes() -> None:
    spans = [(date(2026, 12, 10), date(2026, 12, 12)), (date(2026, 12, 7), date(2026, 12, 9))]
    assert planned_days(spans, TODAY) == (date(2026, 12, 7), date(2026, 12, 12))


def test_without_classes_the_window_is_the_current_week() -> None:
    assert planned_days([], TODAY) == (date(2026, 12, 7), date(2026, 12, 13))


def test_classes_that_are_over_never_hide_the_present() -> None:
    assert planned_days([(date(2026, 9, 1), date(2026, 10, 1))], TODAY) == (date(2026, 12, 7), date(2026, 12, 13))


def test_days_are_numbered_from_one_and_know_their_weekday() -> None:
    window = window_between(date(2026, 12, 9), date(2026, 12, 15))
    assert [(d.day_index, d.day_of_week) for d in window.days] == [
        (1, 3),
        (2, 4),
        (3, 5),
        (4, 6),
        (5, 7),
        (6, 1),
        (7, 2),
    ]
    assert [d.week for d in window.days] == [1, 1, 1, 1, 1, 2, 2]
    assert window.index_of(date(2026, 12, 15)) == 7
    assert window.index_of(date(2026, 12, 16)) is None


def test_weeks_count_from_the_anchor_across_the_new_year() -> None:
    term = Term(name="Autumn", starts_on=date(2026, 9, 9), weeks=20, holidays=frozenset({date(2027, 1, 1)}))
    days = window_between(date(2026, 12, 28), date(2027, 1, 4), term).days
    assert [d.week for d in days] == [17] * 7 + [18]
    assert [d.date for d in days if d.holiday] == [date(2027, 1, 1)]


def test_the_term_is_the_one_that_holds_the_day_else_the_latest_that_began() -> None:
    autumn = Term(name="Autumn", starts_on=date(2026, 9, 7), weeks=18)
    spring = Term(name="Spring", starts_on=date(2027, 3, 1), weeks=18)
    assert term_at([spring, autumn], date(2026, 10, 1)) == autumn
    assert term_at([spring, autumn], date(2027, 2, 1)) == autumn
    assert term_at([spring, autumn], date(2026, 1, 1)) == autumn
    assert term_at([], date(2026, 1, 1)) is None


def test_labels_have_weekday_and_date() -> None:
    assert day_words(TODAY).en == "Tue 8 Dec"
    assert span_words(date(2026, 12, 9), 7, 8).zh == "周三 12月9日 第7–8节"
    assert span_words(date(2026, 12, 9), 8, 8).en == "Wed 9 Dec, slot 8"


@pytest.mark.parametrize(
    ("slots", "ranges"),
    [
        ([], []),
        ([(1, 3), (1, 4), (1, 6)], [(1, 3, 4), (1, 6, 6)]),
        ([(2, 1), (1, 12), (2, 2)], [(1, 12, 12), (2, 1, 2)]),
    ],
)
def test_slots_are_compressed(slots: list[tuple[int, int]], ranges: list[tuple[int, int, int]]) -> None:
    assert list(compressed(slots)) == [Range(*place) for place in ranges]


@given(st.sets(st.tuples(st.integers(1, 7), st.integers(1, 12))))
def test_compressing_loses_no_slot(slots: set[tuple[int, int]]) -> None:
    assert {(place.day, slot) for place in compressed(slots) for slot in place.slots} == slots
