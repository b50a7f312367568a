"""Server-sent events come out the same however the bytes are cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.chat.sse import Frame, SseParser

STREAM = (
    "\ufeff: a comment\n\n"
    "id: 1\ndata: first\n\n"
    "data: two\r\ndata: lines\r\n\r\n"
    "event: note\rid: 3\rdata:tight\r\r"
    "id: 4\n\n"
    "data: 晚上好 🦦\n\n"
    "retry: 10\nunknown: x\ndata\n\n"
    "data: never ended"
).encode()

FRAMES = [
    Frame(data="first", id="1"),
    Frame(data="two\nlines", id="1"),
    Frame(data="tight", id="3", event="note"),
    Frame(data="晚上好 🦦", id="4"),
    Frame(data="", id="4"),
]


def test_a_stream_in_one_piece_gives_its_frames() -> None:
    assert SseParser().feed(STREAM) == FRAMES


def test_a_stream_that_comes_byte_by_byte_gives_the_same_frames() -> None:
    parser = SseParser()
    assert [frame for byte in STREAM for frame in parser.feed(bytes([byte]))] == FRAMES


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM))))
def test_a_stream_cut_anywhere_gives_the_same_frames(cuts: list[int]) -> None:
    parser = SseParser()
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert [frame for piece in pieces for frame in parser.feed(piece)] == FRAMES


def test_a_frame_is_given_as_soon_as_its_blank_line_is_there() -> None:
    parser = SseParser()
    assert parser.feed(b"data: x\r\n\r") == [Frame(data="x")]
    assert parser.feed(b"\ndata: y\n\n") == [Frame(data="y")]


def test_an_id_with_a_null_character_is_ignored() -> None:
    assert SseParser().feed(b"id: 1\ndata: x\n\nid: 2\x00\ndata: y\n\n") == [
        Frame(data="x", id="1"),
        Frame(data="y", id="1"),
    ]


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert SseParser().feed(b"data: \xff\n\n") == [Frame(data="\ufffd")]
