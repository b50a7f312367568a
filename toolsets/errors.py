"""What can go wrong in a toolset.

ToolsetError
├── DomainError          a rule of the domain says no; told to the model and the person as data
├── RegistrationError    a pack is put together wrongly; stops the start
└── ArgumentsError       a call's arguments are not what the tool's schema asks for
"""

from typing import Any

from toolsets.words import Locale, Words


class ToolsetError(Exception):
    """Base of the errors of this package."""


class DomainError(ToolsetError):
    """A rule of the domain refuses the call (slot taken, no such task).

    `code` is stable and snake_case; `words` is a whole sentence; `details` are JSON-able facts that help the model to
    do better (who occupies the slot, what is free).
    """

    def __init__(self, code: str, words: Words, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.words = words
        self.details = details

    def as_result(self, locale: Locale) -> dict[str, Any]:
        """The error as the tool's result: `{"status": "error", "code", "message", …details}`."""
        return {"status": "error", "code": self.code, "message": self.words.said(locale), **self.details}


class RegistrationError(ToolsetError):
    """A pack, toolset or tool breaks a rule of the registry; the sentence names which."""


class ArgumentsError(ToolsetError):
    """Arguments don't fit the tool's schema. `problems` is a list of `{"field", "message"}`."""

    def __init__(self, problems: list[dict[str, str]]) -> None:
        super().__init__("; ".join(f"{p['field']}: {p['message']}" for p in problems))
        self.problems = problems
