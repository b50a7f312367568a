"""The conversation: lines in, turns followed, approvals and questions put to the person."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rich.console import Console
from rich.text import Text

from app.chat import wording
from app.chat.asking import Desk
from app.chat.client import ApiClient, OutgoingMessage, open_http
from app.chat.errors import ApiError, ChatError, Interrupted, Quit
from app.chat.follow import Follower
from app.chat.interrupts import INTERRUPTED_EXIT, interruptible
from app.chat.options import ChatOptions, ReadLine
from app.chat.parts import Message, TextPart
from app.chat.printer import Printer
from app.chat.thread import from_ui
from app.chat.visible import spoken, visible
from app.chat.wire import Approval, UiMessage
from toolsets.words import Words

T = TypeVar("T")
RECENT = 6
"""Messages shown when an old conversation is opened."""


async def run_chat(options: ChatOptions, console: Console, read_line: ReadLine) -> int:
    """Talk until `/quit` or the end of the input (0) or Ctrl-C twice (130): the process's exit code."""
    async with open_http(options.base_url, token=options.token, locale=options.locale) as http:
        chat = _Chat(options=options, console=console, read_line=read_line, client=ApiClient(http))
        try:
            await chat.open()
            while True:
                await chat.next_line()
        except EOFError:
            return 0
        except Quit as quitting:
            return quitting.code
        finally:
            chat.turn.printer.close()


