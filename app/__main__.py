"""The command line: `python -m app serve|migrate|demo|token|user|chat|doctor`.

Whatever goes wrong is one sentence on stderr. Exit codes: 0 done, 1 it couldn't be done, 2 a setting or an argument is
wrong, 130 interrupted.
"""

import asyncio
import logging
import os
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4
from zoneinfo import ZoneInfo

import uvloop
from dotenv import load_dotenv

from agents.errors import AgentsError
from app import doctor, people, serve
from app.chat import chat
from app.command_line import parser
from app.demo import put_demo
from app.errors import DATABASE_AWAY, CommandError
from app.packs import load_packs
from app.schema import bring_up_to_date, require_complete, unreachable, version_folders
from app.settings import Settings, SettingsError, load_settings
from app.tokens import TokenWish, mint
from app.wiring import build
from gateway.auth import LOCAL_USER
from stores.database import Database, open_database
from toolsets.errors import RegistrationError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give the process's exit code."""
    load_dotenv(".env")  # the providers' keys may stand beside our own settings
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    options = parser().parse_args(arguments)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(COMMANDS[options.command](options))
    except CommandError as error:
        return _failed(error, error.exit_code)
    except (SettingsError, AgentsError, RegistrationError) as error:
        return _failed(error, 2)
    except KeyboardInterrupt:
        return INTERRUPTED


async def _serve(options: Namespace) -> int:
    given = {"host": options.host, "port": options.port}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    if options.demo and settings.auth != "local":
        raise CommandError("--demo is for PLACET_AUTH=local; use `python -m app demo --user NAME`.", exit_code=2)
    serve.end_on_signals()
    await _prepare_schema(settings, migrate=options.migrate)
    if options.demo:
        await _put_demo(settings, LOCAL_USER)
    async with build(settings) as wired:
        return await serve.serve(wired, lambda line: print(line, flush=True))


async def _migrate(_options: Namespace) -> int:
    settings = load_settings()
    applied = await bring_up_to_date(settings, _folders(settings))
    print(f"applied {', '.join(applied)}" if applied else "nothing to do: the schema is complete")
    return 0


async def _demo(options: Namespace) -> int:
    settings = load_settings()
    await _prepare_schema(settings)
    packs = await _put_demo(settings, options.user)
    print(f"demo data for {options.user}: {', '.join(packs)}")
    return 0


async def _token(options: Namespace) -> int:
    wish = TokenWish(
        user_id=options.user,
        hours=options.hours,
        scopes=options.scopes,
        assistants=options.assistants,
        zone=options.tz,
        locale=options.locale,
    )
    print(mint(load_settings(), wish, _now()))
    return 0


async def _user(options: Namespace) -> int:
    change = people.UserChange(
        active=options.active,
        scopes=options.scopes,
        all_scopes=options.all_scopes,
        assistants=options.assistants,
        all_assistants=options.all_assistants,
    )
    async with _database(load_settings()) as database:
        user = await people.show_or_change(database, options.name, change, _now())
    print(people.described(user))
    return 0


async def _chat(options: Namespace) -> int:
    url = options.url or serve.address(load_settings())
    token = options.token or os.environ.get("PLACET_TOKEN")
    return await chat(url, options.assistant, options.conversation, token, options.locale)


async def _doctor(_options: Namespace) -> int:
    findings = await doctor.examine(load_settings, _now)
    for finding in findings:
        print(finding)
    return 0 if all(finding.ok for finding in findings) else 1


async def _prepare_schema(settings: Settings, *, migrate: bool = False) -> None:
    if migrate or settings.database_url.startswith("sqlite"):
        await bring_up_to_date(settings, _folders(settings))
    else:
        await require_complete(settings, _folders(settings))


async def _put_demo(settings: Settings, user_id: str) -> tuple[str, ...]:
    async with _database(settings) as database:
        return await put_demo(
            load_packs(settings), database, user_id=user_id, clock=_now, new_id=_new_id, zone=ZoneInfo(settings.zone)
        )


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[Database]:
    database = open_database(settings.database_url)
    try:
        yield database
    except DATABASE_AWAY as error:
        raise unreachable(error) from None
    finally:
        await database.close()


def _folders(settings: Settings) -> tuple[Path, ...]:
    return version_folders(load_packs(settings))


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid4().hex


def _failed(error: Exception, exit_code: int) -> int:
    print(error, file=sys.stderr)
    return exit_code


Command = Callable[[Namespace], Coroutine[None, None, int]]
COMMANDS: Mapping[str, Command] = {
    "serve": _serve,
    "migrate": _migrate,
    "demo": _demo,
    "token": _token,
    "user": _user,
    "chat": _chat,
    "doctor": _doctor,
}

if __name__ == "__main__":
    sys.exit(main())
