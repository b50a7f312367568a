"""The app on a port of this machine, for clients that aren't Python."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[str]:
    """The base URL of the app, served in this loop on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", ws="none"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://{host}:{port}"
        finally:
            server.should_exit = True
            await serving
