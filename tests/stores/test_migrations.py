"""The schema as versions make it, against the tables as they are written down."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine.interfaces import ReflectedIndex

from stores.errors import UnknownVersion
from stores.migrate import alembic_config, in_transaction, migrate, pending
from stores.tables import Base

pytestmark = pytest.mark.anyio

PACK_VERSION = """
import sqlalchemy as sa
from alembic import op

revision = "notes1"
down_revision = None
branch_labels = ("notes",)
depends_on = None


def upgrade() -> None:
    op.create_table("notes_notes", sa.Column("id", sa.Integer, primary_key=True))
    {more}
"""


@pytest.fixture
def pack_history(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the version folder of a pack that has a history of its own."""

    def write(more: str) -> Path:
        folder = tmp_path / "versions"
        folder.mkdir()
        (folder / "notes1_notes.py").write_text(PACK_VERSION.format(more=more))
        return folder

    return write


def tables_of(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def index_line(index: ReflectedIndex) -> str:
    """The condition of a partial index by what it says, not by which object it is."""
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return str({**index, "dialect_options": options})


def schema_of(connection: Connection) -> dict[str, list[str]]:
    """Everything that the database enforces or looks up by, one list a table."""
    inspector = inspect(connection)
    looks = (
        inspector.get_columns,
        inspector.get_unique_constraints,
        inspector.get_foreign_keys,
        inspector.get_check_constraints,
    )
    return {
        table: [
            str(inspector.get_pk_constraint(table)),
            *sorted(index_line(index) for index in inspector.get_indexes(table)),
            *sorted(str(found) for look in looks for found in look(table)),
        ]
        for table in sorted(tables_of(connection) - {"alembic_version"})
    }


async def test_versions_make_the_tables_that_the_code_names(empty_database_url: str, every_table: None) -> None:
    await migrate(empty_database_url)

    def compare(connection: Connection) -> object:
        settings = {"compare_type": True, "compare_server_default": True}
        return compare_metadata(MigrationContext.configure(connection, opts=settings), Base.metadata)

    assert await in_transaction(empty_database_url, compare) == []


async def test_versions_make_the_same_indexes_and_constraints_as_the_code(
    empty_database_url: str, every_table: None
) -> None:
    def build(connection: Connection) -> dict[str, list[str]]:
        Base.metadata.create_all(connection)
        built = schema_of(connection)
        Base.metadata.drop_all(connection)
        return built

    built = await in_transaction(empty_database_url, build)
    await migrate(empty_database_url)
    assert await in_transaction(empty_database_url, schema_of) == built


async def test_every_version_can_be_taken_back(empty_database_url: str) -> None:
    await migrate(empty_database_url)
    await in_transaction(
        empty_database_url, lambda connection: command.downgrade(alembic_config(connection=connection), "base")
    )
    assert await in_transaction(empty_database_url, tables_of) == {"alembic_version"}


async def test_migrating_again_does_nothing(empty_database_url: str) -> None:
    missing = await pending(empty_database_url)
    assert missing[0] == "0001"
    assert await migrate(empty_database_url) == missing
    assert await pending(empty_database_url) == []
    assert await migrate(empty_database_url) == []


def test_of_several_processes_that_migrate_at_once_one_does_the_work(empty_database_url: str) -> None:
    program = "import asyncio, sys; from stores.migrate import migrate; print(asyncio.run(migrate(sys.argv[1])))"
    processes = [
        subprocess.Popen([sys.executable, "-c", program, empty_database_url], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = sorted((process.communicate()[0].strip() for process in processes), key=len)
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert said[:2] == ["[]", "[]"]
    assert "'0001'" in said[2]


async def test_a_pack_brings_a_history_of_its_own(empty_database_url: str, pack_history: Callable[[str], Path]) -> None:
    await migrate(empty_database_url)
    folder = pack_history("")
    assert await pending(empty_database_url, [folder]) == ["notes1"]
    assert await migrate(empty_database_url, [folder]) == ["notes1"]
    assert "notes_notes" in await in_transaction(empty_database_url, tables_of)
    assert await migrate(empty_database_url, [folder]) == []


async def test_a_version_that_fails_leaves_the_database_as_it_was(
    empty_database_url: str, pack_history: Callable[[str], Path]
) -> None:
    folder = pack_history('raise RuntimeError("no")')
    with pytest.raises(RuntimeError, match="no"):
        await migrate(empty_database_url, [folder])
    assert await in_transaction(empty_database_url, tables_of) == set()


async def test_a_database_that_is_ahead_is_left_alone_and_counts_as_ready(empty_database_url: str) -> None:
    await migrate(empty_database_url)
    await in_transaction(
        empty_database_url,
        lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = 'from-tomorrow'")),
    )
    with pytest.raises(UnknownVersion, match="from-tomorrow"):
        await migrate(empty_database_url)
    assert await pending(empty_database_url) == []
