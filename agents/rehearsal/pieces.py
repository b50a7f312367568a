"""Cuts words and arguments as providers stream them, and estimates tokens from characters."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agents.rehearsal.reading import text_of

_PIECE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]{1,2}|[^\s\u3000-\u9fff\uff00-\uffef]+\s*|\s+")
_WIDE = re.compile(r"[\u3000-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
ARGUMENT_PIECE = 12


def words(text: str) -> Iterator[str]:
    """`text` in small pieces: a Latin word with its space, or two Chinese characters."""
    return (found.group() for found in _PIECE.finditer(text))


def slices(arguments: str, size: int = ARGUMENT_PIECE) -> Iterator[str]:
    return (arguments[start : start + size] for start in range(0, len(arguments), size))


def weight(text: str) -> float:
    """Estimated tokens: one for a Chinese character, a quarter for any other."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) / 4


def tokens(weights: Iterable[float]) -> int:
    return math.ceil(sum(weights))


def input_tokens(messages: Sequence[ModelMessage]) -> int:
    """Estimated tokens of a request: instructions and messages, tool schemas left out."""
    instructions = next((m.instructions for m in reversed(messages) if isinstance(m, ModelRequest)), None)
    parts = (_text(part) for message in messages for part in message.parts)
    return tokens(weight(text) for text in (instructions or "", *parts))


def _text(part: ModelRequestPart | ModelResponsePart) -> str:
    match part:
        case UserPromptPart(content=content):
            return text_of(content)
        case TextPart(content=content):
            return content
        case ToolCallPart():
            return part.tool_name + part.args_as_json_str()
        case ToolReturnPart():
            return part.model_response_str()
        case _:
            return ""
