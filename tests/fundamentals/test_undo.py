"""What was done can be undone, exactly, and the undo itself as well."""

import pytest

from tests.agents.strict_provider import call, say
from tests.room import room

pytestmark = pytest.mark.anyio


async def test_a_change_is_undone_and_done_again(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "maths"}), say("Added.")]) as here:
        before = await here.domain()
        await here.approves((await here.says("add maths"))["approvals"][0])
        changes, _ = await here.runtime.changes(here.person, "c", None, 10)

        undone = await here.runtime.revert(here.person, changes[0]["id"])
        assert await here.domain() == before
        await here.runtime.revert(here.person, undone["id"])
        assert await here.names() == ["maths"]
