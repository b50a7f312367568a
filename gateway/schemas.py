"""What bodies may hold."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from gateway.body import StrictModel
from gateway.ids import ClientId
from gateway.problems import Wrong
from toolsets.words import Words

REASON_CHARACTERS = 2000
ANSWER_CHARACTERS = 32_000
TITLE_CHARACTERS = 200
PARTS = 1000
BATCH = 100

NO_MESSAGE = Words(zh="缺少消息", en="has no message to read")


class MessagePart(BaseModel):
    """Text, or the vote on an approval; parts of other kinds are read past."""

    model_config = ConfigDict(extra="allow", strict=True)

    type: str = Field(min_length=1, max_length=200)


class Message(BaseModel):
    """A UI message as the AI SDK sends it."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: ClientId | None = None
    role: Literal["user", "assistant"]
    parts: list[MessagePart] = Field(max_length=PARTS)


class TurnBody(StrictModel):
    """What `useChat` sends, or only its last message."""

    id: ClientId | None = Field(default=None, description="The conversation; made by the server when absent.")
    message: Message | None = None
    messages: list[dict[str, Any]] | None = Field(
        default=None, description="Only the one named by `messageId`, else the last, is read."
    )
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: ClientId | None = Field(default=None, alias="messageId")
    assistant: str | None = Field(default=None, min_length=1, max_length=64)
    context: dict[str, Any] = Field(default_factory=dict[str, Any], max_length=50)
    on_busy: Literal["reject", "interrupt"] = Field(default="reject", alias="onBusy")
    edited_input: dict[str, dict[str, Any]] = Field(
        default_factory=dict[str, dict[str, Any]],
        alias="editedInput",
        max_length=BATCH,
        description="Edited arguments by approval, with a vote for it in the message.",
    )
    skip: dict[str, list[str]] = Field(
        default_factory=dict[str, list[str]], max_length=BATCH, description="Rows left out, by approval."
    )

    @model_validator(mode="before")
    @classmethod
    def _pick_message(cls, body: Any) -> Any:
        """Read one message of the list: the others are the client's memory, and history is ours."""
        match body:
            case {"messages": [*_, latest] as sent} if body.get("message") is None:
                named = _named(sent, body.get("messageId"))
                return {**body, "message": latest if named is None else named}
            case _:
                return body

    @model_validator(mode="after")
    def _has_message(self) -> "TurnBody":
        if self.message is None and self.trigger == "submit-message":
            raise Wrong(NO_MESSAGE)
        return self


def _named(messages: Sequence[Any], message_id: object) -> Any:
    for message in messages:
        match message:
            case {"id": found} if message_id and found == message_id:
                return message  # pyright: ignore[reportUnknownVariableType] - validated by the caller's model
            case _:
                pass
    return None


class DecisionBody(StrictModel):
    """A person's word on one approval."""

    decision: Literal["approve", "deny"]
    expected_version: int = Field(ge=1, le=1_000_000)
    reason: str | None = Field(default=None, max_length=REASON_CHARACTERS)
    arguments: dict[str, Any] | None = Field(
        default=None, description="Edited arguments: a new version, which waits again unless `execute` is set."
    )
    execute: bool = False
    skip: list[str] = Field(default_factory=list[str], max_length=BATCH * 10, description="`row_id`s left out.")

    @model_validator(mode="after")
    def _fits_together(self) -> "DecisionBody":
        if self.decision == "deny" and (self.arguments is not None or self.execute or self.skip):
            raise Wrong(Words(zh="拒绝时不能修改内容", en="changes nothing when it denies: leave the edits out"))
        return self


class NamedDecision(DecisionBody):
    """One of several decisions."""

    approval_id: ClientId


def _one_each(decisions: list[NamedDecision]) -> list[NamedDecision]:
    if len({decision.approval_id for decision in decisions}) != len(decisions):
        raise Wrong(Words(zh="同一项出现了两次", en="name an approval twice"))
    return decisions


class DecisionsBody(StrictModel):
    """All of them are valid, or none is taken."""

    decisions: Annotated[list[NamedDecision], Field(min_length=1, max_length=BATCH), AfterValidator(_one_each)]


class AnswerBody(StrictModel):
    """Exactly one of the three."""

    text: str | None = Field(default=None, min_length=1, max_length=ANSWER_CHARACTERS)
    option: str | None = Field(default=None, min_length=1, max_length=ANSWER_CHARACTERS)
    secret: str | None = Field(default=None, min_length=1, max_length=ANSWER_CHARACTERS)

    @model_validator(mode="after")
    def _exactly_one(self) -> "AnswerBody":
        given = [value for value in (self.text, self.option, self.secret) if value is not None]
        if len(given) != 1 or not given[0].strip():
            raise Wrong(Words(zh="text、option、secret 须且只须给一个", en="takes exactly one of text, option, secret"))
        return self

    @property
    def words(self) -> str:
        return self.text or self.option or self.secret or ""


class ConversationBody(StrictModel):
    """What may be changed of a conversation."""

    title: str | None = Field(default=None, min_length=1, max_length=TITLE_CHARACTERS)
    archived: bool | None = None

    @model_validator(mode="after")
    def _something(self) -> "ConversationBody":
        if (self.title is None or not self.title.strip()) and self.archived is None:
            raise Wrong(Words(zh="没有要修改的内容", en="says nothing to change"))
        return self
