"""What the calls of a paused step get when the turn goes on."""

from collections.abc import Sequence
from typing import Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolDenied, ToolReturn
from pydantic_ai.messages import ToolCallPart

from agents.memoir import Memoir
from stores.approvals import Approval, Question
from toolsets.registry import Registry
from toolsets.words import Locale, Words

NOT_PROPOSED = Words(
    "没有提交给本人：同一步里有调用行不通。先改正它，再一起重新调用。",
    "Not proposed: another call of this step would not work. Correct that first, then call again.",
)
DENIED = "The person denied this; nothing was changed."


def lost(memoir: Memoir, calls: Sequence[ToolCallPart], registry: Registry) -> list[ToolCallPart]:
    """Calls of tools that a deploy has taken away from the turn, or changed after they were shown."""
    shown = {one.tool_call_id: one.schema_hash for one in memoir.approvals}
    found: list[ToolCallPart] = []
    for call in calls:
        spec = registry.tools.get(call.tool_name)
        gone = spec is None and call.tool_name in memoir.tool_names
        if gone or (spec and shown.get(call.tool_call_id, spec.schema_hash) != spec.schema_hash):
            found.append(call)
    return found


def answers(memoir: Memoir, calls: Sequence[ToolCallPart]) -> DeferredToolResults | None:
    """For unanswered calls of the log: a decision, an answer, or their turn at last. None when there are none."""
    results = DeferredToolResults()
    approvals = {one.tool_call_id: one for one in memoir.approvals}
    questions = {one.tool_call_id: one for one in memoir.questions}
    for call in calls:
        approval = approvals.get(call.tool_call_id)
        question = questions.get(call.tool_call_id)
        if approval is not None and approval.status == "denied":
            results.approvals[call.tool_call_id] = ToolDenied(denial(approval))
        elif question is not None and question.status == "answered":
            results.calls[call.tool_call_id] = ToolReturn(answered(question))
        else:
            results.approvals[call.tool_call_id] = True
    return results if results.approvals or results.calls else None


def not_proposed(paused: DeferredToolRequests, registry: Registry, locale: Locale) -> DeferredToolResults:
    """A call of the step would not work: nobody is asked, and the model corrects first. Reads run now."""
    results = DeferredToolResults()
    text = NOT_PROPOSED.said(locale)
    for call in paused.approvals:
        spec = registry.tools[call.tool_name]
        results.approvals[call.tool_call_id] = ToolDenied(text) if spec.gated else True
    for call in paused.calls:
        failed = {"status": "error", "code": "not_proposed", "message": text}
        results.calls[call.tool_call_id] = ToolReturn(failed)
    return results


def answered(question: Question) -> dict[str, Any]:
    """What the model reads of a question that the person answered."""
    return {"status": "ok", "answer": question.answer}


def denial(approval: Approval) -> str:
    """What the model reads of a denied call."""
    reason = approval.decision["reason"] if approval.decision else None
    return f"{DENIED} Reason: {reason}" if reason else DENIED
