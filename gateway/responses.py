"""What answers look like, for OpenAPI. Bodies are made by the runtime; these describe them and don't rebuild them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Responses = dict[int | str, dict[str, Any]]


class Answer(BaseModel):
    """Fields may be added."""

    model_config = ConfigDict(extra="allow")


class ErrorContent(Answer):
    code: str
    message: str
    reference: str | None = None
    details: Any = None


class ErrorAnswer(Answer):
    error: ErrorContent


class Approval(Answer):
    """As `data-approval`, with where it belongs and its earlier versions."""

    approval_id: str
    version: int
    tool: str
    short_name: str
    status: str
    rows: list[dict[str, Any]]
    arguments: dict[str, Any]
    conversation_id: str
    turn_id: str


class Change(Answer):
    id: str
    tool: str
    rows: list[dict[str, Any]]
    at: str
    reverted_by: str | None


class Conversation(Answer):
    id: str
    assistant: str
    title: str | None
    archived: bool
    status: Literal["idle", "running", "waiting"]


class WholeConversation(Conversation):
    messages: list[dict[str, Any]]
    open_turn_id: str | None


class Approvals(Answer):
    items: list[Approval]
    next: str | None


class Changes(Answer):
    items: list[Change]
    next: str | None


class Conversations(Answer):
    items: list[Conversation]
    next: str | None


class TurnResult(Answer):
    conversation_id: str
    turn_id: str
    status: str
    text: str
    parts: list[dict[str, Any]]
    approvals: list[dict[str, Any]]
    question: dict[str, Any] | None
    usage: dict[str, Any] | None


class CancelledTurn(Answer):
    conversation_id: str
    turn_id: str | None
    status: str
    applied: list[dict[str, Any]]


class AnsweredQuestion(Answer):
    question_id: str
    conversation_id: str
    turn_id: str
    status: Literal["answered"]


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
ERRORS: Responses = {status: {"model": ErrorAnswer, "description": words} for status, words in ERROR_WORDS.items()}
STREAM: Responses = {
    200: {
        "description": "The AI SDK's UI message stream",
        "content": {"text/event-stream": {"schema": {"type": "string"}}, "application/json": {"schema": {}}},
    }
}
NO_OPEN_TURN: Responses = {204: {"description": "No turn is open"}}
EMPTY: Responses = {204: {"description": "Done"}}
