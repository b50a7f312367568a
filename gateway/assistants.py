"""Who can be talked to, what they can do, and why a turn would be offered which toolsets."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from agents.errors import Forbidden, NotFound
from agents.requests import Person
from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.auth import OPERATOR
from gateway.body import StrictRoute, visible
from gateway.contents import Assistants, Selection, Toolsets
from gateway.responses import ERRORS, holding
from gateway.selection import select
from gateway.state import Gateway, GatewayState
from gateway.votes import MESSAGE_CHARACTERS
from toolsets.pack import Assistant
from toolsets.registry import Registry, ToolSpec
from toolsets.toolset import Toolset
from toolsets.words import Locale

router = APIRouter(prefix="/api", tags=["assistants"], route_class=StrictRoute, responses=ERRORS)


@router.get("/assistants", response_class=AsciiJson, responses=holding(Assistants))
async def list_assistants(gateway: GatewayState, person: Admitted) -> Response:
    """The assistants that the person may talk to."""
    items = [_assistant(one, person.locale) for one in allowed(gateway.runtime.registry, person)]
    return AsciiJson({"items": items, "next": None})


@router.get("/toolsets", response_class=AsciiJson, responses=holding(Toolsets))
async def list_toolsets(gateway: GatewayState, person: Admitted) -> Response:
    """Every toolset of the person's assistants, with its tools, their effects and schemas."""
    registry = gateway.runtime.registry
    names = {name for one in allowed(registry, person) for name in one.toolsets}
    items = [_toolset(registry, toolset, person.locale) for name, toolset in registry.toolsets.items() if name in names]
    return AsciiJson({"items": items, "next": None})


@router.get("/toolsets/selection", response_class=AsciiJson, responses=holding(Selection))
async def explain_selection(
    gateway: GatewayState,
    person: Admitted,
    assistant: Annotated[str, Query(min_length=1, max_length=64)],
    text: Annotated[str, Query(max_length=MESSAGE_CHARACTERS)],
    earlier: Annotated[Sequence[str], Query(max_length=3)] = (),
) -> Response:
    """What a message would be offered, and why. For operators; on a person's own machine for that person."""
    if not _may_look(gateway, person):
        raise Forbidden
    registry = gateway.runtime.registry
    if assistant not in {one.name for one in allowed(registry, person)}:
        raise NotFound
    said = [visible(one) for one in earlier]
    selection = select(registry.toolsets_of(assistant), visible(text), said)
    return AsciiJson({"offered": selection.offered, "deferred": selection.deferred, "reasons": dict(selection.reasons)})


def allowed(registry: Registry, person: Person) -> list[Assistant]:
    """The assistants that token and row allow."""
    names = person.assistants
    return [one for one in registry.assistants.values() if names is None or one.name in names]


def _may_look(gateway: Gateway, person: Person) -> bool:
    return gateway.local or (person.scopes is not None and OPERATOR in person.scopes)


def _assistant(assistant: Assistant, locale: Locale) -> dict[str, Any]:
    return {
        "name": assistant.name,
        "title": assistant.title.said(locale),
        "greeting": assistant.greeting.said(locale),
        "suggestions": [one.said(locale) for one in assistant.suggestions],
        "toolsets": list(assistant.toolsets),
    }


def _toolset(registry: Registry, toolset: Toolset, locale: Locale) -> dict[str, Any]:
    return {
        "name": toolset.name,
        "title": toolset.title.said(locale),
        "always": toolset.always,
        "keywords": {"zh": list(toolset.keywords.zh), "en": list(toolset.keywords.en)},
        "context": list(toolset.context),
        "live_view": toolset.live_view is not None,
        "tools": [_tool(registry.tools[name], locale) for name in toolset.tools],
    }


def _tool(tool: ToolSpec, locale: Locale) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title.said(locale),
        "effect": str(tool.effect),
        "always_confirm": tool.always_confirm,
        "description": tool.definition.description,
        "schema": tool.definition.parameters_json_schema,
        "schema_hash": tool.schema_hash,
    }
