"""Tokens made at the command line are tokens that the server accepts."""

from datetime import UTC, datetime, timedelta

import pytest

from app.errors import CommandError
from app.settings import Settings, load_settings
from app.tokens import TokenWish, mint
from gateway.errors import Unauthenticated
from gateway.tokens import SecretKey, TokenReader

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 12, 8, 9, 30, tzinfo=UTC)
KEY = "a-key-of-at-least-thirty-two-bytes"


def settings(**given: str) -> Settings:
    return load_settings(_env_file=None, **given)


def reader(at: datetime, issuer: str | None = None, audience: str | None = None) -> TokenReader:
    return TokenReader(SecretKey(KEY), clock=lambda: at, issuer=issuer, audience=audience)


async def test_a_token_says_what_was_wished() -> None:
    wish = TokenWish(
        user_id="alice",
        hours=2,
        scopes=("operator",),
        assistants=("scheduling", "teaching"),
        zone="Asia/Shanghai",
        locale="zh",
    )

    claims = await reader(NOW).read(mint(settings(jwt_secret=KEY), wish, NOW))

    assert claims.user_id == "alice"
    assert claims.scopes == {"operator"}
    assert claims.assistants == {"scheduling", "teaching"}
    assert claims.zone == "Asia/Shanghai"
    assert claims.locale == "zh"
    assert claims.expires_at == NOW + timedelta(hours=2)


async def test_a_plain_token_allows_every_assistant_and_no_scope() -> None:
    claims = await reader(NOW).read(mint(settings(jwt_secret=KEY), TokenWish(user_id="alice"), NOW))

    assert claims.assistants is None
    assert claims.scopes == frozenset()


async def test_a_token_ends_after_its_hours() -> None:
    token = mint(settings(jwt_secret=KEY), TokenWish(user_id="alice", hours=0.5), NOW)

    with pytest.raises(Unauthenticated):
        await reader(NOW + timedelta(minutes=30)).read(token)


async def test_a_token_names_the_issuer_and_audience_that_are_set() -> None:
    house = settings(jwt_secret=KEY, jwt_issuer="https://placet.example", jwt_audience="placet")

    claims = await reader(NOW, "https://placet.example", "placet").read(mint(house, TokenWish(user_id="alice"), NOW))

    assert claims.user_id == "alice"


def test_without_a_secret_there_is_a_sentence_that_names_the_setting() -> None:
    with pytest.raises(CommandError, match=r"^PLACET_JWT_SECRET: isn't set") as refused:
        mint(settings(), TokenWish(user_id="alice"), NOW)

    assert refused.value.exit_code == 2


def test_a_house_with_an_identity_provider_is_told_to_ask_there() -> None:
    house = settings(
        auth="jwt", jwt_jwks_url="https://id.example/jwks", jwt_issuer="https://id.example", jwt_audience="placet"
    )

    with pytest.raises(CommandError, match="PLACET_JWT_JWKS_URL: ask there"):
        mint(house, TokenWish(user_id="alice"), NOW)


@pytest.mark.parametrize("name", ["", " alice", "a/b", "alice\n", "x" * 201])
def test_a_name_that_no_request_could_carry_gets_no_token(name: str) -> None:
    with pytest.raises(CommandError, match="--user"):
        mint(settings(jwt_secret=KEY), TokenWish(user_id=name), NOW)
