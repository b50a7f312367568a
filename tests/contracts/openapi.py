"""The OpenAPI document as a contract: every answer that a test gets must be described in it, field by field."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import httpx
from jsonschema import Draft202012Validator

JSON = dict[str, Any]


class Contract:
    """Checks answers. Remembers which were seen: `(method, path, status)`."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.seen: set[tuple[str, str, str]] = set()
        self._validators: dict[str, Draft202012Validator] = {}

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        paths: list[str] = sorted(self.document["paths"], key=lambda path: path.count("{"))
        return [(re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), path) for path in paths]

    @cached_property
    def _components(self) -> JSON:
        return {"schemas": {name: closed(schema) for name, schema in self.document["components"]["schemas"].items()}}

    def check(self, answer: httpx.Response) -> None:
        """Raises AssertionError for an answer that isn't described so. Addresses that don't exist are no routes."""
        request = answer.request
        path = self._template(request.url.raw_path.decode().split("?")[0])
        if path is None or request.method.lower() not in self.document["paths"][path]:
            assert answer.status_code in (404, 405), f"{request.method} {request.url}: {answer.status_code}"
            return
        where = f"{request.method} {path} {answer.status_code}"
        described = self.document["paths"][path][request.method.lower()]["responses"].get(str(answer.status_code))
        assert described is not None, f"{where} isn't described: {answer.text[:200]}"
        self.seen.add((request.method, path, str(answer.status_code)))
        contents: Mapping[str, JSON] = described.get("content", {})
        if not answer.content:
            assert not contents, f"{where} is empty"
            return
        kind = answer.headers["content-type"].split(";")[0]
        assert kind in contents, f"{where} is {kind}"
        if kind == "application/json":
            found = self._validator(where, contents[kind]).iter_errors(answer.json())  # pyright: ignore[reportUnknownMemberType]
            problems = [f"{error.json_path}: {error.message[:200]}" for error in found]
            assert not problems, f"{where}: {problems}"

    def _template(self, path: str) -> str | None:
        return next((template for pattern, template in self._patterns if pattern.fullmatch(path)), None)

    def _validator(self, where: str, content: JSON) -> Draft202012Validator:
        if where not in self._validators:
            schema: JSON = {**closed(content["schema"]), "components": self._components}
            self._validators[where] = Draft202012Validator(schema)
        return self._validators[where]


def closed(schema: Any) -> Any:
    """The schema without leave for other fields: a client must expect more, but what we send is all described."""
    if isinstance(schema, list):
        items: list[Any] = schema  # pyright: ignore[reportUnknownVariableType] - JSON
        return [closed(one) for one in items]
    if not isinstance(schema, dict):
        return schema
    fields: JSON = schema  # pyright: ignore[reportUnknownVariableType] - JSON: names are text
    inside = {name: closed(value) for name, value in fields.items()}
    return {**inside, "additionalProperties": False} if isinstance(fields.get("properties"), dict) else inside
