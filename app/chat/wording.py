"""The terminal's own sentences. `{…}` are filled in where they are said."""

from toolsets.words import Words

WELCOME = Words(
    zh="{assistant} · 对话 {conversation_id} · /new 新对话  /approvals 待批准  /history 历史  /quit 退出",
    en="{assistant} · conversation {conversation_id} · /new  /approvals  /history  /quit",
)
YOU = Words(zh="你> ", en="you> ")
NEW_CONVERSATION = Words(zh="新对话 {conversation_id}", en="New conversation {conversation_id}")
NOTHING_SAID = Words(zh="这里还没有消息。", en="Nothing has been said here yet.")
PRESS_AGAIN = Words(zh="再按一次 Ctrl-C 退出。", en="Press Ctrl-C again to leave.")

LOST = Words(zh="连接断开（{reason}），正在重试…", en="Connection lost ({reason}). Trying again…")
BACK = Words(zh="已重新连接。", en="Connected again.")
ENDED = Words(zh="这一轮已结束。", en="The turn has ended.")
CONTINUED = Words(zh="— 继续 —", en="— continued —")
STOPPING = Words(zh="正在停止…（再按一次 Ctrl-C 退出）", en="Stopping… (Ctrl-C again leaves)")
APPLIED = Words(zh="此前已执行：{change}（/undo 撤销）", en="Already done before: {change} (/undo takes it back)")
STOPPED = Words(zh="已停止。", en="Stopped.")
PARTIAL = Words(zh="额度已用完，结果不完整。", en="The budget is used up: this is a partial result.")
PROBLEM = Words(zh="出错：{message}", en="Error: {message}")
USAGE = Words(zh="{input} 输入 · {output} 输出", en="{input} tokens in · {output} out")

CANT_UNDO = Words(zh="无法撤销", en="Can't be undone")
LIVE = Words(zh="实盘", en="LIVE")
UNTRUSTED = Words(
    zh="本轮含有不可信文本（{source}）：{passage}", en="This turn has read untrusted text ({source}): {passage}"
)
EXPIRES_IN = Words(zh="{left} 后过期", en="expires in {left}")
EXPIRED = Words(zh="已过期", en="expired")
PLACE = Words(zh="第 {n} 项，共 {total} 项", en="{n} of {total}")
OPTIONAL = Words(zh="可略过", en="optional")
NEEDS = Words(zh="依赖 {rows}", en="needs {rows}")
MOVED = Words(zh="已变动：{row}", en="moved: {row}")

STATUS = {
    "executed": Words(zh="已执行", en="done"),
    "failed": Words(zh="失败", en="failed"),
    "stale": Words(zh="情况已变，未执行", en="the world has moved on, nothing was done"),
    "denied": Words(zh="已拒绝", en="denied"),
    "expired": Words(zh="已过期，未执行", en="expired, nothing was done"),
    "superseded": Words(zh="已被新消息取代", en="superseded"),
    "cancelled": Words(zh="已取消", en="cancelled"),
    "unknown": Words(zh="结果未知", en="outcome unknown"),
}
"""How an approval ended, by its status on the wire."""

ASK_VOTE = Words(zh="[a] 批准 / [e] 修改 / [d] 拒绝 > ", en="[a]pprove / [e]dit / [d]eny > ")
VOTE_MANUAL = Words(
    zh="输入 a、e 或 d（d 后可写理由；a -2 -3 略过第 2、3 行）。",
    en="Type a, e or d (a reason may follow d; a -2 -3 leaves out the optional rows 2 and 3).",
)
ASK_REASON = Words(zh="理由（可留空）> ", en="Reason (may stay empty) > ")
ASK_ARGUMENTS = Words(
    zh="新参数，一行 JSON（留空则不改）> ", en="New arguments, one line of JSON (empty keeps them) > "
)
NOT_AN_OBJECT = Words(zh="这不是 JSON 对象。", en="That isn't a JSON object.")
UNCHANGED = Words(zh="未修改。", en="Nothing was changed.")
LEFT_PENDING = Words(zh="尚未决定，用 /approvals 再看。", en="Left undecided: /approvals shows it again.")
NONE_PENDING = Words(zh="没有待批准的操作。", en="Nothing waits for approval.")
ELSEWHERE = Words(zh="其他对话中：{summary} ({name})", en="In another conversation: {summary} ({name})")

ASK_ANSWER = Words(zh="回答 > ", en="Answer > ")
ONE_OF_THESE = Words(zh="请选 1 到 {total}。", en="Choose 1 to {total}.")
LEFT_UNANSWERED = Words(zh="尚未回答。", en="Left unanswered.")
