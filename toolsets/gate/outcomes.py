"""What became of an approved call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stores.changes import Difference, RowKey
from stores.ledger import Entry
from stores.shapes import MovedRow, NotMade, StoredWords
from toolsets.errors import DomainError, ToolsetError
from toolsets.gate.calls import GateCall
from toolsets.words import Locale, Words


class LedgerMismatch(ToolsetError):
    """The ledger holds another call under this id. Never an answer."""


@dataclass(frozen=True, kw_only=True)
class Executed:
    """It happened: now, or before a crash (the result then comes from the ledger)."""

    result: Mapping[str, Any]
    change_id: str | None = None
    symbols: Mapping[RowKey, str] = field(default_factory=dict[RowKey, str])
    status: str = "executed"

    @classmethod
    def again(cls, entry: Entry, call: GateCall) -> "Executed":
        """The stored result. Raises LedgerMismatch when tool or arguments differ."""
        if entry.tool != call.spec.name or entry.arguments_hash != call.arguments_hash:
            raise LedgerMismatch(f"call {entry.tool_call_id} was executed as another call")
        return cls(result=entry.result, symbols=stored_symbols(entry))


def stored_symbols(entry: Entry) -> dict[RowKey, str]:
    return {(table, tuple(key)): symbol for table, key, symbol in entry.symbols or ()}


class NotExecuted(Exception):
    """It did not happen, and nothing was changed. `status` is the approval's new one."""

    def __init__(
        self, status: str, code: str, words: Words, *, safe_to_retry: bool, moved: tuple[Difference, ...] = ()
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.words = words
        self.safe_to_retry = safe_to_retry
        self.moved = moved

    def as_json(self) -> NotMade:
        """For `approvals.outcome`; words in both languages."""
        return NotMade(
            code=self.code,
            message=StoredWords(zh=self.words.zh, en=self.words.en),
            changed=False,
            safe_to_retry=self.safe_to_retry,
            moved=[_moved(one) for one in self.moved],
        )

    def as_result(self, locale: Locale) -> dict[str, Any]:
        """For the model."""
        return {
            "status": "error",
            "code": self.code,
            "message": f"Not executed: {self.words.said(locale)}",
            "changed": False,
            "safe_to_retry": self.safe_to_retry,
        }

    @classmethod
    def settled(cls, status: str) -> "NotExecuted":
        words = Words(f"这项请求已经是“{status}”状态，没有执行。", f"The approval is {status}; nothing was executed.")
        return cls(status, "approval_settled", words, safe_to_retry=False)

    @classmethod
    def tampered(cls) -> "NotExecuted":
        words = Words(
            "保存的请求和批准的不一致，没有执行。", "What is stored isn't what was approved; nothing was executed."
        )
        return cls("failed", "approval_mismatch", words, safe_to_retry=True)

    @classmethod
    def tool_changed(cls, tool: str) -> "NotExecuted":
        words = Words(f"工具 {tool} 在批准后变了，没有执行。", f"The tool {tool} changed since; nothing was executed.")
        return cls("failed", "tool_changed", words, safe_to_retry=True)

    @classmethod
    def tool_gone(cls, tool: str) -> "NotExecuted":
        words = Words(
            f"工具 {tool} 已不存在，没有执行。", f"The tool {tool} isn't there any more; nothing was executed."
        )
        return cls("failed", "tool_gone", words, safe_to_retry=False)

    @classmethod
    def not_allowed(cls) -> "NotExecuted":
        words = Words("权限已经变更，没有执行。", "The person may no longer do this; nothing was executed.")
        return cls("cancelled", "forbidden", words, safe_to_retry=False)

    @classmethod
    def expired(cls) -> "NotExecuted":
        words = Words(
            "批准后太久没有开始，已过期，没有执行。", "It expired before it could start; nothing was executed."
        )
        return cls("expired", "expired", words, safe_to_retry=True)

    @classmethod
    def timed_out(cls) -> "NotExecuted":
        words = Words("执行超时，已全部回滚。", "It took too long and was rolled back; nothing was changed.")
        return cls("failed", "timed_out", words, safe_to_retry=True)

    @classmethod
    def broke(cls, reference: str) -> "NotExecuted":
        words = Words(f"内部错误（{reference}），没有任何改动。", f"Internal error ({reference}); nothing was changed.")
        return cls("failed", "internal", words, safe_to_retry=True)


class Moved(NotExecuted):
    """The world changed since the approval: the difference would be another one."""

    def __init__(self, *, moved: tuple[Difference, ...], why: DomainError | None) -> None:
        words = Words("批准之后情况变了，没有执行。", "Things changed after it was shown; nothing was executed.")
        if why is not None:
            words = Words(f"{words.zh}{why.words.zh}", f"{words.en} {why.words.en}")
        super().__init__("stale", "stale", words, safe_to_retry=True, moved=moved)


Done = Executed | NotExecuted


def _moved(one: Difference) -> MovedRow:
    return MovedRow(
        table=one.table,
        key=[str(part) for part in one.key],
        column=one.column,
        approved=_plain(one.approved),
        found=_plain(one.found),
    )


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
