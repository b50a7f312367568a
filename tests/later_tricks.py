"""The pack of tricks after a deploy: one tool is as it was, two take other arguments, the others are gone."""

from typing import Any

from tests import tricks
from toolsets.deps import ToolDeps
from toolsets.pack import Assistant, Pack
from toolsets.toolset import Toolset
from toolsets.words import Words

later = Toolset("tricks", title=Words.same("Tricks"), always=True)
later.write(title=Words.same("Add several"), card=tricks.several_card)(tricks.add_several)


@later.write(title=Words.same("Add"))
async def add(deps: ToolDeps, name: str, colour: str) -> dict[str, Any]:
    """Add a class of some colour."""
    return await tricks.add(deps, name)


@later.write(title=Words.same("Budget"))
async def budget(deps: ToolDeps, name: str, slots: int, note: str = "") -> dict[str, Any]:
    """Set the number of slots of a class."""
    return await tricks.budget(deps, name, slots)


def build_pack() -> Pack:
    return Pack(
        name="tricks",
        toolsets=(later,),
        assistants=(
            Assistant(
                name="tricks",
                title=Words.same("Tricks"),
                toolsets=("tricks", "planning"),
                instructions=Words.same("Play."),
                greeting=Words.same("Hello."),
            ),
        ),
    )
