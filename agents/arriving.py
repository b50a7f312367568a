"""A message that arrives: what is known of it, and what may become of it."""

import re
from dataclasses import dataclass

from agents.requests import TurnRequest
from stores.conversations import Conversation
from stores.turns import Turn
from toolsets.arguments import hashed
from toolsets.words import Locale


@dataclass(frozen=True, kw_only=True)
class Fresh:
    """A message in its conversation, under its idempotency key."""

    request: TurnRequest
    conversation: Conversation
    key: str
    attempt: int


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What became of a message."""

    turn: Turn
    launch: bool = False
    """The turn is to be run now, under `turn.epoch`."""
    continued: bool = False
    """The turn was there before: only what comes now is new to the client."""
    superseded: Turn | None = None


class Busy(Exception):
    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self.turn = turn


def key_of(request: TurnRequest) -> str:
    """The idempotency key, within the conversation."""
    return f"{request.trigger}:{request.idempotency_key or request.message_id}"


def body_hash(request: TurnRequest) -> str:
    """Tells a repeated message from another one under the same key."""
    return hashed([request.text, request.trigger, request.assistant, dict(request.context)])


def spoken_locale(text: str, otherwise: Locale) -> Locale:
    """Chinese for who writes Chinese; else the language that the person's client asks for."""
    return "zh" if re.search("[\u3400-\u9fff]", text) else otherwise
