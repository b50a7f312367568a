"""Sentences that code answers by itself."""

from collections.abc import Sequence

from stores.approvals import Approval
from toolsets.gate import summary_in
from toolsets.words import Locale, Words

HELP = Words("可以用的命令：{}。其他的话直接说就行。", "Commands: {}. Anything else, just say it.")
UNKNOWN_COMMAND = Words("没有这个命令。可以用的：{}", "There is no such command. These are: {}")
NOT_PENDING = (
    Words("没有什么可以取消。", "There is nothing to cancel."),
    Words("已取消，没有执行任何等待中的改动。", "Cancelled; nothing that was waiting was executed."),
)
LIST = Words(
    "没有改动。等你决定的有：\n{}\n回复“批准”加编号（例如“批准 {}”），或在卡片上决定。",
    "Nothing was changed. These wait for you:\n{}\n"
    "Answer “approve” with a name (for example “approve {}”), or use the card.",
)


def listed(words: Words, waiting: Sequence[Approval], locale: Locale) -> str:
    """What waits, by short name."""
    lines = "\n".join(f"- {one.short_name}: {summary_in(one.card, locale)}" for one in waiting)
    return words.said(locale).format(lines, waiting[0].short_name if waiting else "A1")
