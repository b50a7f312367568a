"""Arguments of calls: mended where nothing is lost, refused everywhere else."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from toolsets.arguments import INVALID, ToolArguments, as_json, hashed, repaired
from toolsets.deps import ToolDeps
from toolsets.errors import ArgumentsError
from toolsets.registry import prepare
from toolsets.toolset import Toolset
from toolsets.words import Words

ZERO, LONE = chr(0), chr(0xD800)


class Move(BaseModel):
    task_id: int
    day: int | None = None


async def plan(
    deps: ToolDeps,
    number: int,
    name: str = "",
    share: float = 0.5,
    sure: bool = False,
    on: date | None = None,
    days: list[int] | None = None,
    moves: list[Move] | None = None,
) -> dict[str, Any]:
    """Plan something."""
    return {"status": "ok"}


@pytest.fixture(scope="module")
def arguments() -> ToolArguments:
    toolset = Toolset("plans", title=Words.same("plans"))
    toolset.read(plan)
    return prepare(toolset.tools["plan"], "plans", "pack").arguments


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_integers_sent_as_text_are_integers_where_the_schema_asks_for_them(arguments: ToolArguments) -> None:
    sent = {"number": " 3 ", "name": "3", "days": ["1", 2, "-4"], "moves": [{"task_id": "7", "day": "+2"}]}
    found = arguments.normalized(sent)
    assert (found["number"], found["name"], found["days"]) == (3, "3", [1, 2, -4])
    assert found["moves"] == [{"task_id": 7, "day": 2}]


def test_defaults_are_filled_in_and_dates_are_text_again(arguments: ToolArguments) -> None:
    assert arguments.normalized({"number": 1, "on": "2026-12-08"}) == {
        "number": 1,
        "name": "",
        "share": 0.5,
        "sure": False,
        "on": "2026-12-08",
        "days": None,
        "moves": None,
    }


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "number"),
        ({"number": "three"}, "number"),
        ({"number": "3.0"}, "number"),
        ({"number": 3.5}, "number"),
        ({"number": True}, "number"),
        ({"number": None}, "number"),
        ({"number": "1" * 30}, "number"),
        ({"number": 1, "name": 5}, "name"),
        ({"number": 1, "sure": "true"}, "sure"),
        ({"number": 1, "share": "0.5"}, "share"),
        ({"number": 1, "days": ["1", "x"]}, "days.1"),
        ({"number": 1, "moves": [{"day": 1}]}, "moves.0.task_id"),
        ({"number": 1, "nothing_like_it": 1}, "nothing_like_it"),
    ],
)
def test_what_does_not_fit_is_refused_by_field(arguments: ToolArguments, sent: dict[str, Any], field: str) -> None:
    with pytest.raises(ArgumentsError) as refused:
        arguments.normalized(sent)
    assert [problem["field"] for problem in refused.value.problems] == [field]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_know_are_refused(arguments: ToolArguments, number: float) -> None:
    with pytest.raises(ArgumentsError, match="NaN"):
        arguments.normalized({"number": 1, "share": number})


def test_what_is_nested_without_end_is_refused(arguments: ToolArguments) -> None:
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    with pytest.raises(ArgumentsError, match="deeper"):
        arguments.normalized({"number": 1, "days": nested})


Check = Callable[[ToolArguments, Any], Any]
BY_TEXT: Check = ToolArguments.validate_json
BY_VALUE: Check = ToolArguments.validate_python


@pytest.mark.parametrize(
    ("check", "sent"),
    [
        (BY_TEXT, "[1]"),
        (BY_TEXT, "null"),
        (BY_TEXT, '{"number": 1, "number": 2}'),
        (BY_VALUE, [1]),
        (BY_VALUE, {INVALID: '{"number": '}),
    ],
)
def test_broken_arguments_are_what_the_model_is_asked_to_correct(
    arguments: ToolArguments, check: Check, sent: Any
) -> None:
    """PydanticAI retries on a ValidationError, and on nothing else."""
    with pytest.raises(ValidationError, match="Arguments refused"):
        check(arguments, sent)


def test_no_text_at_all_is_a_call_without_arguments() -> None:
    async def ping(deps: ToolDeps) -> dict[str, Any]:
        """Ping."""
        return {}

    toolset = Toolset("pings", title=Words.same("pings"))
    toolset.read(ping)
    assert prepare(toolset.tools["ping"], "pings", "pack").arguments.validate_json("") == {}


def test_characters_that_no_database_stores_become_visible() -> None:
    sent = {f"k{ZERO}": [f"a{ZERO}b", {"deep": f"{LONE}!"}]}
    assert repaired(sent, {}) == {"k\\u0000": ["a\\u0000b", {"deep": "\\ud800!"}]}


def test_a_schema_by_reference_is_followed() -> None:
    schema = {
        "properties": {"one": {"$ref": "#/$defs/One"}, "many": {"type": "array", "items": {"$ref": "#/$defs/One"}}},
        "$defs": {"One": {"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}},
    }
    assert repaired({"one": {"n": "1"}, "many": [{"n": "2"}]}, schema) == {"one": {"n": 1}, "many": [{"n": 2}]}


def test_a_text_that_may_be_text_stays_text() -> None:
    either = {"properties": {"value": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}
    assert repaired({"value": "3"}, either) == {"value": "3"}


@given(JSON)
def test_mending_twice_is_mending_once(value: Any) -> None:
    assert repaired(repaired(value, {}), {}) == repaired(value, {})


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_the_hash_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    assert hashed(value) == hashed(dict(reversed(value.items())))


def test_the_hash_tells_apart_what_python_holds_equal() -> None:
    assert len({hashed(value) for value in (1, True, 1.0, "1", [1], None)}) == 6


def test_plain_json_is_what_comes_of_dates_and_models() -> None:
    assert as_json({"on": date(2026, 12, 8), "move": Move(task_id=1)}) == {
        "on": "2026-12-08",
        "move": {"task_id": 1, "day": None},
    }
