"""What was changed, and taking it back."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute
from gateway.contents import Change, Changes
from gateway.ids import ClientId, PathId
from gateway.pages import Cursor, Limit, page
from gateway.responses import ERRORS, holding
from gateway.state import GatewayState

router = APIRouter(prefix="/api/changes", tags=["changes"], route_class=StrictRoute, responses=ERRORS)


@router.get("", response_class=AsciiJson, responses=holding(Changes))
async def list_changes(
    gateway: GatewayState,
    person: Admitted,
    conversation_id: Annotated[ClientId, Query()],
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """The changes made in a conversation, newest first."""
    items, following = await gateway.runtime.changes(person, conversation_id, cursor, limit)
    return page(items, following)


@router.post("/{change_id}/revert", response_class=AsciiJson, responses=holding(Change))
async def revert(change_id: PathId, gateway: GatewayState, person: Admitted) -> Response:
    """Undo a change, if the rows are still as it left them."""
    return AsciiJson(await gateway.runtime.revert(person, change_id))
