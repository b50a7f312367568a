"""A write is shown as the exact difference it would make; that difference or nothing happens."""

import pytest

from tests.agents.strict_provider import call, say
from tests.room import room

pytestmark = pytest.mark.anyio


async def test_a_write_waits_for_approval_and_then_happens(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "maths"}), say("Added.")]) as here:
        before = await here.domain()
        waiting = await here.says("add maths")
        assert waiting["status"] == "waiting"
        assert await here.domain() == before

        done = await here.approves(waiting["approvals"][0])
        assert await here.names() == ["maths"]
        assert (done["status"], done["text"]) == ("completed", "Added.")


async def test_a_denied_write_leaves_everything_as_it_was_and_the_model_hears_why(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "maths"}), say("As you wish.")]) as here:
        before = await here.domain()
        waiting = await here.says("add maths")
        done = await here.denies(waiting["approvals"][0], reason="not this week")
        assert await here.domain() == before
        assert done["status"] == "completed"
        assert "not this week" in here.told()[-1]
