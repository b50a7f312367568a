"""The AI SDK's own chat, as `useChat` runs it, against the server: says, votes, and shows one message that goes on."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.agents.strict_provider import ScriptedModel, call, say
from tests.contracts.sdk import chat_command
from tests.gateway.desk import JSON, WAIT_S, desk
from tests.gateway.listening import listening
from tests.gateway.reading import states, text, tools

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sdk")]

PLACING = call("place", {"task_id": 9, "day": 2, "slot_start": 7})
BOTH = [PLACING, call("place", {"task_id": 10, "day": 3, "slot_start": 7})]


async def chat(base_url: str, *acts: Mapping[str, Any]) -> Sequence[JSON]:
    """The messages that the chat shows after all acts; it must not have stumbled."""
    command = chat_command(base_url, "c1", acts)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    told, _ = await asyncio.wait_for(process.communicate(), WAIT_S)
    shown = json.loads(told)
    assert shown["errors"] == []
    return shown["messages"]


async def test_an_approved_call_goes_on_in_the_message_that_asked(database_url: str) -> None:
    steps = [[say("This would do."), PLACING], say("Placed."), say("You are welcome.")]
    async with desk(database_url, ScriptedModel(steps)) as at, listening(at.app) as url:
        shown = await chat(url, {"say": "Place linear algebra"}, {"vote": [True]}, {"say": "Thank you"})
        stored = (await at.get("/api/conversations/c1"))["messages"]
    assert [message["role"] for message in shown] == ["user", "assistant", "user", "assistant"]
    assert [message["id"] for message in shown] == [message["id"] for message in stored]
    assert [part["type"] for part in shown[1]["parts"] if not part["type"].startswith("data-")] == [
        "step-start",
        "text",
        "tool-place",
        "step-start",
        "text",
    ]
    assert states(shown[1]) == ["output-available"]
    assert text(shown[1]) == "This would do.\nPlaced."


async def test_one_yes_and_one_no_are_told_apart(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([BOTH, say("One of the two.")])) as at, listening(at.app) as url:
        shown = await chat(url, {"say": "Place both"}, {"vote": [True, False], "reason": "Wednesday is full"})
        approvals = await at.get("/api/approvals")
    assert states(shown[1]) == ["output-available", "output-denied"]
    assert [part["approval"]["approved"] for part in tools(shown[1])] == [True, False]
    assert {one["short_name"]: one["status"] for one in approvals["items"]} == {"A1": "executed", "A2": "denied"}
    assert {one["decision"]["door"] for one in approvals["items"]} == {"stream"}
    assert approvals["items"][0]["decision"]["reason"] == "Wednesday is full"


async def test_a_second_pause_of_the_same_message_is_voted_on_too(database_url: str) -> None:
    steps = [[BOTH[0]], [BOTH[1]], say("Both are placed.")]
    async with desk(database_url, ScriptedModel(steps)) as at, listening(at.app) as url:
        shown = await chat(url, {"say": "Place both"}, {"vote": [True]}, {"vote": [True]})
    assert len(shown) == 2
    assert states(shown[1]) == ["output-available", "output-available"]
    assert text(shown[1]) == "Both are placed."


async def test_a_typed_yes_completes_the_message_that_asked(database_url: str) -> None:
    steps = [[say("This would do."), PLACING], say("Placed.")]
    async with desk(database_url, ScriptedModel(steps)) as at, listening(at.app) as url:
        shown = await chat(url, {"say": "Place linear algebra"}, {"say": "yes"})
        stored = (await at.get("/api/conversations/c1"))["messages"]
    assert [message["id"] for message in shown] == [message["id"] for message in stored]
    assert (states(shown[1]), text(shown[1])) == (["output-available"], "This would do.\nPlaced.")


async def test_a_typed_answer_completes_the_message_that_asked(database_url: str) -> None:
    steps = [[call("ask_user", {"question": "Which day?"})], say("Friday then.")]
    async with desk(database_url, ScriptedModel(steps)) as at, listening(at.app) as url:
        shown = await chat(url, {"say": "Place linear algebra"}, {"say": "Friday"})
    assert (states(shown[1]), text(shown[1])) == (["output-available"], "Friday then.")


async def test_regenerating_replaces_the_last_answer(database_url: str) -> None:
    async with desk(database_url, ScriptedModel([say("First."), say("Second.")])) as at, listening(at.app) as url:
        shown = await chat(url, {"say": "What is free?"}, {"again": True})
        stored = (await at.get("/api/conversations/c1"))["messages"]
    assert [text(message) for message in shown] == ["What is free?", "Second."]
    assert [message["id"] for message in shown] == [message["id"] for message in stored]
