"""What must be there for the server to work."""

from collections.abc import Callable, Mapping

from sqlalchemy import text

from app.schema import version_folders
from app.wiring import Wired
from gateway.state import Check
from stores.migrate import pending

KEEP_S = 60.0
"""A schema that was complete is complete: looked at again after this long."""


class MigrationsPending(RuntimeError):
    """The database lacks versions that this code needs."""


def readiness_checks(wired: Wired, monotonic: Callable[[], float]) -> Mapping[str, Check]:
    """The checks of `/readyz`, by name."""
    complete_at: float | None = None

    async def database() -> None:
        async with wired.database.read() as connection:
            await connection.execute(text("SELECT 1"))

    async def migrations() -> None:
        nonlocal complete_at
        if complete_at is not None and monotonic() - complete_at < KEEP_S:
            return
        if await pending(wired.settings.database_url, version_folders(wired.runtime.registry.packs.values())):
            raise MigrationsPending
        complete_at = monotonic()

    return {"database": database, "migrations": migrations}
