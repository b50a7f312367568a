"""Server-sent events, parsed from bytes as they come (WHATWG HTML §9.2)."""

import codecs
import re
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One event of a stream."""

    data: str
    """The data lines, joined by newlines."""
    id: str = ""
    """The last id that the stream has named so far; empty if none."""
    event: str = "message"


class SseParser:
    """Takes chunks of any size, cut anywhere, and gives the frames that are whole by then.

    A frame that is not ended by a blank line is never given. Bytes that aren't UTF-8 become U+FFFD.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._after_cr = False
        self._rest = ""
        self._data: list[str] = []
        self._event = ""
        self._id = ""

    def feed(self, chunk: bytes) -> list[Frame]:
        first, *more = _LINE_END.split(self._without_half_line_end(self._decoder.decode(chunk)))
        lines = [self._rest + first, *more]
        self._rest = lines.pop()
        return [frame for line in lines if (frame := self._line(line)) is not None]

    def _without_half_line_end(self, text: str) -> str:
        """A CR ends its line at once; if the next chunk begins with the LF that belongs to it, that LF is dropped."""
        if not text:
            return text
        whole = text.removeprefix("\n") if self._after_cr else text
        self._after_cr = text.endswith("\r")
        return whole

    def _line(self, line: str) -> Frame | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _dispatch(self) -> Frame | None:
        data, event = self._data, self._event
        self._data, self._event = [], ""
        if not data:
            return None
        return Frame(data="\n".join(data), id=self._id, event=event or "message")
