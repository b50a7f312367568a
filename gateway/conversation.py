"""The way in for a message: authenticate, limit, open the turn, stream what comes back. Knows no domain, no intent.

The runtime does the rest in a task of its own: a closed connection cancels nothing.
"""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute
from gateway.contents import CancelledTurn, TurnResult
from gateway.ids import ClientId, PathId
from gateway.responses import ERRORS, NO_OPEN_TURN, STREAM, holding, holding_or_stream
from gateway.schemas import TurnBody
from gateway.state import GatewayState
from gateway.turns import Sdk, event_stream, follow, open_turn, regenerate, wants_json, whole

router = APIRouter(prefix="/api/conversation", tags=["turns"], route_class=StrictRoute, responses=ERRORS)

IdempotencyKey = Annotated[ClientId | None, Header(description="Takes the message id's place.")]
LastEventId = Annotated[int, Header(ge=0, lt=2**53, description="Continue after this event.")]


@router.post("/stream", response_class=Response, responses=STREAM)
async def stream(
    body: TurnBody, gateway: GatewayState, person: Admitted, sdk: Sdk = 6, idempotency_key: IdempotencyKey = None
) -> Response:
    """Say something and follow the answer."""
    gateway.limits.check_streams(person.user_id)
    opened = await open_turn(gateway, person, body, idempotency_key)
    return follow(gateway, person, opened, sdk)


@router.post("", response_class=AsciiJson, responses=holding(TurnResult))
async def say(
    body: TurnBody, gateway: GatewayState, person: Admitted, idempotency_key: IdempotencyKey = None
) -> Response:
    """Say something and get the answer whole, once the turn is final or waits for the person."""
    opened = await open_turn(gateway, person, body, idempotency_key)
    return await whole(gateway, person, opened)


@router.get("/{conversation_id}/stream", response_class=Response, responses=STREAM | NO_OPEN_TURN)
async def rejoin(
    conversation_id: PathId, gateway: GatewayState, person: Admitted, sdk: Sdk = 6, last_event_id: LastEventId = 0
) -> Response:
    """Follow the open turn from its beginning, or from after `Last-Event-ID`, as one stream."""
    gateway.limits.check_streams(person.user_id)
    opened = await gateway.runtime.rejoin(person, conversation_id, last_event_id)
    if opened is None:
        return Response(status_code=204)
    turn_id, batches = opened
    return event_stream(gateway, person, batches, sdk, conversation_id, turn_id)


@router.post("/{conversation_id}/cancel", response_class=AsciiJson, responses=holding(CancelledTurn))
async def cancel(conversation_id: PathId, gateway: GatewayState, person: Admitted) -> Response:
    """Stop the running turn, or retire what is pending; says what was applied before."""
    cancelled = await gateway.runtime.cancel(person, conversation_id)
    return AsciiJson({"conversation_id": conversation_id, **asdict(cancelled)})


@router.post("/{conversation_id}/regenerate", response_class=Response, responses=holding_or_stream(TurnResult))
async def answer_anew(
    conversation_id: PathId,
    gateway: GatewayState,
    person: Admitted,
    request: Request,
    sdk: Sdk = 6,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Answer the last message anew. Writes that were made stay made. `Accept: application/json` gets it whole."""
    gateway.limits.check_streams(person.user_id)
    opened = await regenerate(gateway, person, conversation_id, idempotency_key)
    if wants_json(request):
        return await whole(gateway, person, opened)
    return follow(gateway, person, opened, sdk)
