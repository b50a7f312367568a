"""Builds the model that the setting `PLACET_MODEL` names: the rehearsal model, one of a provider, or a chain."""

import difflib
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from httpx2 import Timeout
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model, known_model_names
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
from pydantic_ai.providers.ollama import OllamaProvider

from agents.errors import ModelSettingError
from agents.rehearsal import RehearsalModel
from toolsets.scenes import Scene
from toolsets.words import Words

SETTING = "PLACET_MODEL"
REHEARSAL = "rehearsal"
CONNECT_S = 5.0
READ_S = 60.0
"""Seconds between two bytes; a model that thinks for longer streams something meanwhile."""
RETRIES_ALONE = 2
RETRIES_IN_CHAIN = 1
"""Of the provider's SDK. In a chain the next model is the better retry."""

_OLLAMA_URL = "http://localhost:11434/v1"
_OPENAI_HOST = "api.openai.com"


@runtime_checkable
class _SdkClient(Protocol):
    """What the OpenAI and Anthropic SDKs let one set on a client after it is made."""

    timeout: float | Timeout | None
    max_retries: int


ProviderFactory = Callable[[str], Provider[Any]]  # each SDK has a client type of its own


def build_model(
    setting: str,
    *,
    scenes: Sequence[Scene],
    suggestions: Sequence[Words] = (),
    pace_s: float = 0,
) -> Model:
    """The model for `rehearsal`, a PydanticAI name (`openai:gpt-5.2`) or several with commas, tried in that order.

    Keys and addresses come from the providers' own environment variables. Nothing is sent to the network. `async with`
    the model for as long as it is used: it closes its HTTP clients, one per provider.

    The next model of a chain is asked when one fails before its stream's first event; a failure after that is raised.
    When all fail, `FallbackExceptionGroup` is raised.

    Raises ModelSettingError when a name isn't known or a key or address is missing.
    """
    names = [name.strip() for name in setting.split(",")] if setting.strip() else [REHEARSAL]
    _check(names)
    provide = cache(_provider_factory(RETRIES_ALONE if len(names) == 1 else RETRIES_IN_CHAIN))
    models = [
        RehearsalModel(scenes, suggestions=suggestions, pace_s=pace_s)
        if name == REHEARSAL
        else _provider_model(name, provide)
        for name in names
    ]
    return models[0] if len(models) == 1 else FallbackModel(*models)


def is_rehearsal(model: Model) -> bool:
    """Whether it is the rehearsal model that answers (first)."""
    match model:
        case RehearsalModel():
            return True
        case WrapperModel():
            return is_rehearsal(model.wrapped)
        case FallbackModel():
            return is_rehearsal(model.models[0])
        case _:
            return False


def _check(names: Sequence[str]) -> None:
    if not all(names):
        raise ModelSettingError(SETTING, "there is a comma with no model beside it.")
    if REHEARSAL in names[:-1]:
        raise ModelSettingError(SETTING, f"{REHEARSAL!r} never fails, so no model named after it would be asked.")


def _provider_model(name: str, provide: ProviderFactory) -> Model:
    provider, _, model = name.partition(":")
    if not model or not _is_known(provider):
        raise ModelSettingError(SETTING, f"{name!r} is not a model that is known. {_hint(name)}")
    interface = _openai_interface() if provider == "openai" else provider
    try:
        return infer_model(f"{interface}:{model}", provide)
    except ImportError as error:
        raise ModelSettingError(SETTING, f"{name!r} needs a package that isn't installed. {error}") from error
    except UserError as error:
        raise ModelSettingError(SETTING, f"{name!r} can't be used. {_first_sentences(error)}") from error


def _provider_factory(retries: int) -> ProviderFactory:
    def provide(name: str) -> Provider[Any]:
        provider = _provider(name)
        if isinstance(provider.client, _SdkClient):
            provider.client.timeout = Timeout(READ_S, connect=CONNECT_S)
            provider.client.max_retries = retries
        return provider

    return provide


def _provider(name: str) -> Provider[Any]:
    _check_key(name)
    if name == "ollama" and not os.environ.get("OLLAMA_BASE_URL"):
        return OllamaProvider(base_url=_OLLAMA_URL)
    return infer_provider(name)


def _check_key(provider: str) -> None:
    """A key that is set but empty passes the SDK's check and fails at the first request."""
    variable = {
        "openai": "OPENAI_API_KEY",
        "openai-chat": "OPENAI_API_KEY",
        "openai-responses": "OPENAI_API_KEY",
        "anthropic": "ANTHROPIC_API_KEY",
    }.get(provider)
    elsewhere = provider != "anthropic" and bool(os.environ.get("OPENAI_BASE_URL"))
    if variable and not elsewhere and not os.environ.get(variable, "").strip():
        raise ModelSettingError(
            variable, f"is not set, but {SETTING} names a model of {provider}. Set it, or use {SETTING}={REHEARSAL}."
        )


def _openai_interface() -> str:
    """Compatible servers behind `OPENAI_BASE_URL` speak Chat Completions; few speak the Responses API."""
    address = os.environ.get("OPENAI_BASE_URL", "")
    return "openai-chat" if address and urlsplit(address).hostname != _OPENAI_HOST else "openai"


def _is_known(provider: str) -> bool:
    try:
        infer_provider_class(provider)
    except ValueError:
        return False
    except ImportError:
        # Known, and not installed: building it says which package it needs.
        return True
    return True


def _hint(name: str) -> str:
    known = [full for full in known_model_names() if ":" in full]
    same_model = [full for full in known if full.partition(":")[2] == name.rpartition(":")[2]]
    near = same_model or difflib.get_close_matches(name, known, n=1)
    example = near[0] if near else "openai:gpt-5.2"
    return f"Write {REHEARSAL!r} or provider:model, for example {example}."


def _first_sentences(error: UserError) -> str:
    """The library's sentence that names the variable, without its advice about test models."""
    return str(error).partition(" to use the ")[0].rstrip(".") + "."
