"""From a message to an answer: the model reads freely, and what was said stays."""

import pytest
from pydantic_ai.messages import ModelRequest, UserPromptPart

from tests.agents.strict_provider import call, say
from tests.room import room

pytestmark = pytest.mark.anyio


async def test_a_message_becomes_an_answer_and_both_are_kept(database_url: str) -> None:
    async with room(database_url, [call("names"), say("You have no classes."), say("Still none.")]) as here:
        done = await here.says("what classes do I have?")
        assert (done["status"], done["text"]) == ("completed", "You have no classes.")
        assert here.told() == [{"status": "ok", "names": []}]

        await here.says("and now?")
        requests = [message for message in here.model.requests[-1] if isinstance(message, ModelRequest)]
        said = [part.content for one in requests for part in one.parts if isinstance(part, UserPromptPart)]
        assert said == ["what classes do I have?", "and now?"]
