"""Who asks: a token's claims, cut down to the user's row now."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from fastapi import Request

from agents.errors import Forbidden
from agents.requests import Person
from gateway.errors import Unauthenticated
from gateway.locale import preferred_locale
from gateway.tokens import Claims, TokenReader
from stores import users
from stores.database import Database

COOKIE = "placet_session"
LOCAL_USER = "local"
OPERATOR = "operator"
"""The scope that lets one see how the selection decides."""


class Authenticator(Protocol):
    """Finds out who sent a request."""

    async def claims(self, request: Request) -> Claims:
        """Raises Unauthenticated, Unavailable."""
        ...


class LocalAuth:
    """One person, everything allowed. Safe only while nobody else can reach the server (see `gateway.origin`)."""

    async def claims(self, request: Request) -> Claims:
        return Claims(user_id=LOCAL_USER, scopes=None, assistants=None)


class TokenAuth:
    """A bearer token in the header, or the session cookie that holds one. A header that is there decides alone."""

    def __init__(self, reader: TokenReader) -> None:
        self._reader = reader

    async def claims(self, request: Request) -> Claims:
        header = request.headers.get("authorization")
        token = bearer_token(header) if header is not None else request.cookies.get(COOKIE)
        if not token:
            raise Unauthenticated
        return await self._reader.read(token)


def bearer_token(header: str | None) -> str | None:
    """The token of an `Authorization` header, if it is of that kind."""
    scheme, _, token = (header or "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


class Authority:
    """Turns claims into a person: what the token allows and the user's row allows as well."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime], zone: str) -> None:
        self._database = database
        self._clock = clock
        self._zone = zone

    async def person(self, claims: Claims, accept_language: str | None) -> Person:
        """Raises Forbidden when the user was deactivated."""
        row = await users.get_or_create(self._database, claims.user_id, self._clock())
        if not row.active:
            raise Forbidden
        return Person(
            user_id=claims.user_id,
            scopes=both(claims.scopes, row.scopes),
            assistants=both(claims.assistants, row.assistants),
            zone=claims.zone or self._zone,
            locale=preferred_locale(accept_language) or claims.locale or "en",
        )


def both(granted: frozenset[str] | None, limit: list[str] | None) -> frozenset[str] | None:
    """What two lists allow together; None is no limit."""
    if limit is None:
        return granted
    return frozenset(limit) if granted is None else granted & frozenset(limit)
