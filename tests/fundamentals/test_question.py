"""The model may ask: the turn waits for words and goes on with them."""

import pytest

from tests.agents.strict_provider import call, say
from tests.room import room

pytestmark = pytest.mark.anyio


async def test_the_next_message_answers_the_question(database_url: str) -> None:
    asking = call("ask_user", {"question": "Which day?", "options": ["Monday", "Friday"]})
    async with room(database_url, [asking, say("Friday, then.")]) as here:
        waiting = await here.says("plan my week")
        assert (waiting["status"], waiting["question"]["question"]) == ("waiting", "Which day?")

        done = await here.says("Friday")
        assert (done["turn_id"], done["text"]) == (waiting["turn_id"], "Friday, then.")
        assert here.told() == [{"status": "ok", "answer": "Friday"}]
