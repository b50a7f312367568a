"""Who asks: tokens, cookies, the user's row."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from agents.errors import Unavailable
from gateway.auth import both
from gateway.errors import Unauthenticated
from gateway.jwks import JwksKeys
from gateway.tokens import SecretKey, TokenReader
from stores import users
from stores.database import Database
from tests.gateway.small import START, Time, calling, small_app, token, token_auth

pytestmark = pytest.mark.anyio


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def client(store: Database, time: Time) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(small_app(store, time=time, authenticator=token_auth(time), local=False)) as client:
        yield client


async def who(client: httpx.AsyncClient, token: str, **headers: str) -> httpx.Response:
    return await client.get("/me", headers={"authorization": f"Bearer {token}", **headers})


async def test_in_local_mode_everybody_is_the_local_user_with_every_right(store: Database) -> None:
    async with calling(small_app(store)) as client:
        answer = await client.get("/me", headers={"authorization": "Bearer whatever"})
    assert answer.json() == {
        "user_id": "local",
        "scopes": None,
        "assistants": None,
        "zone": "Europe/Berlin",
        "locale": "en",
    }


async def test_a_token_says_who_and_what(client: httpx.AsyncClient, time: Time) -> None:
    claims: dict[str, Any] = {
        "scope": "operator read",
        "assistants": ["scheduling"],
        "tz": "Asia/Shanghai",
        "locale": "zh-CN",
    }
    answer = await who(client, token(time, **claims))
    assert answer.json() == {
        "user_id": "alice",
        "scopes": ["operator", "read"],
        "assistants": ["scheduling"],
        "zone": "Asia/Shanghai",
        "locale": "zh",
    }


async def test_a_token_without_scopes_allows_none(client: httpx.AsyncClient, time: Time) -> None:
    answer = (await who(client, token(time))).json()
    assert answer["scopes"] == []
    assert answer["assistants"] is None


async def test_the_request_chooses_the_language_before_the_token(client: httpx.AsyncClient, time: Time) -> None:
    answer = await who(client, token(time, locale="zh"), **{"accept-language": "en;q=0.9, zh;q=0.5"})
    assert answer.json()["locale"] == "en"


async def test_a_zone_that_does_not_exist_counts_as_none(client: httpx.AsyncClient, time: Time) -> None:
    for zone in ("Mars/Olympus", "../../etc/passwd", 5, "/etc/localtime", ""):
        assert (await who(client, token(time, tz=zone))).json()["zone"] == "Europe/Berlin"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": None},
        {"exp": int(START.timestamp())},
        {"exp": "soon"},
        {"exp": True},
        {"exp": 1e300},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "a/b"},
        {"sub": "a\x00"},
        {"sub": " alice"},
        {"sub": "x" * 201},
        {"sub": "al\u202eice"},
        {"nbf": int(START.timestamp()) + 60},
        {"scope": 5},
        {"assistants": {"scheduling": True}},
        {"secret": "another secret of thirty-two bytes or more"},
    ],
)
async def test_a_token_with_a_fault_is_nobody(client: httpx.AsyncClient, time: Time, claims: dict[str, Any]) -> None:
    answer = await who(client, token(time, **claims))
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic YWxpY2U6eA==", "Bearer a.b.c", "Bearer é", "Token x", "Bearer  .."]
)
async def test_what_is_no_bearer_token_is_nobody(client: httpx.AsyncClient, header: str) -> None:
    answer = await client.get("/me", headers=[(b"authorization", header.encode())])
    assert answer.status_code == 401


async def test_without_a_token_nobody_gets_as_far_as_the_body(client: httpx.AsyncClient) -> None:
    answer = await client.post("/notes", content=b"{", headers={"content-type": "text/plain"})
    assert answer.status_code == 401


async def test_an_unsigned_token_is_nobody(client: httpx.AsyncClient, time: Time) -> None:
    unsigned = jwt.encode({"sub": "alice", "exp": int(time.clock().timestamp()) + 60}, "", algorithm="none")
    assert (await who(client, unsigned)).status_code == 401


async def test_a_token_expires_by_the_clock(client: httpx.AsyncClient, time: Time) -> None:
    given = token(time)
    assert (await who(client, given)).status_code == 200
    time.passed_s = 3600
    assert (await who(client, given)).status_code == 401


async def test_identity_comes_from_nowhere_else(client: httpx.AsyncClient, time: Time) -> None:
    answer = await client.get(
        "/me?user_id=bob&sub=bob",
        headers={"authorization": f"Bearer {token(time)}", "x-user": "bob", "x-user-id": "bob"},
    )
    assert answer.json()["user_id"] == "alice"
    assert (await client.get(f"/me?token={token(time)}&access_token={token(time)}")).status_code == 401


async def test_a_cookie_does_what_a_header_does_and_a_header_decides_alone(
    client: httpx.AsyncClient, time: Time
) -> None:
    cookie = {"cookie": f"placet_session={token(time, sub='bob')}"}
    assert (await client.get("/me", headers=cookie)).json()["user_id"] == "bob"
    assert (await who(client, token(time), **cookie)).json()["user_id"] == "alice"
    assert (await client.get("/me", headers={**cookie, "authorization": "Bearer wrong"})).status_code == 401


async def test_a_deactivated_user_is_refused_at_once(client: httpx.AsyncClient, store: Database, time: Time) -> None:
    assert (await who(client, token(time))).status_code == 200
    async with store.write() as connection:
        await users.deactivate(connection, "alice")
    answer = await who(client, token(time))
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "forbidden"


async def test_the_row_cuts_down_what_the_token_allows(client: httpx.AsyncClient, store: Database, time: Time) -> None:
    await who(client, token(time))
    async with store.write() as connection:
        await users.set_scopes(connection, "alice", ["operator"])
        await users.set_assistants(connection, "alice", ["teaching", "trading"])
    answer = await who(client, token(time, scope="operator admin", assistants="scheduling, teaching"))
    assert (answer.json()["scopes"], answer.json()["assistants"]) == (["operator"], ["teaching"])
    answer = await who(client, token(time))
    assert (answer.json()["scopes"], answer.json()["assistants"]) == ([], ["teaching", "trading"])


def test_two_lists_allow_what_both_allow() -> None:
    assert both(None, None) is None
    assert both(frozenset("ab"), None) == frozenset("ab")
    assert both(None, ["a"]) == frozenset("a")
    assert both(frozenset("ab"), ["b", "c"]) == frozenset("b")


async def test_issuer_and_audience_must_be_ours(time: Time) -> None:
    reader = TokenReader(
        SecretKey("a secret of thirty-two bytes, at least"), clock=time.clock, issuer="https://id", audience="placet"
    )
    assert (await reader.read(token(time, iss="https://id", aud="placet"))).user_id == "alice"
    for wrong in (
        {},
        {"iss": "https://id"},
        {"iss": "https://other", "aud": "placet"},
        {"iss": "https://id", "aud": "x"},
    ):
        with pytest.raises(Unauthenticated):
            await reader.read(token(time, **wrong))


class Issuer:
    """An identity provider with keys of its own, reached over HTTP."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.shown = [self.public(self.rsa, "RS256", "r1"), self.public(self.ec, "ES256", "e1")]
        self.asked = 0
        self.away = False

    def public(self, key: Any, algorithm: str, name: str) -> dict[str, Any]:
        made: Any = jwt.get_algorithm_by_name(algorithm)
        return {**json.loads(made.to_jwk(key.public_key())), "kid": name, "use": "sig"}

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        return httpx.Response(503) if self.away else httpx.Response(200, json={"keys": self.shown})

    def sign(self, time: Time, algorithm: str, name: str | None) -> str:
        key = self.rsa if algorithm == "RS256" else self.ec
        claims = {"sub": "alice", "exp": int(time.clock().timestamp()) + 36_000}
        return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": name} if name else None)


