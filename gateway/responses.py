"""Which answers a route can give, for OpenAPI."""

from typing import Any

from pydantic import BaseModel

from gateway.contents import ErrorAnswer

Responses = dict[int | str, dict[str, Any]]

ERROR_WORDS = {
    400: "The request is no HTTP that can be read.",
    401: "`unauthenticated`",
    403: "`forbidden`, `cross_site`",
    404: "`not_found`: missing, or somebody else's",
    405: "`method_not_allowed`",
    409: "`turn_in_progress`, `approval_settled`, `version_conflict`, `idempotency_conflict`, `nothing_to_undo`,"
    " `rows_moved_on`",
    413: "`too_large`",
    415: "`unsupported_media_type`",
    422: "`invalid`; `details` name the fields",
    429: "`rate_limited`; see `Retry-After`",
    500: "`internal`, with a reference",
    503: "`unavailable`",
}
TEXT = {"text/plain": {"schema": {"type": "string"}}}
"""What the server itself says of what is no HTTP."""
ERRORS: Responses = {status: {"model": ErrorAnswer, "description": words} for status, words in ERROR_WORDS.items()}
ERRORS[400] |= {"content": TEXT}
EVENTS = {"text/event-stream": {"schema": {"type": "string"}}}
STREAM: Responses = {200: {"description": "The AI SDK's UI message stream", "content": EVENTS}}
NO_OPEN_TURN: Responses = {204: {"description": "No turn is open"}}
EMPTY: Responses = {204: {"description": "Done"}}


def holding(model: type[BaseModel]) -> Responses:
    """An answer with this content."""
    return {200: {"model": model}}


def holding_or_stream(model: type[BaseModel]) -> Responses:
    """An answer with this content, or the stream of the turn that goes on for who accepts streams."""
    return {200: {"model": model, "content": EVENTS}}
