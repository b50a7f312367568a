"""Text that people and databases can take: nothing invisible, nothing that can't be stored."""

import re
import unicodedata

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def storable(text: str) -> str:
    """The text with NUL and lone surrogates as visible escapes (`\\u0000`): no database stores them."""
    return _UNSTORABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def visible(text: str) -> str:
    """The text as a card shows it: bidi, zero-width and control characters as `[U+202E]`.

    What a person approves must not look like something else.
    """
    shown = _INVISIBLE.sub(_named, storable(text))
    return "".join(_named_control(character) for character in shown)


def _named(found: re.Match[str]) -> str:
    return f"[U+{ord(found.group()):04X}]"


def _named_control(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) != "Cc":
        return character
    return f"[U+{ord(character):04X}]"
