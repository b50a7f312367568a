"""A stream is one reader of a log: it may leave, stall or be ended, and nobody else notices."""

import asyncio
import json
from collections.abc import AsyncIterator, MutableMapping
from contextlib import suppress
from typing import Any

import anyio
import pytest

from gateway import sse
from gateway.errors import RateLimited
from gateway.limits import InProcessLimits
from gateway.sdk5 import for_sdk5
from gateway.sse import EventStream, OpenStreams, frames, header_safe
from stores.events.protocol import Event
from tests.gateway.small import Running, Time

pytestmark = pytest.mark.anyio

SCOPE: MutableMapping[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}


def event(number: int, **chunk: object) -> Event:
    return Event(id=number, data=json.dumps(chunk) if chunk else "[DONE]")


class Log:
    """Hands out batches and then waits, as a turn that is still running does."""

    def __init__(self, *batches: list[Event], rests: bool = True) -> None:
        self.batches = batches
        self.rests = rests
        self.closed = False

    async def follow(self) -> AsyncIterator[list[Event]]:
        try:
            for batch in self.batches:
                yield batch
            if not self.rests:
                await asyncio.Event().wait()
        finally:
            self.closed = True


class Reader:
    """The other end of a connection."""

    def __init__(self) -> None:
        self.sent: list[MutableMapping[str, Any]] = []
        self.leaves = asyncio.Event()
        self.got_something = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        await self.reads.wait()
        self.sent.append(message)
        if message.get("body"):
            self.got_something.set()

    async def receive(self) -> MutableMapping[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    @property
    def ended(self) -> bool:
        return bool(self.sent) and self.sent[-1].get("more_body") is False


def limits() -> InProcessLimits:
    return InProcessLimits(
        per_minute=10, streams=1, running_turns=1, count_running=Running().count, monotonic=Time().monotonic
    )


def stream(log: Log, streams: OpenStreams | None = None, *, counted: InProcessLimits | None = None) -> EventStream:
    place = (counted or limits()).stream("alice")
    headers = {"X-Conversation-Id": header_safe("对话 1"), "X-Turn-Id": "t1"}
    return EventStream(log.follow(), streams=streams or OpenStreams(), place=place, headers=headers)


def test_frames_carry_ids_and_a_quiet_while_is_a_comment() -> None:
    assert frames([event(3, type="start"), event(4)]) == b'id: 3\ndata: {"type": "start"}\n\nid: 4\ndata: [DONE]\n\n'
    assert frames([]) == b": still here\n\n"


def test_a_lone_surrogate_in_a_chunk_stays_json() -> None:
    data = frames([Event(id=1, data='{"delta":"\ud800x"}')]).decode().split("data: ")[1]
    assert json.loads(data) == {"delta": "\ud800x"}


async def test_the_stream_ends_when_the_log_rests() -> None:
    log, reader = Log([event(1, type="start")], [], [event(2, type="finish"), event(3)]), Reader()
    await stream(log)(SCOPE, reader.receive, reader.send)
    assert reader.body.endswith(b"id: 3\ndata: [DONE]\n\n")
    assert reader.ended
    headers = {name.decode(): value.decode() for name, value in reader.sent[0]["headers"]}
    assert headers == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
        "x-conversation-id": "%E5%AF%B9%E8%AF%9D 1",
        "x-turn-id": "t1",
    }


async def test_a_reader_that_leaves_gives_everything_back() -> None:
    log, reader, counted = Log([event(1, type="start")], rests=False), Reader(), limits()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream(log, counted=counted), SCOPE, reader.receive, reader.send)
        await reader.got_something.wait()
        with pytest.raises(RateLimited):
            counted.check_streams("alice")
        reader.leaves.set()
    assert log.closed
    counted.check_streams("alice")


async def test_a_reader_that_stalls_loses_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "STALL_S", 0.05)
    log, reader, counted = Log([event(1, type="start")], rests=False), Reader(), limits()

    async def send(message: MutableMapping[str, Any]) -> None:
        await reader.send(message)
        reader.reads.clear()

    await stream(log, counted=counted)(SCOPE, reader.receive, send)
    assert log.closed
    assert not reader.ended
    counted.check_streams("alice")


async def test_a_stopping_server_ends_every_stream_and_those_that_come_late() -> None:
    streams = OpenStreams()
    first, second = Reader(), Reader()
    async with anyio.create_task_group() as tasks:
        for reader in (first, second):
            log = Log([event(1, type="start")], rests=False)
            tasks.start_soon(stream(log, streams), SCOPE, reader.receive, reader.send)
            await reader.got_something.wait()
        streams.stop()
    for reader in (first, second):
        assert reader.ended
        assert b"[DONE]" not in reader.body
    late = Reader()
    await stream(Log([event(1, type="start")], rests=False), streams)(SCOPE, late.receive, late.send)
    assert late.ended
    assert b"[DONE]" not in late.body


async def test_a_fault_of_ours_cuts_the_stream_without_its_end() -> None:
    async def broken() -> AsyncIterator[list[Event]]:
        yield [event(1, type="start")]
        raise RuntimeError("the log is gone")

    reader, counted = Reader(), limits()
    cut = EventStream(broken(), streams=OpenStreams(), place=counted.stream("alice"))
    with suppress(ExceptionGroup):
        await cut(SCOPE, reader.receive, reader.send)
        pytest.fail("the fault was swallowed")
    assert not reader.ended
    counted.check_streams("alice")


async def test_without_a_place_nothing_is_begun() -> None:
    log, reader, counted = Log([event(1, type="start")]), Reader(), limits()
    async with counted.stream("alice"):
        with pytest.raises(RateLimited):
            await stream(log, counted=counted)(SCOPE, reader.receive, reader.send)
    assert reader.sent == []


def test_version_five_hears_of_approvals_only_as_data() -> None:
    def said(**chunk: object) -> Any:
        answer = for_sdk5(json.dumps(chunk))
        return None if answer is None else json.loads(answer)

    assert said(type="tool-approval-request", approvalId="a", toolCallId="c") is None
    assert said(type="data-approval", id="a", data={"status": "pending"})["data"] == {"status": "pending"}
    denied = said(type="tool-output-denied", toolCallId="c")
    assert (denied["type"], denied["toolCallId"]) == ("tool-output-error", "c")
    assert denied["errorText"]
    assert said(type="finish", finishReason="stop") == {"type": "finish"}
    assert said(type="text-delta", id="1", delta="x") == {"type": "text-delta", "id": "1", "delta": "x"}
    assert for_sdk5("[DONE]") == "[DONE]"


def test_what_is_left_out_leaves_no_empty_frame_but_the_comment() -> None:
    request = event(7, type="tool-approval-request", approvalId="a", toolCallId="c")
    assert frames([request], sdk=5) == b": still here\n\n"
    assert frames([request, event(8)], sdk=5) == b"id: 8\ndata: [DONE]\n\n"


def test_an_id_is_a_header_whatever_its_script() -> None:
    assert header_safe("plain-id_1") == "plain-id_1"
    assert header_safe("课\r\n") == "%E8%AF%BE%0D%0A"
