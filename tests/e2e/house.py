"""Real servers in processes of their own, over one database, and what is done to them."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

import jwt

ROOT = Path(__file__).parent.parent.parent
OUTSIDE = Path(__file__).parent / "outside"
SECRET = "a-secret-that-is-long-enough-for-everybody"
WAIT_S = 20.0
POLL_S = 0.01

T = TypeVar("T")


def environment(**given: str) -> dict[str, str]:
    """This process's environment without settings, and `given`; what Python compiles is kept for the run."""
    ours = ("PLACET_", "LOGFIRE_", "OTEL_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = os.pathsep.join(part for part in (given.pop("PYTHONPATH", ""), str(ROOT)) if part)
    compiled = str(Path(os.environ["PLACET_TEST_RUN_FOLDER"]) / "compiled")
    return {**kept, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": compiled, **given}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def token_for(user_id: str) -> str:
    return jwt.encode({"sub": user_id, "exp": int(time.time()) + 3600}, SECRET, algorithm="HS256")


async def until(condition: Callable[[], bool], what: str, limit_s: float = WAIT_S) -> None:
    """Returns once it is true."""

    async def true() -> bool | None:
        return condition() or None

    await found(true, what, limit_s)


async def found(
    look: Callable[[], Awaitable[T | None]], what: str, limit_s: float = WAIT_S, *, poll_s: float = POLL_S
) -> T:
    """What looking gives once it gives something."""
    deadline = time.monotonic() + limit_s
    while (seen := await look()) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {limit_s} s for {what}")
        await asyncio.sleep(poll_s)
    return seen


class Nursery:
    """A process that has imported everything, and forks servers."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, **question: object) -> dict[str, Any]:
        asked, answers = _pipes(self._process)
        asked.write(json.dumps(question) + "\n")
        asked.flush()
        line = answers.readline()
        assert line, "the nursery has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def nursery() -> Iterator[Nursery]:
    command = [sys.executable, "-m", "tests.e2e.nursery"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    asked, answers = _pipes(process)
    try:
        assert answers.readline(), "the nursery didn't start"
        yield Nursery(process)
    finally:
        asked.close()
        process.wait(WAIT_S)
        answers.close()


def _pipes(process: "subprocess.Popen[str]") -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


@dataclass(kw_only=True)
class Server:
    """One server process."""

    nursery: Nursery
    pid: int
    url: str
    folder: Path
    code: int | None = None

    def kill(self) -> None:
        """kill -9; gone when this returns."""
        self.signal(signal.SIGKILL)
        deadline = time.monotonic() + WAIT_S
        while not self.ended():
            assert time.monotonic() < deadline, "a killed process is still there"
            time.sleep(POLL_S)

    def signal(self, number: signal.Signals) -> None:
        if not self.ended():
            os.kill(self.pid, number)

    def ended(self) -> bool:
        if self.code is None:
            self.code = self.nursery.ask(ended=self.pid)["code"]
        return self.code is not None

    async def wait(self, limit_s: float = WAIT_S) -> int:
        await until(self.ended, "a server to end", limit_s)
        assert self.code is not None
        return self.code

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def log(self) -> str:
        """What it wrote to stderr."""
        return (self.folder / "err").read_text()


@dataclass(kw_only=True)
class House:
    """One database, the pack from outside, and as many servers as a test wants."""

    nursery: Nursery
    database_url: str
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    servers: list[Server] = field(default_factory=list[Server])

    @property
    def weather(self) -> Path:
        """Where tools of the garden are held."""
        return self.folder / "weather"

    def environment(self) -> dict[str, str]:
        ours = {
            "PLACET_DATABASE_URL": self.database_url,
            "PLACET_PACKS": "garden:build_pack",
            "PLACET_AUTH": "jwt",
            "PLACET_JWT_SECRET": SECRET,
            "PLACET_LEASE_S": "1",
            "PLACET_RATE_PER_MINUTE": "1000000",
            "PLACET_RUNNING_TURNS": "1000",
            "PLACET_OPEN_STREAMS": "1000",
            "PYTHONPATH": str(self.folder / "packs"),
            "GARDEN_WEATHER": str(self.weather),
        }
        return environment(**(ours | dict(self.settings)))

    async def start(self, *options: str, port: int | None = None) -> Server:
        """A server that answers."""
        port = port or free_port()
        server = self.run("serve", "--port", str(port), "--migrate", *options, port=port)
        await until(lambda: _says_where(server), "a server to start")
        return server

    def run(self, *arguments: str, port: int = 0) -> Server:
        """`python -m app` with these arguments."""
        folder = self.folder / f"process-{len(self.servers)}"
        folder.mkdir()
        pid = self.nursery.ask(start=list(arguments), env=self.environment(), folder=str(folder))["pid"]
        server = Server(nursery=self.nursery, pid=pid, url=f"http://127.0.0.1:{port}", folder=folder)
        self.servers.append(server)
        return server

    def hold(self, name: str) -> None:
        (self.weather / f"hold-{name}").touch()

    async def held(self, name: str) -> None:
        """Returns once somebody stands at `name`."""
        await until((self.weather / f"held-{name}").exists, f"somebody to stand at {name}")
        (self.weather / f"held-{name}").unlink()

    def release(self, name: str) -> None:
        (self.weather / f"hold-{name}").unlink()

    def close(self) -> None:
        for server in self.servers:
            server.kill()


def open_house(nursery: Nursery, database_url: str, folder: Path, **settings: str) -> House:
    """The pack is copied to a folder that isn't in the repository."""
    (folder / "weather").mkdir(parents=True)
    shutil.copytree(OUTSIDE, folder / "packs", ignore=shutil.ignore_patterns("__pycache__"))
    return House(nursery=nursery, database_url=database_url, folder=folder, settings=settings)


def _says_where(server: Server) -> bool:
    out = server.folder / "out"
    if server.ended():
        raise AssertionError(f"the server ended with {server.code}: {server.log}")
    return out.exists() and "Placet on" in out.read_text()
