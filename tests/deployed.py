"""The pack of `tricks` as another release might bring it."""

from dataclasses import replace
from typing import Any

from tests import tricks
from toolsets.deps import ToolDeps
from toolsets.pack import Pack
from toolsets.toolset import Toolset
from toolsets.words import Words


def without_add() -> Pack:
    """The tool `add` is gone."""
    return _with(Toolset("tricks", title=Words.same("Tricks"), always=True))


def with_another_add() -> Pack:
    """The tool `add` asks for something else."""
    toolset = Toolset("tricks", title=Words.same("Tricks"), always=True)

    @toolset.write(title=Words.same("Add"))
    async def add(deps: ToolDeps, name: str, strategy: str = "rapid") -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction] - found by its toolset
        """Add a class with a strategy."""
        return await tricks.add(deps, name)

    return _with(toolset)


def _with(toolset: Toolset) -> Pack:
    """The pack with the other release's tools, and those that stayed."""
    for declaration in tricks.tricks.tools.values():
        if declaration.name != "add":
            toolset.add(declaration)
    return replace(tricks.build_pack(), toolsets=(toolset, tricks.hidden))
