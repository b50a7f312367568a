"""The command line: what it prints, what it refuses with one sentence, and how it ends."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent.parent
KEY = "a-key-of-at-least-thirty-two-bytes"
START_S = 30
STOP_S = 15


@dataclass(frozen=True, kw_only=True)
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where commands run: a folder of their own, so that no `.env` and no database is found by accident."""
    return tmp_path


def environment(given: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLACET_", "LOGFIRE_", "OTEL_"))}
    return {**kept, "PYTHONPATH": str(ROOT), **given}


async def start(home: Path, *arguments: str, **given: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "app",
        *arguments,
        cwd=home,
        env=environment(given),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run(home: Path, *arguments: str, **given: str) -> Ended:
    process = await start(home, *arguments, **given)
    out, err = await process.communicate()
    return Ended(code=process.returncode or 0, out=out.decode(), err=err.decode())


@asynccontextmanager
async def serving(home: Path, *arguments: str, **given: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A server and its first line."""
    process = await start(home, "serve", "--port", str(free_port()), *arguments, **given)
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), START_S)
        yield process, line.decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def address(line: str) -> str:
    return line.split()[2]


async def test_serve_says_in_one_line_where_and_on_what_and_ends_when_asked(home: Path) -> None:
    async with serving(home) as (server, line):
        assert line.startswith("Placet on http://127.0.0.1:")
        assert line.endswith("model rehearsal · database sqlite (./placet.db) · auth local\n")
        async with httpx.AsyncClient(base_url=address(line)) as client:
            assert (await client.get("/healthz")).status_code == 200
            assert (await client.get("/readyz")).status_code == 200

        server.send_signal(signal.SIGTERM)
        out, err = await asyncio.wait_for(server.communicate(), STOP_S)

    assert (server.returncode, out, err) == (0, b"", b"")


async def test_ctrl_c_ends_it_in_order(home: Path) -> None:
    async with serving(home) as (server, _line):
        server.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(server.communicate(), STOP_S)

    assert (server.returncode, out, err) == (0, b"", b"")


async def test_it_ends_although_somebody_follows_a_stream(home: Path) -> None:
    async with serving(home, "--demo") as (server, line), httpx.AsyncClient(base_url=address(line)) as client:
        body = {"id": "c-1", "message": {"id": "m-1", "role": "user", "parts": [{"type": "text", "text": "你好"}]}}
        async with client.stream("POST", "/api/conversation/stream", json=body) as stream:
            assert stream.status_code == 200
            server.send_signal(signal.SIGTERM)
            await asyncio.wait_for(server.wait(), STOP_S)

    assert server.returncode == 0


async def test_serve_with_demo_has_something_to_show(home: Path) -> None:
    async with serving(home, "--demo") as (_server, line), httpx.AsyncClient(base_url=address(line)) as client:
        week = (await client.get("/api/schedule")).json()

    assert week["pending"]


async def test_a_taken_port_is_one_sentence(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        ended = await run(home, "serve", "--port", port)

    assert ended.code == 1
    assert ended.err.startswith(f"PLACET_PORT: can't listen on 127.0.0.1:{port}")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("backend", ["postgresql"])
async def test_serve_refuses_a_postgresql_that_lacks_versions_and_says_what_to_run(
    home: Path, empty_database_url: str
) -> None:
    ended = await run(home, "serve", PLACET_DATABASE_URL=empty_database_url)

    assert ended.code == 1
    assert "python -m app migrate" in ended.err
    assert ended.err.count("\n") == 1

    async with serving(home, "--migrate", PLACET_DATABASE_URL=empty_database_url) as (_server, line):
        assert "database postgresql" in line


async def test_migrate_says_what_it_applied_and_then_that_nothing_is_left(home: Path, empty_database_url: str) -> None:
    first = await run(home, "migrate", PLACET_DATABASE_URL=empty_database_url)
    second = await run(home, "migrate", PLACET_DATABASE_URL=empty_database_url)

    assert (first.code, first.err, first.out[:8]) == (0, "", "applied ")
    assert (second.code, second.err, second.out) == (0, "", "nothing to do: the schema is complete\n")


async def test_demo_can_be_repeated(home: Path) -> None:
    first = await run(home, "demo", "--user", "alice")
    second = await run(home, "demo", "--user", "alice")

    assert first == second
    assert first.code == 0
    assert first.out.startswith("demo data for alice: scheduling")


async def test_a_wrong_setting_is_one_sentence_that_names_it(home: Path) -> None:
    ended = await run(home, "serve", PLACET_PORT="http")

    assert ended.code == 2
    assert ended.err.startswith("PLACET_PORT: ")
    assert ended.err.count("\n") == 1


async def test_a_model_without_a_key_is_one_sentence_that_names_it(home: Path) -> None:
    ended = await run(home, "serve", PLACET_MODEL="anthropic:claude-sonnet-4-5", ANTHROPIC_API_KEY="")

    assert ended.code == 2
    assert ended.err.startswith("ANTHROPIC_API_KEY: ")
    assert ended.err.count("\n") == 1


async def test_a_providers_key_may_stand_in_the_env_file(home: Path) -> None:
    (home / ".env").write_text("PLACET_MODEL=anthropic:claude-sonnet-4-5\nANTHROPIC_API_KEY=not-a-real-one\n")

    ended = await run(home, "doctor")

    assert "ok       model       anthropic:claude-sonnet-4-5" in ended.out


async def test_a_token_is_printed_alone_and_opens_the_door(home: Path) -> None:
    house = {"PLACET_AUTH": "jwt", "PLACET_JWT_SECRET": KEY}
    token = (await run(home, "token", "--user", "alice", "--assistants", "scheduling", **house)).out.strip()

    async with serving(home, **house) as (_server, line), httpx.AsyncClient(base_url=address(line)) as client:
        assert (await client.get("/api/assistants")).status_code == 401
        answer = await client.get("/api/assistants", headers={"Authorization": f"Bearer {token}"})

    assert answer.status_code == 200
    assert "scheduling" in json.dumps(answer.json())


async def test_a_token_needs_a_secret(home: Path) -> None:
    ended = await run(home, "token", "--user", "alice")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("PLACET_JWT_SECRET: isn't set")


@pytest.mark.parametrize("hours", ["0", "-1", "nan", "inf", "soon"])
async def test_a_token_lasts_some_hours(home: Path, hours: str) -> None:
    ended = await run(home, "token", "--user", "alice", f"--hours={hours}", PLACET_JWT_SECRET=KEY)

    assert ended.code == 2
    assert "--hours" in ended.err


async def test_a_user_is_shown_and_changed(home: Path) -> None:
    await run(home, "migrate")

    unknown = await run(home, "user", "alice")
    changed = await run(home, "user", "alice", "--deactivate", "--assistants", "scheduling")
    shown = await run(home, "user", "alice")

    assert (unknown.code, unknown.out) == (1, "")
    assert changed.out.startswith("alice: deactivated; scopes: as the token says; assistants: scheduling; since ")
    assert shown == changed


async def test_a_database_without_tables_is_one_sentence(home: Path) -> None:
    ended = await run(home, "user", "alice")

    assert ended.code == 1
    assert ended.err.startswith("PLACET_DATABASE_URL: the database can't be used")
    assert ended.err.count("\n") == 1


async def test_the_doctor_ends_with_1_on_a_problem(home: Path) -> None:
    well = await run(home, "doctor")
    ill = await run(home, "doctor", PLACET_HOST="0.0.0.0")

    assert (well.code, well.err) == (0, "")
    assert (ill.code, ill.err) == (1, "")
    assert ill.out.startswith("problem  settings")


async def test_chat_talks_to_a_server(home: Path) -> None:
    async with serving(home, "--demo") as (_server, line):
        chat = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "app", "chat", "--url", address(line), "--locale", "en"),
            cwd=home,
            env=environment({}),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(chat.communicate(b"hello\n/quit\n"), START_S)

    assert (chat.returncode, err) == (0, b"")
    assert "rehearsal" in out.decode()
