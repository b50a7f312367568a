"""While a turn runs: others follow it, leave it, stop it, and find it busy."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.auth import LOCAL_USER
from gateway.errors import RateLimited
from gateway.sse import HEARTBEAT
from gateway.state import gateway_in
from stores.events.memory import MemoryEventLog
from tests.contracts.sdk import StreamReader
from tests.gateway.desk import WAIT_S, Answer, Desk, desk
from tests.gateway.held import HeldModel
from tests.gateway.reading import Page, text

pytestmark = pytest.mark.anyio

REJOIN = "/api/conversation/c1/stream"


@pytest.fixture
def page(reader: StreamReader, tmp_path: Path) -> Page:
    return Page(reader=reader, folder=tmp_path)


@asynccontextmanager
async def held(at: Desk, model: HeldModel) -> AsyncIterator[asyncio.Task[Answer]]:
    """A turn that has begun to speak and waits, with its first reader."""
    reading = asyncio.create_task(at.say("What is free?"))
    try:
        await asyncio.wait_for(model.reached.wait(), WAIT_S)
        yield reading
    finally:
        model.go.set()
        await asyncio.wait({reading})


async def test_a_running_turn_is_joined_from_its_beginning(database_url: str, page: Page) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model, open_streams=2) as at, held(at, model) as reading:
        joining = asyncio.create_task(at.stream("GET", REJOIN))
        while has_room(at):  # noqa: ASYNC110 - the limits have no event, and shall not have one for this
            await asyncio.sleep(0)
        model.go.set()
        first, joined = await reading, await joining
    assert joined.body == first.body
    assert text(page.read(joined)) == "Friday is free. And more."
    assert joined.headers["x-conversation-id"] == "c1"


@pytest.mark.parametrize("said", ["", "Friday is free."])
async def test_a_cancelled_turn_ends_its_stream_and_keeps_what_was_said(
    database_url: str, page: Page, said: str
) -> None:
    model = HeldModel(said)
    async with desk(database_url, model) as at, held(at, model) as reading:
        told = await at.ask("POST", "/api/conversation/c1/cancel")
        answer = await reading
        stored = await at.get("/api/conversations/c1")
    assert told.json() == {
        "conversation_id": "c1",
        "turn_id": answer.headers["x-turn-id"],
        "status": "cancelled",
        "applied": [],
    }
    assert text(page.read(answer)) == said
    assert answer.of("abort") == [{"type": "abort", "reason": "cancelled"}]
    assert text(stored["messages"][1]) == said
    assert stored["messages"][1]["metadata"]["status"] == "cancelled"
    assert stored["status"] == "idle"


async def test_cancelling_where_nothing_runs_says_so(database_url: str) -> None:
    model = HeldModel("Friday.")
    model.go.set()
    async with desk(database_url, model) as at:
        await at.say("What is free?")
        told = await at.ask("POST", "/api/conversation/c1/cancel")
    assert told.json() == {"conversation_id": "c1", "turn_id": None, "status": "idle", "applied": []}


async def test_a_second_message_finds_the_conversation_busy(database_url: str) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model) as at, held(at, model):
        refused = await at.ask("POST", "/api/conversation/stream", at.message("And Monday?"))
        whole = await at.ask("POST", "/api/conversation", at.message("And Monday?"))
        again = await at.ask("POST", "/api/conversation/c1/regenerate")
        listed = await at.get("/api/conversations")
    for answer in (refused, whole, again):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "turn_in_progress")
    assert listed["items"][0]["status"] == "running"


async def test_the_same_message_joins_the_turn_that_it_opened(database_url: str) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model) as at:
        body = at.message("What is free?")
        first = asyncio.create_task(at.stream("POST", "/api/conversation/stream", body))
        await asyncio.wait_for(model.reached.wait(), WAIT_S)
        second = asyncio.create_task(at.stream("POST", "/api/conversation/stream", body))
        changed = {**body, "message": {**body["message"], "parts": [{"type": "text", "text": "Something else"}]}}
        conflict = await at.ask("POST", "/api/conversation/stream", changed)
        model.go.set()
        answers = [await first, await second]
        late = await at.stream("POST", "/api/conversation/stream", body)
    assert (conflict.status_code, conflict.json()["error"]["code"]) == (409, "idempotency_conflict")
    assert answers[0].body == answers[1].body == late.body
    assert answers[0].headers["x-turn-id"] == late.headers["x-turn-id"]


async def test_a_message_may_interrupt_the_one_before(database_url: str, page: Page) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model) as at, held(at, model) as reading:
        model.go.clear()
        instead = asyncio.create_task(at.say("No, Monday!", onBusy="interrupt"))
        cut = await reading
        model.go.set()
        answer = await instead
    assert cut.of("abort")
    assert text(page.read(answer)) == "Friday is free. And more."
    assert cut.headers["x-turn-id"] != answer.headers["x-turn-id"]


async def test_a_reader_that_leaves_stops_nothing(database_url: str) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model) as at, held(at, model) as reading:
        reading.cancel()
        await asyncio.wait({reading})
        assert (await at.get("/api/conversations/c1"))["status"] == "running"
        model.go.set()
        # Ends with the turn, whether it joins in time or not.
        await at.stream("GET", REJOIN)
        stored = await at.get("/api/conversations/c1")
    assert text(stored["messages"][1]) == "Friday is free. And more."


async def test_a_silent_stream_shows_that_it_lives(
    database_url: str, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = MemoryEventLog(heartbeat_s=0.01)
    monkeypatch.setattr("app.wiring.MemoryEventLog", lambda: silent)
    model = HeldModel("Friday is free.")
    async with desk(database_url, model) as at, held(at, model) as reading:
        beats = 0
        turn_id = (await at.get("/api/conversations/c1"))["open_turn_id"]
        async for batch in silent.follow(turn_id):
            beats += not batch
            if beats == 3:
                break
        model.go.set()
        answer = await reading
    assert HEARTBEAT.decode() in answer.body
    assert text(page.read(answer)) == "Friday is free. And more."


async def test_the_whole_answer_waits_until_the_turn_rests(database_url: str) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model) as at:
        asked = asyncio.create_task(at.ask("POST", "/api/conversation", at.message("What is free?")))
        await asyncio.wait_for(model.reached.wait(), WAIT_S)
        assert not asked.done()
        model.go.set()
        answer = await asked
    assert answer.json()["text"] == "Friday is free. And more."
    assert answer.json()["status"] == "completed"


async def test_more_turns_at_once_than_allowed_are_too_many(database_url: str) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model, running_turns=1) as at, held(at, model):
        refused = await at.ask("POST", "/api/conversation/stream", at.message("And here?", "c2"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) > 0


async def test_more_streams_at_once_than_allowed_are_too_many(database_url: str) -> None:
    model = HeldModel("Friday is free.")
    async with desk(database_url, model, open_streams=1) as at, held(at, model):
        refused = [await at.ask("GET", REJOIN), await at.ask("POST", "/api/conversation/stream", at.message("x", "c2"))]
        whole = await at.ask("POST", "/api/conversation/c1/cancel")
    assert [answer.status_code for answer in refused] == [429, 429]
    assert whole.status_code == 200


def has_room(at: Desk) -> bool:
    """Whether the person might open one more stream."""
    try:
        gateway_in(at.app).limits.check_streams(LOCAL_USER)
    except RateLimited:
        return False
    return True
