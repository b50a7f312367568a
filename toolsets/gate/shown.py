"""The card as it is stored and sent: every change in it, nothing invisible, both languages."""

from collections.abc import Mapping, Sequence
from typing import Any

from stores.changes import Change, compared_columns
from stores.shapes import StoredCard, StoredRow, StoredWords
from stores.tables import Base
from toolsets.cards import Card, CardInput, CardMaker, CardRow, Op
from toolsets.text import visible
from toolsets.words import Locale, Words

OPS: Mapping[str, Op] = {"insert": "add", "update": "change", "delete": "remove"}


def complete_card(make: CardMaker | None, title: Words, given: CardInput) -> Card:
    """The pack's card, with a plain row for every change that the pack's rows don't stand for."""
    card = make(given) if make else Card(summary=Words(zh=f"{title.zh}。", en=f"{title.en}."))
    covered = {index for row in card.rows for index in row.changes}
    plain = tuple(plain_row(index, one) for index, one in enumerate(given.changes) if index not in covered)
    return Card(summary=card.summary, rows=card.rows + plain)


def plain_row(index: int, change: Change) -> CardRow:
    """A change as it stands: the columns that differ, and that an execution is held to."""
    before, after = change.before or {}, change.after or {}
    names = [name for name in _compared(change) if before.get(name) != after.get(name)]
    return CardRow(
        key=f"{change.table}:{':'.join(str(part) for part in change.key)}",
        op=OPS[change.op],
        table=change.table,
        label=Words.same(_named(change)),
        before=_columns(before, names),
        after=_columns(after, names),
        changes=(index,),
    )


def _compared(change: Change) -> list[str]:
    table = Base.metadata.tables.get(change.table)
    if table is None:
        return list({**(change.before or {}), **(change.after or {})})
    return [column.name for column in compared_columns(table, change)]


def _named(change: Change) -> str:
    row = change.after or change.before or {}
    for column in ("name", "title", "label"):
        if isinstance(row.get(column), str):
            return str(row[column])
    return f"{change.table} {':'.join(str(part) for part in change.key)}"


def _columns(row: Mapping[str, Any], names: Sequence[str]) -> Words | None:
    if not row:
        return None
    return Words.same(", ".join(f"{name}: {row.get(name)}" for name in names))


def card_as_json(card: Card, first_number: int) -> StoredCard:
    """The stored form. Rows are numbered from `first_number`: a card's row and its ghost carry the same number."""
    rows = [_stored(row, number) for number, row in enumerate(card.rows, start=first_number)]
    return StoredCard(summary=_words(card.summary), rows=rows)


def _stored(row: CardRow, number: int) -> StoredRow:
    return StoredRow(
        row_id=row.key,
        n=number,
        table=row.table,
        op=row.op,
        label=_words(row.label),
        before=_words(row.before) if row.before else None,
        after=_words(row.after) if row.after else None,
        optional=row.optional,
        depends_on=list(row.depends_on),
        ref=dict(row.ref) if row.ref else None,
        changes=list(row.changes),
    )


def _words(words: Words) -> StoredWords:
    return StoredWords(zh=visible(words.zh), en=visible(words.en))


def summary_in(card: StoredCard, locale: Locale) -> str:
    return card["summary"][locale]


def rows_in(card: StoredCard, locale: Locale) -> list[dict[str, Any]]:
    """The stored rows as API.md has them, in one language; keys without a value are left out."""
    return [_row_in(row, locale) for row in card["rows"]]


def _row_in(row: StoredRow, locale: Locale) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "row_id": row["row_id"],
        "n": row["n"],
        "table": row["table"],
        "op": row["op"],
        "label": row["label"][locale],
        "before": row["before"][locale] if row["before"] else None,
        "after": row["after"][locale] if row["after"] else None,
        "optional": row["optional"],
    }
    if row["depends_on"]:
        shown["depends_on"] = row["depends_on"]
    if row["ref"]:
        shown["ref"] = row["ref"]
    return shown
