"""Approvals, questions and changes as API.md has them."""

from typing import Any

from stores.approvals import Approval, Question
from stores.ledger import MadeChange
from stores.shapes import StoredVersion, Used
from stores.turns import Turn
from toolsets.gate import rows_in, summary_in
from toolsets.registry import Registry
from toolsets.words import Locale, Words

EXECUTED = Words("已执行。", "Done.")
NEVER = {
    "denied": Words("已拒绝，没有任何改动。", "Denied; nothing was changed."),
    "expired": Words("已过期，没有执行。", "It expired; nothing was executed."),
    "superseded": Words("被新的消息取代，没有执行。", "A new message took its place; nothing was executed."),
    "cancelled": Words("已取消，没有执行。", "Cancelled; nothing was executed."),
}
"""What is said of approvals that ended without an execution."""


def approval_data(approval: Approval, registry: Registry, locale: Locale) -> dict[str, Any]:
    """The data of a `data-approval` part: enough to draw the card from nothing."""
    spec = registry.tools.get(approval.tool)
    shown: dict[str, Any] = {
        "approval_id": approval.id,
        "version": approval.version,
        "tool_call_id": approval.tool_call_id,
        "tool": approval.tool,
        "short_name": approval.short_name,
        "title": spec.title.said(locale) if spec else approval.tool,
        "summary": summary_in(approval.card, locale),
        "rows": rows_in(approval.card, locale),
        "arguments": approval.arguments,
        "schema": spec.definition.parameters_json_schema if spec else {},
        "effect": approval.effect,
        "reversible": approval.reversible,
        "always_confirm": approval.always_confirm,
        "live": False,
        "created_at": approval.created_at.isoformat(),
        "expires_at": approval.expires_at.isoformat(),
        "status": approval.status,
    }
    if approval.depends_on:
        shown["depends_on"] = approval.depends_on
    if approval.decision:
        shown["decision"] = {key: approval.decision.get(key) for key in ("by", "at", "door", "reason")}
    if outcome := _outcome(approval, locale):
        shown["outcome"] = outcome
    return shown


def whole_approval(approval: Approval, registry: Registry, locale: Locale) -> dict[str, Any]:
    """As `approval_data`, with where it belongs, where it came from and its earlier versions."""
    return approval_data(approval, registry, locale) | {
        "conversation_id": approval.conversation_id,
        "turn_id": approval.turn_id,
        "origin": approval.origin,
        "skip": approval.skip or [],
        "versions": [_earlier(one, locale) for one in approval.versions or []],
    }


def _earlier(version: StoredVersion, locale: Locale) -> dict[str, Any]:
    shown = {key: version[key] for key in ("version", "arguments", "edited_by", "at")}
    return {**shown, "rows": rows_in(version["card"], locale)}


def _outcome(approval: Approval, locale: Locale) -> dict[str, Any] | None:
    if approval.status == "executed":
        told = {"code": "executed", "message": EXECUTED.said(locale), "changed": True, "safe_to_retry": False}
        made = approval.outcome["change_id"] if approval.outcome and "change_id" in approval.outcome else None
        return told | {"moved": [], "change_id": made}
    if approval.outcome and "message" in approval.outcome:
        return {**approval.outcome, "message": approval.outcome["message"][locale]}
    if words := NEVER.get(approval.status):
        told = {"code": approval.status, "message": words.said(locale), "changed": False}
        return told | {"safe_to_retry": True, "moved": []}
    return None


def question_data(question: Question) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "question_id": question.id,
        "question": question.question,
        "options": question.options or [],
        "allow_free_text": question.allow_free_text,
        "status": question.status,
    }
    return shown | ({"secret": True} if question.secret else {})


def change_data(change: MadeChange, locale: Locale) -> dict[str, Any]:
    return {
        "id": change.id,
        "conversation_id": change.conversation_id,
        "turn_id": change.turn_id,
        "approval_id": change.approval_id,
        "tool": change.tool,
        "summary": summary_in(change.card, locale),
        "rows": rows_in(change.card, locale),
        "reversible": change.reversible,
        "at": change.at.isoformat(),
        "reverts": change.reverts,
        "reverted_by": change.reverted_by,
    }


def turn_data(turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": turn.id,
        "conversation_id": turn.conversation_id,
        "toolsets": turn.toolsets or [],
        "live_views": turn.live_views or [],
    }


def usage_data(usage: Used | None) -> dict[str, Any]:
    """`data-usage`; zeros for a turn that asked no model."""
    used = usage or Used()
    shown: dict[str, Any] = {key: used.get(key, 0) for key in ("requests", "input_tokens", "output_tokens")}
    if "cost" in used:
        shown["cost"] = used["cost"]
    return shown | {"ms": round(used.get("seconds", 0) * 1000)}


def locale_of(turn: Turn) -> Locale:
    return "zh" if turn.locale == "zh" else "en"
