"""What every assistant has: asking the person. Plans come here, too."""

from typing import Any

from toolsets.deps import ToolDeps
from toolsets.errors import DomainError
from toolsets.pack import Pack
from toolsets.toolset import Ask, Toolset
from toolsets.words import Words

planning = Toolset("planning", title=Words("计划与提问", "Plans and questions"), always=True)

EMPTY = Words("问题是空的。", "The question is empty.")


@planning.state(title=Words("提问", "Ask"))
async def ask_user(
    deps: ToolDeps, question: str, options: list[str] | None = None, allow_free_text: bool = True
) -> dict[str, Any]:
    """Ask the person one question and wait for the answer. Only for what you can't find out or sensibly assume.

    Args:
        question: One short question, in the person's language.
        options: Answers to choose from, if there are a few obvious ones.
        allow_free_text: Whether other words than the options are an answer, too.
    """
    if not question.strip():
        raise DomainError("empty_question", EMPTY)
    raise Ask(question.strip(), tuple(options or ()), allow_free_text or not options)


def build_pack() -> Pack:
    return Pack(name="planning", toolsets=(planning,))
