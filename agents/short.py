"""What code understands by itself: commands, short confirmations and refusals (closed lists, DESIGN.md §5)."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

CONFIRMATIONS = frozenset(
    [
        "是",
        "是的",
        "对",
        "好",
        "好的",
        "好吧",
        "好啊",
        "可以",
        "可以的",
        "行",
        "行的",
        "确认",
        "确定",
        "同意",
        "批准",
        "嗯",
        "嗯嗯",
        "没问题",
        "yes",
        "y",
        "yep",
        "yeah",
        "ok",
        "okay",
        "sure",
        "confirm",
        "confirmed",
        "approve",
        "approved",
    ]
) | {"go ahead", "do it"}
REFUSALS = frozenset(
    [
        "不",
        "不用",
        "不用了",
        "不要",
        "不要了",
        "不行",
        "不是",
        "不可以",
        "不同意",
        "取消",
        "拒绝",
        "算了",
        "别",
        "停",
        "no",
        "n",
        "nope",
        "cancel",
        "stop",
        "deny",
        "reject",
        "don't",
    ]
) | {"no thanks", "do not"}
UNDO = frozenset({"/undo", "撤销", "撤回", "undo"})
COMMANDS = ("/undo", "/cancel", "/help")
SHORT_NAME = re.compile(r"a\d{1,6}")

_PUNCTUATION = " \t\n.。!！,，~～、;；:："


@dataclass(frozen=True, kw_only=True)
class Short:
    """A short answer: yes or no, perhaps to approvals that are named."""

    yes: bool
    names: tuple[str, ...] = ()
    """Short names in upper case (`A2`); `UNDO` means the change whose undo was asked for."""


def command_in(text: str) -> str | None:
    """The command that a message is: `/undo` (also 撤销), `/help`, or another word with a slash."""
    said = _plain(text)
    if said in UNDO:
        return "/undo"
    return said.split()[0] if text.lstrip().startswith("/") and said else None


def short_answer(text: str) -> Short | None:
    """The short confirmation or refusal that a message exactly is; None for everything else."""
    said = _plain(text)
    if whole := _voted(said):
        return Short(yes=whole == "yes")
    words = said.split()
    names = [word for word in words if SHORT_NAME.fullmatch(word) or word in ("undo", "撤销")]
    rest = _voted(" ".join(word for word in words if word not in names))
    if names and rest:
        marked = tuple("UNDO" if name in ("undo", "撤销") else name.upper() for name in names)
        return Short(yes=rest == "yes", names=marked)
    return None


def name_in(text: str) -> str | None:
    """A short name typed alone."""
    said = _plain(text)
    return said.upper() if SHORT_NAME.fullmatch(said) else None


def _voted(said: str) -> Literal["yes", "no"] | None:
    return "yes" if said in CONFIRMATIONS else "no" if said in REFUSALS else None


def _plain(text: str) -> str:
    """Folded, without the punctuation around it; a name glued to Chinese words stands apart."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").strip(_PUNCTUATION)
    apart = re.sub(r"(?<![a-z0-9])(a\d{1,6})(?![a-z0-9])", r" \1 ", folded)
    return " ".join(re.sub(r"[,，、]", " ", apart).split())
