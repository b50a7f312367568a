"""The real server in a process of its own: how it starts, what it lets in, how it ends."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from app.settings import load_settings
from app.tokens import TokenWish, mint
from tests.app.test_tokens import KEY

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent.parent
START_S = 60
STOP_S = 20


@dataclass(frozen=True, kw_only=True)
class Server:
    process: asyncio.subprocess.Process
    line: str
    """What it said when it was there."""

    @property
    def address(self) -> str:
        return self.line.split()[2]

    async def stop(self, number: signal.Signals) -> tuple[int | None, bytes, bytes]:
        """Exit code and what else it said."""
        self.process.send_signal(number)
        out, err = await asyncio.wait_for(self.process.communicate(), STOP_S)
        return self.process.returncode, out, err


Serve = Callable[..., AbstractAsyncContextManager[Server]]


@pytest.fixture
def environment(run_folder: Path) -> dict[str, str]:
    """Nothing is set that this machine's user may have set; what Python compiles is kept for the run."""
    ours = ("PLACET_", "LOGFIRE_", "OTEL_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(run_folder / "compiled")}


@pytest.fixture
def serve(tmp_path: Path, environment: dict[str, str]) -> Serve:
    """Starts a server in a folder of its own."""

    @asynccontextmanager
    async def serve(*arguments: str, **given: str) -> AsyncIterator[Server]:
        command = ("-m", "app", "serve", "--port", str(free_port()), *arguments)
        process = await python(tmp_path, {**environment, **given}, *command)
        assert process.stdout is not None
        try:
            line = await asyncio.wait_for(process.stdout.readline(), START_S)
            yield Server(process=process, line=line.decode())
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()

    return serve


async def python(folder: Path, environment: dict[str, str], *arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_says_in_one_line_where_it_is_and_ends_in_order_when_asked(
    serve: Serve, number: signal.Signals
) -> None:
    async with serve() as server:
        assert server.line.startswith("Placet on http://127.0.0.1:")
        assert server.line.endswith("model rehearsal · database sqlite (./placet.db) · auth local\n")
        async with httpx.AsyncClient(base_url=server.address) as client:
            assert (await client.get("/healthz")).status_code == 200
            assert (await client.get("/readyz")).status_code == 200

        assert await server.stop(number) == (0, b"", b"")


async def test_it_ends_although_somebody_follows_a_stream(serve: Serve) -> None:
    question = {"type": "text", "text": "put linear algebra revision on Tuesday afternoon"}
    body = {"id": "c-1", "message": {"id": "m-1", "role": "user", "parts": [question]}}
    async with serve("--demo") as server, httpx.AsyncClient(base_url=server.address) as client:
        assert (await client.get("/api/schedule")).json()["pending"]
        async with client.stream("POST", "/api/conversation/stream", json=body) as stream:
            assert stream.status_code == 200
            code, _out, _err = await server.stop(signal.SIGTERM)

    assert code == 0


@pytest.mark.parametrize("backend", ["postgresql"])
async def test_it_brings_a_postgresql_up_to_date_when_told_to(serve: Serve, empty_database_url: str) -> None:
    async with serve("--migrate", PLACET_DATABASE_URL=empty_database_url) as server:
        assert "database postgresql" in server.line
        async with httpx.AsyncClient(base_url=server.address) as client:
            assert (await client.get("/readyz")).status_code == 200


async def test_a_token_made_here_opens_its_door(serve: Serve) -> None:
    house = {"PLACET_AUTH": "jwt", "PLACET_JWT_SECRET": KEY}
    wish = TokenWish(user_id="alice", assistants=("scheduling",))
    token = mint(load_settings(_env_file=None, auth="jwt", jwt_secret=KEY), wish, datetime.now(UTC))

    async with serve(**house) as server, httpx.AsyncClient(base_url=server.address) as client:
        assert (await client.get("/api/assistants")).status_code == 401
        answer = await client.get("/api/assistants", headers={"Authorization": f"Bearer {token}"})

    assert [assistant["name"] for assistant in answer.json()["items"]] == ["scheduling"]


async def test_chat_talks_to_it(serve: Serve, tmp_path: Path, environment: dict[str, str]) -> None:
    async with serve("--demo") as server:
        chat = await python(tmp_path, environment, "-m", "app", "chat", "--url", server.address, "--locale", "en")
        out, err = await asyncio.wait_for(chat.communicate(b"hello\n/quit\n"), START_S)

    assert (chat.returncode, err) == (0, b"")
    assert "rehearsal" in out.decode()
