"""Fixtures of the tests that start processes."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.e2e.house import House, Nursery, Server, nursery, open_house
from tests.e2e.visitor import Visitor, visiting


@pytest.fixture(scope="session")
def servers_nursery() -> Iterator[Nursery]:
    with nursery() as made:
        yield made


@pytest.fixture
def house(servers_nursery: Nursery, database_url: str, tmp_path: Path) -> Iterator[House]:
    """A database (SQLite, then PostgreSQL) over which servers can be started; all of them end with the test."""
    opened = open_house(servers_nursery, database_url, tmp_path / "house")
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture
async def server(house: House) -> Server:
    return await house.start()


@pytest.fixture
async def ann(server: Server) -> AsyncIterator[Visitor]:
    """Ann, at the first server."""
    async with visiting(server, "ann") as visitor:
        yield visitor


@pytest.fixture
async def elsewhere(house: House, ann: Visitor) -> AsyncIterator[Visitor]:
    """Ann, at a second server over the same database."""
    async with visiting(await house.start(), ann.user_id) as visitor:
        yield visitor


@pytest.fixture
def sqlite_house(servers_nursery: Nursery, tmp_path: Path) -> Iterator[House]:
    """A house over a SQLite file that isn't there yet."""
    opened = open_house(servers_nursery, f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}", tmp_path / "house")
    try:
        yield opened
    finally:
        opened.close()
