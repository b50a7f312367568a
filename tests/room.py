"""A wired process without HTTP: a person, a scripted model, a clock that a test moves."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from pydantic_ai.messages import ModelMessage, ToolReturnPart
from pydantic_ai.models import Model
from sqlalchemy import select, text

from agents.history import loaded
from agents.requests import Decision, Door, Person, TurnOpened, TurnRequest
from agents.runtime import Runtime
from app.settings import load_settings
from app.wiring import build
from stores import messages
from stores.tables import Base
from tests.agents.strict_provider import ScriptedModel, Step

JSON = dict[str, Any]
ANN = Person(user_id="ann", zone="UTC", locale="en")
BOB = Person(user_id="bob", zone="UTC", locale="en")
START = datetime(2026, 12, 7, 8, 0, tzinfo=UTC)


@dataclass
class Time:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass(kw_only=True)
class Room:
    """Ann talks to the assistant `tricks` in the conversation `c`."""

    runtime: Runtime
    model: ScriptedModel
    time: Time
    person: Person = ANN
    ids: "count[int]" = field(default_factory=lambda: count(1))

    async def opens(self, text: str, **more: Any) -> TurnOpened:
        given: JSON = {"conversation_id": "c", "message_id": f"m{next(self.ids)}", "assistant": "tricks"} | more
        return await self.runtime.open(TurnRequest(person=self.person, text=text, **given))

    async def says(self, text: str, **more: Any) -> JSON:
        """Say something and wait until the turn rests; what `POST /api/conversation` answers."""
        opened = await self.opens(text, **more)
        return await self.runtime.result(self.person, opened.turn_id)

    async def chunks(self, opened: TurnOpened) -> list[JSON]:
        """The turn's stream from where it was opened, to its end."""
        batches = self.runtime.follow(self.person.user_id, opened.turn_id, opened.after)
        frames = [event.data async for batch in batches for event in batch]
        assert frames[-1] == "[DONE]"
        assert sum(json.loads(frame)["type"] == "finish" for frame in frames[:-1]) == 1
        return [json.loads(frame) for frame in frames[:-1]]

    async def decides(self, *decisions: Decision, door: Door = "page") -> list[JSON]:
        return await self.runtime.decide(self.person, decisions, door)

    async def approves(self, approval: Mapping[str, Any], **more: Any) -> JSON:
        return await self._decided(approval, "approve", more)

    async def denies(self, approval: Mapping[str, Any], **more: Any) -> JSON:
        return await self._decided(approval, "deny", more)

    async def _decided(self, approval: Mapping[str, Any], verdict: Any, more: JSON) -> JSON:
        """Decide, and wait until the turn rests again if it goes on."""
        await self.decides(
            Decision(
                approval_id=approval["approval_id"],
                decision=verdict,
                expected_version=more.pop("version", approval["version"]),
                **more,
            )
        )
        return await self.rests(approval["turn_id"])

    async def rests(self, turn_id: str) -> JSON:
        return await self.runtime.result(self.person, turn_id)

    async def approval(self, approval: Mapping[str, Any]) -> JSON:
        return await self.runtime.approval(self.person, approval["approval_id"])

    async def names(self) -> list[str]:
        """The classes that are really there."""
        async with self.runtime.database.read() as connection:
            found = await connection.execute(
                text("SELECT name FROM scheduling_task_classes WHERE user_id = :user ORDER BY name"),
                {"user": self.person.user_id},
            )
            return [name for (name,) in found]

    async def domain(self) -> JSON:
        """Every row of every pack table, to the byte."""
        tables = [table for name, table in sorted(Base.metadata.tables.items()) if name.startswith("scheduling_")]
        async with self.runtime.database.read() as connection:
            return {table.name: sorted(map(repr, await connection.execute(select(table)))) for table in tables}

    async def sql(self, statement: str, **values: Any) -> None:
        """Change something behind the server's back."""
        async with self.runtime.database.write() as connection:
            await connection.execute(text(statement), values)

    async def rows(self, statement: str, **values: Any) -> list[Any]:
        async with self.runtime.database.read() as connection:
            return [tuple(row) for row in await connection.execute(text(statement), values)]

    async def history(self) -> list[ModelMessage]:
        """Everything that is stored of what was said, replaced turns too."""
        async with self.runtime.database.read() as connection:
            return loaded(await messages.of_turns(connection, self.person.user_id, "c"))

    def of(self, person: Person) -> "Room":
        """The same room for somebody else."""
        return replace(self, person=person)

    def told(self) -> list[Any]:
        """What came back to the model for its calls, in order, as it read it in its last request."""
        parts = [part for message in self.model.requests[-1] for part in message.parts]
        return [part.content for part in parts if isinstance(part, ToolReturnPart)]


@asynccontextmanager
async def room(
    database_url: str, steps: Sequence[Step], time: Time | None = None, *, model: Model | None = None, **settings: Any
) -> AsyncIterator[Room]:
    """A process of its own over the database; when it ends, its open turns are let go."""
    script = ScriptedModel(steps, repeat_ids=True)
    moving = time or Time()
    given = load_settings(**{"database_url": database_url, "packs": ("tests.tricks:build_pack",)} | settings)
    async with build(given, model=model or script, clock=moving) as wired:
        try:
            yield Room(runtime=wired.runtime, model=script, time=moving)
        finally:
            await wired.runtime.stop()
    script.check()
