"""Tools of the pack called as the house calls them: validated, recorded, with their card. Rehearsed scenes, too."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from stores.changes import Change, recording
from stores.database import Database
from tests.toolsets.scheduling.worlds import NOW, ZONE, counting_ids, deps_on
from toolsets.cards import Card, CardInput
from toolsets.errors import DomainError
from toolsets.pack import DemoInput, Pack
from toolsets.registry import Registry, ToolSpec, build_registry
from toolsets.scenes import Call, Cue, Result, Say, Scene, Use
from toolsets.scheduling import build_pack
from toolsets.scheduling.demo import demo
from toolsets.toolset import Toolset
from toolsets.words import Locale, Words


def registry() -> Registry:
    core = Pack(name="core", toolsets=(Toolset("planning", title=Words.same("planning")),))
    return build_registry([core, build_pack()])


@dataclass(frozen=True, kw_only=True)
class Written:
    """What came of a write."""

    result: Mapping[str, Any]
    changes: tuple[Change, ...]
    card: Card


@dataclass
class Desk:
    """One user at one database."""

    database: Database
    locale: Locale = "en"
    user_id: str = "alice"
    now: datetime = NOW
    registry: Registry = field(default_factory=registry)
    calls: int = 0

    async def read(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        spec = self.registry.tools[tool]
        assert not spec.gated
        async with self.database.read() as connection, AsyncSession(connection) as session:
            deps = deps_on(session, user_id=self.user_id, locale=self.locale, now=self.now)
            return await spec.declaration.function(deps, **self._valid(spec, arguments))

    async def write(self, tool: str, **arguments: Any) -> Written:
        self.calls += 1
        return await self._run(tool, f"call{self.calls}-{self.user_id}", arguments)

    async def propose(self, tool: str, **arguments: Any) -> Written:
        """A dry run: what would be written, and nothing stays. Each draws the same ids."""
        return await self._run(tool, "proposed", arguments, keep=False)

    async def _run(self, tool: str, ids: str, arguments: Mapping[str, Any], *, keep: bool = True) -> Written:
        spec = self.registry.tools[tool]
        assert spec.gated
        async with self.database.write(user_id=self.user_id) as connection:
            async with recording(connection) as record:
                deps = deps_on(
                    record.session, user_id=self.user_id, locale=self.locale, new_id=counting_ids(ids), now=self.now
                )
                result = await spec.declaration.function(deps, **self._valid(spec, arguments))
                changes = await record.finish()
                assert spec.declaration.card is not None
                normal = spec.arguments.normalized(arguments)
                card = spec.declaration.card(CardInput(deps=deps, arguments=normal, changes=changes, result=result))
            if not keep:
                await connection.rollback()
        return Written(result=result, changes=changes, card=card)

    async def put_demo(self) -> None:
        async with self.database.write(user_id=self.user_id) as connection, AsyncSession(connection) as session:
            new_id = counting_ids(f"demo-{self.user_id}")
            given = DemoInput(
                user_id=self.user_id, now=self.now, zone=ZONE, new_id=lambda: new_id(""), locale=self.locale
            )
            await demo(session, given)

    async def play(self, text: str, *, earlier: tuple[str, ...] = (), deny: bool = False) -> tuple[list[Call], str]:
        """The writes that a message leads to, and the last words."""
        scene, match = next(matching(self.registry.scenes, text))
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        cue = Cue(text=text, match=groups, locale=self.locale, earlier=earlier, tools=frozenset(self.registry.tools))
        play, writes = scene.play(cue), list[Call]()
        act = next(play)
        while isinstance(act, Use):
            writes += [call for call in act.calls if self.registry.tools[call.tool].gated]
            act = play.send(tuple([await self._called(call, deny) for call in act.calls]))
        assert isinstance(act, Say)
        return writes, act.text

    async def _called(self, call: Call, deny: bool) -> Result:
        gated = self.registry.tools[call.tool].gated
        if gated and deny:
            return Result(status="denied", content="denied")
        try:
            if gated:
                return Result(status="ok", content=dict((await self.write(call.tool, **call.arguments)).result))
            return Result(status="ok", content=dict(await self.read(call.tool, **call.arguments)))
        except DomainError as error:
            return Result(status="error", content=error.as_result(self.locale))

    def _valid(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return spec.arguments.validate_python(dict(arguments))


def matching(scenes: tuple[Scene, ...], text: str) -> Iterator[tuple[Scene, re.Match[str]]]:
    for scene in scenes:
        for pattern in scene.patterns:
            if found := re.search(pattern, text, re.IGNORECASE):
                yield scene, found
                break
