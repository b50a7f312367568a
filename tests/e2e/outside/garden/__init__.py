"""A pack from outside: everything that a pack can bring, in a folder that the repository knows nothing of."""

from pathlib import Path

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from toolsets.pack import Assistant, DemoInput, Pack
from toolsets.words import Words

from .beds import GREETING, INSTRUCTIONS, garden, plants
from .plot import SCENES
from .tables import PlantRow
from .weather import weather_of


async def demo(session: AsyncSession, given: DemoInput) -> None:
    if await session.scalar(select(PlantRow.id).where(PlantRow.user_id == given.user_id).limit(1)):
        return
    session.add(PlantRow(id=given.new_id(), user_id=given.user_id, name="moss", watered=0))


def build_pack() -> Pack:
    return Pack(
        name="garden",
        toolsets=(garden,),
        assistants=(
            Assistant(
                name="gardening",
                title=Words.same("Garden"),
                toolsets=("garden", "planning"),
                instructions=INSTRUCTIONS,
                greeting=GREETING,
            ),
        ),
        tables=(PlantRow,),
        migrations=Path(__file__).parent / "versions",
        demo=demo,
        views={"plants": plants},
        scenes=SCENES,
        deps=weather_of,
    )
