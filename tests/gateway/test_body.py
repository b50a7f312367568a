"""Bodies are read strictly, in bounds, and nothing in them becomes a 500."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.body import BODY_BYTES, NESTING, strict_json, visible
from gateway.errors import Unprocessable
from stores.database import Database
from tests.gateway.small import calling, small_app

pytestmark = pytest.mark.anyio
JSON = {"content-type": "application/json"}


@pytest.fixture
async def client(store: Database) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(small_app(store)) as client:
        yield client


async def test_a_body_that_fits_arrives(client: httpx.AsyncClient) -> None:
    answer = await client.post("/notes", json={"text": "你好"})
    assert answer.status_code == 200
    assert answer.json() == {"who": "local", "note": {"text": "你好", "times": 1, "urgent": False, "extras": {}}}


@pytest.mark.parametrize(
    "content_type", ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", None]
)
async def test_a_body_that_is_not_json_is_415(client: httpx.AsyncClient, content_type: str | None) -> None:
    headers = {"content-type": content_type} if content_type else {}
    answer = await client.post("/notes", content=b'{"text": "x"}', headers=headers)
    assert answer.status_code == 415
    assert answer.json()["error"]["code"] == "unsupported_media_type"


async def test_a_compressed_body_is_415(client: httpx.AsyncClient) -> None:
    answer = await client.post("/notes", content=b"\x1f\x8b", headers={**JSON, "content-encoding": "gzip"})
    assert answer.status_code == 415


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", "application/x+json"])
async def test_json_by_its_other_names_is_read(client: httpx.AsyncClient, content_type: str) -> None:
    answer = await client.post("/notes", content=b'{"text": "x"}', headers={"content-type": content_type})
    assert answer.status_code == 200


async def test_a_missing_body_names_what_is_missing(client: httpx.AsyncClient) -> None:
    answer = await client.post("/notes")
    assert answer.status_code == 422
    assert answer.json()["error"]["details"] == [{"field": "body", "message": "is required"}]


async def test_a_body_over_the_limit_is_413_however_it_comes(client: httpx.AsyncClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES // 65536 + 1):
            yield b" " * 65536

    for content in (b" " * (BODY_BYTES + 1), pieces()):
        answer = await client.post("/notes", content=content, headers=JSON)
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "too_large"


async def test_a_length_that_lies_lets_nothing_more_in(client: httpx.AsyncClient) -> None:
    headers = {**JSON, "content-length": "10"}
    answer = await client.post("/notes", content=b" " * (BODY_BYTES + 1), headers=headers)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing",
        b"{",
        b'{"text": NaN}',
        b'{"text": "x", "times": Infinity}',
        b'{"text": "x", "times": 1e999}',
        b'{"text": "x", "text": "y"}',
        b'{"text": "x", "extras": {"a": 1, "a": 2}}',
        b'{"text": "\xff"}',
        b'{"text": "x"} {}',
        b'{"text": "x", "times": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b"[" * (NESTING + 2) + b"]" * (NESTING + 2),
        '{"text": "x"}'.encode("utf-16"),
    ],
)
async def test_what_is_not_one_plain_json_value_is_invalid(client: httpx.AsyncClient, body: bytes) -> None:
    answer = await client.post("/notes", content=body, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": "x", "times": 1.0}, "times"),
        ({"text": "x", "times": "1"}, "times"),
        ({"text": "x", "times": True}, "times"),
        ({"text": 5}, "text"),
        ({"text": None}, "text"),
        ({"text": "x", "urgent": 1}, "urgent"),
        ({"text": "x", "urgent": "true"}, "urgent"),
        ({"text": "x", "who": "root"}, "who"),
        ({}, "text"),
    ],
)
async def test_other_types_and_unknown_fields_are_named(
    client: httpx.AsyncClient, body: dict[str, object], field: str
) -> None:
    answer = await client.post("/notes", json=body)
    assert answer.status_code == 422
    assert [problem["field"] for problem in answer.json()["error"]["details"]] == [field]


@pytest.mark.parametrize("body", [[], "text", 5, None])
async def test_a_value_that_is_no_object_is_invalid(client: httpx.AsyncClient, body: object) -> None:
    answer = await client.post("/notes", content=json.dumps(body), headers=JSON)
    assert answer.status_code == 422


async def test_nul_and_lone_surrogates_become_visible(client: httpx.AsyncClient) -> None:
    body = b'{"text": "a\\u0000b\\ud800c", "extras": {"k\\u0000": ["\\udfff", "\\ud83d\\ude00"]}}'
    answer = await client.post("/notes", content=body, headers=JSON)
    assert answer.json()["note"]["text"] == "a\\u0000b\\ud800c"
    assert answer.json()["note"]["extras"] == {"k\\u0000": ["\\udfff", "😀"]}


async def test_what_was_sent_is_not_repeated_in_the_error(client: httpx.AsyncClient) -> None:
    answer = await client.post("/notes", json={"text": {"secret": "sk-12345"}})
    assert answer.status_code == 422
    assert "sk-12345" not in answer.text


async def test_a_byte_order_mark_is_read_past(client: httpx.AsyncClient) -> None:
    answer = await client.post("/notes", content=b'\xef\xbb\xbf{"text": "x"}', headers=JSON)
    assert answer.status_code == 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def made_visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON
        return [made_visible(item) for item in items]
    if isinstance(value, dict):
        fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON
        return {visible(name): made_visible(item) for name, item in fields.items()}
    return value


@given(json_values)
def test_every_json_value_comes_through(value: Any) -> None:
    assert strict_json(json.dumps(value).encode()) == made_visible(value)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_invalid(body: bytes) -> None:
    with contextlib.suppress(Unprocessable):
        strict_json(body)
