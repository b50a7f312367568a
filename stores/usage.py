"""What turns have used."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from stores.rows import table_of
from stores.shapes import Used
from stores.tables import UsageRow
from stores.turns import Turn

TABLE = table_of(UsageRow)


@dataclass(frozen=True, kw_only=True)
class DayUsage:
    """Totals of one user and day (UTC)."""

    day: str
    turns: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """US dollars of the turns whose price is known; None when none is."""


async def add(connection: AsyncConnection, turn: Turn, used: Used, *, model: str, at: datetime) -> None:
    """What a turn used, written down as it becomes final."""
    values = {
        "turn_id": turn.id,
        "user_id": turn.user_id,
        "day": at.date().isoformat(),
        "model": model,
        "requests": used.get("requests", 0),
        "input_tokens": used.get("input_tokens", 0),
        "output_tokens": used.get("output_tokens", 0),
        "cost": used.get("cost"),
        "at": at,
    }
    await connection.execute(insert(TABLE).values(values))


async def per_day(connection: AsyncConnection, user_id: str, first: date, last: date) -> list[DayUsage]:
    """The days with turns from `first` to `last`, both included, in order."""
    statement = (
        select(TABLE.c.day, TABLE.c.requests, TABLE.c.input_tokens, TABLE.c.output_tokens, TABLE.c.cost)
        .where(TABLE.c.user_id == user_id, TABLE.c.day.between(first.isoformat(), last.isoformat()))
        .order_by(TABLE.c.day)
    )
    days: dict[str, list[tuple[int, int, int, str | None]]] = defaultdict(list)
    for day, requests, input_tokens, output_tokens, cost in await connection.execute(statement):
        days[day].append((requests, input_tokens, output_tokens, cost))
    return [_total(day, turns) for day, turns in days.items()]


def _total(day: str, turns: list[tuple[int, int, int, str | None]]) -> DayUsage:
    # Costs are decimal texts: added here, so that no database makes floats of them.
    costs = [Decimal(cost) for *_, cost in turns if cost is not None]
    return DayUsage(
        day=day,
        turns=len(turns),
        requests=sum(turn[0] for turn in turns),
        input_tokens=sum(turn[1] for turn in turns),
        output_tokens=sum(turn[2] for turn in turns),
        cost=sum(costs, Decimal(0)) if costs else None,
    )
