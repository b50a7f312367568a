"""Cards: every change is in them, nothing in them is invisible, and they read in both languages."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncSession

from stores.changes import Change
from toolsets.cards import Card, CardInput, CardRow
from toolsets.deps import ToolDeps
from toolsets.gate import card_as_json, rows_in, summary_in
from toolsets.gate.shown import complete_card
from toolsets.words import Words

TITLE = Words("改动", "Change")
HIDDEN = chr(0x202E)


def changed(key: int, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Change:
    op = "insert" if before is None else "delete" if after is None else "update"
    return Change(table="tasks", key=(key,), op=op, before=before, after=after)


CHANGES = (
    changed(1, None, {"id": 1, "name": "Gym", "day": 4}),
    changed(2, {"id": 2, "name": "Club", "day": 4}, {"id": 2, "name": "Club", "day": 5}),
    changed(3, {"id": 3, "name": "Exam", "day": 4}, None),
)


def given_of(*changes: Change) -> CardInput:
    deps = ToolDeps(
        user_id="alice",
        conversation_id=None,
        session=AsyncSession(),
        clock=lambda: datetime(2026, 12, 7, tzinfo=UTC),
        new_id=lambda purpose: purpose,
    )
    return CardInput(deps=deps, arguments={}, changes=changes)


def row(key: str, *changes: int, **more: Any) -> CardRow:
    return CardRow(key=key, op="add", table="tasks", label=Words.same(key), changes=changes, **more)


def test_without_a_card_of_the_packs_each_change_is_a_plain_row() -> None:
    card = complete_card(None, TITLE, given_of(*CHANGES))
    assert card.summary == Words("改动。", "Change.")
    assert [(one.op, one.label.en, one.changes) for one in card.rows] == [
        ("add", "Gym", (0,)),
        ("change", "Club", (1,)),
        ("remove", "Exam", (2,)),
    ]
    assert card.rows[0].before is None
    assert card.rows[0].after == Words.same("id: 1, name: Gym, day: 4")
    assert (card.rows[1].before, card.rows[1].after) == (Words.same("day: 4"), Words.same("day: 5"))
    assert card.rows[2].after is None


def test_a_row_without_a_name_is_called_by_table_and_key() -> None:
    [only] = complete_card(None, TITLE, given_of(changed(9, None, {"id": 9, "name": None}))).rows
    assert only.label.en == "tasks 9"


def test_what_the_pack_leaves_out_is_added() -> None:
    """A card that names one change and makes three would be a lie."""

    def make(given: CardInput) -> Card:
        return Card(summary=Words.same("Only the gym."), rows=(row("gym", 0),))

    card = complete_card(make, TITLE, given_of(*CHANGES))
    assert [one.key for one in card.rows] == ["gym", "tasks:2", "tasks:3"]


@given(st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=4), st.integers(0, 6))
def test_every_change_is_in_the_card_whatever_the_pack_makes(groups: list[list[int]], count: int) -> None:
    changes = tuple(changed(index, None, {"id": index}) for index in range(count))
    kept = [[index for index in group if index < count] for group in groups]

    def make(given: CardInput) -> Card:
        return Card(summary=TITLE, rows=tuple(row(f"r{at}", *group) for at, group in enumerate(kept)))

    card = complete_card(make, TITLE, given_of(*changes))
    assert {index for one in card.rows for index in one.changes} == set(range(count))


def test_nothing_invisible_reaches_the_person() -> None:
    name = f"Exam{HIDDEN}moor"
    card = complete_card(None, TITLE, given_of(changed(1, {"id": 1, "name": "Exam"}, {"id": 1, "name": name})))
    shown = rows_in(card_as_json(card, 1), "en")
    assert shown[0]["label"] == "Exam[U+202E]moor"
    assert shown[0]["after"] == "name: Exam[U+202E]moor"


def test_a_packs_own_words_are_made_visible_too() -> None:
    def make(given: CardInput) -> Card:
        words = Words(f"改{HIDDEN}", f"c{HIDDEN}")
        return Card(
            summary=words, rows=(CardRow(key="k", op="add", table="t", label=words, before=words, after=words),)
        )

    stored = card_as_json(complete_card(make, TITLE, given_of()), 1)
    assert HIDDEN not in repr(stored)
    assert summary_in(stored, "zh") == "改[U+202E]"
    assert [rows_in(stored, "en")[0][part] for part in ("label", "before", "after")] == ["c[U+202E]"] * 3


def test_rows_are_numbered_on_from_the_card_before() -> None:
    card = complete_card(None, TITLE, given_of(*CHANGES))
    assert [one["n"] for one in rows_in(card_as_json(card, 4), "en")] == [4, 5, 6]


@pytest.mark.parametrize("locale", ["zh", "en"])
def test_what_a_row_does_not_have_is_left_out(locale: Any) -> None:
    card = Card(summary=TITLE, rows=(row("plain"), row("full", depends_on=("plain",), ref={"day": 1}, optional=True)))
    plain, full = rows_in(card_as_json(card, 1), locale)
    assert "depends_on" not in plain
    assert "ref" not in plain
    assert (full["depends_on"], full["ref"], full["optional"]) == (["plain"], {"day": 1}, True)
