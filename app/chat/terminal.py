"""The real terminal: reading lines, secrets and edited texts from the person at the keyboard, or lines from a pipe.

Reading blocks the event loop on purpose: at a prompt nothing else runs, and a thread that waits for a line couldn't be
ended.
"""

import asyncio
import getpass
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from app.chat.errors import Interrupted
from app.chat.loop import run_chat
from app.chat.options import ChatOptions, EditText
from toolsets.words import Locale

try:
    import readline
except ImportError:  # not on every platform; lines are then edited as the terminal does it
    readline = None


async def chat(
    base_url: str,
    assistant: str,
    conversation_id: str | None = None,
    token: str | None = None,
    locale: Locale | None = None,
) -> int:
    """Chat on this process's terminal (or pipe); gives its exit code. `locale` defaults to the environment's."""
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    options = ChatOptions(
        base_url=base_url if "://" in base_url else f"http://{base_url}",
        assistant=assistant,
        conversation_id=conversation_id,
        token=token,
        locale=locale or locale_of(os.environ),
        interactive=interactive,
        read_secret=_typed_secret if interactive else None,
        edit_text=_editor(os.environ.get("EDITOR", "")) if interactive else None,
    )
    return await run_chat(options, Console(), _typed_line if interactive else _piped_line)


def locale_of(environ: Mapping[str, str]) -> Locale:
    """The language that POSIX variables ask for: `zh` or else `en`."""
    asked = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return "zh" if asked.lower().startswith("zh") else "en"


async def _piped_line(prompt: str) -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


async def _typed_line(prompt: str) -> str:
    return _typed(lambda: input(prompt))


async def _typed_secret(prompt: str) -> str:
    return _typed(lambda: getpass.getpass(prompt))


async def _changed_line(text: str) -> str:
    """The text, ready to be changed in the prompt."""
    if readline is None:
        sys.stdout.write(f"{text}\n")
        return await _typed_line("> ")
    line_editor = readline
    line_editor.set_startup_hook(lambda: line_editor.insert_text(text))
    try:
        return await _typed_line("> ")
    finally:
        line_editor.set_startup_hook(None)


def _editor(command: str) -> EditText:
    """The person's own editor on a file, or the prompt if they have none."""
    if not command:
        return _changed_line

    async def edit(text: str) -> str:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "arguments.json"
            file.write_text(text, encoding="utf-8")
            process = await asyncio.create_subprocess_exec(*shlex.split(command), str(file))
            return file.read_text(encoding="utf-8") if await process.wait() == 0 else text

    return edit


def _typed(read: Callable[[], str]) -> str:
    with _ctrl_c_raises():
        try:
            return read()
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            raise Interrupted from None


@contextmanager
def _ctrl_c_raises() -> Iterator[None]:
    """While the loop is blocked its own Ctrl-C handling couldn't run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
