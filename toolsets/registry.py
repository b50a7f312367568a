"""All packs put together: every tool with its effect, checked once at the start."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, TypeVar, get_type_hints

from pydantic_ai import RunContext, Tool
from pydantic_ai.tools import ToolDefinition

from stores.changes import check_pack_tables
from toolsets.arguments import ToolArguments, hashed
from toolsets.deps import ToolDeps
from toolsets.errors import RegistrationError
from toolsets.pack import Assistant, Pack
from toolsets.scenes import Scene
from toolsets.toolset import Effect, ToolDeclaration, Toolset
from toolsets.words import Words

T = TypeVar("T")

PROVIDER_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The pattern of tool names that every provider accepts."""


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """One tool, ready to be offered and called."""

    declaration: ToolDeclaration
    toolset: str
    pack: str
    definition: ToolDefinition
    arguments: ToolArguments
    schema_hash: str

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def effect(self) -> Effect:
        return self.declaration.effect

    @property
    def title(self) -> Words:
        return self.declaration.title

    @property
    def always_confirm(self) -> bool:
        return self.declaration.always_confirm or self.effect is Effect.EXTERNAL

    @property
    def gated(self) -> bool:
        """Whether a call waits for a person."""
        return self.effect in (Effect.WRITE, Effect.EXTERNAL)


@dataclass(frozen=True, kw_only=True)
class Registry:
    """What all packs bring, by name."""

    packs: Mapping[str, Pack]
    toolsets: Mapping[str, Toolset]
    tools: Mapping[str, ToolSpec]
    assistants: Mapping[str, Assistant]
    scenes: tuple[Scene, ...] = field(default=())

    def toolsets_of(self, assistant: str) -> tuple[Toolset, ...]:
        """The toolsets that an assistant may be offered. Raises KeyError for an unknown assistant."""
        return tuple(self.toolsets[name] for name in self.assistants[assistant].toolsets)

    def tools_in(self, toolsets: Iterable[str]) -> tuple[ToolSpec, ...]:
        """The tools of the named toolsets, in order."""
        return tuple(self.tools[tool] for name in toolsets for tool in self.toolsets[name].tools)


def build_registry(packs: Sequence[Pack]) -> Registry:
    """Check the packs and prepare every tool. Raises RegistrationError naming what is wrong."""
    by_name: dict[str, Pack] = {}
    toolsets: dict[str, Toolset] = {}
    tools: dict[str, ToolSpec] = {}
    assistants: dict[str, Assistant] = {}
    for pack in packs:
        _take(by_name, pack.name, pack, "pack")
        if broken := check_pack_tables(pack.tables):
            raise RegistrationError(f"pack {pack.name!r}: " + "; ".join(broken))
        for toolset in pack.toolsets:
            _take(toolsets, toolset.name, toolset, "toolset")
            for declaration in toolset.tools.values():
                _take(tools, declaration.name, prepare(declaration, toolset.name, pack.name), "tool")
        for assistant in pack.assistants:
            _take(assistants, assistant.name, assistant, "assistant")
    for assistant in assistants.values():
        if missing := [name for name in assistant.toolsets if name not in toolsets]:
            raise RegistrationError(f"assistant {assistant.name!r} names unknown toolsets: {', '.join(missing)}")
    scenes = tuple(scene for pack in packs for scene in pack.scenes)
    return Registry(packs=by_name, toolsets=toolsets, tools=tools, assistants=assistants, scenes=scenes)


def _take(into: dict[str, T], name: str, value: T, kind: str) -> None:
    if name in into:
        raise RegistrationError(f"the {kind} {name!r} is brought twice")
    into[name] = value


def prepare(declaration: ToolDeclaration, toolset: str, pack: str) -> ToolSpec:
    """A tool's schema, validator and definition, made once."""
    if not PROVIDER_NAME.fullmatch(declaration.name):
        raise RegistrationError(f"tool name {declaration.name!r} isn't accepted by every provider")
    tool = Tool(stand_in(declaration), takes_ctx=True, name=declaration.name, sequential=True)
    schema = tool.function_schema
    if schema.single_arg_name is not None:
        raise RegistrationError(f"tool {declaration.name!r}: spell out the fields of its only parameter")
    if not schema.description:
        raise RegistrationError(f"tool {declaration.name!r} has no docstring for the model to read")
    definition = tool.tool_def
    return ToolSpec(
        declaration=declaration,
        toolset=toolset,
        pack=pack,
        definition=definition,
        arguments=ToolArguments(schema.validator, definition.parameters_json_schema),
        schema_hash=hashed([declaration.name, declaration.effect, definition.parameters_json_schema]),
    )


def stand_in(declaration: ToolDeclaration) -> Callable[..., Awaitable[Any]]:
    """A function with the tool's signature (deps left out), from which PydanticAI reads schema and description.

    Called, it raises RegistrationError: only the gate calls a tool.
    """
    function = declaration.function
    parameters = list(signature(function).parameters.values())
    hints = get_type_hints(function, include_extras=True)
    if not parameters or hints.get(parameters[0].name) is not ToolDeps:
        raise RegistrationError(f"tool {declaration.name!r}: the first parameter must be `deps: ToolDeps`")

    async def only_through_the_gate(ctx: RunContext[Any], **_: Any) -> Any:
        raise RegistrationError(f"tool {declaration.name!r} was called past the gate")

    first = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=RunContext[Any])
    rest = [one.replace(annotation=hints[one.name]) for one in parameters[1:]]
    # It pretends to be the tool: PydanticAI reads these attributes and nothing else.
    pretended: Any = only_through_the_gate
    pretended.__signature__ = signature(function).replace(parameters=[first, *rest])
    pretended.__annotations__ = {"ctx": RunContext[Any], **{one.name: one.annotation for one in rest}, "return": Any}
    pretended.__doc__ = function.__doc__
    pretended.__name__ = declaration.name
    pretended.__qualname__ = declaration.name
    return only_through_the_gate
