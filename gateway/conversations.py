"""The person's conversations."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute, visible
from gateway.contents import Conversations, WholeConversation
from gateway.ids import PathId
from gateway.pages import Cursor, Limit, page
from gateway.responses import EMPTY, ERRORS, holding
from gateway.schemas import ConversationBody
from gateway.state import GatewayState

router = APIRouter(prefix="/api/conversations", tags=["conversations"], route_class=StrictRoute, responses=ERRORS)


@router.get("", response_class=AsciiJson, responses=holding(Conversations))
async def list_conversations(
    gateway: GatewayState,
    person: Admitted,
    search: Annotated[str | None, Query(max_length=200)] = None,
    archived: bool = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Response:
    """Conversations, latest activity first."""
    items, following = await gateway.runtime.conversations(
        person, search=visible(search) if search else None, archived=archived, cursor=cursor, limit=limit
    )
    return page(items, following)


@router.get("/{conversation_id}", response_class=AsciiJson, responses=holding(WholeConversation))
async def get_conversation(conversation_id: PathId, gateway: GatewayState, person: Admitted) -> Response:
    """The conversation with its UI messages; those of the open turn come by its stream."""
    return AsciiJson(await gateway.runtime.conversation(person, conversation_id))


@router.patch("/{conversation_id}", response_class=AsciiJson, responses=holding(WholeConversation))
async def update_conversation(
    conversation_id: PathId, body: ConversationBody, gateway: GatewayState, person: Admitted
) -> Response:
    """Rename or archive."""
    return AsciiJson(
        await gateway.runtime.update_conversation(person, conversation_id, title=body.title, archived=body.archived)
    )


@router.delete("/{conversation_id}", status_code=204, response_class=Response, responses=EMPTY)
async def delete_conversation(conversation_id: PathId, gateway: GatewayState, person: Admitted) -> Response:
    """Delete everything said. Changes that were made stay made, and can still be undone."""
    await gateway.runtime.delete_conversation(person, conversation_id)
    return Response(status_code=204)


@router.get("/{conversation_id}/export", response_class=AsciiJson, responses=holding(WholeConversation))
async def export_conversation(conversation_id: PathId, gateway: GatewayState, person: Admitted) -> Response:
    """The conversation as a file."""
    whole = await gateway.runtime.conversation(person, conversation_id)
    return AsciiJson(whole, headers={"Content-Disposition": 'attachment; filename="conversation.json"'})
