"""The chunks of a stream: making them, and reading a list of them as one UI message."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Chunk = Mapping[str, Any]

DONE = "[DONE]"
APPROVED = frozenset({"approved", "executing", "executed", "failed", "stale", "unknown"})
"""States of an approval that follow a yes."""


def encoded(chunk: Chunk) -> str:
    return json.dumps(chunk, ensure_ascii=False, separators=(",", ":"))


def data(kind: str, value: Any, id: str | None = None, *, transient: bool = False) -> dict[str, Any]:
    """A `data-*` chunk. The same type and id again replaces the part."""
    chunk: dict[str, Any] = {"type": f"data-{kind}"}
    if id is not None:
        chunk["id"] = id
    chunk["data"] = value
    if transient:
        chunk["transient"] = True
    return chunk


def status(code: str, text: str) -> dict[str, Any]:
    return data("status", {"code": code, "text": text}, transient=True)


def spoken(text: str, part_id: str) -> list[dict[str, Any]]:
    """A text part, whole, in pieces."""
    return [
        {"type": "text-start", "id": part_id},
        *({"type": "text-delta", "id": part_id, "delta": piece} for piece in pieces(text)),
        {"type": "text-end", "id": part_id},
    ]


MINIMUM, MAXIMUM = 8, 24
ENDINGS = "。！？；，、：…!?;,:.\n"


def pieces(text: str) -> list[str]:
    """Text in pieces of 8 to 24 characters cut after punctuation. Joined they are the text.

    A short text is one piece, a last piece may be shorter, and what has no punctuation is cut at 24.
    """
    if len(text) <= MAXIMUM:
        return [text] if text else []
    found: list[str] = []
    start = 0
    while start < len(text):
        most = min(start + MAXIMUM, len(text))
        end = next((at for at in range(start + MINIMUM, most) if text[at - 1] in ENDINGS), most)
        found.append(text[start:end])
        start = end
    return found


class UiMessage:
    """Puts chunks together as the AI SDK does: what a page would show after having read them."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self._texts: dict[str, dict[str, Any]] = {}
        self._tools: dict[str, dict[str, Any]] = {}
        self._approved: set[str] = set()
        """Calls that the person said yes to, whatever became of them."""

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> "UiMessage":
        message = cls()
        for chunk in chunks:
            message.apply(chunk)
        return message

    @property
    def text(self) -> str:
        return "\n\n".join(part["text"] for part in self.parts if part["type"] == "text" and part["text"])

    def apply(self, chunk: Chunk) -> None:
        match chunk["type"]:
            case "start-step":
                self.parts.append({"type": "step-start"})
            case "text-start" | "reasoning-start":
                self._open(chunk)
            case "text-delta" | "reasoning-delta":
                self._texts[chunk["id"]]["text"] += chunk["delta"]
            case "text-end" | "reasoning-end":
                self._texts[chunk["id"]]["state"] = "done"
            case str(kind) if kind.startswith("tool-"):
                self._tool(kind, chunk)
            case str(kind) if kind.startswith("data-"):
                self._data(chunk)
            case _:
                pass

    def _open(self, chunk: Chunk) -> None:
        kind = str(chunk["type"]).removesuffix("-start")
        part: dict[str, Any] = {"type": kind, "text": "", "state": "streaming"}
        self._texts[chunk["id"]] = part
        self.parts.append(part)

    def _tool(self, kind: str, chunk: Chunk) -> None:
        part = self._tools.get(chunk["toolCallId"])
        if part is None:
            part = {"type": f"tool-{chunk.get('toolName', '')}", "toolCallId": chunk["toolCallId"]}
            part |= {"state": "input-streaming"}
            self._tools[chunk["toolCallId"]] = part
            self.parts.append(part)
        match kind:
            case "tool-input-available":
                part |= {"state": "input-available", "input": chunk["input"]}
            case "tool-input-error":
                part |= {"state": "output-error", "input": chunk["input"], "errorText": chunk["errorText"]}
            case "tool-approval-request":
                part |= {"state": "approval-requested", "approval": {"id": chunk["approvalId"]}}
            case "tool-output-available":
                part |= {"state": "output-available", "output": chunk["output"]}
                self._note_vote(part, approved=True)
            case "tool-output-error":
                part |= {"state": "output-error", "errorText": chunk["errorText"]}
                self._note_vote(part, approved=True)
            case "tool-output-denied":
                part |= {"state": "output-denied"}
                self._note_vote(part, approved=False)
            case _:
                pass

    def _note_vote(self, part: dict[str, Any], *, approved: bool) -> None:
        """An output has no open approval: it keeps the vote that it came by, if there was one."""
        if "approval" not in part:
            return
        if approved and part["toolCallId"] not in self._approved:
            del part["approval"]
        else:
            part["approval"] = {**part["approval"], "approved": approved}

    def _data(self, chunk: Chunk) -> None:
        if chunk.get("transient"):
            return
        if chunk["type"] == "data-approval" and chunk["data"]["status"] in APPROVED:
            self._approved.add(chunk["data"]["tool_call_id"])
        part = {key: value for key, value in chunk.items() if key in ("type", "id", "data")}
        if chunk["type"] == "data-reset":
            self._remove(chunk["data"]["part_ids"])
        for index, earlier in enumerate(self.parts):
            if "id" in part and earlier["type"] == part["type"] and earlier.get("id") == part["id"]:
                self.parts[index] = part
                return
        self.parts.append(part)

    def _remove(self, part_ids: Sequence[str]) -> None:
        gone = [self._texts.pop(one, None) or self._tools.pop(one, None) for one in part_ids]
        self.parts = [part for part in self.parts if not any(part is one for one in gone)]
