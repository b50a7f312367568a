"""Demo data: something to look at and to change in every domain, for one user."""

from collections.abc import Callable, Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncSession

from stores.database import Database
from toolsets.pack import DemoInput, Pack


async def put_demo(
    packs: Iterable[Pack],
    database: Database,
    *,
    user_id: str,
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
    zone: ZoneInfo,
) -> tuple[str, ...]:
    """Put each pack's demo data in place for this user and return the names of the packs that have some.

    All or nothing: one transaction. A pack leaves a user alone who has data in it already.
    """
    demo = DemoInput(user_id=user_id, now=clock(), zone=zone, new_id=new_id)
    put: list[str] = []
    async with database.write(user_id=user_id) as connection, AsyncSession(connection) as session:
        for pack in packs:
            if pack.demo is not None:
                await pack.demo(session, demo)
                await session.flush()  # the commit is the database's, when the block ends
                put.append(pack.name)
    return tuple(put)
