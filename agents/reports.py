"""What code can say of a turn when no model can: which writes were made, which were not."""

from agents.budget import Limit
from agents.setup import Setup
from agents.wire import locale_of
from stores import approvals
from stores.turns import Turn
from toolsets.gate import summary_in
from toolsets.words import Words

STOPPED: dict[Limit, Words] = {
    "requests": Words("这一轮的模型请求次数已用完。", "This turn's model requests are used up."),
    "tool_calls": Words("这一轮的调用次数已用完。", "This turn's tool calls are used up."),
    "seconds": Words("这一轮的时间已用完。", "This turn's time is used up."),
    "corrections": Words("模型几次都没能给出可用的参数。", "The model could not give arguments that work."),
}
NOTHING = Words("没有任何改动。", "Nothing was changed.")
DONE = Words("已执行：{}", "Done: {}")
NOT_DONE = Words("没有执行：{}", "Not done: {}")
AGAIN = Words("可以换个说法再试一次。", "You can try again in other words.")


async def mechanical_report(setup: Setup, turn: Turn, limit: Limit) -> str:
    """Honest, short, in the person's language."""
    locale = locale_of(turn)
    async with setup.database.read() as connection:
        asked = await approvals.of_turns(connection, turn.user_id, [turn.id])
    lines = [STOPPED[limit].said(locale)]
    for approval in asked:
        words = DONE if approval.status == "executed" else NOT_DONE
        lines.append(words.said(locale).format(summary_in(approval.card, locale)))
    if not any(approval.status == "executed" for approval in asked):
        lines.append(NOTHING.said(locale))
    return "\n".join([*lines, AGAIN.said(locale)])
