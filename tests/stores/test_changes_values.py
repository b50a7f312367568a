"""Change sets as text."""

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.changes import Change, dump_changes, load_changes
from stores.changes.values import Symbol, canonical, decoded, encoded
from stores.errors import UnrecordableValue

any_text = st.text(alphabet=st.characters(codec=None, categories=None), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
zones = st.none() | st.just(UTC) | st.just(timezone(timedelta(hours=5, minutes=45)))
values: st.SearchStrategy[Any] = st.one_of(
    json_values,
    st.decimals(allow_nan=False),
    st.dates(),
    st.datetimes(timezones=zones),
    st.times(),
    st.timedeltas(),
    st.binary(max_size=8),
    st.uuids(),
)


def one(value: Any) -> tuple[Change, ...]:
    row = {"value": value}
    return (Change(table="t", key=(value,), op="update", before=row, after=row, version="v", made=3, chosen=("c",)),)


@given(values)
def test_every_value_comes_back_exactly(value: Any) -> None:
    text = dump_changes(one(value))
    assert text.isascii()
    (back,) = load_changes(text)
    assert (back,) == one(value)
    assert back.before is not None
    assert type(back.before["value"]) is type(value)
    assert canonical(back.before["value"]) == canonical(value)


@pytest.mark.parametrize(
    "value",
    [
        "\x00",
        "\ud83d",
        "\ud83d\ude00",
        "😀",
        "\u202e",
        1e22,
        -0.0,
        5e-324,
        10**40,
        {"$date": "2026-12-01"},
        {"$object": []},
        {"\ud83d\ude00": 1, "😀": 2},
        Decimal("1.10"),
        Decimal("NaN"),
        date(1, 1, 1),
        datetime(2026, 12, 1, 8, tzinfo=UTC),
        time(23, 59, 59, 999999),
        b"",
        UUID(int=0),
    ],
)
def test_awkward_values_come_back_exactly(value: Any) -> None:
    back = decoded(encoded(value))
    assert repr(back) == repr(value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_floats_without_a_number_come_back(value: float) -> None:
    assert repr(decoded(encoded(value))) == repr(value)


def test_values_that_only_look_alike_have_different_texts() -> None:
    alike: list[Any] = [1, 1.0, True, "1", Decimal(1), Decimal("1.0"), Symbol("1"), b"1", [1], None, "null"]
    assert len({canonical(value) for value in alike}) == len(alike)


def test_an_object_has_one_text_whatever_the_order_of_its_keys() -> None:
    assert canonical({"a": 1, "$b": 2}) == canonical({"$b": 2, "a": 1})
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})


@pytest.mark.parametrize("value", [object(), {1: 2}, (1, 2), {1, 2}])
def test_what_cannot_come_back_is_refused(value: Any) -> None:
    with pytest.raises(UnrecordableValue):
        encoded(value)
