"""Arguments of tool calls: repaired where nothing is lost, refused everywhere else, and never guessed."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, ParamSpec, TypeGuard, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticCustomError, SchemaValidator, to_jsonable_python

from toolsets.errors import ArgumentsError
from toolsets.text import storable

INVALID = "INVALID_JSON"
"""Key under which PydanticAI keeps arguments that aren't JSON, so that a provider still accepts the history."""

Schema = Mapping[str, Any]
"""A JSON schema, or a part of one."""

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_FENCE = re.compile(r"```[a-zA-Z0-9]*\s*\n?(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_DEPTH = 64

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
        return _object(_decoded(_DECODER.decode, stripped))
    except json.JSONDecodeError as error:
        return _surrounded(stripped, error)


def _surrounded(text: str, error: json.JSONDecodeError) -> dict[str, Any]:
    """The one value that stands in a fence or between other words."""
    found = list(_values_in(_fenced(text)))
    if not found:
        raise NotAnObject(f"not JSON: {error.msg} at character {error.pos}")
    if len({hashed(one) for one in found}) > 1:
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
            yield value


def _object(value: Any) -> dict[str, Any]:
    if not _is_object(value):
        raise NotAnObject(f"a JSON object is needed, not {type(value).__name__}")
    if _too_deep(value, _DEPTH):
        raise NotAnObject(f"nested deeper than {_DEPTH}")
    return value


def _too_deep(value: Any, left: int) -> bool:
    if left == 0:
        return True
    inner: Iterable[Any] = value.values() if _is_object(value) else value if _is_array(value) else ()
    return any(_too_deep(one, left - 1) for one in inner)


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
        raise NotAnObject(f"{text} is too large a number")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_no_duplicates)


def _decoded(decode: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return decode(*args, **kwargs)
    except RecursionError:
        raise NotAnObject("nested too deeply") from None


def repaired(value: Any, schema: Schema, definitions: Schema | None = None) -> Any:
    """The value with what can be mended without loss.

    Integers sent as strings ("3") become integers where the schema asks for them; characters that no database stores
    (NUL, lone surrogates) become visible escapes.
    """
    known: Schema = definitions if definitions is not None else schema.get("$defs", {})
    branch = _branch(value, schema, known)
    if _is_object(value):
        properties: Schema = branch.get("properties", {})
        return {storable(key): repaired(one, properties.get(key, {}), known) for key, one in value.items()}
    if _is_array(value):
        return [repaired(one, branch.get("items", {}), known) for one in value]
    if isinstance(value, str):
        wanted = branch.get("type") == "integer" and _INTEGER.fullmatch(value.strip())
        return int(value) if wanted else storable(value)
    return value


def _branch(value: Any, schema: Schema, definitions: Schema) -> Schema:
    """The schema itself, what it refers to, or the branch of its `anyOf` that the value was meant for."""
    if reference := schema.get("$ref"):
        return definitions.get(str(reference).rsplit("/", 1)[-1], {})
    branches = [_branch(value, one, definitions) for one in schema.get("anyOf", ())]
    if not branches:
        return schema
    kind = "object" if _is_object(value) else "array" if _is_array(value) else "string"
    fitting = [one for one in branches if one.get("type") == kind]
    integers = [one for one in branches if one.get("type") == "integer"]
    chosen = fitting or integers
    return chosen[0] if chosen else {}


class ToolArguments:
    """Validates one tool's arguments. Has the two methods that PydanticAI expects of a validator."""

    def __init__(self, validator: SchemaValidator, schema: Schema) -> None:
        self._validator = validator
        self._schema = schema

    def validate_json(
        self,
        input: str | bytes | bytearray,
        *,
        allow_partial: bool | Literal["off", "on", "trailing-strings"] = False,
        **kwargs: Any,
    ) -> Any:
        """Raises pydantic's ValidationError."""
        text = input if isinstance(input, str) else bytes(input).decode("utf-8", "replace")
        try:
            found = parse_object(text) if text.strip() else {}
        except NotAnObject as error:
            raise _refused(str(error)) from None
        return self.validate_python(found)

    def validate_python(
        self, input: Any, *, allow_partial: bool | Literal["off", "on", "trailing-strings"] = False, **kwargs: Any
    ) -> Any:
        """Raises pydantic's ValidationError."""
        if not _is_object(input):
            raise _refused("a JSON object is needed")
        if set(input) == {INVALID}:
            raise _refused(_why(str(input[INVALID])))
        lenient = repaired(input, self._schema)
        # Strict JSON: true isn't 1 and 1.0 isn't 1, yet dates and decimals may be strings.
        return self._validator.validate_json(json.dumps(lenient), strict=True)

    def normalized(self, arguments: Any) -> dict[str, Any]:
        """Validated arguments as plain JSON, defaults filled in. Raises ArgumentsError naming the fields."""
        try:
            return as_json(self.validate_python(arguments))
        except ValidationError as error:
            problems = [
                {"field": ".".join(str(step) for step in one["loc"]) or "arguments", "message": one["msg"]}
                for one in error.errors(include_url=False, include_context=False, include_input=False)
            ]
            raise ArgumentsError(problems) from None


def _why(text: str) -> str:
    try:
        parse_object(text)
    except NotAnObject as error:
        return str(error)
    return "the arguments are not a JSON object"


def _refused(reason: str) -> ValidationError:
    problem = PydanticCustomError("arguments", "{reason}", {"reason": f"Arguments refused: {reason}."})
    return ValidationError.from_exception_data("arguments", [{"type": problem, "loc": (), "input": None}])


def as_json(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Validated arguments as plain JSON data."""
    plain = to_jsonable_python(dict(arguments))
    assert _is_object(plain)
    return plain


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def hashed(value: Any) -> str:
    """A digest of JSON data, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
