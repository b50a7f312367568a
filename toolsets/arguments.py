"""Arguments of tool calls: repaired where nothing is lost, refused everywhere else, and never guessed."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import PydanticCustomError, SchemaValidator, to_jsonable_python

from toolsets.errors import ArgumentsError
from toolsets.text import storable

INVALID = "INVALID_JSON"
"""Key under which PydanticAI keeps arguments that aren't JSON, so that a provider still accepts the history."""

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_FENCE = re.compile(r"```[a-zA-Z0-9]*\s*\n?(.*?)```", re.DOTALL)
_DEPTH = 64


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
        return _object(_strictly(stripped))
    except json.JSONDecodeError as error:
        return _surrounded(stripped, error)


def _surrounded(text: str, error: json.JSONDecodeError) -> dict[str, Any]:
    fenced = _FENCE.search(text)
    if fenced:
        try:
            return _object(_strictly(fenced.group(1).strip()))
        except json.JSONDecodeError:
            pass
    start = text.find("{")
    if start < 0:
        raise NotAnObject(f"not JSON: {error.msg} at character {error.pos}")
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as inner:
        raise NotAnObject(f"not JSON: {inner.msg} at character {inner.pos}") from None
    if "{" in text[end:] or "[" in text[:start]:
        raise NotAnObject("more than one JSON value")
    return _object(value)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotAnObject(f"a JSON object is needed, not {type(value).__name__}")
    if _too_deep(value, _DEPTH):
        raise NotAnObject(f"nested deeper than {_DEPTH}")
    return value


def _too_deep(value: Any, left: int) -> bool:
    if left == 0:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
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


_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_no_duplicates)


def _strictly(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise NotAnObject("nested too deeply") from None


def repaired(value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> Any:
    """The value with what can be mended without loss.

    Integers sent as strings ("3") become integers where the schema asks for them; characters that no database stores
    (NUL, lone surrogates) become visible escapes.
    """
    definitions = definitions if definitions is not None else schema.get("$defs", {})
    schema = _branch(value, schema, definitions)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return {storable(key): repaired(one, properties.get(key, {}), definitions) for key, one in value.items()}
    if isinstance(value, list):
        return [repaired(one, schema.get("items", {}), definitions) for one in value]
    if isinstance(value, str):
        wanted = schema.get("type") == "integer" and _INTEGER.fullmatch(value.strip())
        return int(value) if wanted else storable(value)
    return value


def _branch(value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, what it refers to, or the branch of its `anyOf` that the value was meant for."""
    if reference := schema.get("$ref"):
        return definitions.get(str(reference).rsplit("/", 1)[-1], {})
    branches = [_branch(value, one, definitions) for one in schema.get("anyOf", ())]
    if not branches:
        return schema
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else "string"
    fitting = [one for one in branches if one.get("type") == kind]
    integers = [one for one in branches if one.get("type") == "integer"]
    return next(iter(fitting or integers), {})


class ToolArguments:
    """Validates one tool's arguments. Has the two methods that PydanticAI expects of a validator."""

    def __init__(self, validator: SchemaValidator, schema: Mapping[str, Any]) -> None:
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
        if not isinstance(input, dict):
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
    assert isinstance(plain, dict)
    return plain


def hashed(value: Any) -> str:
    """A digest of JSON data, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
