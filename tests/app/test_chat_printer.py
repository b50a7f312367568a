"""The printer writes what isn't on the screen yet, and only that."""

from functools import reduce
from io import StringIO

from rich.console import Console

from app.chat.parts import Message
from app.chat.printer import Printer
from app.chat.thread import apply
from tests.app.chat_peer import Chunk, call, card, output, text


class Screen:
    def __init__(self, *, interactive: bool = False) -> None:
        self.file = StringIO()
        console = Console(file=self.file, width=60)
        self.printer = Printer(console, locale="en", interactive=interactive)

    def tell(self, *chunks: Chunk, onto: Message | None = None) -> Message:
        def step(message: Message, chunk: Chunk) -> Message:
            after = apply(message, chunk)
            self.printer.show(after)
            return after

        return reduce(step, chunks, onto or Message())

    @property
    def lines(self) -> list[str]:
        self.printer.close()
        return self.file.getvalue().splitlines()


def test_text_comes_as_it_comes() -> None:
    screen = Screen()
    screen.tell(*text("Good evening")[:2])
    assert screen.file.getvalue() == "Good e"


def test_a_call_is_one_quiet_line_once_it_has_ended() -> None:
    screen = Screen()
    screen.tell(*text("Looking."), call("c1", "find_slots"), output("c1"), *text("Found."))
    assert screen.lines == ["Looking.", "  ✓ find_slots", "Found."]


def test_a_call_with_a_card_is_told_by_the_card_alone() -> None:
    screen = Screen()
    screen.tell(call(), card(), output(), card(status="executed"), {"type": "finish"})
    assert screen.lines == ["✓ Move maths to Tuesday — done"]


def test_a_stream_told_again_prints_only_what_is_new() -> None:
    screen = Screen()
    told = [call("c1", "find_slots"), output("c1"), *text("Good evening")]
    screen.tell(*told[:4])
    screen.printer.rejoin()
    screen.tell(*told[:3])
    screen.printer.rejoin()
    screen.tell(*told)
    assert screen.lines == ["  ✓ find_slots", "Good evening"]


def test_a_stream_that_is_told_differently_is_marked_and_told_whole() -> None:
    screen = Screen()
    screen.tell(*text("Hello world"))
    screen.printer.rejoin()
    screen.tell(*text("Hello there"))
    assert screen.lines == ["Hello world", "— continued —", "Hello there"]


def test_text_that_is_taken_back_is_marked() -> None:
    screen = Screen()
    screen.tell(*text("Wrong", "t1"), {"type": "data-reset", "data": {"part_ids": ["t1"]}}, *text("Right", "t2"))
    assert screen.lines == ["Wrong", "— continued —", "Right"]


def test_errors_are_told_once() -> None:
    screen = Screen()
    message = screen.tell({"type": "error", "errorText": "The model is away."}, {"type": "abort"})
    screen.printer.show(message)
    assert screen.lines == ["Error: The model is away.", "Stopped."]


def test_reasoning_title_and_usage_are_for_those_who_watch() -> None:
    chunks: list[Chunk] = [
        {"type": "reasoning-start", "id": "r"},
        {"type": "reasoning-delta", "id": "r", "delta": "hm"},
        *text("Yes."),
        {"type": "data-title", "data": {"title": "Timetable"}},
        {"type": "data-usage", "data": {"requests": 1, "input_tokens": 12, "output_tokens": 3, "ms": 5}},
        {"type": "finish"},
    ]
    plain, watched = Screen(), Screen(interactive=True)
    plain.tell(*chunks)
    watched.tell(*chunks)
    assert plain.lines == ["Yes."]
    assert watched.lines == ["hm", "Yes.", "# Timetable", "12 tokens in · 3 out"]


def test_markup_in_text_is_only_text() -> None:
    screen = Screen()
    screen.tell(*text("[bold]x[/bold] :smile: [link=http://x]y"))
    assert screen.lines == ["[bold]x[/bold] :smile: [link=http://x]y"]
