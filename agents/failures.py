"""What is said when a run fails: a stable code, a sentence, a reference, no internals."""

import logging
from collections.abc import Callable

from pydantic_ai.exceptions import AgentRunError, FallbackExceptionGroup

from agents.errors import NewerHistory, RunError
from toolsets.words import Locale, Words

log = logging.getLogger("placet.run")

FAILED = {
    "model_unavailable": Words(
        "模型暂时不可用，请稍后再试。", "The model can't be reached at the moment. Try again later."
    ),
    "internal": Words("内部错误。", "Something went wrong inside."),
    "unavailable": Words(
        "这段对话由更新的版本写成，这个服务器读不了。",
        "A newer release wrote this conversation; this server can't read it.",
    ),
}


def described(failure: BaseException, new_id: Callable[[], str], locale: Locale) -> tuple[str, str, str]:
    """Code, text and reference of a failure; the text is what the page shows, without internals."""
    reference = new_id()
    log.error("run failed, reference %s", reference, exc_info=failure)
    match failure:
        case RunError():
            code, words = failure.code, failure.words
        case NewerHistory():
            code, words = "unavailable", FAILED["unavailable"]
        case AgentRunError() | FallbackExceptionGroup():
            code, words = "model_unavailable", FAILED["model_unavailable"]
        case _:
            code, words = "internal", FAILED["internal"]
    return code, _text(code, words, reference, locale), reference


def described_again(code: str, reference: str, locale: Locale) -> str:
    """The text of a failure that is stored with its turn."""
    return _text(code, FAILED.get(code, FAILED["internal"]), reference, locale)


def _text(code: str, words: Words, reference: str, locale: Locale) -> str:
    return f"{code}: {words.said(locale)} ({reference})"
