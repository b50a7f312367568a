"""Undo: the person's own act on a change that was made."""

from typing import Any

from agents.errors import NotFound, NothingToUndo, RowsMovedOn
from agents.requests import Person
from agents.setup import Setup
from stores import conversations, errors, ledger
from stores.changes import Difference, dump_changes, load_changes
from stores.changes import revert as revert_rows
from stores.ledger import MadeChange
from stores.shapes import StoredCard, StoredRow, StoredWords
from toolsets.cards import Op
from toolsets.gate import rows_in, summary_in
from toolsets.words import Locale, Words

OPPOSITE: dict[Op, Op] = {"add": "remove", "remove": "add", "change": "change"}
ASKED = Words("要撤销的是：{}\n{}\n回复“是”就撤销。", "This would be undone: {}\n{}\nAnswer “yes” to undo it.")
UNDONE = Words("已撤销：{}", "Undone: {}")
NOTHING = Words("这段对话里没有可以撤销的改动。", "There is no change to undo in this conversation.")
MOVED = Words(
    "不能撤销：这些内容后来又变了。没有任何改动。",
    "It can't be undone: the rows have changed since. Nothing was changed.",
)
KEPT = Words("好，不撤销。", "All right, it stays.")


async def revert(setup: Setup, person: Person, change_id: str) -> MadeChange:
    """Apply the inverse in one transaction, and record it: a revert can be reverted.

    Raises NotFound, NothingToUndo (irreversible, or undone already), RowsMovedOn.
    """
    async with setup.database.write(user_id=person.user_id) as connection:
        change = await ledger.get_change(connection, person.user_id, change_id)
        if change is None:
            raise NotFound
        number = change.number
        if change.conversation_id is not None:
            await conversations.lock(connection, person.user_id, change.conversation_id)
            number = await conversations.draw_numbers(connection, person.user_id, change.conversation_id, 1)
        change = await ledger.get_change(connection, person.user_id, change_id)
        if change is None or not change.reversible or change.reverted_by is not None:
            raise NothingToUndo
        try:
            made = await revert_rows(connection, load_changes(change.rows), secret_key=setup.gate.settings.secret_key)
        except errors.RowsMovedOn as moved:
            raise RowsMovedOn([_moved(one) for one in moved.rows]) from moved
        except errors.Irreversible as error:
            raise NothingToUndo from error
        undone = MadeChange(
            id=setup.new_id(),
            user_id=person.user_id,
            conversation_id=change.conversation_id,
            number=number,
            turn_id=None,
            tool_call_id=None,
            approval_id=None,
            tool=change.tool,
            card=turned(change.card),
            rows=dump_changes(made),
            reversible=True,
            reverts=change.id,
            reverted_by=None,
            at=setup.clock(),
        )
        await ledger.add_change(connection, undone)
        await ledger.mark_reverted(connection, person.user_id, change.id, undone.id)
        if change.reverts is not None:
            await ledger.mark_reverted(connection, person.user_id, change.reverts, None)
    return undone


def turned(card: StoredCard) -> StoredCard:
    """The card of the inverse: before and after exchanged."""
    summary = card["summary"]
    words = StoredWords(zh=f"撤销：{summary['zh']}", en=f"Undo: {summary['en']}")
    return StoredCard(summary=words, rows=[_turned(row) for row in card["rows"]])


def _turned(row: StoredRow) -> StoredRow:
    fresh = row.copy()
    fresh.update(op=OPPOSITE[row["op"]], before=row["after"], after=row["before"], optional=False, ref=None)
    return fresh


def undo_question(change: MadeChange, locale: Locale) -> str:
    """What is asked in chat before a change is undone: the inverse, row by row."""
    lines = [
        f"- {row['label']}: {row['before'] or '–'} → {row['after'] or '–'}"
        for row in rows_in(turned(change.card), locale)
    ]
    return ASKED.said(locale).format(summary_in(change.card, locale), "\n".join(lines))


def _moved(row: Difference) -> dict[str, Any]:
    return {
        "table": row.table,
        "key": [str(part) for part in row.key],
        "column": row.column,
        "approved": None if row.approved is None else str(row.approved),
        "found": None if row.found is None else str(row.found),
    }
