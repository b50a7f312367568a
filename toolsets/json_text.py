"""The JSON object in a model's text: taken where there is exactly one, refused everywhere else."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeGuard, TypeVar

DEPTH = 64

_FENCE = re.compile(r"```[a-zA-Z0-9]*\s*\n?(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_DIGITS = 40

P = ParamSpec("P")
T = TypeVar("T")


class NotAnObject(ValueError):
    """The text holds no JSON object that could be taken without guessing; says why."""


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in a model's text: bare, in a code fence, or with words around it.

    Raises NotAnObject for an array, null, NaN, duplicate keys, several different objects, broken JSON, or nothing.
    """
    stripped = text.strip()
    if not stripped:
        raise NotAnObject("the arguments are empty")
    try:
        return _object(_shallow(_decoded(_DECODER.decode, stripped)))
    except json.JSONDecodeError as error:
        return _surrounded(stripped, error)


def _surrounded(text: str, error: json.JSONDecodeError) -> dict[str, Any]:
    """The one value that stands in a fence or between other words."""
    found = list(_values_in(_fenced(text)))
    if not found:
        raise NotAnObject(f"not JSON: {error.msg} at character {error.pos}")
    if len({json.dumps(one, sort_keys=True) for one in found}) > 1:
        raise NotAnObject("more than one JSON value")
    return _object(found[0])


def _fenced(text: str) -> str:
    """What stands in code fences; the text itself where there are none, or an object begins before the first."""
    first = _FENCE.search(text)
    if first is None or "{" in text[: first.start()]:
        return text
    return "\n".join(_FENCE.findall(text))


def _values_in(text: str) -> Iterator[Any]:
    """The outermost objects and arrays. Raises NotAnObject for a broken object; other brackets are words."""
    at = 0
    while opening := _OPENING.search(text, at):
        try:
            value, at = _decoded(_DECODER.raw_decode, text, opening.start())
        except json.JSONDecodeError as error:
            if opening.group() == "{":
                raise NotAnObject(f"not JSON: {error.msg} at character {error.pos}") from None
            at = opening.end()
        else:
            yield _shallow(value)


def _object(value: Any) -> dict[str, Any]:
    if not is_object(value):
        raise NotAnObject(f"a JSON object is needed, not {type(value).__name__}")
    return value


def _shallow(value: Any) -> Any:
    if too_deep(value):
        raise NotAnObject(f"nested deeper than {DEPTH}")
    return value


def too_deep(value: Any, left: int = DEPTH) -> bool:
    """Whether JSON data is nested deeper than anything that a tool asks for."""
    if left == 0:
        return True
    inner: Iterable[Any] = value.values() if is_object(value) else value if is_array(value) else ()
    return any(too_deep(one, left - 1) for one in inner)


def _no_constant(name: str) -> Any:
    raise NotAnObject(f"{name} isn't a number that JSON knows")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NotAnObject(f"the key {key!r} stands twice")
        found[key] = value
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotAnObject(f"{text[:_DIGITS]} is too large a number")
    return number


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise NotAnObject(f"a number has more than {_DIGITS} digits")
    return int(text)


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=_no_duplicates
)


def _decoded(decode: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return decode(*args, **kwargs)
    except RecursionError:
        raise NotAnObject("nested too deeply") from None


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
