"""Lists in pages: `{"items": [...], "next": cursor or null}`."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import StringConstraints

from gateway.answers import AsciiJson

Cursor = Annotated[
    str | None,
    StringConstraints(max_length=500, pattern=r"^[A-Za-z0-9_=.~:+-]*$"),
    Query(description="`next` of the page before."),
]
Limit = Annotated[int, Query(ge=1, le=100)]


def page(items: list[dict[str, Any]], following: str | None) -> AsciiJson:
    return AsciiJson({"items": items, "next": following})
