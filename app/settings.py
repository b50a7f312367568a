"""Settings: the environment and `.env`, prefix `PLACET_`. A wrong value stops the start with one sentence."""

import base64
import binascii
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

PREFIX = "PLACET_"
DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
SECRET_BYTES = 32
"""HS256 wants a key as long as its digest."""


class SettingsError(Exception):
    """A setting is wrong or missing. The sentence begins with the setting's name."""


class Settings(BaseSettings):
    """Everything that can be set; see docs/reference/settings.md."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    database_url: str = Field(default="sqlite+aiosqlite:///./placet.db", repr=False)
    """`sqlite://…` and `postgresql://…` get their async drivers."""
    redis_url: str | None = Field(default=None, repr=False)
    model: str = "rehearsal"
    """A PydanticAI name, or several separated by commas; `rehearsal` needs no network."""
    packs: Annotated[tuple[str, ...], NoDecode] = ()
    """Import paths of packs from outside (`module:name`), separated by commas."""
    secrets_key: str | None = Field(default=None, repr=False)
    """A Fernet key (32 bytes in URL-safe base64): encrypts secret columns."""
    trading_live: bool = False
    """Allows orders on real exchanges."""

    auth: Literal["local", "jwt"] = "local"
    jwt_secret: str | None = Field(default=None, repr=False)
    jwt_jwks_url: str | None = None
    jwt_issuer: str | None = None
    jwt_audience: str | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    zone: str = "UTC"
    """The time zone of people whose token names none."""

    approval_ttl_s: int = Field(default=900, ge=10, le=7 * 86400)
    execute_ttl_s: int = Field(default=900, ge=10, le=86400)
    turn_request_limit: int = Field(default=10, ge=1, le=1000)
    turn_tool_calls: int = Field(default=20, ge=1, le=5000)
    turn_seconds: float = Field(default=120, ge=1, le=86400, allow_inf_nan=False)
    tool_seconds: float = Field(default=30, ge=0.1, le=3600, allow_inf_nan=False)
    lease_s: float = Field(default=15, ge=1, le=600, allow_inf_nan=False)

    rate_per_minute: int = Field(default=120, ge=1, le=1_000_000)
    running_turns: int = Field(default=5, ge=1, le=10_000)
    """Running turns per user."""
    open_streams: int = Field(default=20, ge=1, le=10_000)
    """Open streams per user."""

    telemetry_console: bool = False
    """Prints spans."""
    telemetry_content: bool = False
    """Records what people and models say in spans."""

    @field_validator("packs", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator(
        "redis_url", "secrets_key", "jwt_secret", "jwt_jwks_url", "jwt_issuer", "jwt_audience", mode="before"
    )
    @classmethod
    def _unset(cls, value: object) -> object:
        # An empty variable, as compose files like to pass, is no value.
        return None if isinstance(value, str) and not value.strip() else value

    @field_validator("database_url")
    @classmethod
    def _with_driver(cls, value: str) -> str:
        try:
            url = make_url(value)
        except ArgumentError:
            raise ValueError("is no database address; write sqlite:///./placet.db or postgresql://…") from None
        driver = DRIVERS.get(url.get_backend_name())
        if driver is None or ("+" in url.drivername and url.drivername != driver):
            raise ValueError("must begin with sqlite:// or postgresql://")
        return url.set(drivername=driver).render_as_string(hide_password=False)

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("must begin with redis://, rediss:// or unix://")
        return value

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("is no time zone; write one such as Europe/Berlin or Asia/Shanghai") from None
        return value

    @field_validator("secrets_key")
    @classmethod
    def _fernet(cls, value: str | None) -> str | None:
        if value is not None and not _is_fernet_key(value):
            raise ValueError("must be 32 bytes in URL-safe base64")
        return value

    @field_validator("jwt_secret")
    @classmethod
    def _long_enough(cls, value: str | None) -> str | None:
        if value is not None and len(value.encode()) < SECRET_BYTES:
            raise ValueError(f"must have at least {SECRET_BYTES} bytes")
        return value

    @model_validator(mode="after")
    def _guarded(self) -> "Settings":
        """Whoever can be reached from outside must ask for keys."""
        if self.auth == "local":
            if not is_loopback(self.host):
                raise ValueError(
                    f"AUTH: local serves one person on this machine; to bind to {self.host} set jwt and a key"
                )
            return self
        if not self.jwt_secret and not self.jwt_jwks_url:
            raise ValueError("AUTH: jwt needs PLACET_JWT_SECRET or PLACET_JWT_JWKS_URL")
        if self.jwt_secret and self.jwt_jwks_url:
            raise ValueError("JWT_JWKS_URL: set either this or PLACET_JWT_SECRET")
        if self.jwt_jwks_url and not (self.jwt_issuer and self.jwt_audience):
            raise ValueError("JWT_JWKS_URL: keys of others need PLACET_JWT_ISSUER and PLACET_JWT_AUDIENCE")
        return self


def load_settings(**given: Any) -> Settings:
    """The settings, with `given` before the environment. Raises SettingsError, whose sentence names the setting."""
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(_sentence(error.errors(include_url=False)[0])) from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_fernet_key(value: str) -> bool:
    try:
        return len(base64.b64decode(value.encode(), altchars=b"-_", validate=True)) == 32
    except (binascii.Error, ValueError):
        return False


def _sentence(problem: ErrorDetails) -> str:
    context: Mapping[str, Any] = problem.get("ctx") or {}
    said = str(context["error"]) if "error" in context else problem["msg"][:1].lower() + problem["msg"][1:]
    if not problem["loc"]:
        # Rules over several settings name the one to change at their beginning.
        name, _, said = said.partition(": ")
        return f"{PREFIX}{name}: {said}"
    return f"{PREFIX}{str(problem['loc'][0]).upper()}: {said}"
