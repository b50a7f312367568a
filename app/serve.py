"""Serving: one process, until it is asked to stop."""

import contextlib
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI
from sqlalchemy.engine import make_url

from app.errors import CommandError
from app.main import create_app, end_streams
from app.settings import Settings
from app.telemetry import set_up
from app.wiring import Wired

GRACE_S = 10
"""Seconds that open requests get to end by themselves."""
BACKLOG = 2048


class Server(uvicorn.Server):
    """Ends the streams that people follow before it waits for open requests: a stream has no end of its own."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        end_streams(self._app)
        await super().shutdown(sockets)


async def serve(wired: Wired, say: Callable[[str], None]) -> int:
    """Serve until SIGINT or SIGTERM and give the exit code. `say` gets one line once the address is ours."""
    settings = wired.settings
    app = create_app(wired)
    set_up(settings, app, wired.database)
    server = Server(
        app,
        uvicorn.Config(
            app,
            loop="none",
            http="httptools",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        ),
    )
    with _listening(settings) as listener:
        say(banner(settings))
        # uvicorn raises the signal anew after an orderly shutdown; what was wired is still to be closed.
        with contextlib.suppress(KeyboardInterrupt):
            await server.serve(sockets=[listener])
    return 0 if server.started else 1


def end_on_signals() -> None:
    """Make SIGTERM end the process as Ctrl-C does, by KeyboardInterrupt, so that everything is closed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def address(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def banner(settings: Settings) -> str:
    """Where it is, and what it runs on."""
    url = make_url(settings.database_url)
    where = url.database if url.get_backend_name() == "sqlite" else url.host
    return (
        f"Placet on {address(settings)} · model {settings.model} · "
        f"database {url.get_backend_name()} ({where}) · auth {settings.auth}"
    )


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise CommandError(
            f"PLACET_PORT: can't listen on {settings.host}:{settings.port} ({error.strerror}). "
            "Stop whoever does, or choose another with --port."
        ) from None


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
