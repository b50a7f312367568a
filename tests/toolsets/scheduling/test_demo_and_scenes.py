"""The demo has something to do, and the rehearsal does it truthfully, in both languages."""

from datetime import timedelta

import pytest

from stores.database import Database
from tests.toolsets.scheduling.desk import Desk
from tests.toolsets.scheduling.stored import make_tables, reading
from tests.toolsets.scheduling.worlds import NOW, assert_sound, deps_on
from toolsets.scenes import Call
from toolsets.scheduling.load import load_state
from toolsets.scheduling.naming import named_tasks

pytestmark = pytest.mark.anyio


@pytest.fixture
def backend() -> str:
    """These look at words, not at rows: one database is enough."""
    return "sqlite"


@pytest.fixture
async def desk(database: Database) -> Desk:
    await make_tables(database)
    desk = Desk(database, locale="zh")
    await desk.put_demo()
    return desk


@pytest.fixture
async def english(database: Database) -> Desk:
    await make_tables(database)
    desk = Desk(database, locale="en")
    await desk.put_demo()
    return desk


async def test_the_demo_is_a_term_with_courses_classes_and_twelve_pending_items(desk: Desk) -> None:
    async with reading(desk.database) as deps:
        state = await load_state(deps)
    assert_sound(state)
    courses = [task for task in state.tasks.values() if task.category == "course"]
    assert (len(courses), sum(task.can_embed for task in courses)) == (8, 2)
    assert (len(state.task_classes), len(state.pending_tasks())) == (3, 12)
    assert {task.locked for task in courses} == {True, False}


async def test_the_demo_is_put_once(desk: Desk) -> None:
    desk.now = NOW + timedelta(days=30)
    await desk.put_demo()
    assert (await desk.read("list_tasks", status="pending"))["total"] > 0
    async with reading(desk.database) as deps:
        assert len((await load_state(deps)).tasks) == 24


@pytest.mark.parametrize("day", range(7))
async def test_next_week_has_content_on_whatever_day_the_demo_is_put(database: Database, day: int) -> None:
    await make_tables(database)
    desk = Desk(database, locale="zh", now=NOW + timedelta(days=day))
    await desk.put_demo()
    monday = NOW.date() + timedelta(days=7 - NOW.weekday() + (7 if NOW.weekday() + day > 6 else 0))
    async with reading(database) as deps:
        state = await load_state(deps_on(deps.session, now=desk.now), (monday, monday + timedelta(days=6)))
    assert sum(task.length for task in state.tasks.values()) > 30


async def test_a_named_task_is_placed_where_it_was_asked(desk: Desk) -> None:
    writes, said = await desk.play("帮我把线代复习安排到周二下午")
    assert writes == [Call("place", {"task_id": 9, "day": 2, "slot_start": 7})]
    assert said == "“线代复习”现在在周二 12月8日 第7–8节。"


async def test_a_task_is_placed_in_english_too(english: Desk) -> None:
    writes, said = await english.play("put linear algebra revision on Tuesday afternoon")
    assert writes == [Call("place", {"task_id": 9, "day": 2, "slot_start": 7})]
    assert said == "Linear algebra revision is now on Tue 8 Dec, slots 7–8."


async def test_the_demo_is_understood_in_the_other_language(desk: Desk) -> None:
    writes, _ = await desk.play("put linear algebra revision on Tuesday afternoon")
    assert writes[0].arguments["task_id"] == 9


async def test_a_denial_is_said_plainly(desk: Desk) -> None:
    assert (await desk.play("把线代复习安排到周四", deny=True))[1] == "你没有批准，什么也没有改。"
    desk.locale = "en"
    _, said = await desk.play("swap club meeting and volunteering", deny=True)
    assert said == "You didn't approve it, so nothing was changed."


async def test_two_tasks_are_placed_in_one_response(desk: Desk) -> None:
    writes, said = await desk.play("把高数复习和物理复习都安排到周四")
    assert [(call.tool, call.arguments["day"]) for call in writes] == [("place", 4), ("place", 4)]
    assert said == "“高数复习”现在在周四 12月10日 第5–6节。\n“物理复习”现在在周四 12月10日 第9–10节。"


@pytest.mark.parametrize("text", ["帮我安排下周的复习", "plan my revision for next week"])
async def test_revision_is_spread_over_next_week(desk: Desk, text: str) -> None:
    writes, _ = await desk.play(text)
    assert len(writes) == 5
    assert len({call.arguments["day"] for call in writes}) == 5
    assert all(8 <= call.arguments["day"] <= 14 for call in writes)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("把社团例会挪到下周四晚上", "move"),
        ("move the club meeting to next Thursday evening", "move"),
        ("把社团例会和志愿服务对调", "swap"),
        ("swap club meeting and volunteering", "swap"),
        ("取消选题报告的安排", "unplace"),
        ("unschedule the topic report", "unplace"),
        ("加一个任务：洗衣服", "add_task_items"),
        ("add a task called laundry", "add_task_items"),
        ("周三晚上加一个讲座", "add_event"),
        ("add a talk on Friday evening", "add_event"),
        ("删掉志愿服务", "remove_event"),
        ("delete volunteering", "remove_event"),
    ],
)
async def test_each_kind_of_wish_makes_its_call(desk: Desk, text: str, tool: str) -> None:
    writes, said = await desk.play(text)
    assert [call.tool for call in writes] == [tool]
    assert "没有改动" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("今天有什么课", "大学物理"),
        ("what's on Thursday", "线性代数"),
        ("周四有空吗", "第5–6节、第9–12节"),
        ("am I free on friday?", "第5–12节"),
        ("还有几个没排进去的任务", "待安排 12 项"),
        ("看看下周的课表", "12月16日"),
        ("把社团例会安排到周五", "已经在周三 12月16日 第9–10节了"),
        ("把编码安排到周二上午", "没有能放下“编码”（3 节）的空档"),
        ("把游泳安排到周二", "没听出是哪一项"),
    ],
)
async def test_what_needs_no_change_changes_nothing(desk: Desk, text: str, said: str) -> None:
    desk.locale = "zh"
    writes, answer = await desk.play(text)
    assert writes == []
    assert said in answer


async def test_a_follow_up_asks_the_same_of_another_day(desk: Desk) -> None:
    assert "第7–12节" in (await desk.play("那周三呢", earlier=("周四有空吗",)))[1]
    assert "高等数学" in (await desk.play("那周三呢", earlier=("周四有什么课",)))[1]


async def test_a_slot_that_is_taken_is_said_to_be(desk: Desk) -> None:
    _, said = await desk.play("把线代复习安排到周二第3节")
    assert said.startswith("没有改动：“线代复习”放不进周二 12月8日 第3–4节：“大学物理”（固定）占着")


def test_longer_names_win_and_the_order_is_the_messages() -> None:
    tasks = [{"task_id": 1, "name": "编码"}, {"task_id": 2, "name": "编码 测试"}, {"task_id": 3, "name": "答辩"}]
    assert [task["task_id"] for task in named_tasks("先答辩，再编码 测试", tasks)] == [3, 2]
    assert [task["task_id"] for task in named_tasks("复习线代", [{"task_id": 4, "name": "线代复习"}])] == [4]
