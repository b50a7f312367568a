"""What a typed line says about an approval. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.chat.wire import ApprovalRow

_APPROVE = {"a", "approve", "y", "yes", "ok", "是", "好", "好的", "可以", "同意", "批准", "确认"}
_EDIT = {"e", "edit", "改", "修改", "编辑"}
_DENY = {"d", "deny", "n", "no", "不", "不要", "不用", "拒绝"}


@dataclass(frozen=True, kw_only=True)
class Approve:
    skip: tuple[str, ...] = ()
    """Ids of optional rows to leave out."""


@dataclass(frozen=True, kw_only=True)
class Deny:
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Edit:
    pass


def parse_vote(line: str, rows: Sequence[ApprovalRow]) -> Approve | Deny | Edit | None:
    """`a`, `a -2 -3` (without the optional rows 2 and 3), `e`, `d`, `d because …`; None if it is none of these."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    match word.lower():
        case word if word in _DENY:
            return Deny(reason=rest)
        case word if word in _EDIT and not rest:
            return Edit()
        case word if word in _APPROVE:
            skip = _skipped(rest, rows)
            return None if skip is None else Approve(skip=skip)
        case _:
            return None


def _skipped(text: str, rows: Sequence[ApprovalRow]) -> tuple[str, ...] | None:
    """Row ids of `-2 -3`; None if something in it isn't an optional row's number."""
    optional = {f"-{row.n}": row.row_id for row in rows if row.optional}
    words = text.replace(",", " ").split()
    return tuple(optional[word] for word in words) if all(word in optional for word in words) else None
