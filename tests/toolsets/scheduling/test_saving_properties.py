"""Any state that operations lead to comes back from the database as it was."""

import asyncio
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from stores.database import open_database
from tests.toolsets.scheduling.stored import make_tables, store_state, stored_state, writing
from tests.toolsets.scheduling.test_rules_properties import Operation, operations, run
from toolsets.scheduling.save import save


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(operations, max_size=6), st.lists(operations, max_size=6))
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, first: list[Operation], then: list[Operation]) -> None:
    path = tmp_path / f"{len(list(tmp_path.glob('*.db')))}.db"
    asyncio.run(_saved_and_loaded(path, first, then))


async def _saved_and_loaded(path: Path, first: list[Operation], then: list[Operation]) -> None:
    database = open_database(f"sqlite+aiosqlite:///{path}")
    await make_tables(database)
    before, after = run(first), run(first + then)
    await store_state(database, before)
    assert await stored_state(database) == before
    async with writing(database) as deps:
        await save(deps, before, after)
    assert await stored_state(database) == after
    await database.close()
