"""Approvals over HTTP: what waits, and what the person says to it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from agents.requests import Decision
from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute
from gateway.contents import Approval, Approvals, Status
from gateway.ids import ClientId, PathId
from gateway.pages import Cursor, Limit, page
from gateway.responses import ERRORS, holding, holding_or_stream
from gateway.schemas import DecisionBody, DecisionsBody
from gateway.state import GatewayState
from gateway.turns import Sdk, check_room, stream_or

router = APIRouter(prefix="/api/approvals", tags=["approvals"], route_class=StrictRoute, responses=ERRORS)


@router.get("", response_class=AsciiJson, responses=holding(Approvals))
async def list_approvals(
    gateway: GatewayState,
    person: Admitted,
    status: Annotated[Status | None, Query()] = None,
    conversation_id: Annotated[ClientId | None, Query()] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """The person's approvals, newest first."""
    items, following = await gateway.runtime.approvals(
        person, status=status, conversation_id=conversation_id, cursor=cursor, limit=limit
    )
    return page(items, following)


@router.post("/decisions", response_class=AsciiJson, responses=holding_or_stream(Approvals))
async def decide_several(
    body: DecisionsBody, gateway: GatewayState, person: Admitted, request: Request, sdk: Sdk = 6
) -> Response:
    """Decide several approvals at once: all of them, or none when one can't be decided so."""
    check_room(gateway, person, request)
    decisions = [_decision(one.approval_id, one) for one in body.decisions]
    approvals = await gateway.runtime.decide(person, decisions, "page")
    turns = {str(approval["turn_id"]) for approval in approvals}
    turn_id = turns.pop() if len(turns) == 1 else None
    return await stream_or(gateway, person, request, turn_id, sdk, {"items": approvals, "next": None})


@router.get("/{approval_id}", response_class=AsciiJson, responses=holding(Approval))
async def get_approval(approval_id: PathId, gateway: GatewayState, person: Admitted) -> Response:
    """One approval with all that its card shows."""
    return AsciiJson(await gateway.runtime.approval(person, approval_id))


@router.post("/{approval_id}/decision", response_class=AsciiJson, responses=holding_or_stream(Approval))
async def decide(
    approval_id: PathId, body: DecisionBody, gateway: GatewayState, person: Admitted, request: Request, sdk: Sdk = 6
) -> Response:
    """Approve or deny. `Accept: text/event-stream` follows the turn when it goes on by this."""
    check_room(gateway, person, request)
    approvals = await gateway.runtime.decide(person, [_decision(approval_id, body)], "page")
    decided: dict[str, Any] = approvals[0]
    return await stream_or(gateway, person, request, str(decided["turn_id"]), sdk, decided)


def _decision(approval_id: str, body: DecisionBody) -> Decision:
    return Decision(
        approval_id=approval_id,
        decision=body.decision,
        expected_version=body.expected_version,
        reason=body.reason,
        arguments=body.arguments,
        execute=body.execute,
        skip=tuple(body.skip),
    )
