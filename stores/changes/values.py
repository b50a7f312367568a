"""Values of columns as JSON that comes back exactly, and as canonical text that can be hashed.

What JSON has no form for is an object with one key that begins with `$`. Everything is ASCII, so that NUL and lone
surrogates survive any column of text.
"""

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from sqlalchemy import Column
from sqlalchemy import Enum as EnumType

from stores.errors import UnrecordableValue

SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two surrogates side by side, which JSON would join to one character."""


class Symbol(str):
    """A placeholder for a key that the database makes."""

    __slots__ = ()


WRITERS: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
    (Symbol, "$new", str),
    (Enum, "$enum", lambda value: value.name),
    (Decimal, "$decimal", str),
    (datetime, "$datetime", datetime.isoformat),
    (date, "$date", date.isoformat),
    (time, "$time", time.isoformat),
    (timedelta, "$timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
    (bytes, "$bytes", lambda value: b64encode(value).decode()),
    (UUID, "$uuid", str),
)
"""Type, tag, form. The first type that fits counts: a datetime is also a date, a StrEnum also a str."""

READERS: Mapping[str, Callable[[Any], Any]] = {
    "$new": Symbol,
    "$decimal": Decimal,
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$timedelta": lambda parts: timedelta(*parts),
    "$bytes": b64decode,
    "$uuid": UUID,
    "$float": float,
    "$text": lambda codes: "".join(map(chr, codes)),
    "$object": lambda pairs: {decoded(key): decoded(value) for key, value in pairs},
}


def encoded(value: Any) -> Any:
    """The value as JSON-able data. Raises UnrecordableValue for a type that isn't known here."""
    for kind, tag, form in WRITERS:
        if isinstance(value, kind):
            return {tag: form(value)}
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else {"$float": repr(value)}
        case str():
            return {"$text": [ord(code) for code in value]} if SPLIT_PAIR.search(value) else value
        case list():
            return [encoded(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - any JSON
        case dict():
            return _encoded_object(value)  # pyright: ignore[reportUnknownArgumentType] - any JSON
        case _:
            raise UnrecordableValue(f"a value of type {type(value).__name__}")


def _encoded_object(value: dict[Any, Any]) -> Any:
    if not all(isinstance(key, str) for key in value):
        raise UnrecordableValue("an object whose keys aren't text")
    if any(key.startswith("$") or SPLIT_PAIR.search(key) for key in value):
        return {"$object": [[encoded(key), encoded(value[key])] for key in sorted(value)]}
    return {key: encoded(item) for key, item in value.items()}


def decoded(form: Any) -> Any:
    """What `encoded` was given. The name of an enum's member needs its column: see `decoded_in`."""
    match form:
        case list():
            return [decoded(item) for item in form]  # pyright: ignore[reportUnknownVariableType] - any JSON
        case dict():
            for tag, content in form.items():  # pyright: ignore[reportUnknownVariableType] - any JSON
                if tag in READERS:
                    return READERS[tag](content)
            return {key: decoded(item) for key, item in form.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return form


def decoded_in(column: Column[Any], form: Any) -> Any:
    """Like `decoded`, for a value of this column."""
    match form:
        case {"$enum": str(name)} if isinstance(column.type, EnumType) and column.type.enum_class:
            return column.type.enum_class[name]  # pyright: ignore[reportUnknownVariableType] - any enum
        case _:
            return decoded(form)


def ascii_json(form: Any, *, sort_keys: bool = False) -> str:
    return json.dumps(form, ensure_ascii=True, allow_nan=False, sort_keys=sort_keys, separators=(",", ":"))


def canonical(value: Any) -> str:
    """One text for one value: `1`, `1.0`, `true` and `Decimal("1")` are four values."""
    return ascii_json(encoded(value), sort_keys=True)
