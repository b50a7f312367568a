"""What the person's turns have used."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response

from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute
from gateway.contents import Usage
from gateway.dates import DaysQuery
from gateway.responses import ERRORS, holding
from gateway.state import GatewayState
from stores.usage import DayUsage, per_day

router = APIRouter(prefix="/api/usage", tags=["usage"], route_class=StrictRoute, responses=ERRORS)

DAYS = 29
"""How far back one looks without saying."""


@router.get("", response_class=AsciiJson, responses=holding(Usage))
async def get_usage(gateway: GatewayState, person: Admitted, days: DaysQuery) -> Response:
    """Totals per day (UTC), oldest first; the last 30 days unless `from` and `to` say otherwise."""
    first, last = days.around(gateway.clock().date(), before=DAYS, after=0)
    async with gateway.runtime.database.read() as connection:
        items = [_day(day) for day in await per_day(connection, person.user_id, first, last)]
    return AsciiJson({"items": items, "next": None})


def _day(day: DayUsage) -> dict[str, Any]:
    return {**asdict(day), "cost": None if day.cost is None else str(day.cost)}
