"""Brings a database's schema up to date, and says what is missing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from stores.errors import UnknownVersion

MIGRATIONS = Path(__file__).parent / "migrations"
VERSIONS = MIGRATIONS / "versions"

BUSY_TIMEOUT_MS = 60_000
ADVISORY_LOCK = 0x506C61636574  # "Placet" in ASCII; users' locks are hashes of 64 bits

T = TypeVar("T")


async def migrate(database_url: str, extra: Sequence[Path] = ()) -> list[str]:
    """Apply every version that is missing, in one transaction, and return their ids, oldest first.

    `extra` are the version folders of packs that have a history of their own. Applying nothing is fine, and so are
    several processes at once: one does the work, the others wait and find it done. Raises UnknownVersion.
    """

    def upgrade(connection: Connection) -> list[str]:
        _take_turn(connection)
        config = alembic_config(extra, connection=connection)
        missing = _missing(config, connection)
        if missing:
            command.upgrade(config, "heads")
            _check_foreign_keys(connection)
        return missing

    return await in_transaction(database_url, upgrade)


async def pending(database_url: str, extra: Sequence[Path] = ()) -> list[str]:
    """The ids of the versions that `migrate` would apply, oldest first.

    A database that is ahead of this code has nothing pending: during a rolling release the old replicas stay ready.
    """

    def look(connection: Connection) -> list[str]:
        try:
            return _missing(alembic_config(extra), connection)
        except UnknownVersion:
            return []

    return await in_transaction(database_url, look, immediate=False)


def alembic_config(extra: Sequence[Path] = (), **attributes: object) -> Config:
    """Alembic's settings for the house's history and those of packs; `attributes` are read by `migrations/env.py`."""
    config = Config()
    folders = [VERSIONS, *(folder for folder in extra if folder != VERSIONS)]
    config.set_main_option("script_location", _literal(MIGRATIONS))
    config.set_main_option("version_locations", "\n".join(_literal(folder) for folder in folders))
    config.set_main_option("path_separator", "newline")
    config.attributes.update(attributes)
    return config


async def in_transaction(database_url: str, work: Callable[[Connection], T], *, immediate: bool = True) -> T:
    """Do `work` in one transaction; `immediate` takes SQLite's only writer's lock with its first statement."""
    engine = create_async_engine(database_url, poolclass=NullPool)
    if engine.dialect.name == "sqlite":
        _prepare_sqlite(engine, "BEGIN IMMEDIATE" if immediate else "BEGIN")
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


def _literal(path: Path) -> str:
    return str(path).replace("%", "%%")


def _missing(config: Config, connection: Connection) -> list[str]:
    scripts = ScriptDirectory.from_config(config)
    known = {script.revision for script in scripts.walk_revisions()}
    heads = MigrationContext.configure(connection).get_current_heads()
    if unknown := set(heads) - known:
        raise UnknownVersion(tuple(sorted(unknown)))
    applied = {script.revision for head in heads for script in scripts.iterate_revisions(head, "base")}
    return [script.revision for script in reversed(list(scripts.walk_revisions())) if script.revision not in applied]


def _take_turn(connection: Connection) -> None:
    # SQLite has taken its only writer's lock with the transaction's BEGIN IMMEDIATE.
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})


def _check_foreign_keys(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        broken = connection.execute(text("PRAGMA foreign_key_check")).all()
        if broken:
            raise RuntimeError(f"the migration left {len(broken)} rows whose foreign keys lead nowhere")


def _prepare_sqlite(engine: AsyncEngine, begin: str) -> None:
    # `database.open_database` won't do: rebuilding a table needs foreign keys off, which must precede the transaction.
    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _entry: ConnectionPoolEntry) -> None:  # pyright: ignore[reportUnusedFunction]
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "foreign_keys=OFF"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin_by_hand(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        connection.exec_driver_sql(begin)
