"""What can go wrong in the runtime.

AgentsError
├── ModelSettingError   a setting that names a model, a key or an address is wrong; stops the start
├── SceneError          a scene of the rehearsal model can't be used; stops the start
├── NewerHistory        a newer release wrote the conversation; this process refuses it
├── RunError            a run can't go on; ends the turn with `code`
└── Refusal             what was asked for isn't done, and nothing has changed
    ├── NotFound            there is no such thing, or it is somebody else's
    ├── Forbidden           the person may not
    ├── Invalid             the request's content can't be used; `problems` name the fields
    ├── TurnInProgress      the conversation is busy with another message
    ├── ApprovalSettled     a late decision; `status` says how it ended
    ├── VersionConflict     the decision was about an older version; `version` is the present one
    ├── IdempotencyConflict the key was used for another request
    ├── NothingToUndo       the change is undone already, or can't be
    ├── RowsMovedOn         the rows were changed since; `rows` say how
    └── Unavailable         not now: a store or a model can't be reached
"""

from collections.abc import Mapping, Sequence
from typing import Any

from toolsets.words import Locale, Words


class AgentsError(Exception):
    """Base of the errors of this package."""


class ModelSettingError(AgentsError):
    """A setting of the models is missing or wrong. The sentence begins with the setting's name."""

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"{setting}: {problem}")
        self.setting = setting
        self.problem = problem


class SceneError(AgentsError):
    """A scene has a pattern that isn't a regular expression; the sentence names both."""


class NewerHistory(AgentsError):
    """A message carries a schema version that this release doesn't know."""

    def __init__(self, version: int) -> None:
        super().__init__(f"history is written in version {version}, which this release can't read")


class RunError(AgentsError):
    """A run can't go on. `code` is a stable code of the stream; `words` say it to the person."""

    def __init__(self, code: str, words: Words) -> None:
        super().__init__(code)
        self.code = code
        self.words = words


class Refusal(AgentsError):
    """Base of what the runtime answers instead of doing what was asked. Nothing has changed."""


class NotFound(Refusal):
    """There is no such thing, or it belongs to somebody else: indistinguishable on purpose."""


class Forbidden(Refusal):
    """The person's token and row don't allow it."""


class Invalid(Refusal):
    """The request's content can't be used. `problems` is a list of `{"field", "message"}`; words in both languages
    where they are ours.
    """

    def __init__(self, problems: Sequence[Mapping[str, str | Words]]) -> None:
        super().__init__("; ".join(f"{one['field']}: {one['message']}" for one in _in("en", problems)))
        self.problems = problems

    def said(self, locale: Locale) -> list[dict[str, str]]:
        """The problems for a person."""
        return _in(locale, self.problems)


def _in(locale: Locale, problems: Sequence[Mapping[str, str | Words]]) -> list[dict[str, str]]:
    return [
        {name: value.said(locale) if isinstance(value, Words) else value for name, value in problem.items()}
        for problem in problems
    ]


class TurnInProgress(Refusal):
    """The conversation has a running turn."""


class ApprovalSettled(Refusal):
    """The approval isn't pending any more; `status` is its state now."""

    def __init__(self, status: str) -> None:
        super().__init__(f"the approval is {status}")
        self.status = status


class VersionConflict(Refusal):
    """The decision names an older version of the approval; `version` is the present one."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the approval is at version {version}")
        self.version = version


class IdempotencyConflict(Refusal):
    """The same key came with another request."""


class NothingToUndo(Refusal):
    """The change is undone already, or can't be undone."""


class RowsMovedOn(Refusal):
    """The rows aren't as the change left them; `rows` is a JSON-able list of what differs."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__(f"{len(rows)} rows have changed since")
        self.rows = rows


class Unavailable(Refusal):
    """A store or a model can't be reached at the moment."""
