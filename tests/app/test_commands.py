"""The command line: what it prints, what it refuses with one sentence, and how it ends."""

import os
import signal
import socket
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.__main__ import main

KEY = "a-key-of-at-least-thirty-two-bytes"


@dataclass(frozen=True, kw_only=True)
class Ended:
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs a command in a folder of its own, where no `.env` and no database is found by accident."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("PLACET_", "LOGFIRE_", "OTEL_")) and not name.startswith("PLACET_TEST_"):
            monkeypatch.delenv(name)
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments: str, **environment: str) -> Ended:
        with monkeypatch.context() as given:
            for name, value in environment.items():
                given.setenv(name, value)
            try:
                code = main(arguments)
            except SystemExit as refused:  # argparse ends the process by itself
                code = int(refused.code or 0)
        out, err = capsys.readouterr()
        return Ended(code=code, out=out, err=err)

    yield run
    for number, handler in signals.items():
        signal.signal(number, handler)


def test_migrate_says_what_it_applied_and_then_that_nothing_is_left(run: Run, empty_database_url: str) -> None:
    first = run("migrate", PLACET_DATABASE_URL=empty_database_url)
    second = run("migrate", PLACET_DATABASE_URL=empty_database_url)

    assert (first.code, first.err, first.out[:8]) == (0, "", "applied ")
    assert (second.code, second.err, second.out) == (0, "", "nothing to do: the schema is complete\n")


def test_demo_can_be_repeated(run: Run, tmp_path: Path) -> None:
    first = run("demo", "--user", "alice")
    before = content(tmp_path / "placet.db")
    second = run("demo", "--user", "alice")

    assert content(tmp_path / "placet.db") == before
    assert "scheduling_tasks" in before
    assert first == second == Ended(code=0, out="demo data for alice: scheduling\n", err="")


def test_a_wrong_setting_is_one_sentence_that_names_it(run: Run) -> None:
    ended = run("serve", PLACET_PORT="http")

    assert ended.code == 2
    assert ended.err.startswith("PLACET_PORT: ")
    assert ended.err.count("\n") == 1


def test_an_option_is_checked_like_the_setting_in_whose_place_it_is(run: Run) -> None:
    ended = run("serve", "--host", "0.0.0.0")

    assert ended.code == 2
    assert ended.err.startswith("PLACET_AUTH: local serves one person on this machine")


def test_a_model_without_a_key_is_one_sentence_that_names_it(run: Run) -> None:
    ended = run("serve", PLACET_MODEL="anthropic:claude-sonnet-4-5", ANTHROPIC_API_KEY="")

    assert ended.code == 2
    assert ended.err.startswith("ANTHROPIC_API_KEY: ")
    assert ended.err.count("\n") == 1


def test_a_taken_port_is_one_sentence(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        ended = run("serve", "--port", port)

    assert ended.code == 1
    assert ended.err.startswith(f"PLACET_PORT: can't listen on 127.0.0.1:{port}")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("backend", ["postgresql"])
def test_serve_refuses_a_postgresql_that_lacks_versions_and_says_what_to_run(run: Run, empty_database_url: str) -> None:
    ended = run("serve", PLACET_DATABASE_URL=empty_database_url)

    assert ended.code == 1
    assert "python -m app migrate" in ended.err
    assert ended.err.count("\n") == 1


def test_demo_data_of_serve_is_for_the_local_user(run: Run) -> None:
    ended = run("serve", "--demo", PLACET_AUTH="jwt", PLACET_JWT_SECRET=KEY)

    assert ended.code == 2
    assert "python -m app demo --user NAME" in ended.err


def test_a_providers_key_may_stand_in_the_env_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "restored when the test is over")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    (tmp_path / ".env").write_text("PLACET_MODEL=anthropic:claude-sonnet-4-5\nANTHROPIC_API_KEY=not-a-real-one\n")

    ended = run("doctor")

    os.environ.pop("PLACET_MODEL")
    assert "ok       model       anthropic:claude-sonnet-4-5" in ended.out


def test_a_token_is_printed_alone(run: Run) -> None:
    ended = run("token", "--user", "alice", "--assistants", "scheduling", PLACET_JWT_SECRET=KEY)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count(".") == 2
    assert ended.out.count("\n") == 1


def test_a_token_needs_a_secret(run: Run) -> None:
    ended = run("token", "--user", "alice")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("PLACET_JWT_SECRET: isn't set")


@pytest.mark.parametrize("option", ["--hours=0", "--hours=-1", "--hours=nan", "--hours=soon", "--tz=Mars/Olympus"])
def test_a_token_lasts_some_hours_in_some_zone(run: Run, option: str) -> None:
    ended = run("token", "--user", "alice", option, PLACET_JWT_SECRET=KEY)

    assert ended.code == 2
    assert option.partition("=")[0] in ended.err


def test_a_user_is_shown_and_changed(run: Run) -> None:
    run("migrate")

    unknown = run("user", "alice")
    changed = run("user", "alice", "--deactivate", "--assistants", "scheduling")
    shown = run("user", "alice")

    assert (unknown.code, unknown.out) == (1, "")
    assert changed.out.startswith("alice: deactivated; scopes: as the token says; assistants: scheduling; since ")
    assert shown == changed


def test_a_database_without_tables_is_one_sentence(run: Run) -> None:
    ended = run("user", "alice")

    assert ended.code == 1
    assert ended.err.startswith("PLACET_DATABASE_URL: the database can't be used")
    assert ended.err.count("\n") == 1


def test_the_doctor_ends_with_1_on_a_problem(run: Run) -> None:
    well = run("doctor")
    ill = run("doctor", PLACET_HOST="0.0.0.0")

    assert (well.code, well.err) == (0, "")
    assert (ill.code, ill.err) == (1, "")
    assert ill.out.startswith("problem  settings")


@pytest.mark.parametrize("arguments", [(), ("fly",), ("user",), ("user", "alice", "--activate", "--deactivate")])
def test_what_can_not_be_understood_ends_with_2(run: Run, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).code == 2


def content(database: Path) -> str:
    """Every row of a SQLite database, as text."""
    connection = sqlite3.connect(database)
    try:
        return "\n".join(connection.iterdump())
    finally:
        connection.close()
