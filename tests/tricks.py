"""A pack for tests: what the timetable's own tools don't show, over the timetable's tables."""

import asyncio
from typing import Any

from sqlalchemy import func, select

from toolsets.cards import Card, CardInput, CardRow
from toolsets.deps import ToolDeps
from toolsets.errors import DomainError
from toolsets.pack import Assistant, Pack
from toolsets.scheduling.tables import TaskClassRow
from toolsets.toolset import Keywords, Toolset
from toolsets.words import Words

tricks = Toolset("tricks", title=Words.same("Tricks"), always=True)
hidden = Toolset("hidden", title=Words.same("Hidden"), keywords=Keywords(en=("abracadabra",)))

HELD: dict[str, asyncio.Event] = {}
"""Places where a tool stands until a test lets it go on."""
REACHED: dict[str, asyncio.Event] = {}
"""Set when a tool comes to a place, where a test waits for that."""
TROUBLE: set[str] = set()
"""Names that can't be added at the moment, for no reason that anybody expects."""


async def _add(deps: ToolDeps, name: str) -> None:
    last = await deps.session.scalar(select(func.max(TaskClassRow.number)).where(TaskClassRow.user_id == deps.user_id))
    row = TaskClassRow(
        id=deps.new_id(name),
        user_id=deps.user_id,
        name=name,
        strategy="steady",
        total_slots=4,
        allow_filler_course=True,
        excluded_slots=[],
        start_date=deps.clock().date(),
        end_date=deps.clock().date(),
        number=(last or 0) + 1,
        updated_at=deps.clock(),
    )
    deps.session.add(row)
    await deps.session.flush()


async def _stand(place: str) -> None:
    if place in REACHED:
        REACHED[place].set()
    await HELD[place].wait()


async def _found(deps: ToolDeps, name: str) -> TaskClassRow:
    mine = select(TaskClassRow).where(TaskClassRow.user_id == deps.user_id, TaskClassRow.name == name)
    row = await deps.session.scalar(mine)
    if row is None:
        raise DomainError("not_found", Words.same(f"there is no {name}"))
    return row


def several_card(given: CardInput) -> Card:
    rows = tuple(
        CardRow(
            key=str((change.after or {})["name"]),
            op="add",
            table=change.table,
            label=Words.same(str((change.after or {})["name"])),
            after=Words.same("new"),
            changes=(index,),
            optional=(change.after or {})["name"] != "first",
            depends_on=("second",) if (change.after or {})["name"] == "third" else (),
        )
        for index, change in enumerate(given.changes)
    )
    return Card(summary=Words.same("Add several."), rows=rows)


@tricks.read
async def names(deps: ToolDeps) -> dict[str, Any]:
    """The names of the classes."""
    rows = await deps.session.scalars(select(TaskClassRow.name).where(TaskClassRow.user_id == deps.user_id))
    return {"status": "ok", "names": sorted(rows)}


@tricks.write(title=Words.same("Add"))
async def add(deps: ToolDeps, name: str) -> dict[str, Any]:
    """Add a class."""
    await _add(deps, name)
    return {"status": "ok", "added": name}


@tricks.write(title=Words.same("Rename"))
async def rename(deps: ToolDeps, old: str, new: str) -> dict[str, Any]:
    """Give a class another name."""
    (await _found(deps, old)).name = new
    return {"status": "ok", "name": new}


@tricks.write(title=Words.same("Budget"))
async def budget(deps: ToolDeps, name: str, slots: int) -> dict[str, Any]:
    """Set the number of slots of a class."""
    (await _found(deps, name)).total_slots = slots
    return {"status": "ok", "slots": slots}


@tricks.write(title=Words.same("Drop"), always_confirm=True)
async def drop(deps: ToolDeps, name: str) -> dict[str, Any]:
    """Delete a class."""
    await deps.session.delete(await _found(deps, name))
    return {"status": "ok"}


@tricks.write(title=Words.same("Add several"), card=several_card)
async def add_several(deps: ToolDeps, names: list[str]) -> dict[str, Any]:
    """Add classes in one go."""
    for name in names:
        if name not in deps.skip:
            await _add(deps, name)
    return {"status": "ok"}


@tricks.write(title=Words.same("Shift several"), card=several_card)
async def shift_several(deps: ToolDeps, names: list[str], more: list[str]) -> dict[str, Any]:
    """Give classes one slot more, and add others."""
    for name in names:
        (await _found(deps, name)).total_slots += 1
    for name in more:
        if name not in deps.skip:
            await _add(deps, name)
    return {"status": "ok"}


@tricks.write(title=Words.same("Nothing"))
async def change_nothing(deps: ToolDeps) -> dict[str, Any]:
    """Change nothing at all."""
    return {"status": "ok"}


@tricks.write(title=Words.same("Add in trouble"))
async def add_in_trouble(deps: ToolDeps, name: str) -> dict[str, Any]:
    """Add a class, unless something breaks."""
    if name in TROUBLE:
        raise ZeroDivisionError("postgres://user:password@host/db")
    await _add(deps, name)
    return {"status": "ok"}


@tricks.write(title=Words.same("Add slowly"))
async def add_slowly(deps: ToolDeps, name: str, place: str) -> dict[str, Any]:
    """Add a class, and stand still until a test says otherwise."""
    await _add(deps, name)
    await _stand(place)
    return {"status": "ok"}


@tricks.read
async def explode(deps: ToolDeps) -> dict[str, Any]:
    """Raise what nobody expects."""
    raise ZeroDivisionError("postgres://user:password@host/db")


@tricks.read
async def hold(deps: ToolDeps, place: str) -> dict[str, Any]:
    """Stand still until a test says otherwise."""
    await _stand(place)
    return {"status": "ok"}


@hidden.read
async def rabbit(deps: ToolDeps) -> dict[str, Any]:
    """Pull a rabbit out of a hat."""
    return {"status": "ok", "rabbit": True}


def build_pack() -> Pack:
    return Pack(
        name="tricks",
        toolsets=(tricks, hidden),
        assistants=(
            Assistant(
                name="tricks",
                title=Words.same("Tricks"),
                toolsets=("tricks", "hidden", "planning"),
                instructions=Words.same("Play."),
                greeting=Words.same("Hello."),
            ),
        ),
    )
