"""The tools, the view and the words."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from toolsets.deps import ToolDeps
from toolsets.errors import DomainError
from toolsets.toolset import Toolset
from toolsets.words import Words

from .tables import PlantRow
from .weather import Weather

INSTRUCTIONS = Words("你照看花园。", "You look after a garden.")
GREETING = Words("种点什么？", "What shall we grow?")
NO_PLANT = Words("没有这株植物。", "There is no such plant.")

garden = Toolset("garden", title=Words("花园", "Garden"), always=True)


def _weather(deps: ToolDeps) -> Weather:
    assert isinstance(deps.pack, Weather)
    return deps.pack


async def plants(deps: ToolDeps, _query: Mapping[str, str]) -> list[dict[str, Any]]:
    rows = await deps.session.scalars(select(PlantRow).where(PlantRow.user_id == deps.user_id).order_by(PlantRow.name))
    return [{"name": row.name, "watered": row.watered} for row in rows]


@garden.read
async def look(deps: ToolDeps, place: str) -> dict[str, Any]:
    """What grows; stands for a while where somebody holds it. In the jungle there is very much of it."""
    await _weather(deps).pass_by(place)
    wild = "leaves " * 1_000_000 if place == "jungle" else ""
    return {"status": "ok", "plants": await plants(deps, {}), "wild": wild}


@garden.write(title=Words("种植", "Plant"))
async def plant(deps: ToolDeps, name: str) -> dict[str, Any]:
    """Put a plant into the ground."""
    deps.session.add(PlantRow(id=deps.new_id("plant"), user_id=deps.user_id, name=name, watered=0))
    await deps.session.flush()
    await _weather(deps).pass_by(f"plant-{name}")
    return {"status": "ok", "planted": name}


@garden.write(title=Words("浇水", "Water"))
async def water(deps: ToolDeps, name: str) -> dict[str, Any]:
    """Water a plant once more."""
    row = await deps.session.scalar(select(PlantRow).where(PlantRow.user_id == deps.user_id, PlantRow.name == name))
    if row is None:
        raise DomainError("not_found", NO_PLANT)
    row.watered += 1
    await deps.session.flush()
    return {"status": "ok", "watered": row.watered}
