"""Whether the process lives, and whether it can work."""

import asyncio
import logging

from fastapi import APIRouter, Request, Response

from gateway.answers import AsciiJson, error_answer
from gateway.contents import Alive, ErrorAnswer, Ready
from gateway.errors import UNAVAILABLE
from gateway.responses import Responses, holding
from gateway.state import Check, GatewayState

log = logging.getLogger("placet.gateway")

CHECK_S = 3.0
NOT_READY: Responses = {503: {"model": ErrorAnswer, "description": "Not ready"}}

router = APIRouter(tags=["health"])


@router.get("/healthz", response_class=AsciiJson, responses=holding(Alive))
async def healthz() -> Response:
    """The process answers."""
    return AsciiJson({"status": "ok"})


@router.get("/readyz", response_class=AsciiJson, responses=holding(Ready) | NOT_READY)
async def readyz(request: Request, gateway: GatewayState) -> Response:
    """What the server needs is there: the database, its migrations, and Redis where one is set."""
    names = list(gateway.checks)
    passed = await asyncio.gather(*(_passes(name, gateway.checks[name]) for name in names))
    results = {name: "ok" if good else "failed" for name, good in zip(names, passed, strict=True)}
    if all(passed):
        return AsciiJson({"status": "ready", "checks": results})
    return error_answer(UNAVAILABLE, request.scope, details={"checks": results})


async def _passes(name: str, check: Check) -> bool:
    try:
        async with asyncio.timeout(CHECK_S):
            await check()
    except Exception as error:  # noqa: BLE001 - whatever it is, the answer is that the server can't work
        log.warning("not ready: %s: %s", name, type(error).__name__)
        return False
    return True
