"""What clients of the AI SDK's version 5 don't know, said in what they know."""

import json
from typing import Any

DENIED = "The person said no."
UNKNOWN_KEYS = {
    "finish": ("finishReason",),
    "abort": ("reason",),
    "tool-input-start": ("title", "providerMetadata", "toolMetadata"),
    "tool-input-available": ("title", "toolMetadata"),
    "tool-output-available": ("toolMetadata",),
    "tool-output-error": ("toolMetadata",),
}
"""Version 5 ends the stream at a key that it doesn't know."""


def for_sdk5(data: str) -> str | None:
    """The chunk for version 5; None when it is left out.

    Approvals appear only as `data-approval`, a denial as `tool-output-error`.
    """
    if data == "[DONE]":
        return data
    chunk: dict[str, Any] = json.loads(data)
    kind: str = chunk["type"]
    if kind == "tool-approval-request":
        return None
    if kind == "tool-output-denied":
        return json.dumps({"type": "tool-output-error", "toolCallId": chunk["toolCallId"], "errorText": DENIED})
    dropped = [name for name in UNKNOWN_KEYS.get(kind, ()) if name in chunk]
    return json.dumps({name: value for name, value in chunk.items() if name not in dropped}) if dropped else data
