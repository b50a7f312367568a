"""What the server sends, as far as the terminal reads it. Unknown fields are ignored: servers may be newer."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, model_validator

Chunk = dict[str, JsonValue]
"""One chunk of a UI message stream, or one part of a UI message."""


def _listed(value: JsonValue) -> JsonValue:
    """One thing, several or none, as a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


class WireModel(BaseModel):
    """A field that is null is as good as absent."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, fields: JsonValue) -> JsonValue:
        return {k: v for k, v in fields.items() if v is not None} if isinstance(fields, dict) else fields


class ApprovalRow(WireModel):
    row_id: str
    n: int
    op: Literal["add", "change", "remove"]
    label: str
    table: str = ""
    before: JsonValue = None
    after: JsonValue = None
    optional: bool = False
    depends_on: Annotated[list[str], BeforeValidator(_listed)] = []
    """Row ids without which this row can't be."""


class UntrustedText(WireModel):
    source: str = ""
    passage: str = ""


class Outcome(WireModel):
    code: str
    message: str = ""
    changed: bool = False
    safe_to_retry: bool = False
    moved: list[JsonValue] = []


class Approval(WireModel):
    approval_id: str
    version: int
    status: str
    summary: str
    tool: str = ""
    tool_call_id: str = ""
    short_name: str = ""
    title: str = ""
    rows: list[ApprovalRow] = []
    arguments: dict[str, JsonValue] = {}
    reversible: bool = True
    live: bool = False
    untrusted_text: UntrustedText | None = None
    expires_at: datetime | None = None
    outcome: Outcome | None = None


class Question(WireModel):
    question_id: str
    question: str
    options: list[str] = []
    allow_free_text: bool = True
    secret: bool = False


class UiMessage(WireModel):
    id: str
    role: str
    parts: list[Chunk] = []


class Conversation(WireModel):
    title: str | None = None
    status: str = "idle"
    open_turn_id: str | None = None
    messages: list[UiMessage] = []

    def holds(self, message_id: str) -> bool:
        return any(message.id == message_id for message in self.messages)


class ApprovalPage(WireModel):
    items: list[Approval] = []
    next: str | None = None


class Applied(WireModel):
    """A change that a turn had made before it was cancelled."""

    summary: str = ""
    tool: str = ""


class Cancelled(WireModel):
    applied: list[Applied] = []


class Problem(WireModel):
    code: str
    message: str
    details: JsonValue = None


class ProblemBody(WireModel):
    error: Problem
