"""A person at a page: the real server over a real database, with a scripted model and the demo timetable."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import jwt
from fastapi import FastAPI
from pydantic_ai.models import Model

from app.demo import put_demo
from app.main import create_app
from app.settings import load_settings
from app.wiring import Wired, build
from gateway.auth import LOCAL_USER
from tests.contracts.openapi import Contract
from tests.gateway.small import SECRET, START, Time, calling

JSON = dict[str, Any]
CONTRACTS: list[Contract] = []
WAIT_S = 20.0
"""How long a test waits for what must come."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A stream, read to its end."""

    status: int
    headers: httpx.Headers
    body: str

    @property
    def frames(self) -> list[tuple[int, str]]:
        blocks = [block for block in self.body.split("\n\n") if block.startswith("id: ")]
        pairs = [block.split("\n", 1) for block in blocks]
        return [(int(number.removeprefix("id: ")), data.removeprefix("data: ")) for number, data in pairs]

    @property
    def chunks(self) -> list[JSON]:
        return [json.loads(data) for _, data in self.frames if data != "[DONE]"]

    @property
    def types(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]

    def of(self, kind: str) -> list[JSON]:
        return [chunk for chunk in self.chunks if chunk["type"] == kind]

    @property
    def text(self) -> str:
        return "".join(chunk["delta"] for chunk in self.of("text-delta"))

    @property
    def cards(self) -> list[JSON]:
        return [chunk["data"] for chunk in self.of("data-approval")]

    @property
    def conversation_id(self) -> str:
        return self.headers["x-conversation-id"]


@dataclass(kw_only=True)
class Desk:
    """One person's way to the server."""

    client: httpx.AsyncClient
    wired: Wired
    app: FastAPI
    time: Time
    contract: Contract
    """Every answer is held against it."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def ask(self, method: str, path: str, body: object = None, **more: Any) -> httpx.Response:
        """Any request of this person's."""
        headers = {**self.headers, **more.pop("headers", {})}
        if body is not None:
            # In ASCII, as the JSON of a browser may come: lone surrogates are escapes.
            more["content"] = json.dumps(body)
            headers = {"content-type": "application/json", **headers}
        answer = await asyncio.wait_for(self.client.request(method, path, headers=headers, **more), WAIT_S)
        self.contract.check(answer)
        return answer

    async def get(self, path: str, **params: Any) -> Any:
        answer = await self.ask("GET", path, params=params or None)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def stream(self, method: str, path: str, body: object = None, **more: Any) -> Answer:
        """A request that is answered with a stream."""
        headers = {"accept": "text/event-stream", **more.pop("headers", {})}
        answer = await self.ask(method, path, body, headers=headers, **more)
        return Answer(status=answer.status_code, headers=answer.headers, body=answer.text)

    async def say(self, text: str, conversation: str | None = "c1", *, path: str = "", **body: Any) -> Answer:
        """Say something and read the answer's stream to its end."""
        headers = body.pop("headers", {})
        where = f"/api/conversation/stream{path}"
        return await self.stream("POST", where, self.message(text, conversation, **body), headers=headers)

    def message(self, text: str, conversation: str | None = "c1", **body: Any) -> JSON:
        """A body as `useChat` sends it."""
        said = {"id": f"m{next(self.numbers)}", "role": "user", "parts": [{"type": "text", "text": text}]}
        named = {} if conversation is None else {"id": conversation}
        return {**named, "message": said, **body}

    async def vote(self, message: JSON, approved: Sequence[bool], *, path: str = "", **body: Any) -> Answer:
        """What `useChat` sends once everything that was asked in its last message is answered."""
        where = f"/api/conversation/stream{path}"
        sent = {"id": body.pop("conversation", "c1"), "messages": [responded(message, approved)], **body}
        return await self.stream("POST", where, {**sent, "messageId": message["id"]})

    async def decide(self, card: JSON, verdict: str = "approve", **more: Any) -> httpx.Response:
        """Decide, asking for the stream of what goes on: an approval comes back when nothing does."""
        headers = {"accept": "text/event-stream"}
        where = f"/api/approvals/{card['approval_id']}/decision"
        return await self.ask("POST", where, decision(card, verdict, **more), headers=headers)

    async def approve(self, card: JSON, verdict: str = "approve", *, path: str = "", **more: Any) -> Answer:
        """Decide, and follow the turn that goes on."""
        where = f"/api/approvals/{card['approval_id']}/decision{path}"
        return await self.stream("POST", where, decision(card, verdict, **more))

    async def schedule(self) -> Any:
        """Everything that the timetable shows, over all the demo's weeks."""
        return await self.get("/api/schedule", **{"from": "2026-11-30", "to": "2027-01-24"})


def contract_of(app: FastAPI) -> Contract:
    """Made once: every app of the tests has the same routes."""
    if not CONTRACTS:
        CONTRACTS.append(Contract(app.openapi()))
    return CONTRACTS[0]


def decision(card: JSON, verdict: str = "approve", **more: Any) -> JSON:
    return {"decision": verdict, "expected_version": card["version"], **more}


def responded(message: JSON, approved: Sequence[bool]) -> JSON:
    """The message with votes on what it asks, in order: the SDK's own form."""
    votes = iter(approved)
    parts = [
        {**part, "state": "approval-responded", "approval": {"id": part["approval"]["id"], "approved": next(votes)}}
        if part.get("state") == "approval-requested"
        else part
        for part in message["parts"]
    ]
    return {**message, "parts": parts}


@asynccontextmanager
async def desk(
    database_url: str, model: Model | None = None, *, timetable: bool = True, **settings: Any
) -> AsyncIterator[Desk]:
    """The local person's desk, with the demo timetable in place."""
    time = Time()
    given = load_settings(**{"database_url": database_url, "auth": "local", **settings})
    async with build(given, model=model, clock=time.clock) as wired:
        app = create_app(wired)
        if timetable:
            await with_timetable(wired, LOCAL_USER)
        async with calling(app) as client:
            try:
                yield Desk(client=client, wired=wired, app=app, time=time, contract=contract_of(app))
            finally:
                await wired.runtime.stop()


@asynccontextmanager
async def desks(
    database_url: str, *users: str, model: Model | None = None, **settings: Any
) -> AsyncIterator[list[Desk]]:
    """Desks of several people at one server, each with a token."""
    time = Time()
    given = load_settings(database_url=database_url, auth="jwt", jwt_secret=SECRET, **settings)
    async with build(given, model=model, clock=time.clock) as wired:
        app = create_app(wired)
        for user in users:
            await with_timetable(wired, user)
        async with calling(app, host="placet.example") as client:
            try:
                yield [
                    Desk(
                        client=client,
                        wired=wired,
                        app=app,
                        time=time,
                        contract=contract_of(app),
                        headers=signed_in(user),
                    )
                    for user in users
                ]
            finally:
                await wired.runtime.stop()


def signed_in(user: str, **claims: Any) -> dict[str, str]:
    """A token of this user's for the test's own time."""
    said = {"sub": user, "exp": int((START + timedelta(days=1)).timestamp()), **claims}
    return {"authorization": f"Bearer {jwt.encode(said, SECRET, algorithm='HS256')}"}


async def with_timetable(wired: Wired, user: str) -> None:
    packs = wired.registry.packs.values()
    await put_demo(packs, wired.database, user_id=user, clock=wired.clock, new_id=wired.new_id, zone=ZoneInfo("UTC"))
