"""A turn is offered what its message might need; the rest is found by search."""

import pytest

from tests.agents.strict_provider import say
from tests.room import room

pytestmark = pytest.mark.anyio


async def test_a_keyword_offers_a_toolset_and_later_turns_keep_it(database_url: str) -> None:
    async with room(database_url, [say("Hello."), say("Ready."), say("Again.")]) as here:
        await here.says("hello")
        await here.says("abracadabra")
        await here.says("once more")
        plain, magic, sticky = here.model.offered
        assert "names" in plain
        assert "rabbit" not in plain
        assert "rabbit" in magic
        assert "rabbit" in sticky
