"""The composition root: the only place that names concrete things."""

import hashlib
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic_ai.models import Model

from agents.authority import actor_allowed
from agents.models import build_model
from agents.runtime import Runtime
from agents.setup import Limits, Setup
from app.packs import load_packs
from app.settings import Settings
from gateway.selection import select
from stores.database import Clock, Database, open_database
from stores.events.memory import MemoryEventLog
from toolsets.gate import Gate, GateSettings
from toolsets.registry import Registry, build_registry

DEFAULT_ASSISTANT = "scheduling"


@dataclass(frozen=True, kw_only=True)
class Wired:
    """What a process is made of."""

    settings: Settings
    database: Database
    registry: Registry
    runtime: Runtime
    clock: Clock
    new_id: Callable[[], str]


@asynccontextmanager
async def build(settings: Settings, *, model: Model | None = None, clock: Clock | None = None) -> AsyncIterator[Wired]:
    """Put a process together; the database is closed when the block ends. Opens no connection by itself.

    `model` and `clock` take the place of the settings' model and of the machine's clock. Raises SettingsError,
    ModelSettingError or RegistrationError with one sentence.
    """
    now = clock or _now
    async with AsyncExitStack() as stack:
        registry = build_registry(load_packs(settings))
        database = open_database(settings.database_url, clock)
        stack.push_async_callback(database.close)
        if model is None:
            suggestions = tuple(one for assistant in registry.assistants.values() for one in assistant.suggestions)
            model = await stack.enter_async_context(
                build_model(settings.model, scenes=registry.scenes, suggestions=suggestions)
            )
        setup = Setup(
            database=database,
            events=MemoryEventLog(),
            gate=_gate(settings, database, now),
            registry=registry,
            model=model,
            select=select,
            limits=_limits(settings),
            clock=now,
            monotonic=time.monotonic,
            new_id=new_id,
            owner=new_id(),
            default_assistant=DEFAULT_ASSISTANT,
        )
        yield Wired(
            settings=settings,
            database=database,
            registry=registry,
            runtime=Runtime(setup),
            clock=now,
            new_id=new_id,
        )


def new_id() -> str:
    return uuid.uuid4().hex


def _now() -> datetime:
    return datetime.now(UTC)


def _limits(settings: Settings) -> Limits:
    return Limits(
        requests=settings.turn_request_limit,
        tool_calls=settings.turn_tool_calls,
        seconds=settings.turn_seconds,
        approval_ttl_s=settings.approval_ttl_s,
        lease_s=settings.lease_s,
        sweep_s=min(Limits.sweep_s, settings.lease_s),
    )


def _gate(settings: Settings, database: Database, clock: Clock) -> Gate:
    return Gate(
        database,
        settings=GateSettings(
            tool_s=settings.tool_seconds,
            execute_ttl_s=settings.execute_ttl_s,
            seal_key=_key(settings, b"seal"),
            secret_key=_key(settings, b"secret columns"),
        ),
        clock=clock,
        new_id=new_id,
        allowed=actor_allowed,
    )


def _key(settings: Settings, purpose: bytes) -> bytes:
    """A key for one purpose, from the settings' secrets. A local server without any still finds changed rows."""
    secret = settings.secrets_key or settings.jwt_secret or "local"
    return hashlib.blake2b(purpose, key=hashlib.sha256(secret.encode()).digest(), digest_size=32).digest()
