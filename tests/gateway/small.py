"""A small app behind the real doors: routes that say what they got."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Annotated, Any

import httpx
import jwt
from fastapi import APIRouter, FastAPI, Query
from pydantic import Field
from sqlalchemy.exc import OperationalError

from agents import errors as refusals
from gateway.admission import Admission, Admitted, guard
from gateway.answers import AsciiJson, ErrorBoundary, add_error_answers
from gateway.auth import Authenticator, Authority, LocalAuth, TokenAuth
from gateway.body import StrictModel, StrictRoute
from gateway.headers import SecurityHeaders
from gateway.ids import ClientId, PathId
from gateway.limits import InProcessLimits
from gateway.origin import OwnOrigin
from gateway.tokens import SecretKey, TokenReader
from stores.database import Database

SECRET = "a secret of thirty-two bytes, at least"
START = datetime(2026, 12, 7, 8, 0, tzinfo=UTC)


@dataclass
class Time:
    """A clock that a test moves."""

    now: datetime = START
    passed_s: float = 0.0

    def clock(self) -> datetime:
        return self.now + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return self.passed_s


@dataclass
class Running:
    """How many turns run, as a test wants it."""

    turns: int = 0
    asked: list[str] = field(default_factory=list[str])

    async def count(self, user_id: str) -> int:
        self.asked.append(user_id)
        return self.turns


class Note(StrictModel):
    text: str
    times: int = 1
    urgent: bool = False
    extras: dict[str, Any] = Field(default_factory=dict[str, Any])


router = APIRouter(route_class=StrictRoute)
REFUSED: dict[str, Callable[[], Exception]] = {
    "not_found": refusals.NotFound,
    "forbidden": refusals.Forbidden,
    "turn_in_progress": refusals.TurnInProgress,
    "approval_settled": lambda: refusals.ApprovalSettled("expired"),
    "version_conflict": lambda: refusals.VersionConflict(3),
    "idempotency_conflict": refusals.IdempotencyConflict,
    "nothing_to_undo": refusals.NothingToUndo,
    "rows_moved_on": lambda: refusals.RowsMovedOn([{"table": "t", "found": 1}]),
    "invalid": lambda: refusals.Invalid([{"field": "text", "message": "no"}]),
    "unavailable": refusals.Unavailable,
    "unexpected": lambda: RuntimeError("the password is hunter2"),
    "database": lambda: OperationalError("SELECT secret", {}, Exception("host db.internal is away")),
}


@router.post("/notes")
async def take_note(note: Note, person: Admitted) -> AsciiJson:
    return AsciiJson({"who": person.user_id, "note": note.model_dump()})


@router.get("/me")
async def me(person: Admitted) -> AsciiJson:
    scopes = None if person.scopes is None else sorted(person.scopes)
    assistants = None if person.assistants is None else sorted(person.assistants)
    return AsciiJson(
        {
            "user_id": person.user_id,
            "scopes": scopes,
            "assistants": assistants,
            "zone": person.zone,
            "locale": person.locale,
        }
    )


@router.get("/things/{thing_id}")
async def thing(
    thing_id: PathId, other: Annotated[ClientId | None, Query()] = None, size: Annotated[int, Query(ge=1)] = 1
) -> AsciiJson:
    return AsciiJson({"thing_id": thing_id})


@router.get("/refuse/{kind}")
async def refuse(kind: str) -> AsciiJson:
    refused = REFUSED[kind]()
    raise refused


@router.post("/bodiless")
async def bodiless() -> AsciiJson:
    return AsciiJson({})


def small_app(
    database: Database,
    *,
    time: Time | None = None,
    authenticator: Authenticator | None = None,
    per_minute: int = 1000,
    local: bool = True,
) -> FastAPI:
    """The doors as the server puts them, around a few routes."""
    time = time or Time()
    numbers = count(1)
    app = FastAPI(default_response_class=AsciiJson)
    limits = InProcessLimits(
        per_minute=per_minute,
        streams=2,
        running_turns=2,
        count_running=Running().count,
        monotonic=time.monotonic,
    )
    authority = Authority(database, clock=time.clock, zone="Europe/Berlin")
    guard(app, Admission(authenticator=authenticator or LocalAuth(), authority=authority, limits=limits))
    app.add_middleware(OwnOrigin, local=local)
    app.add_middleware(ErrorBoundary, new_id=lambda: f"ref-{next(numbers)}")
    app.add_middleware(SecurityHeaders)
    add_error_answers(app)
    app.include_router(router)
    return app


def token_auth(time: Time, **reader: str) -> TokenAuth:
    return TokenAuth(TokenReader(SecretKey(SECRET), clock=time.clock, **reader))


def token(time: Time, *, secret: str = SECRET, **claims: Any) -> str:
    """A token for alice for an hour, unless `claims` say otherwise; None takes a claim out."""
    said = {"sub": "alice", "exp": int(time.clock().timestamp()) + 3600, **claims}
    return jwt.encode({name: value for name, value in said.items() if value is not None}, secret, algorithm="HS256")


@asynccontextmanager
async def calling(app: FastAPI, host: str = "localhost", scheme: str = "http") -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://{host}") as client:
        yield client
