"""What is in the database, whatever a server says."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from sqlalchemy import text

from agents.history import ONE
from stores.database import open_database
from tests.agents.strict_provider import violations


async def rows(database_url: str, statement: str, **values: object) -> list[dict[str, Any]]:
    database = open_database(database_url)
    try:
        async with database.read() as connection:
            found = await connection.execute(text(statement), values)
            return [dict(row) for row in found.mappings()]
    finally:
        await database.close()


async def count(database_url: str, table: str, **values: str) -> int:
    """How many rows of a table have these values."""
    where = " AND ".join(f"{name} = :{name}" for name in values) or "1 = 1"
    found = await rows(database_url, f"SELECT count(*) AS many FROM {table} WHERE {where}", **values)
    return int(found[0]["many"])


async def history(database_url: str, user_id: str, conversation_id: str) -> list[ModelMessage]:
    """Every message of a conversation, in order."""
    statement = "SELECT body FROM messages WHERE user_id = :user_id AND conversation_id = :conversation_id ORDER BY seq"
    found = await rows(database_url, statement, user_id=user_id, conversation_id=conversation_id)
    return [ONE.validate_json(row["body"]) for row in found]


async def assert_accepted(database_url: str, user_id: str, conversation_id: str) -> None:
    """A strict provider would take the whole history, its last answer left out."""
    stored = await history(database_url, user_id, conversation_id)
    assert isinstance(stored[-1], ModelResponse)
    assert violations(stored[:-1]) == []


async def turns(database_url: str, user_id: str, conversation_id: str) -> list[Mapping[str, Any]]:
    """The conversation's turns, oldest first."""
    statement = (
        "SELECT id, status, epoch, kind, message_text, lease_until FROM turns "
        "WHERE user_id = :user_id AND conversation_id = :conversation_id ORDER BY number"
    )
    return list(await rows(database_url, statement, user_id=user_id, conversation_id=conversation_id))


def as_moment(stored: object) -> datetime:
    """A moment as the driver gives it: SQLite's as text."""
    moment = stored if isinstance(stored, datetime) else datetime.fromisoformat(str(stored))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
