"""`PLACET_MODEL`: one model, a chain, or a sentence that says what is missing."""

from collections.abc import AsyncIterator

import anyio
import pytest
from httpx2 import Timeout
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agents.errors import ModelSettingError
from agents.models import build_model, is_rehearsal
from agents.rehearsal import RehearsalModel
from agents.titles import make_title, title_from

pytestmark = pytest.mark.anyio

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "OLLAMA_BASE_URL", "DEEPSEEK_API_KEY")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def build(setting: str) -> Model:
    return build_model(setting, scenes=())


def sdk(model: Model) -> AsyncOpenAI:
    assert model.provider is not None
    client = model.provider.client
    assert isinstance(client, AsyncOpenAI)
    return client


@pytest.mark.parametrize("setting", ["rehearsal", "", " "])
def test_without_a_name_the_rehearsal_model_serves(setting: str):
    model = build(setting)
    assert isinstance(model, RehearsalModel)
    assert is_rehearsal(model)
    assert model.model_name == "rehearsal"


@pytest.mark.parametrize(
    ("setting", "named", "said"),
    [
        ("openai:gpt-5.2", "OPENAI_API_KEY", "OPENAI_API_KEY: is not set, but PLACET_MODEL"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY: is not set, but PLACET_MODEL"),
        ("deepseek:deepseek-chat", "PLACET_MODEL", "DEEPSEEK_API_KEY"),
        ("gpt-5.2", "PLACET_MODEL", "example openai:gpt-5.2"),
        ("nobody:gpt-5.2", "PLACET_MODEL", "example openai:gpt-5.2"),
        ("openai:", "PLACET_MODEL", "PLACET_MODEL: 'openai:' is not a model"),
        ("google:gemini-3-pro", "PLACET_MODEL", "package that isn't installed"),
        ("rehearsal,,rehearsal", "PLACET_MODEL", "a comma with no model"),
        ("rehearsal,ollama:qwen3", "PLACET_MODEL", "never fails"),
    ],
)
def test_a_setting_that_cannot_work_is_named_before_the_start(setting: str, named: str, said: str):
    with pytest.raises(ModelSettingError) as caught:
        build(setting)
    assert caught.value.setting == named
    assert said in str(caught.value)


def test_a_key_that_is_set_but_empty_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    with pytest.raises(ModelSettingError, match="OPENAI_API_KEY"):
        build("openai:gpt-5.2")


async def test_openai_uses_its_own_interface_and_short_timeouts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    async with build("openai:gpt-5.2") as model:
        assert type(model).__name__ == "OpenAIResponsesModel"
        assert sdk(model).timeout == Timeout(60, connect=5)


async def test_a_compatible_server_is_spoken_to_in_chat_completions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9999/v1")
    async with build("openai:local-model") as model:
        assert type(model).__name__ == "OpenAIChatModel"
        assert model.base_url == "http://localhost:9999/v1/"


async def test_ollama_needs_no_settings():
    async with build("ollama:qwen3") as model:
        assert model.base_url == "http://localhost:11434/v1/"


async def test_a_chain_has_one_client_per_provider(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    async with build("openai:gpt-5.2, openai:gpt-5-mini, rehearsal") as model:
        assert isinstance(model, FallbackModel)
        first, second, last = model.models
        assert sdk(first) is sdk(second)
        assert isinstance(last, RehearsalModel)
        assert not is_rehearsal(model)


async def test_a_chain_falls_back_when_opening_the_stream_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with build("openai:nobody-there,rehearsal") as model:
        agent = Agent(model)
        assert "rehearsal model" in (await agent.run("hello")).output
        async with agent.run_stream("hello") as result:
            assert "rehearsal model" in await result.get_output()


def answering(text: str) -> FunctionModel:
    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(text)])

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield text

    return FunctionModel(answer, stream_function=stream)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Move algebra to Tuesday. It clashes.", "Move algebra to Tuesday"),
        ("Hi! Move algebra to Tuesday", "Move algebra to Tuesday"),
        ("你好!请帮我把周二的高等数学移到周四下午。谢谢", "请帮我把周二的高等数学移到周四下午"),
        ("How do I export version 2.5 of my plan?", "How do I export version 2.5 of my plan"),
        ("  \n\t\u200d", "New conversation"),
        ("a\u202eb\u200bc\x00d\x1b[0m", "abc d [0m"),
        ("**Hello** `world` today", "Hello** `world` today"),
    ],
)
def test_a_title_is_the_first_sentence_that_says_something(text: str, title: str):
    assert title_from(text, "en").rstrip("?") == title


def test_a_long_title_is_cut_between_words_and_graphemes():
    assert title_from("Please reorganise the whole timetable of the second semester", "en") == (
        "Please reorganise the whole timetable of the…"
    )
    assert title_from("数" * 60, "zh") == "数" * 23 + "…"
    family, accent = "👨‍👩‍👧‍👦", "e\u0301"
    assert set(title_from(family * 40, "en").rstrip("…").split(family)) == {""}
    assert set(title_from(accent * 80, "en").rstrip("…").split(accent)) == {""}


async def test_the_model_makes_the_title_where_there_is_one():
    assert await make_title(answering("“Algebra on Tuesday.”"), "move algebra", "en") == "Algebra on Tuesday"


async def test_the_rehearsal_model_leaves_titles_to_the_first_sentence():
    assert await make_title(build("rehearsal"), "Move algebra. Now", "en") == "Move algebra"


@pytest.mark.parametrize("fault", ["raises", "hangs", "says nothing"])
async def test_a_title_never_fails(fault: str):
    gate = anyio.Event()

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if fault == "raises":
            raise RuntimeError("no")
        if fault == "hangs":
            await gate.wait()
        return ModelResponse(parts=[TextPart(" ")])

    assert await make_title(FunctionModel(answer), "Move algebra", "en", limit_s=0.05) == "Move algebra"
