"""Every error has one shape, a stable code, the person's language, and nothing from inside."""

import logging
from collections.abc import AsyncIterator

import httpx
import pytest

from stores.database import Database
from tests.gateway.small import REFUSED, calling, small_app

pytestmark = pytest.mark.anyio

STATUS = {
    "not_found": 404,
    "forbidden": 403,
    "turn_in_progress": 409,
    "approval_settled": 409,
    "version_conflict": 409,
    "idempotency_conflict": 409,
    "nothing_to_undo": 409,
    "rows_moved_on": 409,
    "invalid": 422,
    "unavailable": 503,
}
DETAILS = {
    "approval_settled": {"status": "expired"},
    "version_conflict": {"version": 3},
    "rows_moved_on": {"rows": [{"table": "t", "found": 1}]},
    "invalid": [{"field": "text", "message": "no"}],
}


@pytest.fixture
async def client(store: Database) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(small_app(store)) as client:
        yield client


@pytest.mark.parametrize("kind", STATUS)
async def test_a_refusal_has_its_status_and_code(client: httpx.AsyncClient, kind: str) -> None:
    answer = await client.get(f"/refuse/{kind}")
    assert answer.status_code == STATUS[kind]
    error = answer.json()["error"]
    assert error["code"] == kind
    assert error["message"]
    assert error.get("details") == DETAILS.get(kind)
    assert "reference" not in error


def test_no_refusal_was_forgotten() -> None:
    assert set(REFUSED) == {*STATUS, "unexpected", "database"}


@pytest.mark.parametrize("kind", sorted(REFUSED))
async def test_messages_follow_the_accepted_language(client: httpx.AsyncClient, kind: str) -> None:
    said = [
        (await client.get(f"/refuse/{kind}", headers={"accept-language": tag})).json()["error"]["message"]
        for tag in ("zh-CN,zh;q=0.9,en;q=0.8", "en-GB", "fr")
    ]
    assert said[1] == said[2]
    assert said[0] != said[1]
    assert any("\u4e00" <= character <= "\u9fff" for character in said[0])


async def test_what_nobody_expected_is_a_500_with_a_reference_and_its_cause_stays_in_the_log(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = await client.get("/refuse/unexpected")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "hunter2" not in answer.text
    assert answer.json()["error"]["reference"] in caplog.text
    assert "hunter2" in caplog.text
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_database_that_is_away_is_unavailable_and_stays_unnamed(client: httpx.AsyncClient) -> None:
    answer = await client.get("/refuse/database")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "unavailable"
    assert answer.json()["error"]["reference"]
    assert "db.internal" not in answer.text
    assert "SELECT" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("PUT", "/notes", 405, "method_not_allowed"),
        ("GET", "/things/x?size=0", 422, "invalid"),
        ("GET", "/things/x?size=1.5", 422, "invalid"),
        ("GET", "/things/x?other=%00", 422, "invalid"),
    ],
)
async def test_the_frameworks_own_errors_have_the_same_shape(
    client: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    assert "detail" not in answer.json()


@pytest.mark.parametrize("thing_id", ["%00", "a%00b", "%ED%A0%80%0A", "x" * 201, "%20x", "a%E2%80%AEb"])
async def test_an_id_that_cannot_be_is_answered_like_one_that_is_not(client: httpx.AsyncClient, thing_id: str) -> None:
    missing = await client.get("/refuse/not_found")
    answer = await client.get(f"/things/{thing_id}")
    assert answer.status_code == 404
    assert answer.json() == missing.json()


async def test_every_answer_carries_the_security_headers(client: httpx.AsyncClient) -> None:
    for path in ("/me", "/nowhere", "/refuse/unexpected"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["cache-control"] == "no-store"
        assert not [name for name in headers if name.startswith("access-control-")]
