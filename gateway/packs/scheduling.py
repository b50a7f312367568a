"""The timetable, a week at a time."""

from datetime import timedelta

from fastapi import APIRouter, Response

from agents.errors import Invalid
from gateway.admission import Admitted
from gateway.answers import AsciiJson
from gateway.body import StrictRoute
from gateway.contents import Week
from gateway.dates import DaysQuery
from gateway.responses import ERRORS, holding
from gateway.state import GatewayState
from toolsets.errors import DomainError
from toolsets.scheduling.views import week

router = APIRouter(prefix="/api/schedule", tags=["scheduling"], route_class=StrictRoute, responses=ERRORS)


@router.get("", response_class=AsciiJson, responses=holding(Week))
async def show_schedule(gateway: GatewayState, person: Admitted, days: DaysQuery) -> Response:
    """The days from `from` to `to`; this week when neither is given."""
    try:
        async with gateway.runtime.reading_deps(person) as deps:
            today = deps.clock().astimezone(deps.zone).date()
            monday = today - timedelta(days=today.weekday())
            first, last = days.around(monday, before=0, after=6)
            return AsciiJson(await week(deps, first, last))
    except DomainError as error:
        raise Invalid([{"field": "from", "message": error.words}]) from error
