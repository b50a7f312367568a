"""What `python -m app doctor` looks at: one finding for each thing that keeps a server from working."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError
from sqlalchemy import func, select
from sqlalchemy.engine import make_url

from agents.errors import AgentsError
from agents.models import REHEARSAL, build_model
from app.errors import DATABASE_AWAY, first_line
from app.packs import load_packs
from app.schema import sqlite_file, version_folders
from app.settings import Settings, SettingsError, is_loopback
from stores.database import Database, open_database
from stores.migrate import pending
from stores.tables import Base
from toolsets.errors import RegistrationError
from toolsets.pack import Pack
from toolsets.registry import build_registry

SKEW_S = 5
REDIS_FLOOR = (6, 2)
ANSWER_S = 5
BUILT = datetime(2026, 1, 1, tzinfo=UTC)
"""No clock that is right is behind this."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the report."""

    what: str
    ok: bool
    said: str
    """What was found; of a problem, also what to do."""

    def __str__(self) -> str:
        return f"{'ok     ' if self.ok else 'problem'}  {self.what:<10}  {self.said}"


async def examine(load: Callable[[], Settings], clock: Callable[[], datetime]) -> tuple[Finding, ...]:
    """Look at everything; change nothing, ask no model. Without settings there is only that to say."""
    try:
        settings = load()
    except SettingsError as error:
        return (_problem("settings", str(error)),)
    packs, about_packs = _packs(settings)
    return (
        _ok("settings", "every value is in its range"),
        _address(settings),
        about_packs,
        _secrets(settings),
        _model(settings),
        _folder(settings),
        *await _database(settings, version_folders(packs), clock),
        await _redis(settings),
    )


def _address(settings: Settings) -> Finding:
    where = f"{settings.host}:{settings.port}"
    if settings.auth == "local":
        return _ok("address", f"{where}, one local user without a key: reached from this machine alone")
    keys = "PLACET_JWT_SECRET" if settings.jwt_secret else "PLACET_JWT_JWKS_URL"
    note = "" if is_loopback(settings.host) else "; tokens travel in clear unless TLS ends in front of it"
    return _ok("address", f"{where}, tokens checked with {keys}{note}")


def _packs(settings: Settings) -> tuple[Sequence[Pack], Finding]:
    try:
        packs = load_packs(settings)
        registry = build_registry(packs)
    except (SettingsError, RegistrationError) as error:
        return (), _problem("packs", str(error))
    return packs, _ok("packs", f"{', '.join(registry.packs)} ({len(registry.tools)} tools)")


def _secrets(settings: Settings) -> Finding:
    secret = sorted(
        {table.name for table in Base.metadata.tables.values() if any(c.info.get("secret") for c in table.c)}
    )
    if secret and settings.secrets_key is None:
        return _problem(
            "secrets", f"PLACET_SECRETS_KEY isn't set, but {', '.join(secret)} keep secrets; set a Fernet key"
        )
    return _ok("secrets", "a key is set" if settings.secrets_key else "no table keeps any, so no key is needed")


def _model(settings: Settings) -> Finding:
    try:
        build_model(settings.model, scenes=())
    except AgentsError as error:
        return _problem("model", str(error))
    if settings.model == REHEARSAL:
        return _ok("model", "rehearsal: plays scenes, without a network; set PLACET_MODEL for a real one")
    return _ok("model", f"{settings.model}, keys present (nothing was sent)")


def _folder(settings: Settings) -> Finding:
    file = sqlite_file(settings)
    folder = file.parent if file else Path(tempfile.gettempdir())
    if not folder.is_dir():
        return _problem("folder", f"{folder} isn't there; make it, or change PLACET_DATABASE_URL")
    if not os.access(folder, os.W_OK | os.X_OK):
        return _problem("folder", f"{folder} can't be written to; give this user the right, or choose another")
    return _ok("folder", f"{folder} can be written to")


async def _database(settings: Settings, folders: Sequence[Path], clock: Callable[[], datetime]) -> Sequence[Finding]:
    url = make_url(settings.database_url)
    if (file := sqlite_file(settings)) and not file.exists():
        # Looking must not make an empty one.
        return (_ok("database", f"{file} will be made by `serve` or `migrate`"), _own_clock(clock()))
    try:
        async with asyncio.timeout(ANSWER_S), _opened(settings) as database:
            about_clock = await _clocks(database, clock)
            missing = await pending(settings.database_url, folders)
    except DATABASE_AWAY as error:
        helps = "start it, or correct PLACET_DATABASE_URL"
        return (_problem("database", f"{url.render_as_string()}: {first_line(error)}; {helps}"), _own_clock(clock()))
    answers = _ok("database", f"{url.render_as_string()} answers")
    if missing:
        return (
            answers,
            _problem("migrations", f"{', '.join(missing)} missing; run `python -m app migrate`"),
            about_clock,
        )
    return (answers, _ok("migrations", "the schema is complete"), about_clock)


async def _clocks(database: Database, clock: Callable[[], datetime]) -> Finding:
    async with database.read() as connection:
        if database.sqlite:
            await connection.execute(select(1))
            return _own_clock(clock())
        theirs: datetime = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
    apart = abs((clock() - theirs).total_seconds())
    if apart > SKEW_S:
        return _problem("clock", f"{apart:.0f} s away from the database's; let both follow a time server")
    return _own_clock(clock())


def _own_clock(now: datetime) -> Finding:
    if now < BUILT:
        return _problem("clock", f"it says {now:%Y-%m-%d}; tokens and expiries need the right time")
    return _ok("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC")


async def _redis(settings: Settings) -> Finding:
    if settings.redis_url is None:
        return _ok("redis", "not set: one process is enough for itself")
    # The library's constructor takes whatever its connection does, untyped.
    redis: Redis = Redis.from_url(settings.redis_url, socket_timeout=ANSWER_S, socket_connect_timeout=ANSWER_S)  # pyright: ignore[reportUnknownMemberType]
    async with redis:
        try:
            about = await redis.info("server")  # pyright: ignore[reportUnknownMemberType] - the library's kwargs
        except (RedisError, OSError) as error:
            return _problem("redis", f"{first_line(error)}; start it, or correct PLACET_REDIS_URL")
    version = str(about["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < REDIS_FLOOR:
        return _problem("redis", f"version {version} is too old; 6.2 or newer is needed")
    return _ok("redis", f"version {version} answers")


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Database]:
    database = open_database(settings.database_url)
    try:
        yield database
    finally:
        await database.close()


def _ok(what: str, said: str) -> Finding:
    return Finding(what=what, ok=True, said=said)


def _problem(what: str, said: str) -> Finding:
    return Finding(what=what, ok=False, said=said)
