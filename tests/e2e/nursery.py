"""Starts servers quickly: importing the house takes seconds, forking from a process that has done so takes none.

Reads one JSON object a line and answers with one: `{"start": […], "env": {…}, "folder": …}` → `{"pid": n}`;
`{"ended": pid}` → `{"code": n or null}`. A child is what `python -m app …` is, in `folder`, with its output in files.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from app.__main__ import main


def tend() -> None:
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        if "start" in asked:
            answer: dict[str, Any] = {"pid": _start(asked["start"], asked["env"], Path(asked["folder"]))}
        else:
            pid, status = os.waitpid(asked["ended"], os.WNOHANG)
            answer = {"code": os.waitstatus_to_exitcode(status) if pid else None}
        print(json.dumps(answer), flush=True)


def _start(arguments: list[str], environment: dict[str, str], folder: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        _become(environment, folder)
        code = main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _become(environment: dict[str, str], folder: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:0] = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in ((0, os.devnull), (1, "out"), (2, "err")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        os.dup2(os.open(name, flags, 0o644), number)


if __name__ == "__main__":
    tend()
