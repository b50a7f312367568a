"""The rules of the timetable, on plain values."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest

from tests.toolsets.scheduling.worlds import MONDAY, assert_sound, placed, revision, spots, waiting, week, world
from toolsets.errors import DomainError
from toolsets.scheduling.adding import NewClass, NewEvent, add_class, add_event, add_items, remove
from toolsets.scheduling.moving import Move, batch_move, move
from toolsets.scheduling.occupancy import free_runs, open_hosts
from toolsets.scheduling.placing import place, unplace
from toolsets.scheduling.state import Range, ScheduleState
from toolsets.scheduling.swapping import swap

EASY = placed(1, (1, 3, 4), name="Art", can_embed=True)


def refused(operation: Callable[..., ScheduleState], *arguments: object) -> DomainError:
    with pytest.raises(DomainError) as caught:
        operation(*arguments)
    assert caught.value.words.zh
    assert caught.value.words.en
    return caught.value


def test_a_pending_task_gets_its_place() -> None:
    after = place(world(waiting(1, 2)), 1, 2, 7)
    assert spots(after, 1) == [(2, 7, 8)]
    assert after.tasks[1].status == "existing"


def test_a_task_inside_a_free_easy_course_is_linked_with_it() -> None:
    after = place(world(EASY, waiting(2, 1)), 2, 1, 4)
    assert (after.tasks[2].embed_host, after.tasks[1].embedded_by) == (1, 2)
    assert_sound(after)


def test_a_partial_overlap_with_an_easy_course_is_refused() -> None:
    assert refused(place, world(EASY, waiting(2, 3)), 2, 1, 3).code == "slot_conflict"
    assert refused(place, world(EASY, waiting(2, 2)), 2, 1, 4).code == "slot_conflict"


def test_a_second_guest_on_a_host_is_refused() -> None:
    one = place(world(EASY, waiting(2, 1), waiting(3, 1)), 2, 1, 3)
    error = refused(place, one, 3, 1, 4)
    assert error.code == "host_taken"
    assert error.details["guest_id"] == 2


def test_a_guest_that_moves_away_frees_its_host() -> None:
    inside = place(world(EASY, waiting(2, 1), waiting(3, 1)), 2, 1, 3)
    after = move(inside, 2, 5, 1)
    assert (after.tasks[2].embed_host, after.tasks[1].embedded_by) == (None, None)
    assert_sound(place(after, 3, 1, 4))


def test_a_host_that_moves_takes_its_guest_along() -> None:
    inside = place(world(EASY, waiting(2, 1)), 2, 1, 4)
    after = move(inside, 1, 3, 7)
    assert spots(after, 1) == [(3, 7, 8)]
    assert spots(after, 2) == [(3, 8, 8)]
    assert free_runs(after, 1)[0].length == 12
    assert_sound(after)


def test_a_task_that_moves_onto_a_free_easy_course_goes_inside() -> None:
    after = move(world(EASY, placed(2, (5, 1, 2))), 2, 1, 3)
    assert after.tasks[2].embed_host == 1


def test_a_task_of_several_parts_keeps_them_when_it_moves() -> None:
    after = move(world(placed(1, (1, 3, 4), (3, 1, 2))), 1, 2, 5)
    assert spots(after, 1) == [(2, 5, 6), (4, 3, 4)]


def test_a_task_of_several_parts_says_which_part_does_not_fit() -> None:
    error = refused(move, world(placed(1, (1, 3, 4), (6, 1, 2))), 1, 3, 1)
    assert error.code == "would_not_fit"
    assert error.details["day"] == 8


def test_a_task_may_move_over_its_own_old_slots() -> None:
    assert spots(move(world(placed(1, (4, 3, 4))), 1, 4, 4), 1) == [(4, 4, 5)]


def test_unplacing_keeps_the_duration_and_sends_the_guest_back_too() -> None:
    inside = place(world(EASY, waiting(2, 1)), 2, 1, 3)
    after = unplace(inside, 1)
    assert [(t.status, t.duration) for t in after.ordered()] == [("pending", 2), ("pending", 1)]
    assert spots(place(after, 1, 6, 1), 1) == [(6, 1, 2)]


def test_a_swap_exchanges_all_parts_and_guests_go_with_their_hosts() -> None:
    inside = place(world(EASY, waiting(2, 1), placed(3, (5, 9, 10))), 2, 1, 4)
    after = swap(inside, 1, 3)
    assert (spots(after, 1), spots(after, 3), spots(after, 2)) == ([(5, 9, 10)], [(1, 3, 4)], [(5, 10, 10)])
    assert_sound(after)


def test_only_tasks_of_equal_length_are_swapped() -> None:
    error = refused(swap, world(placed(1, (1, 1, 2)), placed(2, (2, 1, 3))), 1, 2)
    assert (error.code, error.details["lengths"]) == ("length_mismatch", {"1": 2, "2": 3})


def test_a_batch_can_exchange_two_tasks_in_any_order() -> None:
    before = world(placed(1, (1, 1, 2)), placed(2, (2, 5, 6)))
    moves = [Move(1, 2, 5), Move(2, 1, 1)]
    assert batch_move(before, moves) == batch_move(before, moves[::-1])
    assert spots(batch_move(before, moves), 1) == [(2, 5, 6)]


def test_a_batch_is_all_or_nothing_and_names_the_move() -> None:
    before = world(placed(1, (1, 1, 2)), placed(2, (2, 5, 6), locked=True), waiting(3, 1))
    assert refused(batch_move, before, [Move(1, 3, 1), Move(2, 3, 3)]).details["move"] == 2
    assert refused(batch_move, before, [Move(1, 3, 1), Move(3, 3, 3)]).code == "pending"
    assert refused(batch_move, before, [Move(1, 3, 1), Move(1, 4, 1)]).code == "duplicate_task"
    assert refused(batch_move, before, []).code == "empty"
    assert spots(before, 1) == [(1, 1, 2)]


def test_free_time_offers_only_hosts_that_can_really_take_the_task() -> None:
    short = placed(4, (2, 1, 1), name="Short", can_embed=True)
    before = place(world(EASY, short, placed(3, (4, 1, 2), can_embed=True), waiting(2, 1)), 2, 1, 3)
    assert [host.id for _, host in open_hosts(before, at_least=2)] == [3]
    assert [host.id for _, host in open_hosts(before, day=2)] == [4]


def test_checks_come_in_the_order_that_helps_most() -> None:
    before = world(placed(1, (1, 1, 2), locked=True), waiting(2, 2), placed(3, (1, 3, 4)))
    assert refused(place, before, 9, 99, 99).code == "not_found"
    assert refused(place, before, 1, 99, 99).code == "not_pending"
    assert refused(move, before, 2, 99, 99).code == "pending"
    assert refused(move, before, 1, 99, 99).code == "locked"
    assert refused(move, before, 3, 99, 99).code == "day_out_of_window"
    assert refused(place, before, 2, 1, 12).code == "slot_out_of_range"
    assert refused(place, before, 2, 0, 1).code == "day_out_of_window"
    assert refused(place, before, 2, 1, 0).code == "slot_out_of_range"
    assert refused(unplace, before, 2).code == "already_pending"
    assert refused(unplace, before, 1).code == "locked"
    assert refused(swap, before, 1, 3).code == "locked"
    assert refused(swap, before, 3, 3).code == "duplicate_task"


def test_a_conflict_names_who_is_there_and_what_is_free() -> None:
    error = refused(place, world(placed(1, (1, 1, 2), name="Calculus", locked=True), waiting(2, 2)), 2, 1, 2)
    assert error.details["occupied_by"] == {"task_id": 1, "name": "Calculus", "fixed": True}
    assert error.details["free_runs"] == [{"slot_start": 3, "slot_end": 12}]
    assert error.words.en == (
        "item 2 can't go on Mon 7 Dec, slots 2–3: Calculus (fixed) is there. Free that day: slots 3–12."
    )
    assert error.words.zh == "“item 2”放不进周一 12月7日 第2–3节：“Calculus”（固定）占着。当天空闲：第3–12节。"


def test_the_rules_of_a_class_are_enforced() -> None:
    strict = revision(total_slots=3, allow_filler_course=False, excluded_slots=(11, 12), end_date=date(2026, 12, 9))
    before = world(EASY, waiting(2, 2), waiting(3, 2), task_class=strict)
    assert refused(place, before, 2, 1, 10).code == "excluded_slot"
    assert refused(place, before, 2, 5, 1).code == "outside_dates"
    assert refused(place, before, 2, 1, 3).code == "filler_not_allowed"
    one = place(before, 2, 2, 1)
    error = refused(place, one, 3, 2, 5)
    assert (error.code, error.details["would_use"]) == ("budget_exceeded", 4)
    assert refused(move, one, 2, 5, 1).code == "outside_dates"
    assert spots(move(one, 2, 3, 1), 2) == [(3, 1, 2)]


def test_items_share_the_budget_when_no_duration_is_given() -> None:
    after = add_items(world(task_class=revision(total_slots=8)), 1, ["a", "b", "c"])
    assert [(t.id, t.duration, t.status) for t in after.ordered()] == [
        (1, 2, "pending"),
        (2, 2, "pending"),
        (3, 2, "pending"),
    ]
    scarce = add_items(world(task_class=revision(total_slots=2)), 1, ["a", "b", "c"])
    assert {t.duration for t in scarce.tasks.values()} == {1}
    assert refused(add_items, world(), 7, ["a"]).code == "not_found"
    assert refused(add_items, world(), 1, []).code == "empty"
    assert refused(add_items, world(), 1, [" "]).code == "invalid"


def test_a_class_has_sensible_dates_and_a_budget() -> None:
    def wanted(days: int, slots: int) -> NewClass:
        return NewClass(
            name="x", total_slots=slots, start_date=MONDAY, end_date=date.fromordinal(MONDAY.toordinal() + days)
        )

    assert len(add_class(world(), wanted(3, 5)).task_classes) == 2
    assert refused(add_class, world(), wanted(-1, 5)).details["field"] == "end_date"
    assert refused(add_class, world(), wanted(3, 0)).details["field"] == "total_slots"


def test_an_event_is_added_where_there_is_room() -> None:
    before = world(placed(1, (1, 1, 2)))
    after = add_event(before, NewEvent(name="Dentist", ranges=(Range(1, 3, 4),)))
    assert spots(after, 2) == [(1, 3, 4)]
    assert refused(add_event, before, NewEvent(name="Dentist", ranges=(Range(1, 2, 3),))).code == "slot_conflict"


def test_removing_one_day_of_an_event_keeps_the_others() -> None:
    before = world(placed(1, (1, 1, 2), (3, 1, 2)))
    assert spots(remove(before, 1, 3), 1) == [(1, 1, 2)]
    assert 1 not in remove(before, 1).tasks
    assert refused(remove, before, 1, 2).code == "not_found"


def test_removing_a_host_sends_its_guest_back() -> None:
    after = remove(place(world(EASY, waiting(2, 1)), 2, 1, 3), 1)
    assert after.tasks[2].pending
    assert after.tasks[2].embed_host is None


def test_a_task_that_goes_on_outside_the_window_is_not_unplaced() -> None:
    weekly = replace(placed(1, (1, 1, 2)), outside=4, duration=6)
    assert refused(unplace, world(weekly), 1).code == "outside_window"


def test_every_operation_takes_less_than_a_millisecond_on_a_full_week() -> None:
    events = [placed(n, (n % 7 + 1, 2 * (n // 7) + 1, 2 * (n // 7) + 1)) for n in range(40)]
    before = world(*events, *(waiting(n, 1) for n in range(40, 60)), window=week())
    timed: dict[str, Callable[[], ScheduleState]] = {
        "place": lambda: place(before, 45, 1, 2),
        "move": lambda: move(before, 3, 7, 2),
        "swap": lambda: swap(before, 3, 9),
        "unplace": lambda: unplace(before, 3),
        "batch_move": lambda: batch_move(before, [Move(3, 7, 2), Move(4, 7, 4)]),
    }
    for name, operation in timed.items():
        assert fastest(operation) < 0.001, name


def fastest(operation: Callable[[], ScheduleState]) -> float:
    times: list[float] = []
    for _ in range(20):
        start = time.perf_counter()
        operation()
        times.append(time.perf_counter() - start)
    return min(times)
