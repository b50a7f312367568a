"""Prints one turn as it grows: only what isn't on the screen yet."""

from rich.console import Console, RenderableType
from rich.status import Status
from rich.text import Text

from app.chat import wording
from app.chat.cards import approval_outcome
from app.chat.parts import ApprovalPart, ArtifactPart, Message, TextPart, ToolPart
from app.chat.visible import spoken, visible
from toolsets.words import Locale, Words

_TOOL_MARKS = {"done": ("✓", "green"), "failed": ("✗", "red"), "denied": ("✗", "yellow")}


class Printer:
    """Give it every state of a message. After `rejoin()` a stream may be told again from its start: what the screen
    already has is passed over, and where the new telling differs, a line "— continued —" comes before it.
    """

    def __init__(self, console: Console, *, locale: Locale, interactive: bool) -> None:
        self._console = console
        self._locale: Locale = locale
        self._interactive = interactive
        self._shown: dict[int, int] = {}
        self._told = {"text": "", "reasoning": ""}
        self._ahead = {"text": "", "reasoning": ""}
        self._lines: set[str] = set()
        self._resets = 0
        self._open: int | None = None
        self._mid_line = False
        self._spinner: Status | None = None

    def show(self, message: Message) -> None:
        """Print what `message` has beyond what was shown."""
        self._show_resets(message)
        for part in message.parts:
            match part:
                case TextPart():
                    self._show_text(part)
                case ToolPart():
                    self._show_tool(part, message)
                case ApprovalPart():
                    self._show_approval(part)
                case ArtifactPart():
                    self._once(f"artifact {part.id}", Text(f"◆ {part.kind} “{visible(part.title)}” v{part.version}"))
                case _:
                    pass
        self._show_ends(message)
        self._spin("" if message.finished or message.aborted else message.status)

    def rejoin(self) -> None:
        """What comes next may repeat what was shown."""
        self._ahead = {kind: self._told[kind] + self._ahead[kind] for kind in self._told}
        self._told = {"text": "", "reasoning": ""}
        self._shown.clear()
        self._resets = 0

    def say(self, words: Words, *, style: str = "dim", **values: object) -> None:
        """One line of the terminal's own."""
        self.line(Text(words.said(self._locale).format(**values), style=style))

    def line(self, content: RenderableType) -> None:
        """Whole lines, below whatever was being written."""
        self.close()
        self._console.print(content, highlight=False, soft_wrap=isinstance(content, Text))

    def close(self) -> None:
        """End the line that was being written, and whatever turns."""
        self._spin("")
        if self._mid_line:
            self._console.print()
        self._mid_line, self._open = False, None

    def _show_text(self, part: TextPart) -> None:
        fresh = part.text[self._shown.get(part.n, 0) :]
        self._shown[part.n] = len(part.text)
        self._told[part.kind] += fresh
        fresh = self._beyond(part, fresh)
        if not fresh or (part.kind == "reasoning" and not self._interactive):
            return
        self._spin("")
        if self._open != part.n:
            self.close()
        self._open = part.n
        self._mid_line = not fresh.endswith("\n")
        style = "dim italic" if part.kind == "reasoning" else ""
        self._console.print(Text(spoken(fresh), style=style), end="", highlight=False, soft_wrap=True)

    def _beyond(self, part: TextPart, fresh: str) -> str:
        """What of `fresh` isn't on the screen; the whole part if it turns out to differ from what is there."""
        ahead = self._ahead[part.kind]
        if not ahead or not fresh:
            return fresh
        if ahead.startswith(fresh):
            self._ahead[part.kind] = ahead[len(fresh) :]
            return ""
        self._ahead[part.kind] = ""
        if fresh.startswith(ahead):
            return fresh[len(ahead) :]
        if part.kind == "text":
            self.say(wording.CONTINUED)
        return part.text

    def _show_tool(self, part: ToolPart, message: Message) -> None:
        untold = {"pending", "approved", "executing"} if message.finished else set[str]()
        told_by_card = {a.tool_call_id for a in message.approvals if a.status not in untold}
        if part.state not in _TOOL_MARKS or part.id in told_by_card:
            return
        mark, style = _TOOL_MARKS[part.state]
        line = Text.assemble("  ", (mark, style), (f" {visible(part.name)}", "dim"))
        self._once(f"tool {part.id}", line.append(f": {visible(part.error)}", style="red") if part.error else line)

    def _show_approval(self, part: ApprovalPart) -> None:
        if line := approval_outcome(part.approval, self._locale):
            self._once(f"approval {part.id} {part.approval.version} {part.approval.status}", line)

    def _show_resets(self, message: Message) -> None:
        if message.resets > self._resets and not self._ahead["text"] and self._mid_line:
            self.say(wording.CONTINUED)
        self._resets = message.resets

    def _show_ends(self, message: Message) -> None:
        for number, error in enumerate(message.errors):
            problem = wording.PROBLEM.said(self._locale).format(message=visible(error))
            self._once(f"error {number} {error}", Text(problem, style="red"))
        if message.partial:
            self._once("partial", Text(wording.PARTIAL.said(self._locale), style="yellow"))
        if message.aborted:
            self._once("aborted", Text(wording.STOPPED.said(self._locale), style="dim"))
        if message.title and self._interactive:
            self._once(f"title {message.title}", Text(f"# {visible(message.title)}", style="dim"))
        if message.finished and message.usage and self._interactive:
            used = wording.USAGE.said(self._locale)
            tokens = {"input": message.usage.get("input_tokens"), "output": message.usage.get("output_tokens")}
            self._once(f"usage {tokens}", Text(used.format(**tokens), style="dim"))

    def _once(self, key: str, line: Text) -> None:
        if key not in self._lines:
            self._lines.add(key)
            self.line(line)

    def _spin(self, status: str) -> None:
        if self._spinner and (not status or self._mid_line):
            self._spinner.stop()
            self._spinner = None
        if not status or self._mid_line or not self._interactive:
            return
        if self._spinner:
            self._spinner.update(Text(visible(status), style="dim"))
        else:
            self._spinner = self._console.status(Text(visible(status), style="dim"))
            self._spinner.start()
