"""The reference mentions all that there is: settings, commands, options, routes, error codes."""

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from app.command_line import parser
from app.settings import PREFIX, Settings
from gateway import approvals, assistants, changes, conversation, conversations, health, questions, session, usage
from gateway.errors import BAD_REQUEST, INTERNAL, METHOD_NOT_ALLOWED, NOT_FOUND, TABLE, UNAVAILABLE
from gateway.packs import scheduling, views

DOCS = Path(__file__).parent.parent.parent / "docs"
REFERENCE = DOCS / "reference"
ROUTERS = (
    approvals.router,
    assistants.router,
    changes.router,
    conversation.router,
    conversations.router,
    health.router,
    questions.router,
    scheduling.router,
    session.personal,
    session.router,
    usage.router,
    views.router,
)


def help_of(*command: str) -> str:
    """What a command says of itself."""
    said = io.StringIO()
    with redirect_stdout(said), pytest.raises(SystemExit):
        parser().parse_args([*command, "--help"])
    return said.getvalue()


def commands() -> set[str]:
    return set(re.findall(r"^    (\w+) ", help_of(), re.MULTILINE))


def section(page: str, heading: str) -> str:
    """The text under one heading, up to the next of its level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def routes() -> Iterator[str]:
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute)
            for method in route.methods or ():
                yield f"{method} {route.path}"


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_is_described_with_its_default(name: str) -> None:
    page = (REFERENCE / "settings.md").read_text()
    row = re.search(rf"^\| `{PREFIX}{name.upper()}` \| (.*?) \|", page, re.MULTILINE)

    assert row, f"{PREFIX}{name.upper()} isn't in docs/reference/settings.md"
    default = Settings.model_fields[name].default
    shown = str(default).lower() if isinstance(default, bool) else str(default)
    assert row[1] == ("none" if default in (None, ()) else f"`{shown}`")


def test_no_setting_is_described_that_is_not_there() -> None:
    page = (REFERENCE / "settings.md").read_text()

    assert set(re.findall(rf"^\| `{PREFIX}(\w+)`", page, re.MULTILINE)) == {n.upper() for n in Settings.model_fields}


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_is_described_with_its_options(name: str) -> None:
    described = section((REFERENCE / "commands.md").read_text(), name)

    assert described, f"{name} isn't in docs/reference/commands.md"
    options = set(re.findall(r"--[a-z-]+", help_of(name))) - {"--help"}
    assert {option for option in options if f"`{option}`" not in described} == set()


def test_no_command_is_described_that_is_not_there() -> None:
    page = (REFERENCE / "commands.md").read_text()

    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == commands()


@pytest.mark.parametrize("route", sorted(routes()))
def test_every_route_is_described(route: str) -> None:
    assert f"`{route}`" in (REFERENCE / "api.md").read_text()


def test_no_route_is_described_that_is_not_there() -> None:
    page = (REFERENCE / "api.md").read_text()

    assert set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`?]*)`", page)) <= set(routes())


def test_every_error_is_described_with_its_status() -> None:
    page = (REFERENCE / "api.md").read_text()
    shapes = [*TABLE.values(), NOT_FOUND, METHOD_NOT_ALLOWED, BAD_REQUEST, UNAVAILABLE, INTERNAL]

    missing = {(shape.status, shape.code) for shape in shapes if f"| {shape.status} | `{shape.code}` |" not in page}
    assert not missing


def test_links_lead_somewhere() -> None:
    links = [
        (page, target)
        for page in DOCS.rglob("*.md")
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    ]

    assert [
        f"{page.relative_to(DOCS)}: {target}" for page, target in links if not (page.parent / target).exists()
    ] == []
