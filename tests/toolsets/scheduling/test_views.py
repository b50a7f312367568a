"""The timetable for the model before a turn, and for the page's grid."""

from datetime import date

import pytest

from stores.database import Database
from tests.toolsets.scheduling.desk import Desk
from tests.toolsets.scheduling.stored import make_tables, reading
from toolsets.errors import DomainError
from toolsets.scheduling.views import live_view, week, week_view

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk(database: Database) -> Desk:
    await make_tables(database)
    desk = Desk(database, locale="zh")
    await desk.put_demo()
    return desk


async def test_the_live_view_is_a_few_lines(desk: Desk) -> None:
    async with reading(desk.database, locale="zh") as deps:
        seen = await live_view(deps)
    lines = seen.splitlines()
    assert lines[0].startswith(
        "计划 21 天：第 1 天 周一 12月7日，最后一天 周日 12月27日；今天 周二 12月8日（第 2 天）。"
    )
    assert lines[2].startswith("待安排 12 项（×节数）：[9] 线代复习 ×2")
    assert len(lines) == 3


async def test_the_live_view_speaks_english(desk: Desk) -> None:
    async with reading(desk.database) as deps:
        seen = await live_view(deps)
    assert seen.startswith("21 planned days: day 1 is Mon 7 Dec, the last is Sun 27 Dec; today is Tue 8 Dec (day 2).")


async def test_a_week_has_all_that_a_grid_needs(desk: Desk) -> None:
    async with reading(desk.database, locale="zh") as deps:
        seen = await week(deps, date(2026, 12, 14), date(2026, 12, 20))
    assert (seen["today"], seen["term"]["name"], len(seen["days"])) == ("2026-12-08", "本学期", 7)
    assert seen["slots"][0] == {"slot": 1, "start": "08:00", "end": "08:45"}
    assert seen["days"][1] == {
        "date": "2026-12-15",
        "weekday": 2,
        "week": 15,
        "label": "周二 12月15日",
        "today": False,
        "holiday": False,
        "occupied": 6,
    }
    art, words = (next(item for item in seen["items"] if item["name"] == name) for name in ("艺术鉴赏", "单词练习"))
    assert (art["kind"], art["locked"], art["guest_id"]) == ("course", False, words["task_id"])
    assert (words["kind"], words["host_id"], words["class_name"]) == ("task", art["task_id"], "英语四级")
    assert (words["date"], words["slot_start"], words["slot_end"]) == ("2026-12-15", 10, 10)
    assert len(seen["pending"]) == 12
    assert [one["name"] for one in seen["classes"]] == ["期末复习", "课程设计", "英语四级"]


async def test_weeks_are_counted_from_the_terms_anchor(desk: Desk) -> None:
    async with reading(desk.database) as deps:
        seen = await week_view(deps, {"from": "2027-01-04"})
    assert [day["week"] for day in seen["days"]] == [18] * 7


async def test_without_dates_the_week_is_the_current_one(desk: Desk) -> None:
    async with reading(desk.database) as deps:
        seen = await week_view(deps, {})
    assert (seen["from"], seen["to"]) == ("2026-12-07", "2026-12-13")
    assert [day["today"] for day in seen["days"]].index(True) == 1


@pytest.mark.parametrize("query", [{"from": "soon"}, {"from": "2026-12-10", "to": "2026-12-09"}, {"to": "2036-01-01"}])
async def test_strange_dates_are_refused(desk: Desk, query: dict[str, str]) -> None:
    async with reading(desk.database) as deps:
        with pytest.raises(DomainError):
            await week_view(deps, query)
