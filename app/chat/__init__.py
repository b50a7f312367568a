"""The terminal client: a conversation over the HTTP API, with streams, approvals and questions."""

from app.chat.client import ApiClient, OutgoingMessage, Reply, Vote, open_http
from app.chat.errors import ApiError, ChatError, ConnectionLost, Interrupted, Quit
from app.chat.loop import run_chat
from app.chat.options import ChatOptions, EditText, ReadLine
from app.chat.terminal import chat

__all__ = [
    "ApiClient",
    "ApiError",
    "ChatError",
    "ChatOptions",
    "ConnectionLost",
    "EditText",
    "Interrupted",
    "OutgoingMessage",
    "Quit",
    "ReadLine",
    "Reply",
    "Vote",
    "chat",
    "open_http",
    "run_chat",
]
