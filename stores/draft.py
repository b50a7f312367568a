"""Drafts a version of the schema from the tables as they are written down: `python -m stores.draft --help`."""

import argparse
import asyncio
import tempfile
from importlib import import_module
from pathlib import Path

from alembic import command
from alembic.script import Script
from sqlalchemy import Connection

from stores.migrate import VERSIONS, alembic_config, in_transaction, migrate


async def draft(version: str, message: str, folder: Path = VERSIONS) -> Path:
    """Write the version that takes the last one's schema to `Base.metadata`, and return its file.

    Read it before it is committed: Alembic doesn't see renames, changed checks, or changed conditions of indexes.
    """

    def write(connection: Connection) -> Path:
        config = alembic_config((folder,), connection=connection)
        script = command.revision(config, message, autogenerate=True, rev_id=version, version_path=folder, head="heads")
        assert isinstance(script, Script), "one folder makes one script"
        return _without_remarks(Path(script.path))

    with tempfile.TemporaryDirectory() as scratch:
        url = f"sqlite+aiosqlite:///{scratch}/placet.db"
        await migrate(url, (folder,))
        return await in_transaction(url, write)


def _without_remarks(path: Path) -> Path:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.lstrip().startswith("# ###")))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m stores.draft", description=__doc__)
    parser.add_argument("version", help="its id, such as 0002; an unfinished file of that id is replaced")
    parser.add_argument("message", help="what it changes, in a few words")
    parser.add_argument("--tables", nargs="*", default=[], help="modules that hold packs' tables")
    arguments = parser.parse_args()
    for module in arguments.tables:
        import_module(module)
    for unfinished in VERSIONS.glob(f"{arguments.version}_*.py"):
        unfinished.unlink()
    print(asyncio.run(draft(arguments.version, arguments.message)))


if __name__ == "__main__":
    main()
