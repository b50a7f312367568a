"""The front door: which middleware, which routes, in which order."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
from fastapi import FastAPI

from app.readiness import readiness_checks
from app.wiring import Wired
from gateway import approvals, assistants, changes, conversation, conversations, health, questions, session, usage
from gateway.admission import Admission
from gateway.answers import AsciiJson, ErrorBoundary, add_error_answers
from gateway.auth import Authenticator, Authority, LocalAuth, TokenAuth
from gateway.headers import SecurityHeaders
from gateway.jwks import JwksKeys
from gateway.limits import InProcessLimits
from gateway.openapi import describe
from gateway.origin import OwnOrigin
from gateway.packs import scheduling, views
from gateway.sse import OpenStreams
from gateway.state import Gateway, attach, gateway_in
from gateway.tokens import SecretKey, TokenReader
from stores import turns


def create_app(wired: Wired) -> FastAPI:
    """The server over what was wired. Its lifespan starts and stops the runtime; whoever wired it closes the rest."""
    client = httpx.AsyncClient()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(client)
            await wired.runtime.start()
            stack.push_async_callback(wired.runtime.stop)
            stack.callback(streams.stop)
            yield

    streams = OpenStreams()
    app = FastAPI(
        title="Placet",
        version="0.1.0",
        lifespan=lifespan,
        default_response_class=AsciiJson,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    attach(app, _gateway(wired, client, streams))

    # The last one added is the first to see a request.
    app.add_middleware(OwnOrigin, local=wired.settings.auth == "local")
    app.add_middleware(ErrorBoundary, new_id=wired.new_id)
    app.add_middleware(SecurityHeaders)
    add_error_answers(app)

    app.include_router(conversation.router)
    app.include_router(approvals.router)
    app.include_router(questions.router)
    app.include_router(changes.router)
    app.include_router(conversations.router)
    app.include_router(assistants.router)
    app.include_router(usage.router)
    app.include_router(scheduling.router)
    app.include_router(views.router)
    app.include_router(session.router)
    app.include_router(session.personal)
    app.include_router(health.router)
    describe(app)
    return app


def end_streams(app: FastAPI) -> None:
    """End every open stream. A server that is asked to stop calls it first: it would wait for the readers otherwise."""
    gateway_in(app).streams.stop()


def _gateway(wired: Wired, client: httpx.AsyncClient, streams: OpenStreams) -> Gateway:
    settings, database = wired.settings, wired.database

    async def count_running(user_id: str) -> int:
        async with database.read() as connection:
            return await turns.count_running(connection, user_id)

    return Gateway(
        runtime=wired.runtime,
        admission=Admission(
            authenticator=_authenticator(wired, client),
            authority=Authority(database, clock=wired.clock, zone=settings.zone),
            limits=InProcessLimits(
                per_minute=settings.rate_per_minute,
                streams=settings.open_streams,
                running_turns=settings.running_turns,
                count_running=count_running,
                monotonic=time.monotonic,
            ),
        ),
        streams=streams,
        local=settings.auth == "local",
        checks=readiness_checks(wired, time.monotonic),
        clock=wired.clock,
        new_id=wired.new_id,
    )


def _authenticator(wired: Wired, client: httpx.AsyncClient) -> Authenticator:
    settings = wired.settings
    if settings.auth == "local":
        return LocalAuth()
    if settings.jwt_secret is not None:
        keys = SecretKey(settings.jwt_secret)
    else:
        assert settings.jwt_jwks_url is not None
        keys = JwksKeys(settings.jwt_jwks_url, client, monotonic=time.monotonic)
    return TokenAuth(TokenReader(keys, clock=wired.clock, issuer=settings.jwt_issuer, audience=settings.jwt_audience))
