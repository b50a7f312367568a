"""Packs are found where they are installed and where a setting names them."""

from pathlib import Path

import pytest

from app.packs import load_packs
from app.settings import Settings, SettingsError, load_settings
from toolsets.errors import RegistrationError
from toolsets.pack import Pack

SHIPPED = ["planning", "scheduling"]
MODULE = """
from toolsets.pack import Pack

pack = Pack(name="garden", toolsets=())
number = 7

def build():
    return pack
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python imports from, with a module `garden_pack`."""
    (tmp_path / "garden_pack.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType] - pytest leaves it untyped
    return tmp_path


def settings(packs: str = "") -> Settings:
    return load_settings(_env_file=None, packs=packs)


def install(folder: Path, target: str) -> None:
    """What an installer leaves behind for a distribution with an entry point."""
    about = folder / "garden-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: garden\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[placet.packs]\ngarden = {target}\n")


def names(packs: tuple[Pack, ...]) -> list[str]:
    return [pack.name for pack in packs]


def test_the_packs_that_ship_are_always_there() -> None:
    assert names(load_packs(settings())) == SHIPPED


@pytest.mark.parametrize("path", ["garden_pack:pack", "garden_pack:build"])
def test_a_setting_names_a_pack_or_what_makes_one(path: str) -> None:
    assert names(load_packs(settings(path))) == [*SHIPPED, "garden"]


def test_an_installed_pack_is_found(elsewhere: Path) -> None:
    install(elsewhere, "garden_pack:build")

    assert names(load_packs(settings())) == [*SHIPPED, "garden"]


@pytest.mark.parametrize("path", ["nowhere.at:all", "garden_pack:missing", "garden_pack:number", "garden pack"])
def test_a_named_pack_that_can_not_be_had_is_a_sentence_with_the_setting(path: str) -> None:
    with pytest.raises(SettingsError, match=f"^PLACET_PACKS: '{path}' can't be used"):
        load_packs(settings(path))


def test_an_installed_pack_that_can_not_be_had_is_named(elsewhere: Path) -> None:
    install(elsewhere, "garden_pack:number")

    with pytest.raises(RegistrationError, match="'garden'"):
        load_packs(settings())
