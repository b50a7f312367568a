"""Putting packs together: what the registry prepares, and what it refuses at the start."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import RunContext, Tool
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from stores.tables import Base
from toolsets.deps import ToolDeps
from toolsets.errors import RegistrationError
from toolsets.pack import Assistant, Pack
from toolsets.registry import build_registry, prepare, stand_in
from toolsets.scenes import Say, Scene
from toolsets.toolset import Effect, ToolDeclaration, Toolset
from toolsets.words import Words

pytestmark = pytest.mark.anyio

TITLE = Words.same("title")


async def look(deps: ToolDeps, day: int, place: str = "here") -> dict[str, Any]:
    """Look at a day.

    Args:
        day: Which day.
        place: Where.
    """
    return {"status": "ok"}


async def mark(deps: ToolDeps, day: int) -> dict[str, Any]:
    """Mark a day."""
    return {"status": "ok"}


def pack(name: str = "days", **changes: Any) -> Pack:
    toolset = Toolset(name, title=TITLE)
    toolset.read(look)
    toolset.write(title=TITLE)(mark)
    return replace(Pack(name=name, toolsets=(toolset,)), **changes)


def assistant(name: str, *toolsets: str) -> Assistant:
    return Assistant(name=name, title=TITLE, toolsets=toolsets, instructions=TITLE, greeting=TITLE)


def declared(function: Callable[..., Awaitable[Any]], **changes: Any) -> ToolDeclaration:
    declaration = ToolDeclaration(name=function.__name__, function=function, effect=Effect.READ, title=TITLE)
    return replace(declaration, **changes)


def test_every_tool_is_prepared_under_its_toolset_and_pack() -> None:
    registry = build_registry([pack(assistants=(assistant("helper", "days"),))])
    assert {name: (one.toolset, one.pack, one.effect) for name, one in registry.tools.items()} == {
        "look": ("days", "days", Effect.READ),
        "mark": ("days", "days", Effect.WRITE),
    }
    assert [one.name for one in registry.toolsets_of("helper")] == ["days"]
    assert [one.name for one in registry.tools_in(["days"])] == ["look", "mark"]


def test_the_model_reads_the_docstring_and_never_of_deps() -> None:
    definition = build_registry([pack()]).tools["look"].definition
    assert definition.description == "Look at a day."
    schema = definition.parameters_json_schema
    assert list(schema["properties"]) == ["day", "place"]
    assert schema["properties"]["day"]["description"] == "Which day."
    assert schema["required"] == ["day"]
    assert schema["additionalProperties"] is False
    assert definition.sequential


def test_a_tool_that_says_nothing_is_a_gated_write() -> None:
    spec = prepare(ToolDeclaration(name="mark", function=mark, title=TITLE), "days", "days")
    assert spec.effect is Effect.WRITE
    assert spec.gated


@pytest.mark.parametrize(
    ("effect", "gated", "always"),
    [
        (Effect.READ, False, False),
        (Effect.STATE, False, False),
        (Effect.WRITE, True, False),
        (Effect.EXTERNAL, True, True),
    ],
)
def test_what_may_change_something_waits_and_what_leaves_the_house_is_always_confirmed(
    effect: Effect, gated: bool, always: bool
) -> None:
    spec = prepare(declared(mark, effect=effect), "days", "days")
    assert (spec.gated, spec.always_confirm) == (gated, always)


async def test_the_stand_in_refuses_to_be_called() -> None:
    """PydanticAI holds no function that would do anything: the gate is the only way to one."""
    ran: list[int] = []

    async def act(deps: ToolDeps, day: int) -> dict[str, Any]:
        """Act."""
        ran.append(day)
        return {}

    context = RunContext[Any](deps=None, model=TestModel(), usage=RunUsage())
    tool = Tool(stand_in(declared(act)), takes_ctx=True)
    with pytest.raises(RegistrationError, match="past the gate"):
        await tool.function_schema.call({"day": 1}, context)
    assert ran == []


def test_a_definition_holds_no_function() -> None:
    definition = prepare(declared(mark), "days", "days").definition
    assert not any(callable(value) for value in vars(definition).values())


def test_the_schema_hash_is_of_name_effect_and_parameters() -> None:
    async def other(deps: ToolDeps, day: int, place: str = "there") -> dict[str, Any]:
        """Look at a day."""
        return {}

    hashes = {
        prepare(declaration, "days", "days").schema_hash
        for declaration in (
            declared(look),
            declared(look, name="see"),
            declared(look, effect=Effect.WRITE),
            declared(other, name="look"),
        )
    }
    assert len(hashes) == 4
    assert prepare(declared(look), "a", "b").schema_hash == prepare(declared(look), "c", "d").schema_hash


async def no_deps(day: int) -> dict[str, Any]:
    """Look."""
    return {}


async def deps_later(day: int, deps: ToolDeps) -> dict[str, Any]:
    """Look."""
    return {}


async def loose_deps(deps: Any, day: int) -> dict[str, Any]:
    """Look."""
    return {}


async def undescribed(deps: ToolDeps, day: int) -> dict[str, Any]:
    return {}


class Only(BaseModel):
    day: int


async def wrapped(deps: ToolDeps, only: Only) -> dict[str, Any]:
    """Look."""
    return {}


@pytest.mark.parametrize(
    ("declaration", "why"),
    [
        (declared(no_deps), "first parameter"),
        (declared(deps_later), "first parameter"),
        (declared(loose_deps), "first parameter"),
        (declared(undescribed), "docstring"),
        (declared(wrapped), "spell out"),
        (declared(look, name="look at"), "every provider"),
        (declared(look, name="看"), "every provider"),
        (declared(look, name="l" * 65), "every provider"),
        (declared(look, name=""), "every provider"),
    ],
)
def test_a_tool_that_breaks_a_rule_stops_the_start(declaration: ToolDeclaration, why: str) -> None:
    with pytest.raises(RegistrationError, match=why):
        prepare(declaration, "days", "days")


def test_a_toolset_takes_a_name_once() -> None:
    toolset = Toolset("days", title=TITLE)
    toolset.read(look)
    with pytest.raises(RegistrationError, match="two tools called 'look'"):
        toolset.write(title=TITLE)(look)


def test_names_are_taken_once_in_the_whole_house() -> None:
    same = Toolset("days", title=TITLE)
    others = Toolset("others", title=TITLE)
    others.read(look)
    for second, why in (
        (Pack(name="days", toolsets=()), "the pack 'days'"),
        (Pack(name="second", toolsets=(same,)), "the toolset 'days'"),
        (Pack(name="second", toolsets=(others,)), "the tool 'look'"),
        (Pack(name="second", toolsets=(), assistants=(assistant("helper"),)), "the assistant 'helper'"),
    ):
        with pytest.raises(RegistrationError, match=why):
            build_registry([pack(assistants=(assistant("helper", "days"),)), second])


def test_an_assistant_names_toolsets_that_are_there() -> None:
    with pytest.raises(RegistrationError, match="'helper' names unknown toolsets: nights"):
        build_registry([pack(assistants=(assistant("helper", "days", "nights"),))])


def test_an_assistant_may_use_the_toolsets_of_a_pack_that_comes_later() -> None:
    first = Pack(name="people", toolsets=(), assistants=(assistant("helper", "days"),))
    assert [one.name for one in build_registry([first, pack()]).toolsets_of("helper")] == ["days"]


def test_scenes_keep_the_order_of_their_packs() -> None:
    def play(cue: object) -> Any:
        yield Say("")

    scenes = [Scene(name=name, patterns=(), play=play) for name in ("one", "two", "three")]
    packs = [pack(scenes=(scenes[0], scenes[1])), Pack(name="second", toolsets=(), scenes=(scenes[2],))]
    assert [one.name for one in build_registry(packs).scenes] == ["one", "two", "three"]


def test_a_table_that_the_recorder_could_not_follow_stops_the_start() -> None:
    class Apart(DeclarativeBase):
        pass

    class Owner(Apart):
        __tablename__ = "owners"
        id: Mapped[str] = mapped_column(String(8), primary_key=True)

    class Thing(Apart):
        __tablename__ = "things"
        id: Mapped[str] = mapped_column(String(8), primary_key=True)
        owner_id: Mapped[str] = mapped_column(ForeignKey("owners.id", ondelete="CASCADE"))

    tables: Any = (Owner, Thing)
    with pytest.raises(RegistrationError, match=r"pack 'days': .*things"):
        build_registry([pack(tables=tables)])
    assert "things" not in Base.metadata.tables


def test_a_prepared_tool_keeps_its_own_function() -> None:
    spec = prepare(declared(look), "days", "days")
    assert spec.declaration.function is look
    assert list(inspect.signature(look).parameters) == ["deps", "day", "place"]
