"""Many messages at once: each has one answer or a clean refusal."""

import asyncio

import httpx
import pytest

from tests.e2e.house import House
from tests.e2e.stored import assert_accepted, turns
from tests.e2e.visitor import Visitor, visiting

pytestmark = pytest.mark.anyio

CROWD = 20


async def test_twenty_messages_to_one_new_conversation(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    visitors = [ann, elsewhere]
    posts = [post(visitors[n % 2], "c", f"a story {n}", f"m-{n}") for n in range(CROWD)]
    answers = await asyncio.gather(*posts)
    told = await ann.settled("c")

    answered = [n for n, answer in enumerate(answers) if answer.status_code == 200]
    assert answered
    assert {answer.status_code for answer in answers} <= {200, 409}
    refused = [answer.json()["error"]["code"] for answer in answers if answer.status_code == 409]
    assert refused == ["turn_in_progress"] * (CROWD - len(answered))
    made = await turns(house.database_url, "ann", "c")
    assert {turn["status"] for turn in made} == {"completed"}
    assert sorted(turn["message_text"] for turn in made) == sorted(f"a story {n}" for n in answered)
    assert [message["role"] for message in told["messages"]] == ["user", "assistant"] * len(answered)
    assert [message["parts"][0]["text"] for message in told["messages"][::2]] == [turn["message_text"] for turn in made]
    await assert_accepted(house.database_url, "ann", "c")


async def test_the_same_first_message_many_times_is_one_turn(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    visitors = [ann, elsewhere]
    answers = await asyncio.gather(*(post(visitors[n % 2], "c", "a story", "m-1") for n in range(CROWD)))

    assert [answer.status_code for answer in answers] == [200] * CROWD
    (turn,) = await turns(house.database_url, "ann", "c")
    assert {answer.headers["x-turn-id"] for answer in answers} == {turn["id"]}
    assert {answer.json()["text"] for answer in answers} == {answers[0].json()["text"]}
    assert answers[0].json()["text"].endswith("nobody could say how.")


async def test_the_same_ids_of_two_people_are_two_conversations(house: House, ann: Visitor) -> None:
    async with visiting(house.servers[0], "bob") as bob:
        answers = await asyncio.gather(post(ann, "c", "a story", "m-1"), post(bob, "c", "grow basil", "m-1"))
        assert [answer.status_code for answer in answers] == [200, 200]
        (card,) = await bob.pending("c")
        assert await ann.pending("c") == []
        assert (await ann.decide(card["approval_id"])).status_code == 404
        assert await bob.plants() == {}


async def post(visitor: Visitor, conversation_id: str, text: str, message_id: str) -> httpx.Response:
    return await visitor.http.post("/api/conversation", json=visitor.body(conversation_id, text, message_id))
