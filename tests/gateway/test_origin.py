"""Pages of others can't make anybody's browser act, and no other name leads to a local server."""

import httpx
import pytest

from gateway.origin import is_loopback_host
from stores.database import Database
from tests.gateway.small import Time, calling, small_app, token, token_auth

pytestmark = pytest.mark.anyio

FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": ""},
    {"origin": "http://localhost.evil.example"},
    {"origin": "http://localhost:9999"},
    {"origin": "file://"},
    {"origin": "http://[::bad"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "http://localhost", "sec-fetch-site": "cross-site"},
    {"origin": "https://evil.example", "sec-fetch-site": "same-origin"},
]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_an_unsafe_request_of_another_page_is_refused(
    store: Database, headers: dict[str, str], method: str
) -> None:
    async with calling(small_app(store)) as client:
        for path, extra in (("/notes", {"content-type": "multipart/form-data; boundary=x"}), ("/bodiless", {})):
            answer = await client.request(method, path, headers={**headers, **extra})
            assert answer.status_code == 403
            assert answer.json()["error"]["code"] == "cross_site"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost"},
        {"origin": "HTTP://LOCALHOST:80"},
        {"sec-fetch-site": "same-origin", "origin": "http://localhost"},
        {"sec-fetch-site": "none"},
    ],
)
async def test_our_own_page_and_clients_that_are_no_page_may(store: Database, headers: dict[str, str]) -> None:
    async with calling(small_app(store)) as client:
        assert (await client.post("/notes", json={"text": "x"}, headers=headers)).status_code == 200


async def test_reading_is_left_to_the_browsers_own_rule(store: Database) -> None:
    async with calling(small_app(store)) as client:
        answer = await client.get("/me", headers={"origin": "https://evil.example"})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


async def test_a_token_does_not_excuse_another_page(store: Database) -> None:
    time = Time()
    async with calling(small_app(store, authenticator=token_auth(time), local=False), host="placet.example") as client:
        headers = {"authorization": f"Bearer {token(time)}", "origin": "https://evil.example"}
        assert (await client.post("/notes", json={"text": "x"}, headers=headers)).status_code == 403


async def test_behind_a_proxy_that_ends_tls_the_own_page_may(store: Database) -> None:
    time = Time()
    app = small_app(store, authenticator=token_auth(time), local=False)
    headers = {"authorization": f"Bearer {token(time)}", "origin": "https://placet.example"}
    async with calling(app, host="placet.example") as client:
        assert (await client.post("/notes", json={"text": "x"}, headers=headers)).status_code == 200
    async with calling(app, host="placet.example", scheme="https") as client:
        insecure = {**headers, "origin": "http://placet.example:443"}
        assert (await client.post("/notes", json={"text": "x"}, headers=insecure)).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "192.168.1.5", "0.0.0.0", "", "localhost@evil"]
)
async def test_a_local_server_answers_to_no_other_name(store: Database, host: str) -> None:
    async with calling(small_app(store)) as client:
        answer = await client.get("/me", headers={"host": host})
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "forbidden"


def test_names_of_this_machine() -> None:
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:8000", "127.8.8.8", "[::1]:8000", "app.localhost"):
        assert is_loopback_host(host)
    for host in ("localhos", "::1.evil", "[::1", "10.0.0.1", "[::2]"):
        assert not is_loopback_host(host)


async def test_the_refusal_speaks_the_language_of_the_request(store: Database) -> None:
    async with calling(small_app(store)) as client:
        answer: httpx.Response = await client.post("/bodiless", headers={"origin": "null", "accept-language": "zh"})
    assert answer.json()["error"]["message"] == "拒绝来自其他网站的请求。"
