"""Who approves may change the arguments: the card is made anew, and that is what happens."""

import pytest

from tests.agents.strict_provider import call, say
from tests.room import room

pytestmark = pytest.mark.anyio


async def test_an_edited_card_is_shown_anew_and_what_it_shows_happens(database_url: str) -> None:
    async with room(database_url, [call("add", {"name": "maths"}), say("Physics it is.")]) as here:
        card = (await here.says("add maths"))["approvals"][0]
        await here.approves(card, arguments={"name": "physics"})
        assert await here.names() == []

        edited = await here.approval(card)
        assert (edited["status"], edited["rows"][0]["label"]) == ("pending", "physics")
        done = await here.approves(edited)
        assert await here.names() == ["physics"]
        assert done["text"] == "Physics it is."
