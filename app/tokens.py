"""Bearer tokens made at the command line, for people and programs of a house that has no identity provider."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import jwt

from app.errors import CommandError
from app.settings import Settings
from gateway.ids import is_sane_id


@dataclass(frozen=True, kw_only=True)
class TokenWish:
    """Whom a token speaks for and what it allows."""

    user_id: str
    hours: float = 8
    scopes: Sequence[str] = ()
    assistants: Sequence[str] | None = None
    """None: all of them."""
    zone: str | None = None
    locale: str | None = None


def mint(settings: Settings, wish: TokenWish, now: datetime) -> str:
    """An HS256 token that this server accepts. Raises CommandError when it has no secret to sign with."""
    if settings.jwt_secret is None:
        raise CommandError(
            "PLACET_JWT_SECRET: isn't set, so there is nothing to sign a token with"
            + (" (keys come from PLACET_JWT_JWKS_URL: ask there)." if settings.jwt_jwks_url else "."),
            exit_code=2,
        )
    if not is_sane_id(wish.user_id):
        raise CommandError("--user: 1 to 200 printable characters, no slash, no blank at an end.", exit_code=2)
    claims = {
        "sub": wish.user_id,
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(hours=wish.hours)).timestamp()),
        "scope": " ".join(wish.scopes) or None,
        "assistants": None if wish.assistants is None else list(wish.assistants),
        "tz": wish.zone,
        "locale": wish.locale,
        "iss": settings.jwt_issuer,
        "aud": settings.jwt_audience,
    }
    said = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(said, settings.jwt_secret, algorithm="HS256")
