"""Users: the row that can take away what a token allows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.database import Database
from stores.rows import columns, read, table_of
from stores.tables import UserRow

TABLE = table_of(UserRow)


@dataclass(frozen=True)
class User:
    id: str
    active: bool
    scopes: Any
    """List of scopes, or None: no limit beyond the token's."""
    assistants: Any
    """List of assistants, or None: no limit beyond the token's."""
    created_at: datetime


COLUMNS = columns(UserRow, User)


async def get(connection: AsyncConnection, user_id: str) -> User | None:
    row = (await connection.execute(select(*COLUMNS).where(TABLE.c.id == user_id))).first()
    return read(User, row) if row else None


async def get_or_create(database: Database, user_id: str, now: datetime) -> User:
    """The user's row, made at the first sight of a valid token: active and without limits of its own."""
    async with database.read() as connection:
        user = await get(connection, user_id)
    return user or await _create(database, user_id, now)


async def change(connection: AsyncConnection, user_id: str, **values: object) -> bool:
    """Set columns by name. Returns whether the user exists."""
    result = await connection.execute(update(TABLE).where(TABLE.c.id == user_id).values(values))
    return result.rowcount == 1


async def deactivate(connection: AsyncConnection, user_id: str) -> bool:
    """From now on every request and every execution of this user is refused. Returns whether the user exists."""
    return await change(connection, user_id, active=False)


async def activate(connection: AsyncConnection, user_id: str) -> bool:
    return await change(connection, user_id, active=True)


async def set_scopes(connection: AsyncConnection, user_id: str, scopes: Iterable[str] | None) -> bool:
    """None takes the limit away. Returns whether the user exists."""
    return await change(connection, user_id, scopes=None if scopes is None else sorted(set(scopes)))


async def set_assistants(connection: AsyncConnection, user_id: str, assistants: Iterable[str] | None) -> bool:
    """None takes the limit away. Returns whether the user exists."""
    return await change(connection, user_id, assistants=None if assistants is None else sorted(set(assistants)))


async def _create(database: Database, user_id: str, now: datetime) -> User:
    user = User(id=user_id, active=True, scopes=None, assistants=None, created_at=now)
    values = {column.name: getattr(user, column.name) for column in COLUMNS}  # field names are column names
    try:
        async with database.write() as connection:
            await connection.execute(insert(TABLE).values(values))
    except IntegrityError:
        # Another request of the same user was quicker.
        async with database.read() as connection:
            found = await get(connection, user_id)
        if found is None:
            raise
        return found
    return user
