"""The row that can take away what a user's token allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.errors import CommandError
from gateway.ids import is_sane_id
from stores import users
from stores.database import Database
from stores.users import User


@dataclass(frozen=True, kw_only=True)
class UserChange:
    """What becomes of a user. Each field None: stays as it is."""

    active: bool | None = None
    scopes: Sequence[str] | None = None
    all_scopes: bool = False
    assistants: Sequence[str] | None = None
    all_assistants: bool = False

    def values(self) -> dict[str, object]:
        """The columns to set."""
        values: dict[str, object] = {}
        if self.active is not None:
            values["active"] = self.active
        if self.scopes is not None or self.all_scopes:
            values["scopes"] = None if self.all_scopes else _listed(self.scopes)
        if self.assistants is not None or self.all_assistants:
            values["assistants"] = None if self.all_assistants else _listed(self.assistants)
        return values


async def show_or_change(database: Database, user_id: str, change: UserChange, now: datetime) -> User:
    """The user's row after the change.

    A change makes the row of a user who hasn't come yet; only looking doesn't. Raises CommandError.
    """
    if not is_sane_id(user_id):
        raise CommandError(
            "A user's name has 1 to 200 printable characters, no slash, no blank at an end.", exit_code=2
        )
    if values := change.values():
        await users.get_or_create(database, user_id, now)
        async with database.write() as connection:
            await users.change(connection, user_id, **values)
    async with database.read() as connection:
        user = await users.get(connection, user_id)
    if user is None:
        raise CommandError(f"Nobody called {user_id!r} has been here. A user's row is made at the first request.")
    return user


def described(user: User) -> str:
    """One line for the terminal."""
    state = "active" if user.active else "deactivated"
    return (
        f"{user.id}: {state}; scopes: {_said(user.scopes)}; assistants: {_said(user.assistants)}; "
        f"since {user.created_at:%Y-%m-%d %H:%M} UTC"
    )


def _listed(names: Sequence[str] | None) -> list[str]:
    return sorted(set(names or ()))


def _said(names: Sequence[str] | None) -> str:
    return "as the token says" if names is None else ", ".join(names) or "none"
