"""A whole chat in a terminal, with a server that hangs up, restarts and asks."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from io import StringIO
from itertools import count
from typing import Any

import pytest
from rich.console import Console

from app.chat import ChatOptions, Interrupted, run_chat
from tests.app.chat_peer import (
    HANG_UP,
    Chunk,
    Json,
    Peer,
    Stream,
    call,
    card,
    output,
    proposed,
    running_peer,
    text,
)

pytestmark = pytest.mark.anyio

SEND = "POST /api/conversation/stream"
REJOIN = "GET /api/conversation/conv/stream"
CANCEL = "POST /api/conversation/conv/cancel"
CONVERSATION = "GET /api/conversations/conv"
PENDING = "GET /api/approvals"
DECIDE = "POST /api/approvals/ap-1/decision"
ANSWER = "POST /api/questions/q1/answer"

ASKED: list[Chunk] = [
    *text("I would move it."),
    call(),
    card(),
    {"type": "tool-approval-request", "approvalId": "ap-1", "toolCallId": "call-1"},
]
DONE_AS_SHOWN: list[Chunk] = [card(status="executed"), output(), {"type": "start-step"}, *text("Moved.", "t2")]
NO_CONTENT = Json(status=204)


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    async with running_peer() as peer:
        yield peer


class Chat:
    """A person's side: what they type, what they see."""

    def __init__(self, peer: Peer, lines: Sequence[str | type[Exception]], **options: Any) -> None:
        self.file = StringIO()
        self.prompts: list[str] = []
        self._lines = iter(lines)
        numbers = count(1)
        self._options = ChatOptions(
            base_url=peer.url,
            assistant="scheduling",
            new_id=lambda: "conv" if (n := next(numbers)) == 1 else f"id-{n}",
            clock=lambda: datetime(2026, 3, 2, 12, 0, tzinfo=UTC),
            backoff=(0.01,),
            **options,
        )

    async def run(self) -> int:
        console = Console(file=self.file, width=100)
        return await asyncio.wait_for(run_chat(self._options, console, self._read), timeout=20)

    @property
    def screen(self) -> list[str]:
        """The lines below the greeting."""
        return self.file.getvalue().splitlines()[1:]

    async def _read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        line = next(self._lines, EOFError)
        if isinstance(line, str):
            return line
        raise line


def pending(*approvals: Chunk) -> Json:
    return Json(body={"items": list(approvals), "next": None})


def stored(*messages: Chunk, **fields: Any) -> Json:
    return Json(body={"id": "conv", "messages": list(messages), "status": "idle", "open_turn_id": None} | fields)


def said(role: str, words: str, message_id: str) -> Chunk:
    return {"id": message_id, "role": role, "parts": [{"type": "text", "text": words}]}


def refusal(status: int, code: str, message: str, **more: Any) -> Json:
    return Json(status=status, body={"error": {"code": code, "message": message, **more}})


async def test_a_message_is_sent_and_its_answer_shown(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=text("Good evening")))
    chat = Chat(peer, ["hello", "/quit"], token="secret-token", locale="zh")
    assert await chat.run() == 0
    assert peer.bodies(SEND) == [
        {
            "id": "conv",
            "message": {"id": "id-2", "role": "user", "parts": [{"type": "text", "text": "hello"}]},
            "trigger": "submit-message",
            "assistant": "scheduling",
        }
    ]
    assert peer.asked[0].headers["authorization"] == "Bearer secret-token"
    assert peer.asked[0].headers["accept-language"] == "zh"
    assert chat.screen == ["Good evening"]


async def test_the_end_of_the_input_ends_the_chat(peer: Peer) -> None:
    assert await Chat(peer, []).run() == 0


async def test_commands_that_are_not_the_terminals_own_go_to_the_server(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=text("Undone.")))
    await Chat(peer, ["/undo", ""]).run()
    assert [body["message"]["parts"][0]["text"] for body in peer.bodies(SEND)] == ["/undo"]


async def test_a_refused_message_is_shown_and_the_chat_goes_on(peer: Peer) -> None:
    peer.says(SEND, refusal(429, "rate_limited", "Too fast."), Stream(chunks=text("Yes.")))
    chat = Chat(peer, ["one", "two"])
    await chat.run()
    assert chat.screen == ["Error: Too fast.", "Yes."]


async def test_an_approved_card_is_carried_out_and_the_turn_goes_on(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()))
    peer.says(DECIDE, Stream(chunks=DONE_AS_SHOWN))
    chat = Chat(peer, ["move it", "what?", "a"])
    await chat.run()
    assert peer.bodies(DECIDE) == [{"decision": "approve", "expected_version": 1}]
    assert chat.screen == [
        "I would move it.",
        "[Move a block · swift-otter]",
        "Move maths to Tuesday",
        " 1 ~ Maths: Mon → Tue",
        'move_block {"block": 3, "day": "tuesday"}',
        "Type a, e or d (a reason may follow d; a -2 -3 leaves out the optional rows 2 and 3).",
        "✓ Move maths to Tuesday — done",
        "Moved.",
    ]


