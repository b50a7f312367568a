"""Nothing that waits is lost with the process: another one takes it up."""

import pytest

from tests.agents.strict_provider import call, say
from tests.room import room

pytestmark = pytest.mark.anyio


async def test_a_card_survives_a_restart_and_is_carried_out_by_the_next_process(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "maths"})]) as before:
        card = (await before.says("add maths"))["approvals"][0]
    async with room(database_url, [say("Added.")]) as after:
        done = await after.approves(card)
        assert await after.names() == ["maths"]
        assert (done["status"], done["text"]) == ("completed", "Added.")
