"""What holds after any sequence of operations."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import hypothesis.strategies as st
from hypothesis import given, settings

from tests.toolsets.scheduling.worlds import assert_sound, placed, revision, waiting, week, world
from toolsets.errors import DomainError
from toolsets.scheduling.adding import remove
from toolsets.scheduling.moving import Move, batch_move, move
from toolsets.scheduling.placing import place, unplace
from toolsets.scheduling.state import ScheduleState
from toolsets.scheduling.swapping import swap


@dataclass(frozen=True)
class Operation:
    """A rule with its arguments."""

    rule: Callable[..., ScheduleState]
    arguments: tuple[object, ...]

    def __call__(self, state: ScheduleState) -> ScheduleState:
        return self.rule(state, *self.arguments)


START = world(
    placed(1, (1, 1, 2), (4, 1, 2), locked=True),
    placed(2, (1, 3, 4), can_embed=True),
    placed(3, (2, 1, 3), (5, 1, 3), can_embed=True),
    placed(4, (3, 1, 2)),
    placed(5, (3, 5, 6), (6, 5, 6)),
    waiting(6, 1),
    waiting(7, 2),
    waiting(8, 2),
    waiting(9, 3, class_id=None),
    placed(10, (7, 1, 2)),
    task_class=revision(total_slots=5, excluded_slots=(12,)),
    window=week(),
)
tasks = st.integers(1, 11)
days = st.integers(0, 8)
slots = st.integers(0, 13)
moves = st.builds(Move, tasks, days, slots)
operations = st.one_of(
    st.builds(Operation, st.just(place), st.tuples(tasks, days, slots)),
    st.builds(Operation, st.just(move), st.tuples(tasks, days, slots)),
    st.builds(Operation, st.just(swap), st.tuples(tasks, tasks)),
    st.builds(Operation, st.just(batch_move), st.tuples(st.lists(moves, max_size=3))),
    st.builds(Operation, st.just(unplace), st.tuples(tasks)),
    st.builds(Operation, st.just(remove), st.tuples(st.sampled_from([4, 5, 10]))),
)


def run(steps: list[Operation]) -> ScheduleState:
    """The state after the steps; refused ones change nothing."""
    state = START
    for step in steps:
        with suppress(DomainError):
            state = step(state)
    return state


@settings(max_examples=200)
@given(st.lists(operations, max_size=12))
def test_no_slot_is_taken_twice_and_links_are_symmetric(steps: list[Operation]) -> None:
    assert_sound(run(steps))


@settings(max_examples=200)
@given(st.lists(operations, max_size=8), operations)
def test_a_refused_operation_leaves_its_state_alone(steps: list[Operation], last: Operation) -> None:
    state = run(steps)
    tasks_before = dict(state.tasks)
    try:
        last(state)
    except DomainError:
        assert state.tasks == tasks_before


@settings(max_examples=200)
@given(st.lists(operations, max_size=8), tasks, days, slots)
def test_placing_and_unplacing_is_nothing(steps: list[Operation], task: int, day: int, slot: int) -> None:
    state = run(steps)
    try:
        after = place(state, task, day, slot)
    except DomainError:
        return
    if not after.tasks[task].can_embed:
        assert unplace(after, task) == state


@settings(max_examples=200)
@given(st.lists(operations, max_size=8), tasks, tasks)
def test_swapping_twice_is_nothing(steps: list[Operation], one: int, other: int) -> None:
    state = run(steps)
    try:
        after = swap(state, one, other)
    except DomainError:
        return
    assert swap(after, one, other) == state


@settings(max_examples=200)
@given(st.lists(operations, max_size=8), tasks, days, slots)
def test_moving_back_is_nothing(steps: list[Operation], task: int, day: int, slot: int) -> None:
    state = run(steps)
    if task not in state.tasks or not state.tasks[task].ranges:
        return
    origin = state.tasks[task].ranges[0]
    try:
        after = move(state, task, day, slot)
    except DomainError:
        return
    assert move(after, task, origin.day, origin.start) == state


@settings(max_examples=200)
@given(st.lists(operations, max_size=6), st.lists(moves, min_size=2, max_size=3, unique_by=lambda one: one.task_id))
def test_the_order_of_a_batch_does_not_matter(steps: list[Operation], many: list[Move]) -> None:
    state = run(steps)

    def outcome(order: list[Move]) -> ScheduleState | None:
        try:
            return batch_move(state, order)
        except DomainError:
            return None

    assert outcome(many) == outcome(many[::-1])