async def test_a_denial_carries_its_reason(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()))
    peer.says(DECIDE, Stream(chunks=[card(status="denied"), {"type": "tool-output-denied", "toolCallId": "call-1"}]))
    await Chat(peer, ["move it", "d", "not on Tuesday"], interactive=True).run()
    assert peer.bodies(DECIDE) == [{"decision": "deny", "expected_version": 1, "reason": "not on Tuesday"}]


async def test_edited_arguments_make_a_new_version_that_is_shown_and_asked_for_again(peer: Peer) -> None:
    edited = proposed(version=2, summary="Move maths to Friday", arguments={"block": 3, "day": "friday"})
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()), pending(edited))
    peer.says(DECIDE, Json(body=edited), Stream(chunks=DONE_AS_SHOWN))
    chat = Chat(peer, ["move it", "e", "not json", "e", '{"block": 3, "day": "friday"}', "a"])
    await chat.run()
    assert peer.bodies(DECIDE) == [
        {
            "decision": "approve",
            "expected_version": 1,
            "arguments": {"block": 3, "day": "friday"},
            "execute": False,
        },
        {"decision": "approve", "expected_version": 2},
    ]
    assert "That isn't a JSON object." in chat.screen
    assert "Move maths to Friday" in chat.screen


async def test_arguments_that_the_server_refuses_are_asked_for_again(peer: Peer) -> None:
    details = [{"field": "day", "message": "no such day"}]
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()))
    peer.says(DECIDE, refusal(422, "invalid", "Not valid.", details=details), Stream(chunks=DONE_AS_SHOWN))
    chat = Chat(peer, ["move it", "e", '{"day": "someday"}', "a"])
    await chat.run()
    assert "Error: Not valid." in chat.screen
    assert "  day: no such day" in chat.screen
    assert peer.count(DECIDE) == 2


async def test_several_cards_come_one_after_the_other_in_the_order_of_the_message(peer: Peer) -> None:
    other = proposed(approval_id="ap-2", tool_call_id="call-2", summary="Move chess")
    peer.says(SEND, Stream(chunks=[*ASKED, call("call-2"), {"type": "data-approval", "id": "ap-2", "data": other}]))
    peer.says(PENDING, pending(other, proposed()), pending(other))
    peer.says(DECIDE, Json(body=proposed(status="approved")))
    settled: Chunk = {"type": "data-approval", "id": "ap-2", "data": other | {"status": "executed"}}
    peer.says("POST /api/approvals/ap-2/decision", Stream(chunks=[settled, *DONE_AS_SHOWN]))
    chat = Chat(peer, ["move both", "a", "a"])
    await chat.run()
    assert [line for line in chat.screen if line.startswith("[")] == [
        "[Move a block · swift-otter · 1 of 2]",
        "[Move a block · swift-otter · 2 of 2]",
    ]
    assert chat.screen[-1] == "Moved."


async def test_a_card_that_was_settled_elsewhere_says_so_and_the_turn_is_followed(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()), pending())
    peer.says(DECIDE, refusal(409, "approval_settled", "It was decided elsewhere."))
    peer.says(REJOIN, Stream(chunks=[*ASKED, *DONE_AS_SHOWN]))
    chat = Chat(peer, ["move it", "a"])
    await chat.run()
    assert chat.screen[-3:] == ["Error: It was decided elsewhere.", "✓ Move maths to Tuesday — done", "Moved."]
    assert chat.screen.count("I would move it.") == 1


async def test_a_card_left_alone_can_be_taken_up_again(peer: Peer) -> None:
    elsewhere = proposed(approval_id="ap-9", summary="Close the books", short_name="calm-heron")
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()), pending(proposed()), pending(proposed(), elsewhere))
    peer.says(DECIDE, Stream(chunks=DONE_AS_SHOWN))
    chat = Chat(peer, ["move it", Interrupted, "/approvals", "a"])
    await chat.run()
    assert "Left undecided: /approvals shows it again." in chat.screen
    assert "In another conversation: Close the books (calm-heron)" in chat.screen
    assert chat.screen[-1] == "Moved."


async def test_quitting_at_a_card_leaves_it_pending(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()))
    assert await Chat(peer, ["move it", "/quit"]).run() == 0
    assert peer.count(DECIDE) == 0


