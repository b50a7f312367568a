"""What can be said to `python -m app`: the commands and their options, nothing done yet."""

import argparse
from math import isfinite
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MOST_HOURS = 24 * 366


def parser() -> argparse.ArgumentParser:
    """Every command and option; docs/reference/commands.md says more of each."""
    root = argparse.ArgumentParser(
        prog="python -m app", description="Placet: an assistant server that may be trusted with writes."
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _serve(commands.add_parser("serve", help="run the server"))
    commands.add_parser("migrate", help="bring the database's schema up to date")
    demo = commands.add_parser("demo", help="put demo data of every pack in place")
    demo.add_argument("--user", default="local", help="whose data (default: local, the one user of PLACET_AUTH=local)")
    _token(commands.add_parser("token", help="print a bearer token signed with PLACET_JWT_SECRET"))
    _user(commands.add_parser("user", help="show or change what a user may do"))
    _chat(commands.add_parser("chat", help="talk to a running server in the terminal"))
    commands.add_parser("doctor", help="check settings, database, model and the rest; exit code 1 on a problem")
    return root


def _serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--host", help="address to listen on (PLACET_HOST)")
    command.add_argument("--port", type=int, help="port to listen on (PLACET_PORT)")
    command.add_argument("--demo", action="store_true", help="put the local user's demo data in place first")
    command.add_argument(
        "--migrate", action="store_true", help="bring a PostgreSQL schema up to date first (SQLite's always is)"
    )


def _token(command: argparse.ArgumentParser) -> None:
    command.add_argument("--user", required=True, help="whom the token speaks for")
    command.add_argument("--assistants", type=_names, help="comma separated; default: all")
    command.add_argument(
        "--scopes", type=_names, default=(), help="comma separated, for example operator; default: none"
    )
    command.add_argument("--hours", type=_hours, default=8.0, help="how long it is valid (default: 8)")
    command.add_argument("--tz", type=_zone, help="the person's time zone, for example Asia/Shanghai")
    command.add_argument("--locale", choices=("zh", "en"), help="the person's language")


def _user(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME")
    state = command.add_mutually_exclusive_group()
    state.add_argument("--deactivate", action="store_const", const=False, dest="active", help="refuse every request")
    state.add_argument("--activate", action="store_const", const=True, dest="active", help="take that back")
    scopes = command.add_mutually_exclusive_group()
    scopes.add_argument("--scopes", type=_names, help="at most these, comma separated, whatever a token says")
    scopes.add_argument("--all-scopes", action="store_true", help="whatever a token says")
    assistants = command.add_mutually_exclusive_group()
    assistants.add_argument("--assistants", type=_names, help="at most these, comma separated")
    assistants.add_argument("--all-assistants", action="store_true", help="whatever a token says")


def _chat(command: argparse.ArgumentParser) -> None:
    command.add_argument("--url", help="the server (default: PLACET_HOST and PLACET_PORT)")
    command.add_argument("--assistant", default="scheduling", help="whom to talk to (default: scheduling)")
    command.add_argument("--conversation", help="go on with this conversation")
    command.add_argument("--token", help="bearer token (default: the variable PLACET_TOKEN)")
    command.add_argument("--locale", choices=("zh", "en"), help="language of the program (default: by LANG)")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _hours(text: str) -> float:
    hours = float(text)
    if not isfinite(hours) or not 0 < hours <= MOST_HOURS:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and {MOST_HOURS}")
    return hours


def _zone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r} is no time zone") from None
