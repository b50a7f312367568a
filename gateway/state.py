"""What the routes work with, built once and passed along."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, FastAPI, Request

from agents.runtime import Runtime
from gateway.admission import Admission, guard
from gateway.limits import Limits
from gateway.sse import OpenStreams

Check = Callable[[], Awaitable[None]]
"""Raises when something that the server needs isn't there."""


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """The state of the gateway."""

    runtime: Runtime
    admission: Admission
    streams: OpenStreams
    local: bool
    """Whether this is a person's own machine (`AUTH=local`)."""
    checks: Mapping[str, Check]
    """What `/readyz` asks, by name."""
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    @property
    def limits(self) -> Limits:
        return self.admission.limits


def attach(app: FastAPI, gateway: Gateway) -> None:
    """Give the app's routes their state."""
    guard(app, gateway.admission)
    app.state.gateway = gateway


def gateway_in(app: FastAPI) -> Gateway:
    gateway = app.state.gateway
    assert isinstance(gateway, Gateway)
    return gateway


def _gateway_of(request: Request) -> Gateway:
    return gateway_in(request.app)


GatewayState = Annotated[Gateway, Depends(_gateway_of)]
