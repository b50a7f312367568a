"""Answers to what the assistant asked."""

from fastapi import APIRouter, Request, Response

from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute
from gateway.contents import AnsweredQuestion
from gateway.ids import PathId
from gateway.responses import ERRORS, holding_or_stream
from gateway.schemas import AnswerBody
from gateway.state import GatewayState
from gateway.turns import Sdk, check_room, follow, wants_stream

router = APIRouter(prefix="/api/questions", tags=["questions"], route_class=StrictRoute, responses=ERRORS)


@router.post("/{question_id}/answer", response_class=AsciiJson, responses=holding_or_stream(AnsweredQuestion))
async def answer(
    question_id: PathId, body: AnswerBody, gateway: GatewayState, person: Admitted, request: Request, sdk: Sdk = 6
) -> Response:
    """Answer, and let the turn go on. `Accept: text/event-stream` follows it."""
    check_room(gateway, person, request)
    opened = await gateway.runtime.answer(person, question_id, body.words)
    if wants_stream(request):
        return follow(gateway, person, opened, sdk)
    return AsciiJson(
        {
            "question_id": question_id,
            "conversation_id": opened.conversation_id,
            "turn_id": opened.turn_id,
            "status": "answered",
        }
    )
