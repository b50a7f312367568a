"""SIGTERM: streams end, the process ends, and the turns that it ran go on elsewhere."""

import signal
import time

import httpx
import pytest

from tests.e2e.house import House, Server
from tests.e2e.stored import assert_accepted, count, turns
from tests.e2e.visitor import Visitor, said_last

pytestmark = pytest.mark.anyio

GRACE_S = 10


async def test_a_stopped_server_hands_its_running_turn_over(
    house: House, server: Server, ann: Visitor, elsewhere: Visitor
) -> None:
    house.hold("roses")
    async with ann.saying("c", "watch roses") as frames:
        await house.held("roses")
        began = time.monotonic()
        server.signal(signal.SIGTERM)
        try:
            cut = await frames.all()
        except httpx.RemoteProtocolError:
            cut = []
        assert "[DONE]" not in [frame.data for frame in cut]
        assert await server.wait() == 0
        assert time.monotonic() - began < GRACE_S
    house.release("roses")

    told = await elsewhere.settled("c")

    assert said_last(told).endswith("nobody could say how.")
    (turn,) = await turns(house.database_url, "ann", "c")
    assert turn["status"] == "completed"
    await assert_accepted(house.database_url, "ann", "c")


async def test_a_stopped_server_does_not_cut_a_write_in_half(
    house: House, server: Server, ann: Visitor, elsewhere: Visitor
) -> None:
    await ann.say("c", "grow basil")
    (card,) = await ann.pending("c")
    house.hold("plant-basil")
    await ann.approve(card["approval_id"])
    await house.held("plant-basil")
    server.signal(signal.SIGTERM)
    house.release("plant-basil")

    assert await server.wait() == 0
    told = await elsewhere.settled("c")

    assert await elsewhere.plants() == {"basil": 0}
    assert said_last(told) == "basil: ok"
    assert await count(house.database_url, "ledger", tool="plant") == 1
    await assert_accepted(house.database_url, "ann", "c")
    assert "Traceback" not in server.log
