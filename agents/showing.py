"""What a run shows of itself beside the model's words: cards, questions, notices, how it ended."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ToolReturnPart

from agents.chunks import data, spoken, status
from agents.out import Out
from agents.retelling import returned
from agents.setup import Setup
from agents.wire import approval_data, locale_of, question_data, turn_data, usage_data
from stores import approvals
from stores.approvals import Approval, Question
from stores.shapes import Used
from stores.turns import Turn
from toolsets.words import Locale, Words

RESUMED = Words("继续…", "Going on…")
WAITING = Words("等你决定", "Waiting for you")
CUT_OFF = Words("没有说完。", "It was cut off.")


class Showing:
    """Puts the data parts of one run into its stream."""

    def __init__(self, setup: Setup, turn: Turn, out: Out) -> None:
        self._setup = setup
        self._turn = turn
        self._out = out
        self._locale: Locale = locale_of(turn)

    async def begun(self) -> None:
        await self._out.emit(data("turn", turn_data(self._turn), self._turn.id))

    async def resumed(self, settled: Sequence[Approval], answered: Sequence[Question]) -> None:
        """Going on: with what the person settled by itself (what they approved is shown once it was executed)."""
        await self._out.emit(status("resumed", RESUMED.said(self._locale)))
        for approval in settled:
            await self.approval(approval)
        for question in answered:
            await self._out.emit(data("question", question_data(question), question.id))

    async def approval(self, approval: Approval) -> None:
        await self._out.emit(data("approval", approval_data(approval, self._setup.registry, self._locale), approval.id))

    async def present(self, approval: Approval) -> Approval | None:
        """The approval as it stands in the database now."""
        async with self._setup.database.read() as connection:
            now = await approvals.get(connection, self._turn.user_id, approval.id)
        if now is not None:
            await self.approval(now)
        return now

    async def waiting(self, asked: Sequence[Approval], question: Mapping[str, Any] | None) -> None:
        for one in asked:
            await self.approval(one)
            request = {"approvalId": one.id, "toolCallId": one.tool_call_id}
            await self._out.emit({"type": "tool-approval-request", **request})
        if question is not None:
            await self._out.emit(data("question", question, question["question_id"]))
        await self._out.emit(status("waiting", WAITING.said(self._locale)))

    async def answered(self, message: ModelMessage, asked: Container[str]) -> None:
        """The outputs of calls that code answers; `asked` are those that the person was asked for."""
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                await self._out.emit(*returned(part, asked=part.tool_call_id in asked))

    async def budget(self, shown: Mapping[str, Any]) -> None:
        await self._out.emit(data("budget", shown, self._turn.id))

    async def taken_back(self) -> None:
        """A response that was cut off and isn't kept: its parts are ended, and pages remove them."""
        await self._out.end_parts(CUT_OFF.said(self._locale))
        if self._out.response:
            await self._out.emit(data("reset", {"part_ids": list(self._out.response)}))

    async def reply(self, text: str) -> None:
        """A text made by code, as a step of its own."""
        said = spoken(text, f"{self._turn.id}-reply")
        await self._out.emit({"type": "start-step"}, *said, {"type": "finish-step"})

    async def title(self, title: str) -> None:
        await self._out.emit(data("title", {"title": title}, transient=True))

    async def usage(self, used: Used) -> None:
        await self._out.emit(data("usage", usage_data(used), self._turn.id))

    async def cut_off(self, why: Mapping[str, Any], used: Used, finish: Mapping[str, Any]) -> None:
        """The end of a run that the encoder doesn't end: what is open, usage, `why`, one `finish`, `[DONE]`."""
        if not self._out.begun:
            await self._out.emit({"type": "start", "messageId": self._turn.assistant_message_id})
            await self.begun()
        await self._out.end_parts(CUT_OFF.said(self._locale))
        await self.usage(used)
        await self._out.emit(why)
        await self._out.emit({"type": "finish", **finish})
        await self._out.done()
