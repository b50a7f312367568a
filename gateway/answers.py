"""From exceptions to answers, and the JSON that everything is answered with."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.requests import Person
from gateway.errors import INTERNAL, INVALID, TABLE, Shape, error_body, shape_of_status
from gateway.locale import preferred_locale
from gateway.problems import problems_of
from toolsets.words import Locale

log = logging.getLogger("placet.gateway")

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
PERSON_KEY = "placet_person"
"""Where in a request's scope its person is, once admitted."""
REFERENCE_KEY = "placet_reference"
"""Where a request's reference is: what an answer names and the log repeats."""


class AsciiJson(JSONResponse):
    """JSON in ASCII: lone surrogates, which UTF-8 can't carry, don't become a 500."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def locale_of(scope: Scope) -> Locale:
    """The language of the answer: what the request asks for, else the person's."""
    person = scope.get(PERSON_KEY)
    fallback = person.locale if isinstance(person, Person) else "en"
    return preferred_locale(Headers(scope=scope).get("accept-language")) or fallback


def error_answer(
    shape: Shape,
    scope: Scope,
    *,
    reference: str | None = None,
    details: Any = None,
    headers: Mapping[str, str] | None = None,
) -> AsciiJson:
    """The answer for an error of this shape."""
    body = error_body(shape, locale_of(scope), reference=reference, details=details)
    return AsciiJson(body, status_code=shape.status, headers=headers)


def answer_known(error: Exception, scope: Scope) -> AsciiJson:
    """The answer for an exception of the table, or of a subclass of one."""
    shape = next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
    reference = scope.get(REFERENCE_KEY) if shape.internal else None
    if shape.internal:
        log.error("%s %s failed (reference %s)", scope["method"], scope["path"], reference, exc_info=error)
    return error_answer(
        shape,
        scope,
        reference=reference,
        details=shape.details(error, locale_of(scope)) if shape.details else None,
        headers=shape.headers(error) if shape.headers else None,
    )


def answer_any(error: Exception, scope: Scope) -> AsciiJson:
    """The answer for any exception; what nobody expected is logged under the reference that the answer names."""
    if isinstance(error, tuple(TABLE)):
        return answer_known(error, scope)
    reference = scope.get(REFERENCE_KEY)
    log.error("%s %s failed (reference %s)", scope["method"], scope["path"], reference, exc_info=error)
    return error_answer(INTERNAL, scope, reference=reference)


def add_error_answers(app: FastAPI) -> None:
    """Answer every error of the table, and those of the framework, in one form."""

    async def known(request: Request, error: Exception) -> AsciiJson:
        return answer_known(error, request.scope)

    async def unprocessable(request: Request, error: Exception) -> AsciiJson:
        assert isinstance(error, RequestValidationError)
        problems = [problem.said(locale_of(request.scope)) for problem in problems_of(error.errors())]
        return error_answer(INVALID, request.scope, details=problems)

    async def of_framework(request: Request, error: Exception) -> AsciiJson:
        assert isinstance(error, HTTPException)
        headers = {"Allow": ", ".join(_methods_of(request))} if error.status_code == 405 else error.headers
        return error_answer(shape_of_status(error.status_code), request.scope, headers=headers)

    for kind in TABLE:
        app.add_exception_handler(kind, known)
    app.add_exception_handler(RequestValidationError, unprocessable)
    app.add_exception_handler(HTTPException, of_framework)


def _methods_of(request: Request) -> list[str]:
    """Every method that the address takes: several routes may share one."""
    if exact := request.app.openapi()["paths"].get(request.scope["path"]):
        return sorted(method.upper() for method in exact)
    routes: Sequence[BaseRoute] = request.app.routes
    return [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]


class ErrorBoundary:
    """The outermost door: whatever nobody expected becomes a 500 with a reference, and its cause stays in the log.

    Once an answer has begun nothing can be said any more: the connection is cut, so that nobody takes half of an
    answer for a whole one.
    """

    def __init__(self, app: ASGIApp, new_id: Callable[[], str]) -> None:
        self.app = app
        self.new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope[REFERENCE_KEY] = self.new_id()
        started = False

        async def noting_start(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noting_start)
        except Exception as error:
            if started:
                log.exception("%s %s was cut (reference %s)", scope["method"], scope["path"], scope[REFERENCE_KEY])
                raise
            await answer_any(error, scope)(scope, receive, send)
