"""What answers hold, for OpenAPI. Bodies are made by the runtime; these describe them and don't rebuild them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Status = Literal[
    "pending",
    "approved",
    "denied",
    "expired",
    "superseded",
    "cancelled",
    "executing",
    "executed",
    "failed",
    "stale",
    "unknown",
]
"""Of an approval."""
Json = dict[str, Any]


class Content(BaseModel):
    """Fields may be added."""

    model_config = ConfigDict(extra="allow")


class ErrorContent(Content):
    code: str
    message: str
    reference: str = Field(default="", description="The server's log has more under it.")
    details: Any = None


class ErrorAnswer(Content):
    error: ErrorContent


class CardRow(Content):
    """One row of the difference, in the person's language."""

    row_id: str
    n: int
    table: str
    op: Literal["add", "change", "remove"]
    label: str
    before: str | None
    after: str | None
    optional: bool
    depends_on: list[str] = []
    ref: Json = Field(default={}, description="Where the row lives in its panel.")


class DecisionContent(Content):
    by: str
    at: str
    door: Literal["page", "chat", "stream", "openai", "agui"]
    reason: str | None


class Outcome(Content):
    code: str
    message: str
    changed: bool
    safe_to_retry: bool
    moved: list[Json]
    change_id: str | None = None


class EarlierVersion(Content):
    version: int
    arguments: Json
    rows: list[CardRow]
    edited_by: str
    at: str


class Approval(Content):
    """As `data-approval`, with where it belongs and its earlier versions."""

    approval_id: str
    version: int
    tool_call_id: str
    tool: str
    short_name: str
    title: str
    summary: str
    rows: list[CardRow]
    arguments: Json
    parameters: Json = Field(alias="schema")
    effect: Literal["write", "external"]
    reversible: bool
    always_confirm: bool
    live: bool
    created_at: str
    expires_at: str
    status: Status
    depends_on: list[str] = []
    decision: DecisionContent | None = None
    outcome: Outcome | None = None
    conversation_id: str
    turn_id: str
    origin: Literal["model", "request"]
    skip: list[str]
    versions: list[EarlierVersion]


class Approvals(Content):
    items: list[Approval]
    next: str | None


class QuestionContent(Content):
    question_id: str
    question: str
    options: list[str]
    allow_free_text: bool
    status: Literal["waiting", "answered", "superseded", "cancelled", "expired"]
    secret: bool = False


class AnsweredQuestion(Content):
    question_id: str
    conversation_id: str
    turn_id: str
    status: Literal["answered"]


class Change(Content):
    id: str
    conversation_id: str | None
    turn_id: str | None
    approval_id: str | None
    tool: str
    summary: str
    rows: list[CardRow]
    reversible: bool
    at: str
    reverts: str | None
    reverted_by: str | None


class Changes(Content):
    items: list[Change]
    next: str | None


class Conversation(Content):
    id: str
    assistant: str
    title: str | None
    archived: bool
    status: Literal["idle", "running", "waiting"]
    pending_approvals: int
    created_at: str
    updated_at: str


class Conversations(Content):
    items: list[Conversation]
    next: str | None


class UiMessage(Content):
    """A message as the AI SDK has it."""

    id: str
    role: Literal["user", "assistant"]
    parts: list[Json]
    metadata: Json


class WholeConversation(Conversation):
    messages: list[UiMessage]
    open_turn_id: str | None


class Used(Content):
    requests: int
    input_tokens: int
    output_tokens: int
    ms: int
    cost: str = Field(default="", description="US dollars, where the price is known.")


class TurnError(Content):
    code: str
    reference: str | None


class TurnResult(Content):
    conversation_id: str
    turn_id: str
    status: Literal["running", "waiting", "completed", "failed", "cancelled", "superseded"]
    partial: bool
    text: str
    parts: list[Json]
    approvals: list[Approval]
    question: QuestionContent | None
    usage: Used
    error: TurnError | None


class AppliedChange(Content):
    change_id: str
    tool: str
    summary: str


class CancelledTurn(Content):
    conversation_id: str
    turn_id: str | None
    status: Literal["idle", "running", "waiting", "completed", "failed", "cancelled", "superseded"]
    applied: list[AppliedChange]


class DayUsage(Content):
    day: str
    turns: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: str | None


class Usage(Content):
    items: list[DayUsage]
    next: None


class Assistant(Content):
    name: str
    title: str
    greeting: str
    suggestions: list[str]
    toolsets: list[str]


class Assistants(Content):
    items: list[Assistant]
    next: None


class Keywords(Content):
    zh: list[str]
    en: list[str]


class Tool(Content):
    name: str
    title: str
    effect: Literal["read", "state", "write", "external"]
    always_confirm: bool
    description: str
    parameters: Json = Field(alias="schema")
    schema_hash: str


class Toolset(Content):
    name: str
    title: str
    always: bool
    keywords: Keywords
    context: list[str]
    live_view: bool
    tools: list[Tool]


class Toolsets(Content):
    items: list[Toolset]
    next: None


class Selection(Content):
    offered: list[str]
    deferred: list[str]
    reasons: dict[str, list[str]]


class Session(Content):
    user_id: str
    scopes: list[str] | None
    assistants: list[str] | None
    locale: Literal["zh", "en"]
    zone: str
    local: bool


class Alive(Content):
    status: Literal["ok"]


class Ready(Content):
    status: Literal["ready"]
    checks: dict[str, Literal["ok", "failed"]]


class Week(Content):
    """Days, slots, what lies in them, and what is still to be placed."""

    first: str = Field(alias="from")
    last: str = Field(alias="to")
    today: str
    term: Json | None
    slots: list[Json]
    days: list[Json]
    items: list[Json]
    pending: list[Json]
    classes: list[Json]
