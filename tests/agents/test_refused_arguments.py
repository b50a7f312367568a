"""Arguments that can't be taken without guessing are never shown and never carried out; what came after them works."""

import pytest

from tests.agents.strict_provider import Step, call, say
from tests.room import room

pytestmark = pytest.mark.anyio

ADDED: list[Step] = [call("add", {"name": "a"}), say("Added.")]
REFUSED = [
    '{"name": "a", "slots": 1.5}',
    '{"name": "a", "slots": 3.0}',
    '{"name": "a", "slots": true}',
    '{"name": "a", "slots": "3.0"}',
    '{"name": "a", "slots": "three"}',
    '{"name": "a", "slots": null}',
    '{"name": "a", "slots": Infinity}',
    '{"name": "a", "slots": 3, "slots": 4}',
    '{"name": "a", "slots": 3}{"name": "a", "slots": 4}',
    '[{"name": "a", "slots": 3}]',
    "null",
    "",
]


async def test_they_are_corrected_and_the_next_five_turns_work(database_url: str) -> None:
    wrong: list[Step] = [step for text in REFUSED for step in (call("budget", text), say("Sorry."))]
    async with room(database_url, [*ADDED, *wrong, *[say("Yes.")] * 5]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        before = await here.domain()
        for text in REFUSED:
            done = await here.says(f"set its slots: {text}")
            assert (done["status"], done["approvals"], done["text"]) == ("completed", [], "Sorry.")
        assert await here.domain() == before
        assert len(await here.rows("SELECT id FROM approvals")) == 1
        for _ in range(5):
            assert (await here.says("are you well?"))["text"] == "Yes."


@pytest.mark.parametrize("slots", ['"3"', '" 3 "', '"+3"'])
async def test_a_whole_number_sent_as_text_is_taken_as_the_number(database_url: str, slots: str) -> None:
    step = call("budget", f'```json\n{{"name": "a", "slots": {slots}}}\n```')
    async with room(database_url, [*ADDED, step]) as here:
        await here.approves((await here.says("add a"))["approvals"][0])
        card = (await here.says("three slots"))["approvals"][0]
        assert card["arguments"] == {"name": "a", "slots": 3}


async def test_a_right_call_in_between_begins_the_count_of_corrections_anew(database_url: str) -> None:
    wrong = call("budget", "[]")
    steps: list[Step] = [wrong, wrong, wrong, call("names"), wrong, wrong, wrong, say("I give up.")]
    async with room(database_url, steps) as here:
        done = await here.says("set its slots")
        assert (done["status"], done["partial"], done["text"]) == ("completed", False, "I give up.")
