"""The keyboard's side of the chat."""

import pytest

from app.chat.terminal import locale_of


@pytest.mark.parametrize(
    ("environ", "locale"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
    ],
)
def test_the_language_is_that_of_the_environment(environ: dict[str, str], locale: str) -> None:
    assert locale_of(environ) == locale
