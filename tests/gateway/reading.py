"""Streams read by the AI SDK, as the page that gets them would."""

from dataclasses import dataclass
from pathlib import Path

from tests.contracts.sdk import Message, StreamReader, strictly_read
from tests.gateway.desk import JSON, Answer


@dataclass(frozen=True, kw_only=True)
class Page:
    """A client of the AI SDK that objects to whatever isn't right."""

    reader: StreamReader
    folder: Path

    def read(self, answer: Answer, onto: Message | None = None) -> Message:
        """The message that a stream makes; `onto` is the one that it continues."""
        assert answer.status == 200, answer.body
        read = self.reader.read(answer.body, onto)
        assert read.errors == [], answer.body
        assert strictly_read(answer.body, self.folder, onto) is None
        return read.message


def tools(message: Message) -> list[JSON]:
    """The calls of a message."""
    return [part for part in message["parts"] if "toolCallId" in part]


def states(message: Message) -> list[str]:
    """What became of each call, in order."""
    return [part["state"] for part in tools(message)]


def text(message: Message) -> str:
    return "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")
