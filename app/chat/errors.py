"""What can come between the terminal and the server, and how the person leaves.

ChatError
├── ApiError          the server says no; carries its status, stable code and localized message
└── ConnectionLost    no answer, one cut short, or 502, 503, 504 in its place: worth trying again

Interrupted, Quit     signals, not errors: Ctrl-C at a prompt; the end of the chat
"""

from pydantic import JsonValue


class ChatError(Exception):
    """Base of the errors of this package."""


class ApiError(ChatError):
    """The server refused a request. `str()` is the sentence for the person; `details` are as the server sent them."""

    def __init__(self, *, status: int, code: str, message: str, details: JsonValue = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.details = details


class ConnectionLost(ChatError):
    """The server can't be reached now, or stopped in the middle of an answer."""


class Interrupted(Exception):
    """The person pressed Ctrl-C instead of ending the line."""


class Quit(Exception):
    """The chat is over; `code` is the process's exit code."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code