@dataclass(kw_only=True)
class _Chat:
    options: ChatOptions
    console: Console
    read_line: ReadLine
    client: ApiClient
    turn: Follower = field(init=False)
    """The latest turn of the conversation at hand."""
    _message: Message = field(default_factory=Message, init=False)
    _interrupted: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.turn = self._new_turn(self.options.conversation_id or self.options.new_id())

    async def open(self) -> None:
        """Greet; go on where an old conversation stands."""
        self._say_where(wording.WELCOME)
        if self.options.conversation_id is None:
            return
        await self._guarded(self._resume)

    async def next_line(self) -> None:
        """Read one line and do what it says."""
        try:
            line = await self.read_line(wording.YOU.said(self.options.locale))
        except Interrupted:
            if self._interrupted:
                raise Quit(INTERRUPTED_EXIT) from None
            self._interrupted = True
            self.turn.printer.say(wording.PRESS_AGAIN)
            return
        self._interrupted = False
        match line.strip():
            case "":
                pass
            case "/quit":
                raise Quit
            case "/new":
                self.turn = self._new_turn(self.options.new_id())
                self._say_where(wording.NEW_CONVERSATION)
            case "/history":
                await self._guarded(self._history)
            case "/approvals":
                await self._guarded(self._approvals)
            case text:
                await self._guarded(lambda: self._converse(text))

    async def _guarded(self, act: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Whatever the server refuses is said, and the conversation goes on."""
        try:
            await act()
        except ChatError as error:
            self.turn.printer.say(wording.PROBLEM, style="red", message=visible(str(error)))

    async def _converse(self, text: str) -> None:
        self.turn = self._new_turn(self.turn.conversation_id)
        outgoing = OutgoingMessage(
            conversation_id=self.turn.conversation_id,
            message_id=self.options.new_id(),
            text=text,
            assistant=self.options.assistant,
        )
        await self._attend(await self._watched(self.turn.send(outgoing)))

    async def _resume(self) -> None:
        view = await self._watched(self.turn.conversation())
        if view is None:
            return
        self._print_history(view.messages[-RECENT:])
        if view.open_turn_id or view.status != "idle":
            await self._attend(await self._watched(self.turn.rejoin()))

    async def _history(self) -> None:
        view = await self._watched(self.turn.conversation())
        if view is None or not view.messages:
            self.turn.printer.say(wording.NOTHING_SAID)
        else:
            self._print_history(view.messages)

    async def _approvals(self) -> None:
        """Name what waits in other conversations, ask for what waits in this one."""
        mine = await self._watched(self.turn.pending())
        known = {approval.approval_id for approval in mine}
        others = [a for a in await self.client.approvals() if a.approval_id not in known]
        for other in others:
            self.turn.printer.say(
                wording.ELSEWHERE, summary=visible(other.summary), name=visible(other.short_name or other.tool)
            )
        if mine:
            await self._attend(await self._settle(self._message, mine))
        elif not others:
            self.turn.printer.say(wording.NONE_PENDING)

    async def _attend(self, message: Message) -> None:
        """Put to the person what the turn waits for, until it waits for nothing or they turn away."""
        self._message = message
        rejoined = False
        try:
            while not message.aborted:
                if message.awaits_decision and (pending := await self._watched(self.turn.pending())):
                    message, rejoined = await self._settle(message, pending), False
                elif message.awaits_decision and not rejoined:
                    message, rejoined = await self._watched(self.turn.rejoin()), True
                elif (question := message.question) and not message.awaits_decision:
                    answer = await self._desk().answer(question)
                    message = await self._watched(self.turn.answer(question.question_id, answer, message))
                else:
                    return
                self._message = message
        except Interrupted:
            self.turn.printer.say(wording.LEFT_PENDING if message.awaits_decision else wording.LEFT_UNANSWERED)

    async def _settle(self, message: Message, pending: list[Approval]) -> Message:
        """Ask for one approval after the other; the message once the turn has gone on."""
        decided = 0
        while pending:
            approval = _first(pending, message)
            vote = await self._desk().vote(approval, n=decided + 1, total=decided + len(pending))
            try:
                if (gone_on := await self._watched(self.turn.vote(vote, message))) is not None:
                    return gone_on
                decided += "arguments" not in vote.fields
            except ApiError as error:
                self._say_refusal(error)
            pending = await self._watched(self.turn.pending())
        return await self._watched(self.turn.rejoin())

    async def _watched(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; Ctrl-C meanwhile stops the turn, twice leaves."""
        return await interruptible(work, self.turn.stop)

    def _say_refusal(self, error: ApiError) -> None:
        self.turn.printer.say(wording.PROBLEM, style="red", message=visible(str(error)))
        for problem in error.details if isinstance(error.details, list) else []:
            match problem:
                case {"field": str(name), "message": str(message)}:
                    self.turn.printer.line(Text(f"  {visible(name)}: {visible(message)}", style="red"))
                case _:
                    pass

    def _say_where(self, words: Words) -> None:
        self.turn.printer.say(words, assistant=self.options.assistant, conversation_id=self.turn.conversation_id)

    def _print_history(self, messages: list[UiMessage]) -> None:
        you = wording.YOU.said(self.options.locale)
        for message in messages:
            if message.role == "user":
                said = "\n".join(part.text for part in from_ui(message).parts if isinstance(part, TextPart))
                self.turn.printer.line(Text(f"{you}{spoken(said)}", style="bold"))
            elif message.role == "assistant":
                printer = self._new_printer()
                printer.show(replace(from_ui(message), title=""))
                printer.close()

    def _new_turn(self, conversation_id: str) -> Follower:
        return Follower(
            client=self.client,
            conversation_id=conversation_id,
            printer=self._new_printer(),
            sleep=self.options.sleep,
            backoff=self.options.backoff,
        )

    def _new_printer(self) -> Printer:
        return Printer(self.console, locale=self.options.locale, interactive=self.options.interactive)

    def _desk(self) -> Desk:
        return Desk(options=self.options, printer=self.turn.printer, read_line=self.read_line)


def _first(pending: list[Approval], message: Message) -> Approval:
    """Of those that wait (newest first), the one that the message shows first; what it doesn't show, oldest first."""
    order = {approval.approval_id: n for n, approval in enumerate(message.approvals)}
    return min(reversed(pending), key=lambda approval: order.get(approval.approval_id, len(order)))
