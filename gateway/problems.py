"""What is wrong with a request's content, field by field, in the person's language and without echoing it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from toolsets.words import Locale, Words


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One field and what it should be."""

    field: str
    """Dotted path: `message.parts.0.text`."""
    words: Words

    def said(self, locale: Locale) -> dict[str, str]:
        return {"field": self.field, "message": self.words.said(locale)}


KINDS = {
    "missing": Words(zh="必须填写", en="is required"),
    "extra_forbidden": Words(zh="没有这个字段", en="isn't a known field"),
    "json_invalid": Words(zh="不是有效的 JSON", en="isn't valid JSON"),
    "literal_error": Words(zh="不是可选的值之一", en="isn't one of the allowed values"),
    "enum": Words(zh="不是可选的值之一", en="isn't one of the allowed values"),
    "string_type": Words(zh="必须是文字", en="must be text"),
    "string_too_short": Words(zh="太短", en="is too short"),
    "string_too_long": Words(zh="太长", en="is too long"),
    "string_pattern_mismatch": Words(zh="格式不对", en="has the wrong form"),
    "int_type": Words(zh="必须是整数", en="must be a whole number"),
    "int_parsing": Words(zh="必须是整数", en="must be a whole number"),
    "int_from_float": Words(zh="必须是整数", en="must be a whole number"),
    "bool_type": Words(zh="必须是 true 或 false", en="must be true or false"),
    "bool_parsing": Words(zh="必须是 true 或 false", en="must be true or false"),
    "list_type": Words(zh="必须是列表", en="must be a list"),
    "too_short": Words(zh="不能为空", en="has too few entries"),
    "too_long": Words(zh="条目太多", en="has too many entries"),
    "dict_type": Words(zh="必须是对象", en="must be an object"),
    "model_type": Words(zh="必须是对象", en="must be an object"),
    "model_attributes_type": Words(zh="必须是对象", en="must be an object"),
    "greater_than_equal": Words(zh="太小", en="is too small"),
    "less_than_equal": Words(zh="太大", en="is too large"),
    "date_from_datetime_parsing": Words(zh="必须是日期（年-月-日）", en="must be a date (YYYY-MM-DD)"),
    "date_parsing": Words(zh="必须是日期（年-月-日）", en="must be a date (YYYY-MM-DD)"),
    "date_from_datetime_inexact": Words(zh="必须是日期（年-月-日）", en="must be a date (YYYY-MM-DD)"),
}
"""Pydantic's error types."""
OTHERWISE = Words(zh="不能使用这个值", en="can't be used")


class Wrong(ValueError):
    """Raised in a validator: the sentence becomes the field's problem."""

    def __init__(self, words: Words) -> None:
        super().__init__(words.en)
        self.words = words


def problems_of(errors: Iterable[Any]) -> list[Problem]:
    """Pydantic's errors as problems."""
    return [Problem(field=_field(error["loc"]), words=_words(error)) for error in errors]


def _words(error: dict[str, Any]) -> Words:
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Wrong):
        return cause.words
    return KINDS.get(error["type"], OTHERWISE)


def _field(location: Sequence[int | str]) -> str:
    """The path without the part of the request it lies in; the whole part is called by its name."""
    inside = [str(step) for step in location[1:]] if len(location) > 1 else [str(step) for step in location]
    return ".".join(inside) or "body"
