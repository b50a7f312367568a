"""Rows of cards, and which recorded changes each stands for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from stores.changes import Change
from toolsets.cards import CardInput, CardRow, Op
from toolsets.scheduling.labels import UNSCHEDULED, span_words
from toolsets.scheduling.tables import GUEST, HOST, SectionRow, TaskRow
from toolsets.words import Words

Facts = Mapping[str, Any]

Pair = tuple[Facts | None, Facts | None]

MOST_PARTS = 6
"""A task of more parts is one row: a weekly course would else fill the card."""


def task_rows(given: CardInput) -> tuple[CardRow, ...]:
    """A row for each part of each task of the result, with the changes it stands for."""
    tasks = given.result["tasks"]
    taken: set[int] = set()
    rows: list[CardRow] = []
    # Where a slot changes hands, the change belongs to the task that comes, not to the one that leaves.
    coming = {task["task_id"]: _sections(task["to"], task["embedded_in"]) for task in tasks}
    for task in tasks:
        others = set[tuple[date, int, str]]().union(*(at for n, at in coming.items() if n != task["task_id"]))
        mine = (_sections(task["from"], task["was_embedded_in"]) - others) | coming[task["task_id"]]
        found = {n for n, one in enumerate(given.changes) if _concerns(one, task["task_id"], mine)} - taken
        taken |= found
        rows.extend(_parts(task, given.changes, sorted(found)))
    return tuple(rows)


def covered_rows(given: CardInput, rows: Sequence[CardRow], task_ids: Sequence[int]) -> tuple[CardRow, ...]:
    """The rows, each standing for the change of its task's row."""
    return tuple(
        replace(row, changes=tuple(n for n, one in enumerate(given.changes) if _concerns(one, task_id, set())))
        for row, task_id in zip(rows, task_ids, strict=True)
    )


def _parts(task: Facts, changes: tuple[Change, ...], found: Sequence[int]) -> list[CardRow]:
    before, after = task["from"], task["to"]
    if len(before) > MOST_PARTS or len(after) > MOST_PARTS:
        row = _row(task, before[:1], after[:1], 0)
        return [replace(row, before=_times(row.before, before), after=_times(row.after, after), changes=tuple(found))]
    pairs = _pairs(before, after)
    rows = [_row(task, [old] if old else [], [new] if new else [], n) for n, (old, new) in enumerate(pairs)]
    return _shared_out(rows, pairs, changes, found)


def _pairs(before: Sequence[Facts], after: Sequence[Facts]) -> Sequence[Pair]:
    """Each part's old place with its new one, in order; where their number changes, without the parts that stay."""
    if before and after and len(before) != len(after):
        return [(old, None) for old in before if old not in after] + [(None, new) for new in after if new not in before]
    parts = max(len(before), len(after), 1)
    return [(before[n] if n < len(before) else None, after[n] if n < len(after) else None) for n in range(parts)]


def _shared_out(
    rows: list[CardRow], pairs: Sequence[Pair], changes: tuple[Change, ...], found: Sequence[int]
) -> list[CardRow]:
    """Each change with the part that it belongs to; what belongs to none goes with the first."""
    parts = [_sections([place for place in pair if place], None) for pair in pairs]
    shares: list[list[int]] = [[] for _ in rows]
    for n in found:
        at = _at(changes[n])
        spot = next((i for i, part in enumerate(parts) if at and (at[0], at[1], HOST) in part), 0)
        shares[spot].append(n)
    return [replace(row, changes=tuple(share)) for row, share in zip(rows, shares, strict=True)]


def _row(task: Facts, before: Sequence[Facts], after: Sequence[Facts], part: int) -> CardRow:
    op: Op = "remove" if task["status"] == "removed" else "add" if task["added"] else "change"
    return CardRow(
        key=f"task:{task['task_id']}:{part}",
        op=op,
        table=SectionRow.__tablename__,
        label=Words.same(task["name"]),
        before=None if op == "add" else _where(before, task["was_embedded_in"]),
        after=None if op == "remove" else _where(after, task["embedded_in"]),
        ref=_ref(task, before, after),
    )


def _where(places: Sequence[Facts], host: Facts | None) -> Words:
    if not places:
        return UNSCHEDULED
    place = places[0]
    span = span_words(date.fromisoformat(place["date"]), place["slot_start"], place["slot_end"])
    if host is None:
        return span
    return Words(zh=f"{span.zh}，嵌入“{host['name']}”", en=f"{span.en}, inside {host['name']}")


def _times(words: Words | None, places: Sequence[Facts]) -> Words | None:
    if words is None or len(places) < 2:
        return words
    return Words(zh=f"{words.zh} 起，共 {len(places)} 次", en=f"from {words.en}, {len(places)} times")


def _ref(task: Facts, before: Sequence[Facts], after: Sequence[Facts]) -> dict[str, Any] | None:
    """Where the row is drawn: its new place, or the one that it leaves; a move also names its origin."""
    if not before and not after:
        return None
    ref = {"kind": "slot", **_spot((after or before)[0]), "task_id": task["task_id"]}
    host = task["embedded_in"] if after else task["was_embedded_in"]
    if host is not None:
        ref["host_id"] = host["task_id"]
    if before and after:
        ref["from"] = _spot(before[0])
    return ref


def _spot(place: Facts) -> dict[str, Any]:
    return {key: place[key] for key in ("date", "slot_start", "slot_end")}


def _sections(places: Iterable[Facts], host: Facts | None) -> set[tuple[date, int, str]]:
    layer = HOST if host is None else GUEST
    return {
        (date.fromisoformat(place["date"]), slot, layer)
        for place in places
        for slot in range(place["slot_start"], place["slot_end"] + 1)
    }


def _concerns(change: Change, task_id: int, sections: set[tuple[date, int, str]]) -> bool:
    if change.table == TaskRow.__tablename__:
        row = change.after or change.before or {}
        return row["number"] == task_id
    return _at(change) in sections


def _at(change: Change) -> tuple[date, int, str] | None:
    if change.table != SectionRow.__tablename__:
        return None
    row = change.after or change.before or {}
    return row["date"], row["slot"], row["layer"]