@pytest.fixture(scope="module")
def issuer_keys() -> Issuer:
    return Issuer()


@pytest.fixture
def issuer(issuer_keys: Issuer) -> Issuer:
    issuer_keys.asked, issuer_keys.away = 0, False
    issuer_keys.shown = issuer_keys.shown[:2]
    return issuer_keys


@pytest.fixture
async def jwks_reader(issuer: Issuer, time: Time) -> AsyncIterator[TokenReader]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(issuer.answer)) as client:
        yield TokenReader(JwksKeys("https://id/keys", client, monotonic=time.monotonic), clock=time.clock)


@pytest.mark.parametrize(("algorithm", "name"), [("RS256", "r1"), ("ES256", "e1"), ("RS256", None)])
async def test_a_key_of_the_issuer_signs(
    jwks_reader: TokenReader, issuer: Issuer, time: Time, algorithm: str, name: str | None
) -> None:
    assert (await jwks_reader.read(issuer.sign(time, algorithm, name))).user_id == "alice"


async def test_a_public_key_is_no_secret_to_sign_with(jwks_reader: TokenReader, issuer: Issuer, time: Time) -> None:
    confused = jwt.encode(
        {"sub": "alice", "exp": int(time.clock().timestamp()) + 60}, "x" * 32, algorithm="HS256", headers={"kid": "r1"}
    )
    with pytest.raises(Unauthenticated):
        await jwks_reader.read(confused)


async def test_keys_are_kept_for_a_while_and_unknown_names_cannot_make_us_ask_all_day(
    jwks_reader: TokenReader, issuer: Issuer, time: Time
) -> None:
    good, unknown = issuer.sign(time, "RS256", "r1"), issuer.sign(time, "RS256", "r2")
    for _ in range(3):
        await jwks_reader.read(good)
        with pytest.raises(Unauthenticated):
            await jwks_reader.read(unknown)
    assert issuer.asked == 1
    time.passed_s = 60
    issuer.shown = [*issuer.shown, issuer.public(issuer.rsa, "RS256", "r2")]
    assert (await jwks_reader.read(unknown)).user_id == "alice"
    assert issuer.asked == 2


async def test_old_keys_serve_while_the_issuer_is_away(jwks_reader: TokenReader, issuer: Issuer, time: Time) -> None:
    await jwks_reader.read(issuer.sign(time, "ES256", "e1"))
    issuer.away, time.passed_s = True, 3600
    assert (await jwks_reader.read(issuer.sign(time, "ES256", "e1"))).user_id == "alice"


async def test_an_issuer_that_was_never_there_makes_us_unavailable(
    jwks_reader: TokenReader, issuer: Issuer, time: Time
) -> None:
    issuer.away = True
    with pytest.raises(Unavailable):
        await jwks_reader.read(issuer.sign(time, "RS256", "r1"))