@pytest.mark.parametrize(
    ("line", "answer"),
    [("2", {"option": "5B"}), ("5a", {"option": "5A"}), ("the small one", {"text": "the small one"})],
)
async def test_a_question_is_answered_by_number_or_by_words(peer: Peer, line: str, answer: Chunk) -> None:
    question = {"question_id": "q1", "question": "Which class?", "options": ["5A", "5B"], "allow_free_text": True}
    peer.says(SEND, Stream(chunks=[{"type": "data-question", "id": "q1", "data": question}]))
    peer.says(ANSWER, Json(body={"status": "answered"}))
    going_on: list[Chunk] = [{"type": "data-question", "id": "q1", "data": question}, {"type": "start-step"}]
    peer.says(REJOIN, Stream(chunks=[*going_on, *text("Fine.")]))
    chat = Chat(peer, ["grades", line])
    await chat.run()
    assert peer.bodies(ANSWER) == [answer]
    assert chat.screen == ["Which class?", " 1 5A", " 2 5B", "Fine."]


async def test_a_secret_is_read_unseen_and_goes_only_to_its_form(peer: Peer) -> None:
    async def read_secret(prompt: str) -> str:
        return "k-123"

    question: Chunk = {
        "question_id": "q1",
        "question": "The key?",
        "options": [],
        "allow_free_text": True,
        "secret": True,
    }
    peer.says(SEND, Stream(chunks=[{"type": "data-question", "id": "q1", "data": question}]))
    peer.says(ANSWER, Stream(chunks=[{"type": "start-step"}, *text("Stored.")]))
    chat = Chat(peer, ["connect"], read_secret=read_secret)
    await chat.run()
    assert peer.bodies(ANSWER) == [{"secret": "k-123"}]
    assert "k-123" not in chat.file.getvalue()


async def test_a_cut_stream_is_rejoined_and_nothing_shown_twice(peer: Peer) -> None:
    whole = text("Good evening")
    peer.says(SEND, Stream(chunks=whole[:2], cut=True))
    peer.says(CONVERSATION, stored(said("user", "hello", "id-2"), open_turn_id="t", status="running"))
    peer.says(REJOIN, Stream(chunks=whole[:2], cut=True), Stream(chunks=whole))
    chat = Chat(peer, ["hello"])
    await chat.run()
    assert peer.count(SEND) == 1
    assert [line for line in chat.screen if "onnect" not in line] == ["Good e", "vening"]
    assert any(line.startswith("Connection lost") for line in chat.screen)
    assert "Connected again." in chat.screen


async def test_a_message_that_did_not_arrive_is_sent_again_under_the_same_id(peer: Peer) -> None:
    peer.says(SEND, HANG_UP, Stream(chunks=text("Yes.")))
    chat = Chat(peer, ["hello"])
    await chat.run()
    assert [body["message"]["id"] for body in peer.bodies(SEND)] == ["id-2", "id-2"]
    assert chat.screen[-1] == "Yes."


async def test_a_message_that_arrived_unseen_is_not_sent_again(peer: Peer) -> None:
    peer.says(SEND, HANG_UP)
    peer.says(CONVERSATION, stored(said("user", "hello", "id-2"), open_turn_id="t", status="running"))
    peer.says(REJOIN, Stream(chunks=text("Yes.")))
    chat = Chat(peer, ["hello"])
    await chat.run()
    assert peer.count(SEND) == 1
    assert chat.screen[-1] == "Yes."


async def test_a_turn_that_ended_while_the_line_was_down_is_shown_to_its_end(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=text("Good evening")[:2], cut=True))
    peer.says(CONVERSATION, stored(said("user", "hello", "id-2"), said("assistant", "Good evening", "m1")))
    peer.says(REJOIN, NO_CONTENT)
    chat = Chat(peer, ["hello"])
    await chat.run()
    assert [line for line in chat.screen if "onnect" not in line] == ["Good e", "vening"]


async def test_a_restarted_server_is_waited_for(peer: Peer) -> None:
    tries: list[float] = []

    async def sleep(seconds: float) -> None:
        tries.append(seconds)
        if len(tries) == 1:
            await peer.stop()
        if len(tries) == 4:
            await peer.start()

    peer.says(SEND, Stream(chunks=text("Good evening")[:2], cut=True))
    peer.says(CONVERSATION, stored(said("user", "hello", "id-2"), open_turn_id="t", status="running"))
    peer.says(REJOIN, Stream(chunks=text("Good evening")))
    chat = Chat(peer, ["hello"], sleep=sleep)
    await chat.run()
    assert len(tries) == 4
    assert peer.count(SEND) == 1
    assert sum(line.startswith("Connection lost") for line in chat.screen) == 1
    assert chat.screen[-1] == "vening"


