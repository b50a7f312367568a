"""What a person sees before a change: one sentence, and a row for each part that moves."""

import pytest

from stores.database import Database
from tests.toolsets.scheduling.desk import Desk, Written
from tests.toolsets.scheduling.stored import make_tables, store_state
from tests.toolsets.scheduling.worlds import placed, waiting, world
from toolsets.scheduling.placing import place

pytestmark = pytest.mark.anyio

START = place(
    world(
        placed(2, (4, 7, 8), name="形势与政策", can_embed=True),
        placed(3, (5, 9, 10), name="课设 · 编码"),
        placed(4, (6, 3, 4), name="社团例会"),
        placed(7, (1, 1, 2), (3, 1, 2), name="体育"),
        waiting(5, 1, name="阅读 2"),
        waiting(6, 2, name="线代复习"),
    ),
    5,
    4,
    8,
)


@pytest.fixture
def backend() -> str:
    """These look at words, not at rows: one database is enough."""
    return "sqlite"


@pytest.fixture
async def desk(database: Database) -> Desk:
    await make_tables(database)
    await store_state(database, START)
    return Desk(database)


def rows(written: Written) -> list[tuple[str, str, str, str]]:
    """Every row in Chinese: op, label, before, after."""
    return [
        (row.op, row.label.zh, row.before.zh if row.before else "", row.after.zh if row.after else "")
        for row in written.card.rows
    ]


def assert_covers(written: Written) -> None:
    """Every change belongs to exactly one row."""
    assert sorted(n for row in written.card.rows for n in row.changes) == list(range(len(written.changes)))
    assert len({row.key for row in written.card.rows}) == len(written.card.rows)


async def test_placing(desk: Desk) -> None:
    written = await desk.write("place", task_id=6, day=3, slot_start=7)
    assert written.card.summary.zh == "把“线代复习”安排到周三 12月9日 第7–8节。"
    assert written.card.summary.en == "Place 线代复习 on Wed 9 Dec, slots 7–8."
    assert rows(written) == [("change", "线代复习", "待安排", "周三 12月9日 第7–8节")]
    assert written.card.rows[0].ref == {
        "kind": "slot",
        "date": "2026-12-09",
        "slot_start": 7,
        "slot_end": 8,
        "task_id": 6,
    }
    assert_covers(written)


async def test_placing_inside_a_course_says_so(desk: Desk) -> None:
    await desk.write("unplace", task_id=5)
    written = await desk.write("place", task_id=5, day=4, slot_start=7)
    assert written.card.summary.zh == "把“阅读 2”安排到周四 12月10日 第7节，嵌入“形势与政策”。"
    assert written.card.rows[0].after is not None
    assert written.card.rows[0].after.en == "Thu 10 Dec, slot 7, inside 形势与政策"
    assert written.card.rows[0].ref is not None
    assert written.card.rows[0].ref["host_id"] == 2
    assert_covers(written)


async def test_moving_names_both_places_and_draws_both(desk: Desk) -> None:
    written = await desk.write("move", task_id=3, new_day=6, new_slot_start=5)
    assert written.card.summary.zh == "把“课设 · 编码”从周五 12月11日 第9–10节移到周六 12月12日 第5–6节。"
    assert written.card.rows[0].ref is not None
    assert written.card.rows[0].ref["from"] == {"date": "2026-12-11", "slot_start": 9, "slot_end": 10}
    assert_covers(written)


async def test_a_move_over_itself_shows_the_whole_ranges(desk: Desk) -> None:
    written = await desk.write("move", task_id=3, new_day=5, new_slot_start=10)
    assert rows(written) == [("change", "课设 · 编码", "周五 12月11日 第9–10节", "周五 12月11日 第10–11节")]
    assert_covers(written)


async def test_a_task_of_two_parts_has_two_rows(desk: Desk) -> None:
    written = await desk.write("move", task_id=7, new_day=2, new_slot_start=1)
    assert [row[3] for row in rows(written)] == ["周二 12月8日 第1–2节", "周四 12月10日 第1–2节"]
    assert_covers(written)


