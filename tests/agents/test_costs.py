"""What doesn't grow, and what is built once."""

import time
from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, Tool
from pydantic_ai.models.test import TestModel
from sqlalchemy import event, insert

from agents.build import build_agent
from agents.gated import GatedToolset
from stores import messages, turns
from tests.agents.strict_provider import say
from tests.room import Room, room
from toolsets.registry import stand_in

pytestmark = pytest.mark.anyio


async def opening(here: Room) -> tuple[int, int]:
    """Statements, and bytes that went there and came back, while one more turn is opened."""
    costs: list[int] = []
    engine = here.runtime.database.writer.sync_engine

    def count(_connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        # The async drivers' cursors have read all rows by now, and keep them here until they are asked for.
        costs.append(len(statement) + len(repr(parameters)) + len(repr(list(cursor._rows))))  # noqa: SLF001

    event.listen(engine, "after_cursor_execute", count)
    try:
        opened = await here.opens("one more")
        counted = len(costs)
    finally:
        event.remove(engine, "after_cursor_execute", count)
    await here.rests(opened.turn_id)
    return counted, sum(costs[:counted])


async def lived_through(here: Room, turn_count: int) -> None:
    """Turns of an earlier life, copied from the latest one: they lie before everything that is there."""
    async with here.runtime.database.write() as connection:
        turn = (await turns.latest(connection, here.person.user_id, "c", 1))[0]
        said = await messages.of_turns(connection, here.person.user_id, "c", [turn.id])
        for number in range(turn_count):
            copy = replace(turn, id=f"old-{number}", number=-number, idempotency_key=f"old-{number}")
            await turns.add(connection, copy)
            rows = [
                {**vars(one), "user_id": "ann", "conversation_id": "c", "seq": -2 * number - nth, "turn_id": copy.id}
                for nth, one in enumerate(said)
            ]
            await connection.execute(insert(messages.TABLE), rows)


async def test_opening_a_turn_costs_the_same_after_many_messages(database_url: str) -> None:
    async with room(database_url, [say("Yes.")] * 27) as here:
        for _ in range(3):
            await here.says("hello")
        early = await opening(here)
        await lived_through(here, 250)
        late = await opening(here)
        assert (await here.rows("SELECT count(*) FROM messages"))[0][0] >= 500
        assert early[0] == late[0]
        assert late[1] <= early[1] * 1.2
        # The window stays bounded as well: what the model is sent doesn't grow.
        for _ in range(22):
            await here.says("hello")
        assert len(here.model.requests[-1]) <= 2 * here.runtime.setup.limits.window_turns + 1


async def test_an_agent_from_prebuilt_tools_costs_a_twentieth(database_url: str) -> None:
    async with room(database_url, []) as here:
        registry = here.runtime.registry
        specs = {name: spec for name, spec in registry.tools.items() if spec.toolset == "schedule"}
        model = TestModel()
        toolset = object.__new__(GatedToolset)

        def prebuilt() -> object:
            return build_agent(model, toolset, "Be brief.", 1000)

        def from_functions() -> object:
            tools = [Tool(stand_in(spec.declaration), takes_ctx=True) for spec in specs.values()]
            return Agent(model, tools=tools, output_type=[str, DeferredToolRequests], instructions="Be brief.")

        assert best(prebuilt) * 20 <= best(from_functions)


def best(build: object) -> float:
    """Seconds of CPU, the best of several."""
    assert callable(build)
    found: list[float] = []
    for _ in range(7):
        begun = time.process_time()
        build()
        found.append(time.process_time() - begun)
    return min(found)
