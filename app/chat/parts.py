"""One assistant message as the terminal knows it: its parts in order, and what was said beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.chat.wire import Approval, Question

ToolState = Literal["called", "waiting", "done", "failed", "denied"]


@dataclass(frozen=True, kw_only=True)
class TextPart:
    n: int
    """Serial within the message: parts that are taken back leave a gap."""
    id: str
    kind: Literal["text", "reasoning"]
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolPart:
    n: int
    id: str
    """The call's id."""
    name: str
    state: ToolState = "called"
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class ApprovalPart:
    n: int
    id: str
    approval: Approval


@dataclass(frozen=True, kw_only=True)
class QuestionPart:
    n: int
    id: str
    question: Question
    waiting: bool = True


@dataclass(frozen=True, kw_only=True)
class ArtifactPart:
    n: int
    id: str
    kind: str
    title: str
    version: int


Part = TextPart | ToolPart | ApprovalPart | QuestionPart | ArtifactPart


@dataclass(frozen=True, kw_only=True)
class Message:
    """What is known of an assistant message so far."""

    message_id: str = ""
    turn_id: str = ""
    parts: tuple[Part, ...] = ()
    next_n: int = 0
    title: str = ""
    status: str = ""
    """What the server says that it does now; empty once it speaks or has finished."""
    errors: tuple[str, ...] = ()
    resets: int = 0
    partial: bool = False
    """A budget ended the turn before its work was done."""
    usage: Mapping[str, JsonValue] | None = None
    aborted: bool = False
    finished: bool = False

    @property
    def approvals(self) -> list[Approval]:
        return [part.approval for part in self.parts if isinstance(part, ApprovalPart)]

    @property
    def awaits_decision(self) -> bool:
        """An approval was asked for and nothing said since that it is settled."""
        tools = [part for part in self.parts if isinstance(part, ToolPart)]
        settled = {tool.id for tool in tools if tool.state not in {"called", "waiting"}}
        pending = [a for a in self.approvals if a.status == "pending" and a.tool_call_id not in settled]
        return bool(pending) or any(tool.state == "waiting" for tool in tools)

    @property
    def question(self) -> Question | None:
        """The question that waits for words, if one does."""
        return next((p.question for p in self.parts if isinstance(p, QuestionPart) and p.waiting), None)
