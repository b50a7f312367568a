"""The scripted model refuses what a strict provider would refuse."""

from typing import Any

import pytest
from pydantic_ai import Agent, Tool
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse

from agents.titles import make_title
from tests.agents.strict_provider import ScriptedModel, call, cut_after, fail, say, violations

pytestmark = pytest.mark.anyio

ASKED = ModelRequest(parts=[UserPromptPart("hello")])


def made(*ids: str, args: str = "{}") -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("look", args, id_) for id_ in ids])


def returned(*ids: str, outcome: Any = "success") -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart("look", "seen", id_, outcome=outcome) for id_ in ids])


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "first message"),
        ([ModelResponse(parts=[TextPart("hi")])], "first message"),
        ([ModelRequest(parts=[ToolReturnPart("look", "seen", "a")])], "no user content"),
        ([ModelRequest(parts=[UserPromptPart("")])], "user message is empty"),
        ([ASKED, ModelResponse(parts=[TextPart("hi")])], "last message"),
        ([ASKED, ModelResponse(parts=[]), ASKED], "response is empty"),
        ([ASKED, ModelResponse(parts=[TextPart(" ")]), ASKED], "empty text"),
        ([ASKED, made("a"), ASKED], "no return"),
        ([ASKED, made("a"), made("b"), returned("a", "b")], "no return"),
        ([ASKED, made("a"), returned("a"), returned("a")], "answers no open call"),
        ([ASKED, made("a"), returned("a", "b")], "answers no open call"),
        ([ASKED, made("a", "a"), returned("a")], "repeats"),
        ([ASKED, made("a"), returned("a"), made("a"), returned("a")], "repeats"),
        ([ASKED, made("a", args="{"), returned("a")], "not a JSON object"),
        ([ASKED, made("a", args="[1]"), returned("a")], "not a JSON object"),
    ],
)
def test_a_broken_history_is_refused(messages: list[ModelMessage], problem: str):
    assert any(problem in violation for violation in violations(messages)), violations(messages)


def test_a_sound_history_is_accepted():
    assert violations([ASKED, made("a", "b"), returned("a"), returned("b"), made("c"), returned("c")]) == []
    assert violations([ASKED, made("a", args="{"), returned("a", outcome="retried")]) == []


async def drained(stream: StreamedResponse) -> None:
    async for _ in stream:
        pass


async def look(at: str) -> dict[str, str]:
    """Look at something."""
    return {"seen": at}


async def test_a_script_is_played_and_recorded_streamed_or_not():
    for streamed in (False, True):
        steps = [[say("Let me see."), call("look", {"at": "a"}), call("look", {"at": "b"})]]
        model = ScriptedModel([*steps, lambda seen: say(f"Saw {len(seen.returns)}.")], piece=1)
        agent = Agent(model, tools=[Tool(look)], instructions="Be brief.")
        if streamed:
            async with agent.run_stream_events("hello") as events:
                deltas = [event async for event in events if isinstance(event, PartDeltaEvent)]
                assert events.result is not None
                assert events.result.output == "Saw 2."
            assert len(deltas) > 20
        else:
            assert (await agent.run("hello")).output == "Saw 2."
        model.check()
        assert model.offered == [("look",), ("look",)]
        assert model.instructions == ["Be brief.", "Be brief."]
        assert [len(messages) for messages in model.requests] == [1, 3]


async def test_faults_are_those_of_a_provider():
    model = ScriptedModel(
        [fail(ModelHTTPError(503, "scripted")), cut_after(2, say("a long answer that breaks")), say("fine")]
    )
    with pytest.raises(ModelHTTPError):
        await Agent(model).run("hello")
    async with model.request_stream([ASKED], None, ModelRequestParameters()) as stream:
        with pytest.raises(ModelAPIError):
            await drained(stream)
        assert stream.get().text == "a long answer th"
    assert (await Agent(model).run("hello")).output == "fine"
    model.check()


async def test_broken_arguments_and_repeated_ids_reach_the_run():
    model = ScriptedModel([call("look", '{"at": '), say("sorry")])
    assert (await Agent(model, tools=[Tool(look)]).run("hello")).output == "sorry"
    model.check()
    repeating = ScriptedModel([call("look", {"at": "a"}), call("look", {"at": "b"}), say("done")], repeat_ids=True)
    with pytest.raises(AssertionError, match="call_0 repeats"):
        await Agent(repeating, tools=[Tool(look)]).run("hello")
    with pytest.raises(AssertionError):
        repeating.check()


async def test_titles_take_no_step():
    model = ScriptedModel([say("hello")], title="A greeting")
    assert await make_title(model, "hello there", "en") == "A greeting"
    assert (model.titles, model.left) == (1, 1)


async def test_a_script_that_is_over_says_so():
    with pytest.raises(AssertionError, match="the script has 0 steps"):
        await Agent(ScriptedModel([])).run("hello")
