"""Text that people and databases can take."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsets.text import storable, visible

ANY = st.text(st.characters(), max_size=40) | st.text(st.sampled_from([chr(0), chr(0xD800), chr(0x202E), "a", "\\"]))


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (0x202E, "[U+202E]"),
        (0x2066, "[U+2066]"),
        (0x200B, "[U+200B]"),
        (0x200D, "[U+200D]"),
        (0xFEFF, "[U+FEFF]"),
        (0x00AD, "[U+00AD]"),
        (0x061C, "[U+061C]"),
        (0x3164, "[U+3164]"),
        (0xE0041, "[U+E0041]"),
        (0x1B, "[U+001B]"),
        (0x0D, "[U+000D]"),
        (0x85, "[U+0085]"),
        (0x00, "\\u0000"),
        (0xDC00, "\\udc00"),
    ],
)
def test_what_nobody_can_see_is_named(code: int, shown: str) -> None:
    assert visible(f"Exam{chr(code)}!") == f"Exam{shown}!"


def test_ordinary_text_stays_as_it_is() -> None:
    text = "线性代数 3–4 节\n\tcafé “A” naïve Ω 😀 日本語 عربى"
    assert visible(text) == text
    assert storable(text) == text


@given(ANY)
def test_what_is_shown_holds_nothing_invisible_and_is_shown_alike_again(text: str) -> None:
    shown = visible(text)
    assert all(unicodedata.category(one) not in ("Cc", "Cs") or one in "\n\t" for one in shown)
    assert not any(unicodedata.bidirectional(one) in BIDI for one in shown)
    assert visible(shown) == shown


BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(ANY)
def test_what_is_storable_is_utf8_without_nul(text: str) -> None:
    kept = storable(text)
    assert chr(0).encode() not in kept.encode("utf-8")
    assert storable(kept) == kept


@given(st.text(st.characters(exclude_characters=[chr(0)], exclude_categories=["Cs"])))
def test_storable_changes_nothing_else(text: str) -> None:
    assert storable(text) == text
