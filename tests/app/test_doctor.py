"""The doctor finds what keeps a server from working, and changes nothing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from app.doctor import Finding, examine
from app.settings import Settings, load_settings
from stores.database import Database

pytestmark = pytest.mark.anyio


def now() -> datetime:
    return datetime.now(UTC)


async def look(clock: Callable[[], datetime] = now, **given: object) -> dict[str, Finding]:
    def load() -> Settings:
        return load_settings(_env_file=None, **given)

    return {finding.what: finding for finding in await examine(load, clock)}


def contents(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def problems(findings: dict[str, Finding]) -> dict[str, str]:
    return {what: finding.said for what, finding in findings.items() if not finding.ok}


async def test_a_complete_house_has_no_problem(database_url: str, redis_url: str) -> None:
    findings = await look(database_url=database_url, redis_url=redis_url)

    assert problems(findings) == {}
    assert findings["migrations"].said == "the schema is complete"
    assert findings["redis"].said.endswith("answers")
    assert str(findings["model"]).startswith("ok       model")


async def test_a_database_that_is_not_there_yet_stays_so(tmp_path: Path) -> None:
    findings = await look(database_url=f"sqlite:///{tmp_path}/placet.db")

    assert problems(findings) == {}
    assert contents(tmp_path) == []


async def test_missing_versions_are_named_with_what_to_run(database: Database, empty_database_url: str) -> None:
    async with database.write() as connection:
        await connection.execute(text("SELECT 1"))

    assert "python -m app migrate" in problems(await look(database_url=empty_database_url))["migrations"]


async def test_wrong_settings_are_the_only_thing_to_say() -> None:
    findings = await look(port=0)

    assert list(findings) == ["settings"]
    assert problems(findings)["settings"].startswith("PLACET_PORT: ")


async def test_servers_that_are_away_are_problems_without_passwords() -> None:
    findings = await look(
        database_url="postgresql://placet:hushhush@127.0.0.1:1/placet", redis_url="redis://:hushhush@127.0.0.1:1"
    )

    assert set(problems(findings)) == {"database", "redis"}
    assert "hushhush" not in "".join(str(finding) for finding in findings.values())


async def test_a_model_without_its_key_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    findings = await look(database_url=f"sqlite:///{tmp_path}/placet.db", model="anthropic:claude-sonnet-4-5")

    assert problems(findings)["model"].startswith("ANTHROPIC_API_KEY: ")


async def test_a_clock_that_is_off_is_a_problem(database_url: str) -> None:
    findings = await look(lambda: datetime(1970, 1, 1, tzinfo=UTC), database_url=database_url)

    assert set(problems(findings)) == {"clock"}


@pytest.mark.parametrize("backend", ["postgresql"])
async def test_a_clock_away_from_the_databases_is_a_problem(database_url: str) -> None:
    findings = await look(lambda: now() + timedelta(minutes=2), database_url=database_url)

    assert "away from the database's" in problems(findings)["clock"]


async def test_a_folder_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    findings = await look(database_url=f"sqlite:///{tmp_path}/none/placet.db")

    assert "make it, or change PLACET_DATABASE_URL" in problems(findings)["folder"]


async def test_a_pack_that_can_not_be_had_is_a_problem(tmp_path: Path) -> None:
    findings = await look(database_url=f"sqlite:///{tmp_path}/placet.db", packs="nowhere.at:all")

    assert problems(findings)["packs"].startswith("PLACET_PACKS: 'nowhere.at:all'")