async def test_a_server_that_is_not_ready_is_waited_for(peer: Peer) -> None:
    peer.says(SEND, refusal(503, "unavailable", "Starting."), Stream(chunks=text("Yes.")))
    chat = Chat(peer, ["hello"])
    await chat.run()
    assert chat.screen == ["Connection lost (Starting.). Trying again…", "Connected again.", "Yes."]


async def test_a_vote_whose_answer_was_lost_is_cast_again_and_the_turn_followed(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()), pending())
    peer.says(DECIDE, HANG_UP, Json(body=proposed(status="executed")))
    peer.says(REJOIN, Stream(chunks=[*ASKED, *DONE_AS_SHOWN]))
    chat = Chat(peer, ["move it", "a"])
    await chat.run()
    assert peer.bodies(DECIDE) == [{"decision": "approve", "expected_version": 1}] * 2
    assert chat.screen[-2:] == ["✓ Move maths to Tuesday — done", "Moved."]


async def test_an_old_conversation_is_shown_and_its_open_turn_taken_up(peer: Peer) -> None:
    peer.says(
        CONVERSATION,
        stored(
            said("user", "hello", "u1"),
            said("assistant", "Good evening", "m0"),
            said("user", "move it", "u2"),
            open_turn_id="t",
            status="waiting",
        ),
    )
    peer.says(REJOIN, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()))
    peer.says(DECIDE, Stream(chunks=DONE_AS_SHOWN))
    chat = Chat(peer, ["a"], conversation_id="conv")
    await chat.run()
    assert chat.screen[:4] == ["you> hello", "Good evening", "you> move it", "I would move it."]
    assert chat.screen[-1] == "Moved."


async def test_history_is_shown_and_a_new_conversation_begins_empty(peer: Peer) -> None:
    peer.says(CONVERSATION, stored(said("user", "hello", "u1"), said("assistant", "Good evening", "m0")))
    chat = Chat(peer, ["/history", "/new", "/history", "/approvals"])
    peer.says(PENDING, pending())
    await chat.run()
    assert chat.screen == [
        "you> hello",
        "Good evening",
        "New conversation id-2",
        "Nothing has been said here yet.",
        "Nothing waits for approval.",
    ]


async def test_ctrl_c_while_the_server_speaks_stops_the_turn_there(peer: Peer) -> None:
    stopped = asyncio.Event()
    peer.says(
        SEND, Stream(chunks=text("Once"), until=stopped, end=[{"type": "abort"}, {"type": "finish"}], then=ctrl_c)
    )
    peer.says(
        CANCEL,
        Json(
            body={"status": "cancelled", "applied": [{"change_id": "c1", "tool": "t", "summary": "Move chess"}]},
            then=stopped.set,
        ),
    )
    chat = Chat(peer, ["tell me"])
    assert await chat.run() == 0
    assert peer.count(CANCEL) == 1
    assert {
        "Once",
        "Stopping… (Ctrl-C again leaves)",
        "Already done before: Move chess (/undo takes it back)",
        "Stopped.",
    } == set(chat.screen)


async def test_ctrl_c_twice_leaves(peer: Peer) -> None:
    handler = signal.getsignal(signal.SIGINT)
    never = asyncio.Event()
    peer.says(SEND, Stream(chunks=text("Once"), until=never, cut=True, then=ctrl_c))
    peer.says(CANCEL, Stream(chunks=[], until=never, cut=True, then=ctrl_c))
    assert await Chat(peer, ["tell me"]).run() == 130
    assert signal.getsignal(signal.SIGINT) == handler
    never.set()


async def test_ctrl_c_twice_at_the_prompt_leaves(peer: Peer) -> None:
    chat = Chat(peer, [Interrupted, "", Interrupted, Interrupted])
    assert await chat.run() == 130
    assert chat.screen == ["Press Ctrl-C again to leave."] * 2


async def test_lines_from_a_pipe_are_a_chat_of_plain_text(peer: Peer) -> None:
    peer.says(SEND, Stream(chunks=ASKED))
    peer.says(PENDING, pending(proposed()))
    peer.says(DECIDE, Stream(chunks=DONE_AS_SHOWN))
    address = peer.url.removeprefix("http://")
    program = (
        "import asyncio, sys; from app.chat import chat; "
        f"sys.exit(asyncio.run(chat({address!r}, 'scheduling', locale='zh')))"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    shown, _ = await process.communicate("改到周二\n好\n".encode())
    assert process.returncode == 0
    assert peer.bodies(SEND)[0]["message"]["parts"][0]["text"] == "改到周二"
    lines = shown.decode().splitlines()
    assert lines[-2:] == ["✓ Move maths to Tuesday — 已执行", "Moved."]
    assert "\x1b" not in shown.decode()


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)
