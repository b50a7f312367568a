"""Asks the person: what becomes of an approval, what the answer to a question is."""

import json
from dataclasses import dataclass

from pydantic import JsonValue, TypeAdapter, ValidationError
from rich.panel import Panel

from app.chat import wording
from app.chat.cards import approval_card, approval_title, question_card
from app.chat.client import Vote
from app.chat.errors import Quit
from app.chat.options import ChatOptions, ReadLine
from app.chat.printer import Printer
from app.chat.votes import Approve, Deny, Edit, parse_vote
from app.chat.wire import Approval, Question
from toolsets.words import Words

_ARGUMENTS: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Shows what waits for the person and takes what they say.

    Its methods raise `Interrupted` if the person turns away, `EOFError` at the end of the input, `Quit` on `/quit`.
    """

    options: ChatOptions
    printer: Printer
    read_line: ReadLine

    async def vote(self, approval: Approval, *, n: int, total: int) -> Vote:
        """Show the card, ask until the answer is a vote. A vote with `arguments` asks for a new version."""
        self._show(approval, n=n, total=total)
        while True:
            line = await self._ask(wording.ASK_VOTE)
            match parse_vote(line, approval.rows):
                case Approve(skip=skip):
                    return _vote(approval, "approve", {"skip": list(skip)} if skip else {})
                case Deny(reason=reason):
                    reason = reason or await self._reason()
                    return _vote(approval, "deny", {"reason": reason} if reason else {})
                case Edit():
                    if (arguments := await self._edited(approval.arguments)) is not None:
                        return _vote(approval, "approve", {"arguments": arguments, "execute": False})
                case None:
                    self.printer.say(wording.VOTE_MANUAL)

    async def answer(self, question: Question) -> dict[str, JsonValue]:
        """Show the question, ask until the answer fits: an option's number or words, free text, or a secret."""
        self.printer.line(question_card(question))
        while True:
            line = (await self._ask(wording.ASK_ANSWER, secret=question.secret)).strip()
            if question.secret and line:
                return {"secret": line}
            if (option := _option(line, question.options)) is not None:
                return {"option": option}
            if line and (question.allow_free_text or not question.options):
                return {"text": line}
            if question.options:
                self.printer.say(wording.ONE_OF_THESE, total=len(question.options))

    def _show(self, approval: Approval, *, n: int, total: int) -> None:
        locale = self.options.locale
        title = approval_title(approval, n=n, total=total, locale=locale)
        card = approval_card(approval, now=self.options.clock(), locale=locale)
        if self.options.interactive:
            self.printer.line(Panel(card, title=title.replace("[", "\\["), title_align="left", border_style="yellow"))
        else:
            self.printer.say(Words.same("[{title}]"), title=title)
            self.printer.line(card)

    async def _reason(self) -> str:
        return (await self._ask(wording.ASK_REASON)).strip() if self.options.interactive else ""

    async def _edited(self, arguments: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
        """The arguments as the person wants them; None if they stay as they are or aren't a JSON object."""
        before = json.dumps(arguments, ensure_ascii=False)
        after = (await self._edit(before)).strip()
        try:
            edited = _ARGUMENTS.validate_json(after) if after else arguments
        except ValidationError:
            self.printer.say(wording.NOT_AN_OBJECT, style="yellow")
            return None
        if edited == arguments:
            self.printer.say(wording.UNCHANGED)
            return None
        return edited

    async def _edit(self, text: str) -> str:
        if self.options.edit_text:
            return await self.options.edit_text(text)
        self.printer.say(Words.same("{text}"), text=text)
        return await self._ask(wording.ASK_ARGUMENTS)

    async def _ask(self, prompt: Words, *, secret: bool = False) -> str:
        self.printer.close()
        read = (secret and self.options.read_secret) or self.read_line
        line = await read(prompt.said(self.options.locale))
        if line.strip() == "/quit":
            raise Quit
        return line


def _vote(approval: Approval, decision: str, fields: dict[str, JsonValue]) -> Vote:
    return Vote(approval_id=approval.approval_id, decision=decision, version=approval.version, fields=fields)


def _option(line: str, options: list[str]) -> str | None:
    """The option of that number, or the one that reads so."""
    if line.isdecimal() and 1 <= int(line) <= len(options):
        return options[int(line) - 1]
    return next((option for option in options if option.casefold() == line.casefold()), None)
