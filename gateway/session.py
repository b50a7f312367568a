"""A session of the page: the bearer token, once shown, kept in a cookie that scripts can't read."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from agents.requests import Person
from gateway.admission import Admitted, admit
from gateway.answers import AsciiJson
from gateway.auth import COOKIE, bearer_token
from gateway.body import StrictRoute
from gateway.contents import Session
from gateway.errors import Unauthenticated
from gateway.responses import EMPTY, ERRORS, holding
from gateway.state import GatewayState

router = APIRouter(prefix="/api/session", tags=["session"], responses=ERRORS)
personal = APIRouter(prefix="/api/session", tags=["session"], route_class=StrictRoute, responses=ERRORS)


@personal.get("", response_class=AsciiJson, responses=holding(Session))
async def who_am_i(gateway: GatewayState, person: Admitted) -> Response:
    """Who is signed in."""
    return AsciiJson(_described(person, local=gateway.local))


@router.post("", response_class=AsciiJson, responses=holding(Session))
async def sign_in(gateway: GatewayState, request: Request) -> Response:
    """Trade a bearer token for a cookie of the same life. In local mode there is nothing to trade."""
    token = bearer_token(request.headers.get("authorization"))
    if token is None and not gateway.local:
        raise Unauthenticated
    person = await admit(request)
    answer = AsciiJson(_described(person, local=gateway.local))
    if token is not None and not gateway.local:
        claims = await gateway.admission.authenticator.claims(request)
        _set_cookie(answer, token, claims.expires_at or gateway.clock(), gateway.clock(), request.url.scheme)
    return answer


@router.delete("", status_code=204, response_class=Response, responses=EMPTY)
async def sign_out(request: Request) -> Response:
    """Forget the cookie. Fine without one."""
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return answer


def _set_cookie(answer: Response, token: str, expires_at: datetime, now: datetime, scheme: str) -> None:
    answer.set_cookie(
        COOKIE,
        token,
        max_age=max(0, int((expires_at - now).total_seconds())),
        expires=expires_at.astimezone(UTC),
        path="/",
        secure=scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _described(person: Person, *, local: bool) -> dict[str, object]:
    return {
        "user_id": person.user_id,
        "scopes": None if person.scopes is None else sorted(person.scopes),
        "assistants": None if person.assistants is None else sorted(person.assistants),
        "locale": person.locale,
        "zone": person.zone,
        "local": local,
    }
