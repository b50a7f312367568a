"""The way in: who asks, may they, have they asked too often."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from agents.requests import Person
from gateway.answers import PERSON_KEY
from gateway.auth import COOKIE, Authenticator, Authority
from gateway.limits import Limits


@dataclass(frozen=True, kw_only=True)
class Admission:
    """Who lets requests in."""

    authenticator: Authenticator
    authority: Authority
    limits: Limits

    async def admit(self, request: Request) -> Person:
        """Authenticate and count a request. Raises Unauthenticated, Forbidden, RateLimited, Unavailable."""
        claims = await self.authenticator.claims(request)
        await self.limits.take_request(claims.user_id)
        person = await self.authority.person(claims, request.headers.get("accept-language"))
        request.scope[PERSON_KEY] = person
        return person


def guard(app: FastAPI, admission: Admission) -> None:
    """Give the app's `StrictRoute`s the one who lets in."""
    app.state.admission = admission


async def admit(request: Request) -> Person:
    """Let a request in, once."""
    admission = request.app.state.admission
    assert isinstance(admission, Admission)
    return await admission.admit(request)


def _admitted_person(
    request: Request,
    bearer: Annotated[object, Security(HTTPBearer(auto_error=False))],
    cookie: Annotated[object, Security(APIKeyCookie(name=COOKIE, auto_error=False))],
) -> Person:
    """`StrictRoute` has let them in; the parameters only tell OpenAPI how."""
    person = request.scope[PERSON_KEY]
    assert isinstance(person, Person)
    return person


Admitted = Annotated[Person, Depends(_admitted_person)]
"""Who asks, in a route of the class `StrictRoute`."""
