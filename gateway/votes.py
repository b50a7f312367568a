"""What a message asks for: its text, or the votes that an assistant message carries back."""

from collections.abc import Iterator
from typing import Any

from agents.requests import Decision
from gateway.errors import TooLarge, Unprocessable
from gateway.problems import Problem
from gateway.schemas import Message, TurnBody
from toolsets.words import Words

MESSAGE_CHARACTERS = 32_000

EMPTY = Words(zh="没有文字", en="has no text")
NOT_TEXT = Words(zh="文字部分必须带 text", en="has a text part without text")
TWO_VOTES = Words(zh="对同一项有两个不同的决定", en="decide the same approval in two ways")


def text_of(message: Message) -> str:
    """The text parts, one below the other. Raises Unprocessable, TooLarge."""
    texts = [(part.model_extra or {}).get("text") for part in message.parts if part.type == "text"]
    if not all(isinstance(text, str) for text in texts):
        raise Unprocessable(Problem(field="message.parts", words=NOT_TEXT))
    text = "\n".join(str(text) for text in texts)
    if not text.strip():
        raise Unprocessable(Problem(field="message.parts", words=EMPTY))
    if len(text) > MESSAGE_CHARACTERS:
        raise TooLarge
    return text


def votes_in(body: TurnBody, versions: dict[str, int]) -> list[Decision]:
    """The votes of an assistant message on the approvals that are pending, given with their versions.

    Everything else in the message is the client's word against our memory, and isn't read. Raises Unprocessable for
    two different votes on one approval.
    """
    decisions: dict[str, Decision] = {}
    for approval_id, approved, reason in _responses(body.message):
        if approval_id not in versions:
            continue
        edited = body.edited_input.get(approval_id) if approved else None
        decision = Decision(
            approval_id=approval_id,
            decision="approve" if approved else "deny",
            expected_version=versions[approval_id],
            reason=reason,
            arguments=edited,
            execute=edited is not None,
            skip=tuple(body.skip.get(approval_id, ())) if approved else (),
        )
        if decisions.setdefault(approval_id, decision) != decision:
            raise Unprocessable(Problem(field="message.parts", words=TWO_VOTES))
    return list(decisions.values())


def voted_on(message: Message | None) -> list[str]:
    """The ids that the votes of a message name, whatever they are."""
    return [approval_id for approval_id, _, _ in _responses(message)]


def _responses(message: Message | None) -> Iterator[tuple[str, bool, str | None]]:
    for part in message.parts if message else ():
        extra: dict[str, Any] = part.model_extra or {}
        if extra.get("state") != "approval-responded" or not isinstance(extra.get("approval"), dict):
            continue
        match extra["approval"]:
            case {"id": str() as approval_id, "approved": bool() as approved, "reason": str() as reason}:
                yield approval_id, approved, reason
            case {"id": str() as approval_id, "approved": bool() as approved}:
                yield approval_id, approved, None
            case _:
                pass
