"""Every error as the wire says it: one table from exceptions to status, code and sentence.

GatewayError
├── Unauthenticated       no valid token, or none at all
├── CrossSite             an unsafe request from a page that isn't ours
├── WrongHost             a local server was called by a name that isn't this machine's
├── TooLarge              body or message
├── UnsupportedMediaType  a body that isn't JSON
├── Unprocessable         the content; `problems` name the fields
└── RateLimited           `retry_after_s` says when to come back
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asyncpg import PostgresError
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from agents import errors as refusals
from gateway.problems import Problem
from toolsets.words import Locale, Words


class GatewayError(Exception):
    """Base of the errors of this package."""


class Unauthenticated(GatewayError):
    """Says nothing about why: that would help whoever guesses."""


class CrossSite(GatewayError):
    pass


class WrongHost(GatewayError):
    pass


class TooLarge(GatewayError):
    pass


class UnsupportedMediaType(GatewayError):
    pass


class Unprocessable(GatewayError):
    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(f"{problem.field} {problem.words.en}" for problem in problems))
        self.problems = problems


class RateLimited(GatewayError):
    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"come back in {retry_after_s} s")
        self.retry_after_s = retry_after_s


Details = Callable[[Any, Locale], Any]
"""What an exception of the row adds to `details`."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How one kind of error looks on the wire."""

    status: int
    code: str
    words: Words
    details: Details | None = None
    headers: Callable[[Any], Mapping[str, str]] | None = None
    internal: bool = False
    """Logged, with a reference that the answer names."""


NOT_FOUND = Shape(status=404, code="not_found", words=Words(zh="没有找到。", en="There is no such thing."))
METHOD_NOT_ALLOWED = Shape(
    status=405,
    code="method_not_allowed",
    words=Words(zh="这个地址不支持这种请求。", en="This address doesn't take such requests."),
)
INVALID = Shape(
    status=422,
    code="invalid",
    words=Words(zh="请求的内容不对。", en="The request's content can't be used."),
    details=lambda error, locale: [problem.said(locale) for problem in error.problems],
)
TOO_LARGE = Shape(status=413, code="too_large", words=Words(zh="内容太长了。", en="That is too long."))
UNAVAILABLE = Shape(
    status=503,
    code="unavailable",
    words=Words(zh="暂时不可用，请稍后再试。", en="Not available at the moment. Try again soon."),
)
STORE_UNAVAILABLE = Shape(status=503, code="unavailable", words=UNAVAILABLE.words, internal=True)
INTERNAL = Shape(
    status=500,
    code="internal",
    words=Words(zh="服务器出错了，已记录。", en="Something went wrong here. It has been recorded."),
    internal=True,
)
BAD_REQUEST = Shape(status=400, code="invalid", words=INVALID.words)

TABLE: Mapping[type[Exception], Shape] = {
    Unauthenticated: Shape(
        status=401,
        code="unauthenticated",
        words=Words(zh="请先登录。", en="Sign in first."),
        headers=lambda error: {"WWW-Authenticate": "Bearer"},
    ),
    refusals.Forbidden: Shape(status=403, code="forbidden", words=Words(zh="没有权限。", en="You may not do that.")),
    WrongHost: Shape(
        status=403,
        code="forbidden",
        words=Words(zh="本机模式只能用 localhost 访问。", en="In local mode the server answers only to localhost."),
    ),
    CrossSite: Shape(
        status=403,
        code="cross_site",
        words=Words(zh="拒绝来自其他网站的请求。", en="Requests from other sites are refused."),
    ),
    refusals.NotFound: NOT_FOUND,
    refusals.TurnInProgress: Shape(
        status=409,
        code="turn_in_progress",
        words=Words(zh="这个对话正在处理上一条消息。", en="This conversation is still busy with a message."),
    ),
    refusals.ApprovalSettled: Shape(
        status=409,
        code="approval_settled",
        words=Words(zh="这一项已经有结果了。", en="This has been settled already."),
        details=lambda error, locale: {"status": error.status},
    ),
    refusals.VersionConflict: Shape(
        status=409,
        code="version_conflict",
        words=Words(
            zh="内容已更新，请看过新的版本再决定。", en="It has changed since you saw it. Look at the new version."
        ),
        details=lambda error, locale: {"version": error.version},
    ),
    refusals.IdempotencyConflict: Shape(
        status=409,
        code="idempotency_conflict",
        words=Words(zh="同一个编号已用于另一条消息。", en="This id was used for another message."),
    ),
    refusals.NothingToUndo: Shape(
        status=409, code="nothing_to_undo", words=Words(zh="没有可以撤销的内容。", en="There is nothing to undo.")
    ),
    refusals.RowsMovedOn: Shape(
        status=409,
        code="rows_moved_on",
        words=Words(
            zh="这些内容后来又改过，不能直接撤销。", en="The rows have changed since, so this can't be undone as it is."
        ),
        details=lambda error, locale: {"rows": error.rows},
    ),
    TooLarge: TOO_LARGE,
    UnsupportedMediaType: Shape(
        status=415,
        code="unsupported_media_type",
        words=Words(zh="请以 JSON 发送。", en="Send JSON, with Content-Type: application/json."),
    ),
    Unprocessable: INVALID,
    refusals.Invalid: Shape(
        status=422, code="invalid", words=INVALID.words, details=lambda error, locale: error.said(locale)
    ),
    RateLimited: Shape(
        status=429,
        code="rate_limited",
        words=Words(zh="请求太频繁，请稍后再试。", en="Too many at once. Try again in a moment."),
        headers=lambda error: {"Retry-After": str(error.retry_after_s)},
    ),
    refusals.Unavailable: UNAVAILABLE,
    OperationalError: STORE_UNAVAILABLE,
    PoolTimeout: STORE_UNAVAILABLE,
    ConnectionError: STORE_UNAVAILABLE,
    PostgresError: STORE_UNAVAILABLE,  # as asyncpg raises it while connecting
}


def error_body(
    shape: Shape, locale: Locale, *, reference: str | None = None, details: Any = None
) -> dict[str, Mapping[str, Any]]:
    """`{"error": {"code", "message", "reference"?, "details"?}}`."""
    said: dict[str, Any] = {"code": shape.code, "message": shape.words.said(locale)}
    if reference is not None:
        said["reference"] = reference
    if details is not None:
        said["details"] = details
    return {"error": said}


def shape_of_status(status: int) -> Shape:
    """For errors that the framework itself raises."""
    known: Sequence[Shape] = (NOT_FOUND, METHOD_NOT_ALLOWED, TOO_LARGE, UNAVAILABLE)
    return next((shape for shape in known if shape.status == status), BAD_REQUEST if status < 500 else INTERNAL)
