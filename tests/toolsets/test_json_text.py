"""The JSON object in a model's text."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsets.json_text import NotAnObject, parse_object


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": "}"}}',
        '```json\n{"a": {"b": "}"}}\n```',
        '```\n{"a": {"b": "}"}}```',
        'Here it is [as asked]: {"a": {"b": "}"}} – thanks',
        '```json\n{"a": {"b": "}"}}',
        '{"a": {"b": "}"}} {"a": {"b": "}"}}',
        'As you wished:\n```json\n{"a": {"b": "}"}}\n```',
        '  \n{"a":{"b":"}"}}}',
    ],
)
def test_an_object_is_found_bare_fenced_and_between_words(text: str) -> None:
    assert parse_object(text) == {"a": {"b": "}"}}


def test_a_fence_within_a_value_is_part_of_the_value() -> None:
    value = {"doc": "```json\n{}\n```"}
    assert parse_object(json.dumps(value)) == value
    assert parse_object(f"Sure: {json.dumps(value)}") == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("no JSON here", "not JSON"),
        ('{"a": 1', "not JSON"),
        ("{'a': 1}", "not JSON"),
        ('{"a": 1,}', "not JSON"),
        ("[1]", "not list"),
        ('see [{"a": 1}]', "not list"),
        ("null", "not NoneType"),
        ("7", "not int"),
        ('"{}"', "not str"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": {"b": 1, "b": 1}}', "twice"),
        ('{"a": 1} {"a": 2}', "more than one"),
        ('{"a": 1} {"a": true}', "more than one"),
        ('{"a": 1} or [2]', "more than one"),
        ('```json\n{"a": 1}\n```\nor\n```json\n{"a": 2}\n```', "more than one"),
        ('{"a":' * 70 + "1" + "}" * 70, "deep"),
        ('{"a":' * 100_000, "deep"),
        ("so: " + "[" * 100_000, "deep"),
    ],
)
def test_what_could_only_be_guessed_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(NotAnObject) as refused:
        parse_object(text)
    assert why in str(refused.value)


def test_labelled_texts_are_read_as_labelled_unless_something_would_be_lost(cases_folder: Path) -> None:
    lines = [json.loads(line) for line in (cases_folder / "runtime.jsonl").read_text("utf-8").splitlines()]
    cases = [case for case in lines if case["kind"] == "json_extract"]
    assert cases
    for case in cases:
        text, wanted = case["input"]["text"], case["expected"].get("object")
        if wanted is None or text.count("{") > json.dumps(wanted).count("{"):
            # Another object beside the first: to take one would be to drop the other.
            with pytest.raises(NotAnObject):
                parse_object(text)
        else:
            assert parse_object(text) == wanted, case["id"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.sampled_from(["{}", "```json\n{}\n```", "Voilà: {} – so."]))
def test_every_object_comes_through_unchanged(value: dict[str, Any], around: str) -> None:
    assert parse_object(around.replace("{}", json.dumps(value))) == value
