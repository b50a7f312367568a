"""Answers to what no scene is for: greetings, thanks, "what can you do", and the honest rest."""

import re

from agents.rehearsal import lines
from toolsets.words import Locale, Words

_MARKS = r"[\s!！。.,，~～?？…]*"


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"^{_MARKS}(?:{words}){_MARKS}$", re.IGNORECASE)


_ABOUT = re.compile(
    r"你是谁|你是什么|你能做什么|你会做什么|你会什么|能做什么|怎么用|有什么功能|什么模型|哪个模型"
    r"|\bwhat can you do\b|\bwho are you\b|\bwhat are you\b|\bwhich model\b|\bwhat model\b"
    r"|\bhow do(?:es)? (?:this|it) work\b"
    r"|^\W*help\W*$|^\W*帮助\W*$",
    re.IGNORECASE,
)
_GREETING = _whole(
    r"你好啊?|您好|嗨|哈喽|早上好|早安|下午好|晚上好|在吗"
    r"|hi(?: there)?|hello(?: there)?|hey|good (?:morning|afternoon|evening)"
)
_THANKS = _whole(r"谢谢(?:你|您|啦)?|多谢|感谢|辛苦了|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|cheers")
_BYE = _whole(r"再见|拜拜|晚安|bye(?:[ -]?bye)?|goodbye|good ?night|see you(?: later)?")
_BARE_ANSWER = _whole(
    r"是的?|好的?|可以|确认|行|不|不用|不要|取消|ok(?:ay)?|yes|y|confirm|approve|sure|no|n|cancel|stop|nope"
)


def reply(text: str, locale: Locale, can: str) -> str:
    """What to say to `text`; `can` is the list of what may be tried, or empty."""
    if not text.strip():
        return _said(lines.NOTHING_SAID, locale)
    if _ABOUT.search(text):
        return _introduction(locale, can)
    if _GREETING.match(text):
        return f"{_said(lines.HELLO, locale)}{_gap(locale)}{_introduction(locale, can)}"
    for pattern, words in ((_THANKS, lines.THANKS), (_BYE, lines.BYE), (_BARE_ANSWER, lines.NOTHING_WAITS)):
        if pattern.match(text):
            return _said(words, locale)
    return f"{_said(lines.NOT_REHEARSED, locale)}{_gap(locale)}{_introduction(locale, can)}"


def _introduction(locale: Locale, can: str) -> str:
    return "\n\n".join(part for part in (_said(lines.WHO, locale), can, _said(lines.HOW_TO_CHANGE, locale)) if part)


def _said(words: Words, locale: Locale) -> str:
    return words.said(locale)


def _gap(locale: Locale) -> str:
    return "" if locale == "zh" else " "
