"""The whole of it, as a person sees it: said in the terminal, approved, there; the server killed; undone; gone."""

import asyncio
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.house import House, Nursery, Server, environment, found, open_house, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(servers_nursery: Nursery, tmp_path: Path) -> Iterator[House]:
    """A house as `make run` makes it: SQLite, one local person, demo data."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}"
    opened = open_house(servers_nursery, url, tmp_path / "house", PLACET_AUTH="local", PLACET_PACKS="")
    yield opened
    opened.close()


class Terminal:
    """`python -m app chat` with its lines coming through a pipe."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.screen = ""
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, home: House, server: Server) -> "Terminal":
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-u", "-m", "app", "chat", "--url", server.url, "--locale", "zh"]
        process = await asyncio.create_subprocess_exec(
            *command, cwd=home.folder, env=environment(), stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT
        )
        return cls(process)

    async def sees(self, words: str, *, times: int = 1) -> None:
        try:
            await until(lambda: self.screen.count(words) >= times, f"{words!r} on the screen", 60)
        except TimeoutError as error:
            raise AssertionError(f"{error}; there was:\n{self.screen}") from error

    def type(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    async def leave(self) -> int:
        self.type("/quit")
        code = await self._process.wait()
        await self._reading
        return code

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while chunk := await self._process.stdout.read(4096):
            self.screen += chunk.decode(errors="replace")


async def test_said_approved_killed_undone(home: House) -> None:
    server = await home.start("--demo")
    terminal = await Terminal.open(home, server)
    before = await schedule(server)
    assert places_of(before, "线代复习") == []

    terminal.type("帮我把线代复习安排到周二下午")
    await terminal.sees("待安排 → ")
    assert await schedule(server) == before
    terminal.type("y")
    await terminal.sees("已")
    (place,) = await until_placed(server)
    assert date.fromisoformat(place["date"]).isoweekday() == 2
    assert place["slot_start"] >= 5

    server.kill()
    server = await home.start(port=server.port)
    assert places_of(await schedule(server), "线代复习") == [place]

    terminal.type("撤销")
    await terminal.sees("回复“是”就撤销")
    assert places_of(await schedule(server), "线代复习") == [place]
    terminal.type("是")
    await terminal.sees("已撤销")

    assert await schedule(server) == before
    assert await terminal.leave() == 0


async def until_placed(server: Server) -> list[dict[str, Any]]:
    async def placed() -> list[dict[str, Any]] | None:
        return places_of(await schedule(server), "线代复习") or None

    return await found(placed, "the approved task to have its place")


async def schedule(server: Server) -> dict[str, Any]:
    """The three weeks that the demo plans."""
    today = datetime.now(UTC).date()
    monday = today - timedelta(days=today.weekday())
    query = {"from": monday.isoformat(), "to": (monday + timedelta(days=20)).isoformat()}
    async with httpx.AsyncClient(base_url=server.url, timeout=20) as http:
        answer = await http.get("/api/schedule", params=query)
    days: dict[str, Any] = answer.raise_for_status().json()
    return days


def places_of(schedule: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for item in schedule["items"] if item["name"] == name]
