"""Text from elsewhere, made safe for a terminal: nothing in it can move the cursor, colour or reorder what is read."""

import unicodedata

_ALWAYS_HIDDEN = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
"""Marks that change the direction of reading."""
_SPACES = {"\u2028", "\u2029"}


def visible(text: str) -> str:
    """One line in which every control, format and lone surrogate character shows as `<U+202E>`, and a newline as ⏎."""
    return "".join(_shown(char) for char in text.replace("\r\n", "\n"))


def spoken(text: str) -> str:
    """Prose: newlines, tabs and joiners stay, carriage returns go, what could deceive shows as `<U+202E>`."""
    return "".join(_said(char) for char in text)


def _shown(char: str) -> str:
    if char == "\n":
        return " ⏎ "
    if char in _SPACES or unicodedata.category(char) in {"Cc", "Cf", "Cs"}:
        return _named(char)
    return char


def _said(char: str) -> str:
    if char in "\n\t":
        return char
    if char == "\r":
        return ""
    if ord(char) in _ALWAYS_HIDDEN or unicodedata.category(char) in {"Cc", "Cs"}:
        return _named(char)
    return char


def _named(char: str) -> str:
    return f"<U+{ord(char):04X}>"
