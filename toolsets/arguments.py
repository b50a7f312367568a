"""Arguments of tool calls: repaired where nothing is lost, refused everywhere else, and never guessed."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import PydanticCustomError, SchemaValidator, to_jsonable_python

from toolsets.errors import ArgumentsError
from toolsets.json_text import DEPTH, NotAnObject, is_array, is_object, parse_object, too_deep
from toolsets.text import storable

INVALID = "INVALID_JSON"
"""Key under which PydanticAI keeps arguments that aren't JSON, so that a provider still accepts the history."""

Schema = Mapping[str, Any]
"""A JSON schema, or a part of one."""

_INTEGER = re.compile(r"[+-]?\d{1,18}")


def repaired(value: Any, schema: Schema, definitions: Schema | None = None) -> Any:
    """The value with what can be mended without loss.

    Integers sent as strings ("3") become integers where the schema asks for them; characters that no database stores
    (NUL, lone surrogates) become visible escapes.
    """
    known: Schema = definitions if definitions is not None else schema.get("$defs", {})
    branch = _branch(value, schema, known)
    if is_object(value):
        properties: Schema = branch.get("properties", {})
        return {storable(key): repaired(one, properties.get(key, {}), known) for key, one in value.items()}
    if is_array(value):
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
    kind = "object" if is_object(value) else "array" if is_array(value) else "string"
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
        if not is_object(input):
            raise _refused("a JSON object is needed")
        if set(input) == {INVALID}:
            raise _refused(_why(str(input[INVALID])))
        if too_deep(input):
            raise _refused(f"nested deeper than {DEPTH}")
        try:
            plain = json.dumps(repaired(input, self._schema), allow_nan=False)
        except ValueError:
            raise _refused("NaN and infinities aren't numbers that JSON knows") from None
        # Strict JSON: true isn't 1 and 1.0 isn't 1, yet dates and decimals may be strings.
        return self._validator.validate_json(plain, strict=True)

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
    assert is_object(plain)
    return plain


def hashed(value: Any) -> str:
    """A digest of JSON data, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
