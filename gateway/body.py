"""Bodies, read strictly before anything is made of them."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Coroutine
from email.message import Message
from math import isfinite
from typing import Any, Never

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict

from gateway.admission import admit
from gateway.errors import TooLarge, Unprocessable, UnsupportedMediaType
from gateway.problems import Problem
from toolsets.words import Words

BODY_BYTES = 1024 * 1024
NESTING = 64

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NOT_JSON = Words(zh="不是有效的 JSON", en="isn't valid JSON")
_NOT_UTF8 = Words(zh="必须是 UTF-8 编码", en="must be UTF-8")
_TOO_DEEP = Words(zh=f"嵌套不能超过 {NESTING} 层", en=f"may be nested {NESTING} levels deep at most")


class StrictModel(BaseModel):
    """What a body may hold: no other field, and no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


class StrictRoute(APIRoute):
    """A route for admitted persons only, whose body, if it takes one, is strict JSON.

    Who asks is settled before the body is looked at.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        takes_body = self.body_field is not None

        async def strictly(request: Request) -> Response:
            await admit(request)
            strict = StrictRequest(request.scope, request.receive)
            if takes_body:
                await strict.load()
            return await answer(strict)

        return strictly


class StrictRequest(Request):
    """A request whose body is read once, in bounds, and parsed by `strict_json`."""

    _loaded: Any = None

    async def load(self) -> None:
        """Read and parse. Raises TooLarge, UnsupportedMediaType, Unprocessable. An empty body is left to the route."""
        body = await self.body()
        if body:
            if not _is_json(self.headers.get("content-type")) or self.headers.get("content-encoding"):
                raise UnsupportedMediaType
            self._loaded = strict_json(body)

    async def json(self) -> Any:
        return self._loaded

    async def stream(self) -> AsyncGenerator[bytes, None]:
        # Counted as it comes: `Content-Length` may lie or be absent.
        size = 0
        async for chunk in super().stream():
            size += len(chunk)
            if size > BODY_BYTES:
                raise TooLarge
            yield chunk


def strict_json(body: bytes) -> Any:
    """The value of a JSON text. Raises Unprocessable for what JSON doesn't have or what is ambiguous.

    No NaN or infinity, no name twice in an object, no number that is too big to be one, at most `NESTING` levels.
    NUL and lone surrogates come out as visible escapes (`\\u0000`, six characters): they can be stored anywhere.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refused(_NOT_UTF8) from None
    try:
        value = json.loads(
            text, object_pairs_hook=_without_repeats, parse_constant=_no_constant, parse_float=_finite_float
        )
    except RecursionError:
        raise _refused(_TOO_DEEP) from None
    except ValueError:
        raise _refused(_NOT_JSON) from None
    return _storable(value, NESTING)


def visible(text: str) -> str:
    """The text with NUL and lone surrogates as visible escapes."""
    return _UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _storable(value: Any, levels: int) -> Any:
    if levels < 0:
        raise _refused(_TOO_DEEP)
    match value:
        case str():
            return visible(value)
        case list():
            return [_storable(item, levels - 1) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON: names are text
            return {visible(name): _storable(item, levels - 1) for name, item in fields.items()}
        case _:
            return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a name occurs twice")
    return fields


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("the number is too big")
    return number


def _is_json(content_type: str | None) -> bool:
    message = Message()
    message["content-type"] = content_type or ""
    subtype = message.get_content_subtype()
    return message.get_content_maintype() == "application" and (subtype == "json" or subtype.endswith("+json"))


def _refused(words: Words) -> Unprocessable:
    return Unprocessable(Problem(field="body", words=words))
