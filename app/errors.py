"""What ends a command with a sentence.

CommandError    a command can't do what it was asked to; `str()` says why and what helps
"""

import asyncpg
from sqlalchemy.exc import SQLAlchemyError

DATABASE_AWAY = (OSError, SQLAlchemyError, asyncpg.PostgresError)
"""What a database that can't be reached or used raises: asyncpg's own errors while connecting, and the rest."""


class CommandError(Exception):
    """`exit_code` is the process's: 1, or 2 when a setting or an argument is wrong."""

    def __init__(self, sentence: str, *, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def first_line(error: BaseException) -> str:
    """The line of an error that a person can use; SQLAlchemy's have the statement and links below."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
