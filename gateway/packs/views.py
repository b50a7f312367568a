"""Views that packs bring: current state of a domain, for a panel of the page."""

from fastapi import APIRouter, Request, Response

from agents.errors import Invalid, NotFound
from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute, visible
from gateway.ids import PathId
from gateway.responses import ERRORS
from gateway.state import GatewayState
from toolsets.errors import DomainError

router = APIRouter(prefix="/api/packs", tags=["packs"], route_class=StrictRoute, responses=ERRORS)


@router.get("/{pack}/views/{name}", response_class=AsciiJson)
async def show(pack: PathId, name: PathId, request: Request, gateway: GatewayState, person: Admitted) -> Response:
    """One view; the query's parameters are the view's own."""
    found = gateway.runtime.registry.packs.get(pack)
    view = found.views.get(name) if found else None
    if view is None:
        raise NotFound
    parameters = {visible(key): visible(value) for key, value in request.query_params.items()}
    try:
        async with gateway.runtime.reading_deps(person) as deps:
            return AsciiJson(await view(deps, parameters))
    except DomainError as error:
        raise Invalid([{"field": "query", "message": error.words}]) from error
