"""One assistant message, put together from the chunks of its streams. Pure: `apply(message, chunk)` gives the next."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pydantic import ValidationError

from app.chat.parts import ApprovalPart, ArtifactPart, Message, Part, QuestionPart, TextPart, ToolPart, ToolState
from app.chat.wire import Approval, Chunk, Question, UiMessage


def apply(message: Message, chunk: Chunk) -> Message:
    """The message after `chunk`. Chunks of an unknown type or shape change nothing."""
    kind = chunk.get("type")
    step = _STEPS.get(kind) if isinstance(kind, str) else None
    return step(message, chunk) if step else message


def from_ui(ui: UiMessage) -> Message:
    """A stored message, read as if it had been streamed."""
    message = Message(message_id=ui.id)
    for index, part in enumerate(ui.parts):
        for chunk in _as_chunks(part, f"stored-{index}"):
            message = apply(message, chunk)
    return replace(message, finished=True)


def _as_chunks(part: Chunk, part_id: str) -> Iterable[Chunk]:
    match part:
        case {"type": "text" | "reasoning" as kind, "text": str(text)}:
            yield {"type": f"{kind}-start", "id": part_id}
            yield {"type": f"{kind}-delta", "id": part_id, "delta": text}
        case {"type": str(kind), "toolCallId": str()} if kind == "dynamic-tool" or kind.startswith("tool-"):
            name = part.get("toolName") or kind.removeprefix("tool-")
            yield {**part, "type": "tool-input-available", "toolName": name}
            if part.get("state") in {"output-available", "output-error", "output-denied"}:
                yield {**part, "type": f"tool-{part['state']}"}
        case {"type": "step-start"}:
            yield {"type": "start-step"}
        case _:
            yield part


def _started(message: Message, chunk: Chunk) -> Message:
    return replace(message, message_id=_string(chunk, "messageId") or message.message_id, finished=False)


def _step_started(message: Message, chunk: Chunk) -> Message:
    """A question is answered once the model goes on."""
    parts = tuple(replace(p, waiting=False) if isinstance(p, QuestionPart) else p for p in message.parts)
    return replace(message, parts=parts)


def _text_started(message: Message, chunk: Chunk) -> Message:
    kind = "reasoning" if chunk["type"] == "reasoning-start" else "text"
    return _added(message, TextPart(n=message.next_n, id=_string(chunk, "id"), kind=kind))


def _text_grew(message: Message, chunk: Chunk) -> Message:
    kind = "reasoning" if chunk["type"] == "reasoning-delta" else "text"
    part = next((p for p in reversed(message.parts) if isinstance(p, TextPart) and p.id == chunk.get("id")), None)
    if part is None or part.kind != kind:
        return message
    return replace(_put(message, replace(part, text=part.text + _string(chunk, "delta"))), status="")


def _tool_called(message: Message, chunk: Chunk) -> Message:
    call_id, name = _string(chunk, "toolCallId"), _string(chunk, "toolName")
    if part := _tool(message, call_id):
        return _put(message, replace(part, state="called", name=name or part.name))
    return _added(message, ToolPart(n=message.next_n, id=call_id, name=name))


def _tool_state(state: ToolState) -> "Step":
    def step(message: Message, chunk: Chunk) -> Message:
        part = _tool(message, _string(chunk, "toolCallId"))
        return _put(message, replace(part, state=state, error=_string(chunk, "errorText"))) if part else message

    return step


def _tool_input_failed(message: Message, chunk: Chunk) -> Message:
    return _tool_state("failed")(_tool_called(message, chunk), chunk)


def _approval(message: Message, chunk: Chunk) -> Message:
    try:
        approval = Approval.model_validate(chunk.get("data"))
    except ValidationError:
        return message
    part = next((p for p in message.parts if isinstance(p, ApprovalPart) and p.id == approval.approval_id), None)
    if part:
        return _put(message, replace(part, approval=approval))
    return _added(message, ApprovalPart(n=message.next_n, id=approval.approval_id, approval=approval))


def _question(message: Message, chunk: Chunk) -> Message:
    try:
        question = Question.model_validate(chunk.get("data"))
    except ValidationError:
        return message
    part = QuestionPart(n=message.next_n, id=question.question_id, question=question)
    return message if any(p.id == part.id for p in message.parts) else _added(message, part)


def _artifact(message: Message, chunk: Chunk) -> Message:
    match chunk.get("data"):
        case {"artifact_id": str(id), "kind": str(kind), "title": str(title), "version": int(version)}:
            return _added(
                message, ArtifactPart(n=message.next_n, id=f"{id}:{version}", kind=kind, title=title, version=version)
            )
        case _:
            return message


def _reset(message: Message, chunk: Chunk) -> Message:
    match chunk.get("data"):
        case {"part_ids": list(ids)}:
            kept = tuple(part for part in message.parts if part.id not in ids)
            return replace(message, parts=kept, resets=message.resets + 1)
        case _:
            return message


def _status(message: Message, chunk: Chunk) -> Message:
    match chunk.get("data"):
        case {"text": str(text)}:
            return replace(message, status=text)
        case _:
            return message


def _title(message: Message, chunk: Chunk) -> Message:
    match chunk.get("data"):
        case str(title) | {"title": str(title)}:
            return replace(message, title=title)
        case _:
            return message


def _usage(message: Message, chunk: Chunk) -> Message:
    match chunk.get("data"):
        case {"input_tokens": _} as usage:
            return replace(message, usage=usage)
        case _:
            return message


def _turn(message: Message, chunk: Chunk) -> Message:
    match chunk.get("data"):
        case {"turn_id": str(turn_id)}:
            return replace(message, turn_id=turn_id)
        case _:
            return message


def _failed(message: Message, chunk: Chunk) -> Message:
    return replace(message, errors=(*message.errors, _string(chunk, "errorText")))


def _added(message: Message, part: Part) -> Message:
    return replace(message, parts=(*message.parts, part), next_n=message.next_n + 1)


def _put(message: Message, part: Part) -> Message:
    return replace(message, parts=tuple(part if old.n == part.n else old for old in message.parts))


def _tool(message: Message, call_id: str) -> ToolPart | None:
    return next((p for p in message.parts if isinstance(p, ToolPart) and p.id == call_id), None)


def _string(chunk: Chunk, key: str) -> str:
    value = chunk.get(key)
    return value if isinstance(value, str) else ""


Step = Callable[[Message, Chunk], Message]

_STEPS: Mapping[str, Step] = {
    "start": _started,
    "start-step": _step_started,
    "text-start": _text_started,
    "text-delta": _text_grew,
    "reasoning-start": _text_started,
    "reasoning-delta": _text_grew,
    "tool-input-start": _tool_called,
    "tool-input-available": _tool_called,
    "tool-input-error": _tool_input_failed,
    "tool-approval-request": _tool_state("waiting"),
    "tool-output-available": _tool_state("done"),
    "tool-output-error": _tool_state("failed"),
    "tool-output-denied": _tool_state("denied"),
    "data-turn": _turn,
    "data-status": _status,
    "data-approval": _approval,
    "data-question": _question,
    "data-artifact": _artifact,
    "data-reset": _reset,
    "data-budget": lambda message, chunk: replace(message, partial=True),
    "data-usage": _usage,
    "data-title": _title,
    "error": _failed,
    "abort": lambda message, chunk: replace(message, aborted=True),
    "finish": lambda message, chunk: replace(message, finished=True, status=""),
}
