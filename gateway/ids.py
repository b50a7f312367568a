"""Ids that come from outside."""

from typing import Annotated, TypeGuard

from fastapi import Path
from pydantic import AfterValidator, Field

from agents.errors import NotFound
from gateway.problems import Wrong
from toolsets.words import Words

ID_CHARACTERS = 200
RULE = Words(
    zh="必须是 1 到 200 个可见字符，不含“/”", en="must have 1 to 200 printable characters, no slash, no blank at an end"
)


def is_sane_id(value: object) -> TypeGuard[str]:
    """Whether an id can be stored, shown, and be a step of a path."""
    return (
        isinstance(value, str)
        and 1 <= len(value) <= ID_CHARACTERS
        and value.isprintable()
        and value == value.strip()
        and "/" not in value
        and value not in (".", "..")
    )


def _sane(value: str) -> str:
    if not is_sane_id(value):
        raise Wrong(RULE)
    return value


def _known(value: str) -> str:
    if not is_sane_id(value):
        raise NotFound
    return value


ClientId = Annotated[str, Field(min_length=1, max_length=ID_CHARACTERS), AfterValidator(_sane)]
"""An id in a body or a query."""
PathId = Annotated[str, Path(json_schema_extra={"minLength": 1, "maxLength": ID_CHARACTERS}), AfterValidator(_known)]
"""An id in a path: one that can't exist is answered like one that doesn't."""
