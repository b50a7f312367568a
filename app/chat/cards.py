"""How an approval and a question look in a terminal. Pure: values in, rich text out."""

import json
from datetime import datetime

from pydantic import JsonValue
from rich.text import Text

from app.chat import wording
from app.chat.visible import visible
from app.chat.wire import Approval, ApprovalRow, Question
from toolsets.words import Locale

_MARKS = {"add": ("+", "green"), "change": ("~", "yellow"), "remove": ("-", "red")}


def approval_card(approval: Approval, *, now: datetime, locale: Locale) -> Text:
    """The sentence, the numbered rows, the warnings, the whole call, and how long it can still be approved."""
    card = Text().append(visible(approval.summary), style="bold")
    names = {row.row_id: str(row.n) for row in approval.rows}
    for row in approval.rows:
        card.append("\n").append_text(_row(row, names, locale))
    for warning in _warnings(approval, locale):
        card.append(f"\n! {warning}", style="bold red")
    card.append(f"\n{approval.tool} {visible(_json(approval.arguments))}", style="dim")
    if approval.expires_at:
        card.append(f"\n{_time_left(approval.expires_at, now, locale)}", style="dim")
    return card


def approval_title(approval: Approval, *, n: int, total: int, locale: Locale) -> str:
    """`move the block · swift-otter · 1 of 3`."""
    place = wording.PLACE.said(locale).format(n=n, total=total) if total > 1 else ""
    return " · ".join(visible(part) for part in (approval.title or approval.tool, approval.short_name, place) if part)


def approval_outcome(approval: Approval, locale: Locale) -> Text | None:
    """One line for a settled approval, and what moved if it went stale; None while it isn't settled."""
    status = wording.STATUS.get(approval.status)
    if status is None:
        return None
    good = approval.status == "executed"
    line = Text().append("✓ " if good else "✗ ", style="green" if good else "red")
    line.append(f"{visible(approval.summary)} — {status.said(locale)}")
    if approval.outcome and not good:
        line.append(f": {visible(approval.outcome.message)}" if approval.outcome.message else "")
        for moved in approval.outcome.moved:
            line.append("\n  " + wording.MOVED.said(locale).format(row=_moved(moved)), style="yellow")
    return line


def question_card(question: Question) -> Text:
    """The question and its numbered options."""
    card = Text().append(visible(question.question), style="bold")
    for number, option in enumerate(question.options, start=1):
        card.append(f"\n {number} {visible(option)}")
    return card


def _row(row: ApprovalRow, names: dict[str, str], locale: Locale) -> Text:
    mark, color = _MARKS[row.op]
    line = Text.assemble((f"{row.n:>2} ", "bold"), (mark, color), f" {visible(row.label)}")
    before, after = _value(row.before), _value(row.after)
    match row.op:
        case "add" if after:
            line.append(": ").append(after, style="green")
        case "remove" if before:
            line.append(": ").append(before, style="red")
        case "change":
            line.append(": ").append(before or "–", style="red").append(" → ").append(after or "–", style="green")
        case _:
            pass
    notes = [wording.OPTIONAL.said(locale)] if row.optional else []
    if row.depends_on:
        needed = ", ".join(names.get(row_id, row_id) for row_id in row.depends_on)
        notes.append(wording.NEEDS.said(locale).format(rows=needed))
    return line.append(f" ({'; '.join(notes)})", style="dim") if notes else line


def _warnings(approval: Approval, locale: Locale) -> list[str]:
    warnings = [wording.LIVE.said(locale)] if approval.live else []
    if not approval.reversible:
        warnings.append(wording.CANT_UNDO.said(locale))
    if text := approval.untrusted_text:
        said = wording.UNTRUSTED.said(locale)
        warnings.append(said.format(source=visible(text.source), passage=visible(text.passage)))
    return warnings


def _time_left(expires_at: datetime, now: datetime, locale: Locale) -> str:
    seconds = int((expires_at - now).total_seconds())
    if seconds <= 0:
        return wording.EXPIRED.said(locale)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    left = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return wording.EXPIRES_IN.said(locale).format(left=left)


def _moved(row: JsonValue) -> str:
    match row:
        case {"label": str(name), "before": approved, "after": found}:
            return f"{visible(name)}: {_value(approved) or '–'} → {_value(found) or '–'}"
        case {"table": str(table), "column": str(column), "approved": approved, "found": found}:
            return f"{visible(table)}.{visible(column)}: {_value(approved) or '–'} → {_value(found) or '–'}"
        case {"label": str(label)}:
            return visible(label)
        case _:
            return _value(row)


def _value(value: JsonValue) -> str:
    if value is None:
        return ""
    return visible(value if isinstance(value, str) else _json(value))


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
