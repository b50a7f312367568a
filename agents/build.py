"""Before a run: live views, instructions, and an agent built from prebuilt tools."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import NoneType
from zoneinfo import ZoneInfo

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from sqlalchemy.ext.asyncio import AsyncSession

from agents.gated import GatedToolset, Offer, Settled, TurnCalls
from agents.setup import Setup
from agents.wire import locale_of
from stores.shapes import TurnTools
from stores.turns import Turn
from toolsets.deps import ToolDeps
from toolsets.gate import Actor
from toolsets.registry import Registry, ToolSpec
from toolsets.toolset import Toolset
from toolsets.words import Locale, Words

log = logging.getLogger("placet.run")

TurnAgent = Agent[None, str | DeferredToolRequests]

UNAVAILABLE = Words("暂时读不到", "unavailable")


async def live_views(setup: Setup, turn: Turn) -> dict[str, str]:
    """The present state of the turn's domains, read side by side; what can't be read says so."""
    toolsets = [setup.registry.toolsets[name] for name in turn.toolsets or [] if name in setup.registry.toolsets]
    viewed = [one for one in toolsets if one.live_view is not None]
    texts = await asyncio.gather(*(_view(setup, turn, one) for one in viewed))
    return {one.name: text for one, text in zip(viewed, texts, strict=True)}


async def _view(setup: Setup, turn: Turn, toolset: Toolset) -> str:
    assert toolset.live_view is not None
    locale = locale_of(turn)
    try:
        async with (
            asyncio.timeout(setup.limits.view_s),
            setup.database.read() as connection,
            AsyncSession(connection, expire_on_commit=False) as session,
        ):
            return await toolset.live_view(reading_deps(setup, turn, session))
    except Exception as error:  # noqa: BLE001 - a view is a courtesy: the turn goes on, and the model is told
        log.warning("live view of %s is unavailable: %s", toolset.name, type(error).__name__)
        return UNAVAILABLE.said(locale)


def reading_deps(setup: Setup, turn: Turn, session: AsyncSession) -> ToolDeps:
    return ToolDeps(
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        session=session,
        clock=setup.clock,
        new_id=lambda purpose: setup.new_id(),
        zone=ZoneInfo(turn.zone),
        locale=locale_of(turn),
    )


def instructions(registry: Registry, turn: Turn, views: Mapping[str, str], notes: Sequence[str], now: datetime) -> str:
    """What the model is told before the conversation: who it is, what time it is, how things stand."""
    locale = locale_of(turn)
    local = now.astimezone(ZoneInfo(turn.zone))
    parts = [registry.assistants[turn.assistant].instructions.said(locale), _today(local, turn.zone, locale)]
    for name, text in views.items():
        title = registry.toolsets[name].title.said(locale)
        parts.append(f"## {title} ({local:%H:%M})\n{text}")
    if notes:
        heading = Words("## 上次回答之后", "## Since your last answer").said(locale)
        parts.append("\n".join([heading, *(f"- {note}" for note in notes)]))
    return "\n\n".join(parts)


def _today(local: datetime, zone: str, locale: Locale) -> str:
    weekday = "一二三四五六日"[local.weekday()]
    words = Words(
        f"现在是 {local:%Y-%m-%d %H:%M}，周{weekday}，时区 {zone}。", f"It is {local:%A %Y-%m-%d %H:%M}, zone {zone}."
    )
    return words.said(locale)


def turn_toolset(setup: Setup, turn: Turn, epoch: int, calls: TurnCalls, settled: Settled) -> GatedToolset:
    """The turn's stored tools that are still there, behind the gate."""
    actor = Actor(
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        epoch=epoch,
        zone=ZoneInfo(turn.zone),
        locale=locale_of(turn),
        claims=turn.claims or {},
    )
    tools = turn.tools or TurnTools(offered=[], deferred=[], schemas={})
    offer = Offer(now=_known(setup.registry, tools["offered"]), deferred=_known(setup.registry, tools["deferred"]))
    return GatedToolset(setup, actor, offer, calls, settled)


def _known(registry: Registry, names: Sequence[str]) -> dict[str, ToolSpec]:
    return {name: registry.tools[name] for name in names if name in registry.tools}


def build_agent(model: Model, toolset: GatedToolset | None, told: str, output_tokens: int) -> TurnAgent:
    """A fresh agent. Cheap: the model and the tools are prebuilt."""
    return Agent(
        model,
        output_type=[str, DeferredToolRequests],
        deps_type=NoneType,
        instructions=told,
        toolsets=[toolset] if toolset else [],
        model_settings=ModelSettings(max_tokens=output_tokens),
        name="placet",
    )
