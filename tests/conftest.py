"""Databases and servers for every test. See `servers.py` for where they come from.

database      an empty database, once on SQLite and once on PostgreSQL, a new one for every test
store         the same, with every table of the house and its packs
database_url  the address of `store`, for tests that start processes
postgres_url, redis_url   the servers themselves, each started by the first test that asks for it
cases_folder  the labelled cases, where they are there
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from alembic import command
from redis import Redis
from sqlalchemy import Connection, QueuePool
from sqlalchemy.engine import make_url

from stores.database import Database, open_database
from stores.migrate import alembic_config, in_transaction
from stores.tables import Base
from tests.servers import (
    fresh_postgres_database,
    new_run_folder,
    remove_run_folder,
    running_redis,
    start_postgres,
)
from tests.skips import NO_CASES
from tests.skips import pytest_sessionfinish as pytest_sessionfinish
from tests.skips import pytest_terminal_summary as pytest_terminal_summary

ROOT = Path(__file__).parent.parent
CASES = ROOT.parent / "shared" / "cases"
RUN_FOLDER = "PLACET_TEST_RUN_FOLDER"

owned_folder = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    # xdist's workers inherit the environment, so the process that starts the run owns the folder.
    if RUN_FOLDER not in os.environ:
        config.stash[owned_folder] = new_run_folder()
        os.environ[RUN_FOLDER] = str(config.stash[owned_folder])


def pytest_unconfigure(config: pytest.Config) -> None:
    if owned_folder in config.stash:
        del os.environ[RUN_FOLDER]
        remove_run_folder(config.stash[owned_folder])


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def run_folder() -> Path:
    """A short path that all workers of the run share."""
    return Path(os.environ[RUN_FOLDER])


@pytest.fixture(scope="session")
def postgres_url(run_folder: Path) -> str:
    """A PostgreSQL server: `PLACET_TEST_DATABASE_URL`, whose user may create databases, or one of our own."""
    if given := os.environ.get("PLACET_TEST_DATABASE_URL"):
        return make_url(given).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)
    return start_postgres(run_folder)


@pytest.fixture(scope="session")
def redis_server_url(run_folder: Path, worker_id: str) -> Iterator[str]:
    if given := os.environ.get("PLACET_TEST_REDIS_URL"):
        yield given
        return
    folder = run_folder / f"redis-{worker_id}"
    folder.mkdir()
    with running_redis(folder) as url:
        yield url


@pytest.fixture
def redis_url(redis_server_url: str) -> str:
    """An empty Redis. A server given by `PLACET_TEST_REDIS_URL` must be for tests alone: its database is flushed."""
    with Redis.from_url(redis_server_url) as redis:  # pyright: ignore[reportUnknownMemberType] - the library's kwargs
        redis.execute_command("FLUSHDB")  # pyright: ignore[reportUnknownMemberType]
    return redis_server_url


@pytest.fixture(scope="session")
def cases_folder() -> Path:
    """The labelled cases; the test is skipped where they aren't there."""
    if not CASES.is_dir():
        pytest.skip(NO_CASES)
    return CASES


@pytest.fixture(params=["sqlite", "postgresql"])
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def empty_database_url(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    if backend == "sqlite":
        yield sqlite_url(tmp_path / "empty.db")
        return
    with fresh_postgres_database(request.getfixturevalue("postgres_url")) as url:
        yield url


@pytest.fixture
async def database(empty_database_url: str) -> AsyncIterator[Database]:
    """An empty database."""
    database = open_database(empty_database_url)
    yield database
    await close_without_leak(database)


@pytest.fixture(scope="session")
def every_table() -> None:
    """`Base.metadata` knows the tables of every pack."""
    for path in sorted(ROOT.glob("toolsets/*/tables.py")):
        import_module(f"toolsets.{path.parent.name}.tables")


@pytest.fixture(scope="session")
def sqlite_template(every_table: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "placet.db"
    asyncio.run(create_everything(sqlite_url(path)))
    return path


@pytest.fixture(scope="session")
def postgres_template(every_table: None, postgres_url: str) -> Iterator[str]:
    with fresh_postgres_database(postgres_url) as url:
        asyncio.run(create_everything(url))
        yield make_url(url).database or ""


@pytest.fixture
def database_url(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database with every table."""
    if backend == "sqlite":
        path = tmp_path / "placet.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield sqlite_url(path)
        return
    template: str = request.getfixturevalue("postgres_template")
    with fresh_postgres_database(request.getfixturevalue("postgres_url"), template) as url:
        yield url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Database]:
    """A database with every table."""
    database = open_database(database_url)
    yield database
    await close_without_leak(database)


def sqlite_url(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


async def create_everything(url: str) -> None:
    """From the tables in the code, which is quicker; `stores/test_migrations.py` shows that versions make the same."""

    def create(connection: Connection) -> None:
        Base.metadata.create_all(connection)
        command.stamp(alembic_config(connection=connection), "heads")

    await in_transaction(url, create)


async def close_without_leak(database: Database) -> None:
    """Close, and fail the test if a connection is still in somebody's hands."""
    pools = {database.writer.pool, database.reader.pool}
    held = sum(pool.checkedout() for pool in pools if isinstance(pool, QueuePool))
    await database.close()
    assert held == 0, f"{held} connections were not given back"
