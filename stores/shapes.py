"""What the JSON columns hold."""

from typing import Any, Literal, TypedDict, final


class Claims(TypedDict):
    """What a token allowed; null where it sets no limit."""

    scopes: list[str] | None
    assistants: list[str] | None


class TurnTools(TypedDict):
    """The tools that a turn was given, by name, and what their schemas were."""

    offered: list[str]
    deferred: list[str]
    schemas: dict[str, str]


class Used(TypedDict, total=False):
    """What a turn has used so far, across its runs."""

    requests: int
    input_tokens: int
    output_tokens: int
    tool_calls: int
    seconds: float
    cost: str
    """US dollars, a decimal text."""


class StoredWords(TypedDict):
    zh: str
    en: str


class StoredRow(TypedDict):
    """A row of a card (`toolsets.cards.CardRow`)."""

    row_id: str
    n: int
    table: str
    op: Literal["add", "change", "remove"]
    label: StoredWords
    before: StoredWords | None
    after: StoredWords | None
    optional: bool
    depends_on: list[str]
    ref: dict[str, Any] | None
    changes: list[int]


class StoredCard(TypedDict):
    summary: StoredWords
    rows: list[StoredRow]


class StoredDraws(TypedDict):
    """The moment and the ids that a proposal drew; `call` is its place in the step."""

    moment: str
    ids: dict[str, str]
    call: int


class StoredDecision(TypedDict):
    decision: Literal["approve", "deny"]
    by: str
    at: str
    door: str
    reason: str | None
    skip: list[str]
    """The rows that were to be left out; those that depend on them went along."""


@final
class Made(TypedDict):
    """The outcome of an approval that was executed."""

    change_id: str


class MovedRow(TypedDict):
    """One value that isn't as it was approved; `approved` and `found` are plain JSON values."""

    table: str
    key: list[str]
    column: str | None
    approved: Any
    found: Any


@final
class NotMade(TypedDict):
    """The outcome of one that wasn't."""

    code: str
    message: StoredWords
    changed: bool
    safe_to_retry: bool
    moved: list[MovedRow]


class StoredVersion(TypedDict):
    """An earlier version of an approval."""

    version: int
    arguments: dict[str, Any]
    card: StoredCard
    edited_by: str
    at: str
