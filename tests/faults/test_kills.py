"""kill -9 at any point: what was approved happens once or not at all, and the conversation goes on."""

import asyncio
import os
import random
from datetime import UTC, datetime

import pytest

from tests.e2e.house import House, Server, found
from tests.e2e.stored import as_moment, assert_accepted, count, history, turns
from tests.e2e.visitor import Visitor, kinds, of_kind, said_last, text_in, visiting

pytestmark = pytest.mark.anyio

KILLS = int(os.environ.get("KILLS", "10"))
LATEST_S = 0.25
"""A run after an approval takes about a tenth of a second here: some kills come too early and some too late."""


async def test_a_turn_that_waits_outlives_the_server(house: House, server: Server, ann: Visitor) -> None:
    asked = await ann.say("c", "grow basil")
    shown = of_kind(asked, "data-approval")[0]["data"]
    server.kill()

    async with visiting(await house.start(), "ann") as again:
        conversation = await again.conversation("c")
        rebuilt = await again.get(f"/api/approvals/{shown['approval_id']}")
        retold = await again.rejoin("c")
        assert (conversation["status"], conversation["pending_approvals"]) == ("waiting", 1)
        assert rebuilt | shown == rebuilt
        assert [chunk["data"] for chunk in of_kind(retold, "data-approval")] == [shown]
        assert of_kind(retold, "tool-approval-request") == of_kind(asked, "tool-approval-request")
        assert of_kind(retold, "start") == of_kind(asked, "start")
        assert kinds(retold)[-2:] == ["finish", "[DONE]"]
        assert await again.plants() == {}

        await again.approve(shown["approval_id"])
        told = await again.settled("c")

        assert await again.plants() == {"basil": 0}
        assert said_last(told) == "basil: ok"
        assert text_in(await again.say("c", "water basil")) == ""
        assert len(await again.pending("c")) == 1
    assert await count(house.database_url, "ledger", tool="plant") == 1


async def test_a_reader_who_was_cut_by_the_kill_finds_the_card_once_more(
    house: House, server: Server, ann: Visitor
) -> None:
    asked = await ann.say("c", "grow basil")
    server.kill()

    async with visiting(await house.start(), "ann") as again:
        # The log that the number belongs to is lost: the stream is told from its beginning.
        retold = await again.rejoin("c", after=asked[-1].id)

    assert kinds(retold)[0] == "start"
    assert len(of_kind(retold, "data-approval")) == 1
    assert kinds(retold)[-2:] == ["finish", "[DONE]"]


async def test_killed_while_it_writes_it_writes_once_afterwards(house: House, server: Server, ann: Visitor) -> None:
    await ann.say("c", "grow basil")
    (card,) = await ann.pending("c")
    house.hold("plant-basil")
    await ann.approve(card["approval_id"])
    await house.held("plant-basil")
    server.kill()
    assert await count(house.database_url, "garden_plants") == 0
    house.release("plant-basil")

    async with visiting(await house.start(), "ann") as again:
        told = await again.settled("c")
        assert await again.plants() == {"basil": 0}
        assert said_last(told) == "basil: ok"
        await goes_on(again, "c")
    assert await count(house.database_url, "ledger", tool="plant") == 1
    await assert_accepted(house.database_url, "ann", "c")


async def test_killed_after_it_has_written_it_does_not_write_again(house: House, server: Server, ann: Visitor) -> None:
    await ann.say("c", "grow basil then look at basil")
    (card,) = await ann.pending("c")
    house.hold("basil")
    await ann.approve(card["approval_id"])
    await house.held("basil")
    assert await ann.plants() == {"basil": 0}
    server.kill()
    house.release("basil")

    async with visiting(await house.start(), "ann") as again:
        told = await again.settled("c")
        assert await again.plants() == {"basil": 0}
        assert said_last(told) == "basil: ok"
    assert await count(house.database_url, "ledger", tool="plant") == 1
    await assert_accepted(house.database_url, "ann", "c")


async def test_killed_while_it_reads_the_other_server_goes_on(
    house: House, server: Server, ann: Visitor, elsewhere: Visitor
) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses"):
        await house.held("roses")
        server.kill()
    house.release("roses")

    told = await elsewhere.settled("c")

    assert said_last(told).endswith("nobody could say how.")
    (turn,) = await turns(house.database_url, "ann", "c")
    assert (turn["status"], turn["epoch"]) == ("completed", 2)
    # The response with the call was stored before it was run: recovery doesn't ask the model for it again.
    assert len(await history(house.database_url, "ann", "c")) == 4
    await assert_accepted(house.database_url, "ann", "c")


async def test_a_lease_that_has_not_lapsed_is_not_taken(house: House, server: Server, ann: Visitor) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses"):
        await house.held("roses")
        for _ in range(2):
            async with visiting(await house.start(), "ann"):
                pass
        # Each of them has looked for lapsed turns at its start, and the lease is renewed meanwhile.
        await asyncio.sleep(1.5)
        (turn,) = await turns(house.database_url, "ann", "c")
        assert (turn["status"], turn["epoch"]) == ("running", 1)
        house.release("roses")
    await ann.settled("c")


async def test_a_write_that_outlasts_its_lease_happens_once(house: House, ann: Visitor, elsewhere: Visitor) -> None:
    await ann.say("c", "grow basil")
    (card,) = await ann.pending("c")
    house.hold("plant-basil")
    await ann.approve(card["approval_id"])
    await house.held("plant-basil")

    async def lapsed() -> bool | None:
        (turn,) = await turns(house.database_url, "ann", "c")
        return as_moment(turn["lease_until"]) < datetime.now(UTC) or None

    await found(lapsed, "the lease to lapse")
    house.release("plant-basil")
    told = await elsewhere.settled("c")

    assert await ann.plants() == {"basil": 0}
    assert said_last(told) == "basil: ok"
    assert await count(house.database_url, "ledger", tool="plant") == 1
    await assert_accepted(house.database_url, "ann", "c")


@pytest.mark.timeout(120 + 20 * KILLS)
async def test_killed_at_any_moment_after_an_approval_the_turn_settles_by_itself(house: House) -> None:
    moments = random.Random(7)
    server = await house.start()
    for number in range(KILLS):
        name = f"herb-{number}"
        async with visiting(server, "ann") as ann:
            await ann.say("c", f"grow {name}, {name}-too")
            for card in await ann.pending("c"):
                await ann.approve(card["approval_id"])
            await asyncio.sleep(moments.uniform(0, LATEST_S))
            server.kill()
        server = await house.start()
        async with visiting(server, "ann") as ann:
            told = await ann.settled("c")
            assert said_last(told) == f"{name}: ok; {name}-too: ok"
            assert {name, f"{name}-too"} <= set(await ann.plants())
    assert await count(house.database_url, "ledger", tool="plant") == 2 * KILLS
    assert await count(house.database_url, "changes", tool="plant") == 2 * KILLS
    assert await count(house.database_url, "approvals", status="executed") == 2 * KILLS
    assert {turn["status"] for turn in await turns(house.database_url, "ann", "c")} == {"completed"}
    await assert_accepted(house.database_url, "ann", "c")


async def goes_on(visitor: Visitor, conversation_id: str) -> None:
    """The next message works."""
    assert text_in(await visitor.say(conversation_id, "a story")).startswith("Day 1:")
