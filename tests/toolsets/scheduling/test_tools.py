"""The tools, called as the house calls them."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from stores.changes import check_pack_tables, normal_form
from stores.database import Database
from tests.toolsets.scheduling.desk import Desk, registry
from tests.toolsets.scheduling.stored import make_tables, store_state
from tests.toolsets.scheduling.worlds import placed, waiting, world
from toolsets.errors import DomainError
from toolsets.scheduling.placing import place
from toolsets.scheduling.tables import TABLES
from toolsets.toolset import Effect

pytestmark = pytest.mark.anyio

START = place(
    world(
        placed(1, (1, 1, 2), (4, 1, 2), name="Calculus", locked=True),
        placed(2, (1, 3, 4), name="Art", can_embed=True),
        placed(3, (3, 1, 2), name="Report"),
        placed(4, (5, 1, 2), name="Club"),
        waiting(5, 1, name="Words"),
        waiting(6, 2, name="Algebra"),
    ),
    5,
    1,
    4,
)


@pytest.fixture
async def desk(database: Database) -> Desk:
    await make_tables(database)
    await store_state(database, START)
    return Desk(database)


async def refused(desk: Desk, tool: str, **arguments: Any) -> DomainError:
    with pytest.raises(DomainError) as caught:
        await (desk.write if desk.registry.tools[tool].gated else desk.read)(tool, **arguments)
    return caught.value


def test_the_tables_keep_the_rules_of_packs() -> None:
    assert check_pack_tables(TABLES) == []


def test_reading_tools_read_and_the_others_wait_for_a_person() -> None:
    effects = {name: spec.effect for name, spec in registry().tools.items()}
    reading = {"get_overview", "query_range", "find_free", "list_tasks", "get_task_info"}
    writing = {"place", "move", "swap", "batch_move", "unplace"}
    making = {"create_task_class", "add_task_items", "add_event", "remove_event"}
    assert effects == dict.fromkeys(reading, Effect.READ) | dict.fromkeys(writing | making, Effect.WRITE)
    assert [name for name, spec in registry().tools.items() if spec.always_confirm] == ["remove_event"]


def test_every_parameter_is_explained_to_the_model() -> None:
    for spec in registry().tools.values():
        for name, schema in spec.definition.parameters_json_schema.get("properties", {}).items():
            assert schema.get("description"), f"{spec.name}.{name}"


async def test_the_overview_tells_days_totals_hosts_pending_tasks_and_classes(desk: Desk) -> None:
    seen = await desk.read("get_overview")
    assert seen["window"] == {"from": "2026-12-07", "to": "2026-12-13", "total_days": 7, "slots_per_day": 12}
    assert seen["today"] == {"date": "2026-12-08", "label": "Tue 8 Dec", "day": 2}
    assert seen["totals"] == {"slots": 84, "occupied": 10, "free": 74, "pending": 1}
    assert seen["days"][0]["items"][1:] == [
        {"task_id": 2, "name": "Art", "slot_start": 3, "slot_end": 4, "fixed": False},
        {"task_id": 5, "name": "Words", "slot_start": 4, "slot_end": 4, "fixed": False, "embedded_in": 2},
    ]
    assert seen["embeddable"] == []
    assert seen["pending"] == [{"task_id": 6, "name": "Algebra", "category": "Revision", "duration": 2}]
    assert (seen["task_classes"][0]["total_slots"], seen["task_classes"][0]["used_slots"]) == (100, 1)


async def test_a_day_is_told_by_pairs_or_slot_by_slot(desk: Desk) -> None:
    whole = await desk.read("query_range", day=1)
    assert [(c["slot_start"], c["slot_end"]) for c in whole["slots"]] == [(n, n + 1) for n in range(1, 12, 2)]
    assert [item["name"] for item in whole["slots"][1]["items"]] == ["Art", "Words"]
    part = await desk.read("query_range", day=1, slot_start="4", slot_end=6)
    assert [len(cell["items"]) for cell in part["slots"]] == [2, 0, 0]
    assert (part["free_slots"], part["occupied_slots"]) == (2, 1)


async def test_a_missing_bound_is_the_edge_of_the_day(desk: Desk) -> None:
    late = await desk.read("query_range", day=1, slot_start=11)
    early = await desk.read("query_range", day=1, slot_end=2)
    assert [cell["slot_start"] for cell in late["slots"]] == [11, 12]
    assert [cell["slot_start"] for cell in early["slots"]] == [1, 2]
    assert (await refused(desk, "query_range", day=1, slot_start=13)).code == "slot_out_of_range"
    assert (await refused(desk, "query_range", day=8)).code == "day_out_of_window"


async def test_any_date_can_be_looked_at(desk: Desk) -> None:
    seen = await desk.read("query_range", date="2027-01-04")
    assert (seen["label"], seen["free_slots"]) == ("Mon 4 Jan", 12)
    assert (await refused(desk, "query_range", date="soon")).code == "invalid_date"
    assert (await refused(desk, "query_range")).code == "invalid"


async def test_free_runs_are_maximal_and_long_enough(desk: Desk) -> None:
    found = await desk.read("find_free", duration=9, day=3)
    assert [(run["slot_start"], run["slot_end"]) for run in found["free"]] == [(3, 12)]
    assert (await desk.read("find_free", duration=9, day=1))["free"] == []
    assert (await refused(desk, "find_free", duration=13)).code == "slot_out_of_range"
    assert (await refused(desk, "find_free", duration=0)).code == "slot_out_of_range"
    assert (await refused(desk, "find_free", duration=1, day=0)).code == "day_out_of_window"


async def test_tasks_are_listed_by_status_and_category(desk: Desk) -> None:
    everything = await desk.read("list_tasks")
    assert (everything["total"], len(everything["existing"]), len(everything["pending"])) == (6, 5, 1)
    assert (await desk.read("list_tasks", status="pending"))["existing"] == []
    assert [task["task_id"] for task in (await desk.read("list_tasks", category="revision"))["existing"]] == [5]
    assert (await desk.read("list_tasks", category="课程"))["total"] == 4
    assert (await desk.read("list_tasks", category="sport"))["total"] == 0


async def test_a_task_is_told_with_what_it_lies_in(desk: Desk) -> None:
    guest, host = await desk.read("get_task_info", task_id=5), await desk.read("get_task_info", task_id=2)
    assert guest["embed_host"] == {"task_id": 2, "name": "Art"}
    assert host["embedded_by"] == {"task_id": 5, "name": "Words"}
    assert guest["slots"][0]["label"] == "Mon 7 Dec, slot 4"
    assert (await refused(desk, "get_task_info", task_id=99)).code == "not_found"


async def test_labels_are_in_the_persons_language(desk: Desk) -> None:
    desk.locale = "zh"
    assert (await desk.read("get_task_info", task_id=3))["slots"][0]["label"] == "周三 12月9日 第1–2节"


async def test_placing_tells_where_the_task_is_now(desk: Desk) -> None:
    written = await desk.write("place", task_id="6", day=2, slot_start=7)
    task = written.result["tasks"][0]
    assert (task["status"], task["from"], task["to"][0]["label"]) == ("existing", [], "Tue 8 Dec, slots 7–8")
    assert written.result["days"][0]["occupied"] == 2
    assert (await desk.read("list_tasks", status="pending"))["total"] == 0


async def test_a_weekday_that_is_not_the_days_is_refused(desk: Desk) -> None:
    assert (await refused(desk, "place", task_id=6, day=2, slot_start=7, weekday=3)).code == "weekday_mismatch"
    assert (await refused(desk, "move", task_id=3, new_day=2, new_slot_start=7, weekday=3)).code == "weekday_mismatch"
    late = {"name": "x", "date": "2026-12-09", "slot_start": 5, "slot_end": 6}
    assert (await refused(desk, "add_event", **late, weekday=2)).code == "weekday_mismatch"


async def test_a_call_that_would_change_nothing_is_refused(desk: Desk) -> None:
    assert (await refused(desk, "move", task_id=3, new_day=3, new_slot_start=1)).code == "unchanged"


async def test_a_fraction_is_not_a_number_of_slots(desk: Desk) -> None:
    with pytest.raises(ValidationError):
        await desk.write("place", task_id=6, day=2, slot_start=1.5)


async def test_two_tasks_exchange_their_places_in_one_batch(desk: Desk) -> None:
    moves = [
        {"task_id": "3", "new_day": 5, "new_slot_start": 1},
        {"task_id": 4, "new_day": 3, "new_slot_start": 1},
    ]
    written = await desk.write("batch_move", moves=moves)
    assert {task["name"]: task["to"][0]["day"] for task in written.result["tasks"]} == {"Report": 5, "Club": 3}


async def test_anyone_can_start_from_nothing_in_words(desk: Desk) -> None:
    desk.user_id = "bob"
    made = await desk.write(
        "create_task_class",
        name="Exam",
        total_slots=6,
        start_date="2026-12-07",
        end_date="2026-12-20",
        items=["One", "Two", "Three"],
    )
    assert [item["duration"] for item in made.result["tasks"]] == [2, 2, 2]
    await desk.write("add_task_items", task_class_id=1, names=["Four"], duration=1)
    await desk.write("add_event", name="Dentist", date="2026-12-10", slot_start=3, slot_end=4, weekday=4)
    await desk.write("place", task_id=1, day=14, slot_start=1)
    seen = await desk.read("get_overview")
    assert (seen["window"]["total_days"], seen["totals"]["occupied"], seen["totals"]["pending"]) == (14, 4, 3)


async def test_a_weekly_event_may_go_beyond_the_window(desk: Desk) -> None:
    written = await desk.write("add_event", name="Gym", date="2026-12-08", slot_start=11, slot_end=12, weeks=4)
    assert [place["date"] for place in written.result["tasks"][0]["to"]] == [
        "2026-12-08",
        "2026-12-15",
        "2026-12-22",
        "2026-12-29",
    ]
    gym = written.result["tasks"][0]["task_id"]
    assert (await desk.read("get_task_info", task_id=gym))["slots_outside_window"] == 6
    await desk.write("remove_event", task_id=gym, date="2026-12-15")
    assert (await desk.read("get_task_info", task_id=gym))["duration"] == 6
    await desk.write("remove_event", task_id=gym)
    assert (await refused(desk, "get_task_info", task_id=gym)).code == "not_found"


async def test_a_foreign_id_is_a_missing_one(desk: Desk) -> None:
    desk.user_id = "bob"
    for tool, arguments in {
        "place": {"day": 1, "slot_start": 1},
        "move": {"new_day": 1, "new_slot_start": 1},
        "unplace": {},
        "remove_event": {},
        "get_task_info": {},
    }.items():
        assert (await refused(desk, tool, task_id=6, **arguments)).code == "not_found"
    assert (await refused(desk, "add_task_items", task_class_id=1, names=["x"])).code == "not_found"


async def test_what_was_approved_holds_when_other_tasks_are_made_in_between(desk: Desk) -> None:
    event = {"name": "Gym", "date": "2026-12-09", "slot_start": 9, "slot_end": 10}
    proposed = await desk.propose("add_event", **event)
    await desk.write("add_event", **{**event, "date": "2026-12-10"})
    again = await desk.propose("add_event", **event)
    assert proposed.result["tasks"][0]["task_id"] != again.result["tasks"][0]["task_id"]
    assert normal_form(proposed.changes).digest == normal_form(again.changes).digest


async def test_what_was_approved_is_stale_when_the_task_moved_in_between(desk: Desk) -> None:
    swap = {"task_a": 3, "task_b": 4}
    proposed = await desk.propose("swap", **swap)
    desk.now += timedelta(minutes=1)
    await desk.write("move", task_id=3, new_day=6, new_slot_start=1)
    assert normal_form(proposed.changes).digest != normal_form((await desk.propose("swap", **swap)).changes).digest
