"""Who may import whom: the contracts of `pyproject.toml`, and that no pack is left out of them."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
CORE = {"gate", "memory", "planning"}
"""Folders of `toolsets/` that belong to the runtime."""


def contracts() -> dict[str, Any]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {contract["name"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def packs() -> set[str]:
    folders = {path.parent.name for path in (ROOT / "toolsets").glob("*/__init__.py")}
    return {f"toolsets.{name}" for name in folders - CORE}


def test_every_import_goes_the_allowed_way() -> None:
    # As a process: within this one the linter would switch every logger off that it finds.
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.parametrize(
    ("contract", "list_name"),
    [
        ("Packs don't know each other", "modules"),
        ("The runtime knows no domain", "forbidden_modules"),
        ("A pack reaches rows by the session it is given, and no model", "source_modules"),
    ],
)
def test_every_pack_is_under_the_contracts(contract: str, list_name: str) -> None:
    assert set(contracts()[contract][list_name]) == packs()
