"""The schema is complete before the server starts, or the server says what is missing."""

from pathlib import Path

import pytest

from app.errors import CommandError
from app.schema import bring_up_to_date, require_complete
from app.settings import Settings, load_settings

pytestmark = pytest.mark.anyio


def settings(url: str) -> Settings:
    return load_settings(_env_file=None, database_url=url)


async def test_a_missing_version_is_named_and_then_applied(empty_database_url: str) -> None:
    house = settings(empty_database_url)

    with pytest.raises(CommandError, match=r"lacks 1 schema version.*python -m app migrate"):
        await require_complete(house, ())

    applied = await bring_up_to_date(house, ())
    await require_complete(house, ())
    assert len(applied) >= 1
    assert await bring_up_to_date(house, ()) == []


@pytest.mark.parametrize("address", ["sqlite:////nowhere/at/all.db", "postgresql://placet:pw@127.0.0.1:1/placet"])
async def test_a_database_that_is_away_is_one_sentence_without_its_password(address: str) -> None:
    for prepare in (bring_up_to_date, require_complete):
        with pytest.raises(CommandError, match=r"^PLACET_DATABASE_URL: ") as refused:
            await prepare(settings(address), ())
        assert "\n" not in str(refused.value)
        assert "pw" not in str(refused.value)


async def test_a_database_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    house = settings(f"sqlite:///{tmp_path}/placet.db")
    newer = tmp_path / "versions"
    newer.mkdir()
    (newer / "9999.py").write_text("revision = '9999'\ndown_revision = None\ndef upgrade(): pass\n")
    await bring_up_to_date(house, (newer,))

    with pytest.raises(CommandError, match=r"9999.*Install the newer release"):
        await bring_up_to_date(house, ())
