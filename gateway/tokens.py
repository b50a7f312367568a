"""Bearer tokens: what a JWT says, once its signature and times are right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import jwt

from gateway.errors import Unauthenticated
from gateway.ids import is_sane_id
from gateway.locale import spoken
from toolsets.words import Locale

Key = Any
"""What PyJWT verifies with: a secret or a public key (its own types differ per algorithm)."""


@dataclass(frozen=True, kw_only=True)
class Claims:
    """Who a token speaks for and what it allows."""

    user_id: str
    scopes: frozenset[str] | None
    """None: everything. A token without the claim allows no scope."""
    assistants: frozenset[str] | None
    zone: str | None = None
    locale: Locale | None = None
    expires_at: datetime | None = None


class Keys(Protocol):
    """Where the key of a token comes from."""

    async def key_for(self, header: Mapping[str, Any]) -> tuple[Key, str]:
        """The key and the one algorithm it may be used with. Raises Unauthenticated, Unavailable."""
        ...


class SecretKey:
    """One shared secret, HS256."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def key_for(self, header: Mapping[str, Any]) -> tuple[Key, str]:
        return self._secret, "HS256"


class TokenReader:
    """Verifies tokens."""

    def __init__(
        self, keys: Keys, *, clock: Callable[[], datetime], issuer: str | None = None, audience: str | None = None
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._issuer = issuer
        self._audience = audience

    async def read(self, token: str) -> Claims:
        """The token's claims. Raises Unauthenticated for whatever is wrong with it."""
        try:
            key, algorithm = await self._keys.key_for(jwt.get_unverified_header(token))
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=self._issuer,
                audience=self._audience,
                options={
                    "require": ["exp", "sub"],
                    "verify_aud": self._audience is not None,
                    # Times are compared with the injected clock below.
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            raise Unauthenticated from None
        return self._checked(claims)

    def _checked(self, claims: Mapping[str, Any]) -> Claims:
        now = self._clock()
        expires_at = _moment(claims["exp"])
        if expires_at <= now or ("nbf" in claims and _moment(claims["nbf"]) > now):
            raise Unauthenticated
        if not is_sane_id(claims["sub"]):
            raise Unauthenticated
        locale = claims.get("locale")
        return Claims(
            user_id=claims["sub"],
            scopes=_names(claims.get("scope")) or frozenset(),
            assistants=_names(claims.get("assistants")),
            zone=_zone(claims.get("tz")),
            locale=spoken(locale) if isinstance(locale, str) else None,
            expires_at=expires_at,
        )


def _moment(value: object) -> datetime:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise Unauthenticated
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError, ValueError):
        raise Unauthenticated from None


def _names(value: object) -> frozenset[str] | None:
    """A claim that is a list of names, or one text with blanks or commas between them."""
    if value is None:
        return None
    if isinstance(value, str):
        return frozenset(value.replace(",", " ").split())
    if isinstance(value, list):
        names: list[object] = value  # pyright: ignore[reportUnknownVariableType] - of a token, so of any type
        return frozenset(name for name in names if isinstance(name, str))
    raise Unauthenticated


def _zone(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return ZoneInfo(value).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