async def test_a_host_that_moves_shows_its_guest_too(desk: Desk) -> None:
    written = await desk.write("move", task_id=2, new_day=7, new_slot_start=1)
    assert rows(written) == [
        ("change", "形势与政策", "周四 12月10日 第7–8节", "周日 12月13日 第1–2节"),
        (
            "change",
            "阅读 2",
            "周四 12月10日 第8节，嵌入“形势与政策”",
            "周日 12月13日 第2节，嵌入“形势与政策”",
        ),
    ]
    assert_covers(written)


async def test_swapping(desk: Desk) -> None:
    written = await desk.write("swap", task_a=3, task_b=4)
    assert written.card.summary.en == "Swap 课设 · 编码 (Fri 11 Dec, slots 9–10) and 社团例会 (Sat 12 Dec, slots 3–4)."
    assert [row[1] for row in rows(written)] == ["课设 · 编码", "社团例会"]
    assert_covers(written)


async def test_a_batch_counts_tasks_and_slots(desk: Desk) -> None:
    moves = [{"task_id": 3, "new_day": 6, "new_slot_start": 3}, {"task_id": 4, "new_day": 5, "new_slot_start": 9}]
    written = await desk.write("batch_move", moves=moves)
    assert written.card.summary.zh == "把 2 项移到新位置，共 4 节。"
    assert_covers(written)


async def test_unplacing(desk: Desk) -> None:
    written = await desk.write("unplace", task_id=2)
    assert written.card.summary.zh == "把“形势与政策”从周四 12月10日 第7–8节取下，改为待安排。"
    assert [row[3] for row in rows(written)] == ["待安排", "待安排"]
    assert_covers(written)


async def test_adding_an_event(desk: Desk) -> None:
    written = await desk.write("add_event", name="讲座", date="2026-12-09", slot_start=9, slot_end=10)
    assert written.card.summary.zh == "在周三 12月9日 第9–10节添加“讲座”。"
    assert rows(written) == [("add", "讲座", "", "周三 12月9日 第9–10节")]
    assert_covers(written)


async def test_a_weekly_course_is_one_row(desk: Desk) -> None:
    written = await desk.write("add_event", name="体育", date="2026-12-09", slot_start=9, slot_end=10, weeks=8)
    assert written.card.summary.zh == "在周三 12月9日 第9–10节添加“体育”，每周一次，共 8 次。"
    assert rows(written) == [("add", "体育", "", "周三 12月9日 第9–10节 起，共 8 次")]
    assert_covers(written)


async def test_deleting(desk: Desk) -> None:
    written = await desk.write("remove_event", task_id=2)
    assert written.card.summary.zh == "把“形势与政策”从课表删除，共 2 节。"
    assert rows(written) == [
        ("remove", "形势与政策", "周四 12月10日 第7–8节", ""),
        ("change", "阅读 2", "周四 12月10日 第8节，嵌入“形势与政策”", "待安排"),
    ]
    assert_covers(written)


async def test_deleting_one_day(desk: Desk) -> None:
    written = await desk.write("remove_event", task_id=7, date="2026-12-09")
    assert written.card.summary.zh == "删除“体育”在周三 12月9日的安排。"
    assert_covers(written)


async def test_deleting_a_pending_task(desk: Desk) -> None:
    written = await desk.write("remove_event", task_id=6)
    assert written.card.summary.zh == "删除待安排的“线代复习”。"
    assert rows(written) == [("remove", "线代复习", "待安排", "")]
    assert_covers(written)


async def test_creating_a_class_with_items(desk: Desk) -> None:
    written = await desk.write(
        "create_task_class",
        name="四级",
        total_slots=4,
        start_date="2026-12-07",
        end_date="2026-12-20",
        excluded_slots=[12],
        items=["听力", "阅读"],
    )
    assert written.card.summary.zh == "新建任务类“四级”，含 2 项任务，周一 12月7日至周日 12月20日，共 4 节。"
    assert rows(written)[0] == ("add", "四级", "", "平均分布，可嵌入课程，不用第 12 节")
    assert rows(written)[1:] == [("add", "听力", "", "待安排，2 节"), ("add", "阅读", "", "待安排，2 节")]
    assert_covers(written)


async def test_adding_items(desk: Desk) -> None:
    written = await desk.write("add_task_items", task_class_id=1, names=["甲", "乙"], duration=1)
    assert written.card.summary.zh == "添加任务“甲”、“乙”到“Revision”，共 2 节，待安排。"
    assert_covers(written)
