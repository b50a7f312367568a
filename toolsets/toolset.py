"""A toolset: a named group of tools, the unit that is selected. Packs declare theirs with it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from toolsets.cards import CardMaker
from toolsets.deps import ToolDeps
from toolsets.errors import RegistrationError
from toolsets.words import Words

ToolFunction = Callable[..., Awaitable[Mapping[str, Any]]]
"""`async def tool(deps: ToolDeps, …) -> {"status": "ok", …}`; its docstring is what the model reads."""

LiveView = Callable[[ToolDeps], Awaitable[str]]
"""The domain's current state in a few lines, read freshly before a turn."""

F = TypeVar("F", bound=ToolFunction)


class Effect(StrEnum):
    """What a tool may do (DESIGN.md §1). A tool that says nothing is `write`."""

    READ = "read"
    STATE = "state"
    WRITE = "write"
    EXTERNAL = "external"


@dataclass(frozen=True, kw_only=True)
class Keywords:
    """Words that ask for a toolset. Matched anywhere in the case-folded text: be generous, never clever.

    English entries match from a word's start (`quiz` also finds "quizzes"; "investigate" doesn't hold `gate`);
    Chinese ones match anywhere.
    """

    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ToolDeclaration:
    """What a pack says of one tool."""

    name: str
    function: ToolFunction
    title: Words
    effect: Effect = Effect.WRITE
    card: CardMaker | None = None
    always_confirm: bool = False
    """Never covered by a standing approval, nor by a bare "yes" in chat."""
    timeout_s: float | None = None
    """Seconds of running time; None takes the setting `TOOL_SECONDS`."""
    schema: Mapping[str, Any] | None = None
    """A JSON schema of the parameters, for tools that aren't described by their signature."""


class Toolset:
    """Declares tools: `@toolset.read`, `@toolset.write(...)`, `@toolset.state(...)`.

    schedule = Toolset("schedule", keywords=Keywords(zh=("课表",), en=("timetable",)))

    @schedule.read
    async def find_free(deps: ToolDeps, duration: int, day: int | None = None) -> dict[str, Any]:
        "Every free run of at least `duration` slots."
    """

    def __init__(
        self,
        name: str,
        *,
        title: Words,
        keywords: Keywords | None = None,
        always: bool = False,
        live_view: LiveView | None = None,
        context: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.title = title
        self.keywords = keywords or Keywords()
        self.always = always
        """Offered in every turn of its assistants, whatever is said."""
        self.live_view = live_view
        self.context = context
        """Keys of the turn's context that ask for it when they are set (`has_artifacts`, `class_id`, `open_plan`)."""
        self.tools: dict[str, ToolDeclaration] = {}

    def add(self, declaration: ToolDeclaration) -> None:
        """Add a tool. Raises RegistrationError when the name is taken."""
        if declaration.name in self.tools:
            raise RegistrationError(f"toolset {self.name!r} has two tools called {declaration.name!r}")
        self.tools[declaration.name] = declaration

    def read(self, function: F) -> F:
        """A tool that changes nothing: its connection can't write."""
        self.add(_declaration(function, Effect.READ, title=None))
        return function

    def write(
        self,
        *,
        title: Words,
        card: CardMaker | None = None,
        always_confirm: bool = False,
        timeout_s: float | None = None,
    ) -> Callable[[F], F]:
        """A tool whose changes are proposed, shown and approved before they are made."""

        def declare(function: F) -> F:
            declaration = _declaration(function, Effect.WRITE, title, card, always_confirm, timeout_s)
            self.add(declaration)
            return function

        return declare

    def state(self, *, title: Words) -> Callable[[F], F]:
        """A tool that changes only the conversation's own plan, questions or artifact versions."""

        def declare(function: F) -> F:
            self.add(_declaration(function, Effect.STATE, title))
            return function

        return declare


def _declaration(
    function: ToolFunction,
    effect: Effect,
    title: Words | None,
    card: CardMaker | None = None,
    always_confirm: bool = False,
    timeout_s: float | None = None,
) -> ToolDeclaration:
    name = function.__name__
    return ToolDeclaration(
        name=name,
        function=function,
        effect=effect,
        title=title or Words.same(name.replace("_", " ")),
        card=card,
        always_confirm=always_confirm,
        timeout_s=timeout_s,
    )


class Ask(Exception):
    """Raised by a tool to put a question to the person: the turn pauses until words arrive."""

    def __init__(self, question: str, options: tuple[str, ...] = (), allow_free_text: bool = True) -> None:
        super().__init__(question)
        self.question = question
        self.options = options
        self.allow_free_text = allow_free_text


__all__ = ["Ask", "Effect", "Keywords", "LiveView", "ToolDeclaration", "ToolDeps", "ToolFunction", "Toolset"]
