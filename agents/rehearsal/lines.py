"""What the rehearsal model says on its own account."""

from collections.abc import Sequence

from toolsets.words import Locale, Words

WHO = Words(
    zh="我是排练模型：不联网，只按固定的规则演示几件事。",
    en="I'm the rehearsal model: no network, just fixed rules that play a few jobs.",
)
HOW_TO_CHANGE = Words(
    zh="要换成真正的模型，请设置 PLACET_MODEL，例如 PLACET_MODEL=openai:gpt-5.2，并提供 OPENAI_API_KEY。",
    en="For a real model set PLACET_MODEL, for example PLACET_MODEL=openai:gpt-5.2 with an OPENAI_API_KEY.",
)
HELLO = Words(zh="你好！", en="Hello!")
THANKS = Words(zh="不客气。", en="You're welcome.")
BYE = Words(zh="再见。", en="Goodbye.")
NOTHING_WAITS = Words(
    zh="现在没有什么在等你答复，所以我什么也没做。",
    en="Nothing is waiting for your answer, so I did nothing.",
)
NOT_REHEARSED = Words(zh="这件事我没有排练过。", en="I haven't rehearsed that.")
NOTHING_SAID = Words(zh="我没有看到你的消息。", en="I see no message from you.")

_CAN = Words(zh="在这里可以试试：", en="Here you can try:")
_SCENES = Words(zh="我排练过：{scenes}。", en="I have rehearsed: {scenes}.")
_UNAVAILABLE = Words(
    zh="这里做不了：需要的工具（{tools}）没有提供给我。",
    en="I can't do that here: I wasn't given {tools}.",
)
_LOST = Words(
    zh="这一轮前面的步骤不是按我的排练走的，所以我在这里停下，不去猜。",
    en="The earlier steps of this turn aren't the ones I rehearsed, so I stop here rather than guess.",
)
_BROKEN = Words(
    zh="排练“{scene}”出错了，我在这里停下。已经做过的都在上面。",
    en='The rehearsal of "{scene}" broke, so I stop here. What was done is shown above.',
)
_STOPPED = Words(zh="我先停在这里。已经做过：{tools}。", en="I stop here. Done so far: {tools}.")
_STOPPED_EMPTY = Words(zh="我先停在这里，还没有做成什么。", en="I stop here; nothing has been done yet.")


def unavailable(tools: Sequence[str], locale: Locale) -> str:
    return _UNAVAILABLE.said(locale).format(tools=_joined(tools, locale))


def lost(locale: Locale) -> str:
    return _LOST.said(locale)


def broken(scene: str, locale: Locale) -> str:
    return _BROKEN.said(locale).format(scene=scene)


def stopped(tools: Sequence[str], locale: Locale) -> str:
    """The last words of a turn that may call nothing more."""
    if not tools:
        return _STOPPED_EMPTY.said(locale)
    return _STOPPED.said(locale).format(tools=_joined(tools, locale))


def can(suggestions: Sequence[str], scenes: Sequence[str], locale: Locale) -> str:
    """A list of what to try: whole messages where there are some, else the scenes' names. May be empty."""
    if suggestions:
        return "\n".join([_CAN.said(locale), *(f"- {suggestion}" for suggestion in suggestions)])
    if scenes:
        return _SCENES.said(locale).format(scenes=_joined(scenes, locale))
    return ""


def _joined(names: Sequence[str], locale: Locale) -> str:
    return ("、" if locale == "zh" else ", ").join(names)
