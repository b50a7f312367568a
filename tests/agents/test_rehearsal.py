"""The rehearsal model plays scenes: deterministic, in two languages, from the history alone."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool, ToolDenied
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    TextPart,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from agents.errors import SceneError
from agents.rehearsal import RehearsalModel
from toolsets.scenes import Call, Cue, Play, Say, Scene, Use
from toolsets.words import Words

pytestmark = pytest.mark.anyio


def find_and_move(cue: Cue) -> Play:
    course = cue.match.get("course", "?")
    (found,) = yield Use(Call("find_free", {"course": course}), text=f"Looking for room for {course}.")
    if found.status != "ok":
        yield Say("无法查看课表。" if cue.locale == "zh" else "I can't see the timetable.")
        return
    (moved,) = yield Use(Call("move_course", {"course": course, "slot": found.content["free"][0]}))
    if moved.status == "denied":
        yield Say(f"Not moved: {moved.content}")
    elif moved.status == "error":
        yield Say(f"It failed: {moved.content['message']}")
    else:
        yield Say(f"已移动{course}。" if cue.locale == "zh" else f"Moved {course}.")


MOVE = Scene(name="move_course", patterns=(r"\bmove (?P<course>\w+)", r"移动(?P<course>\w+)"), play=find_and_move)
FIND = {"find_free": {"free": [3, 5]}}
MOMENT = datetime(2026, 3, 2, 8, tzinfo=UTC)


def rehearsal(*scenes: Scene, suggestions: Sequence[Words] = ()) -> RehearsalModel:
    return RehearsalModel(scenes, suggestions=suggestions, clock=lambda: MOMENT)


def asked(*texts: str) -> list[ModelMessage]:
    return [ModelRequest(parts=[UserPromptPart(text, timestamp=MOMENT)], timestamp=MOMENT) for text in texts]


def tools(*names: str, deferred: Sequence[str] = ()) -> ModelRequestParameters:
    search = [ToolDefinition(name="search_tools", tool_kind="tool-search")] if deferred else []
    return ModelRequestParameters(
        function_tools=[
            *(ToolDefinition(name=name) for name in names),
            *(ToolDefinition(name=name, defer_loading=True) for name in deferred),
            *search,
        ]
    )


def returned(response: ModelResponse, *contents: Any, outcome: str = "success") -> ModelRequest:
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    parts = [
        ToolReturnPart(call.tool_name, content, call.tool_call_id, outcome=outcome)  # pyright: ignore[reportArgumentType] - the test's own word
        for call, content in zip(calls, contents, strict=True)
    ]
    return ModelRequest(parts=parts)


async def respond(model: RehearsalModel, history: list[ModelMessage], offered: ModelRequestParameters) -> ModelResponse:
    return await model.request(history, None, offered)


def words(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def calls(response: ModelResponse) -> list[tuple[str, dict[str, Any]]]:
    return [(part.tool_name, part.args_as_dict()) for part in response.parts if isinstance(part, ToolCallPart)]


BOTH = tools("find_free", "move_course")


async def test_a_scene_calls_tools_and_goes_on_with_their_results():
    model, history = rehearsal(MOVE), asked("please MOVE algebra")
    first = await respond(model, history, BOTH)
    assert calls(first) == [("find_free", {"course": "algebra"})]
    assert words(first) == "Looking for room for algebra."
    history += [first, returned(first, {"free": [3, 5]})]
    second = await respond(model, history, BOTH)
    assert calls(second) == [("move_course", {"course": "algebra", "slot": 3})]
    history += [second, returned(second, '{"status": "ok"}')]
    assert words(await respond(model, history, BOTH)) == "Moved algebra."


async def test_the_answer_is_in_the_language_of_the_message():
    model, history = rehearsal(MOVE), asked("请移动高数")
    first = await respond(model, history, BOTH)
    history += [first, returned(first, {"free": [3]})]
    second = await respond(model, history, BOTH)
    history += [second, returned(second, {"status": "ok"})]
    assert words(await respond(model, history, BOTH)) == "已移动高数。"


async def test_the_same_request_gives_the_same_response_in_another_process():
    history = asked("move algebra")
    assert await respond(rehearsal(MOVE), history, BOTH) == await respond(rehearsal(MOVE), history, BOTH)


async def test_call_ids_never_repeat_in_a_history():
    model, history, seen = rehearsal(MOVE), list[ModelMessage](), list[str]()
    for _ in range(3):
        history += asked("move algebra")
        for result in ({"free": [3]}, {"status": "ok"}):
            response = await respond(model, history, BOTH)
            seen += [part.tool_call_id for part in response.parts if isinstance(part, ToolCallPart)]
            history += [response, returned(response, result)]
        history.append(await respond(model, history, BOTH))
    assert len(set(seen)) == len(seen) == 6


@pytest.mark.parametrize(
    ("outcome", "content", "said"),
    [
        ("denied", "Not on Mondays.", "Not moved: Not on Mondays."),
        ("failed", '{"status": "error", "message": "slot taken"}', "It failed: slot taken"),
        ("retried", {"message": "slot is not a number"}, "It failed: slot is not a number"),
        ("interrupted", {"message": "interrupted"}, "It failed: interrupted"),
        ("success", {"status": "error", "message": "the timetable moved"}, "It failed: the timetable moved"),
    ],
)
async def test_what_came_back_changes_what_is_said(outcome: str, content: Any, said: str):
    model, history = rehearsal(MOVE), asked("move algebra")
    first = await respond(model, history, BOTH)
    history += [first, returned(first, {"free": [3]})]
    second = await respond(model, history, BOTH)
    history += [second, returned(second, content, outcome=outcome)]
    assert words(await respond(model, history, BOTH)) == said


async def test_a_plain_word_is_a_result_as_it_is():
    def ask(cue: Cue) -> Play:
        (answer,) = yield Use(Call("ask_user", {"question": "When?"}))
        yield Say(f"You said {answer.content!r}.")

    model, history = rehearsal(Scene(name="ask", patterns=("plan",), play=ask)), asked("plan")
    first = await respond(model, history, tools("ask_user"))
    history += [first, returned(first, "2")]
    assert words(await respond(model, history, tools("ask_user"))) == "You said '2'."


async def test_a_scene_knows_the_earlier_messages_and_the_tools():
    def look(cue: Cue) -> Play:
        yield Say(f"{cue.earlier} {sorted(cue.tools)}")

    model = rehearsal(Scene(name="look", patterns=("look",), play=look))
    said = words(await respond(model, asked("one", "two", "look"), tools("a", deferred=["b"])))
    assert said == "('one', 'two') ['a']"


async def test_streamed_and_not_streamed_are_the_same_response():
    model, history = rehearsal(MOVE), asked("move algebra")
    plain = await respond(model, history, BOTH)
    async with model.request_stream(history, None, BOTH) as stream:
        events = [event async for event in stream]
    assert stream.get() == plain
    deltas = [event.delta for event in events if isinstance(event, PartDeltaEvent)]
    assert sum(isinstance(delta, ToolCallPartDelta) for delta in deltas) > 1
    assert len(deltas) > 4
    assert plain.usage.input_tokens > 0
    assert plain.usage.output_tokens > 0


@pytest.mark.parametrize("text", ["你能做什么?", "hello", "Please  fold\nmy laundry ", "写一首诗。👩‍👩‍👧", ""])
async def test_streamed_text_equals_text_that_is_not_streamed(text: str):
    model = rehearsal(MOVE, suggestions=[Words(zh="移动高数", en="move algebra")])
    async with model.request_stream(asked(text), None, BOTH) as stream:
        async for _ in stream:
            pass
    assert words(stream.get()) == words(await respond(model, asked(text), BOTH)) != ""


async def test_a_deferred_tool_is_searched_for_first_and_then_called():
    model, history, offered = rehearsal(MOVE), asked("move algebra"), tools("other", deferred=["find_free"])
    search = await respond(model, history, offered)
    assert calls(search) == [("search_tools", {"queries": ["find_free"]})]
    assert words(search) == ""
    history += [search, returned(search, {"discovered_tools": [{"name": "find_free"}]})]
    assert calls(await respond(model, history, tools("other", "find_free"))) == [("find_free", {"course": "algebra"})]


async def test_a_search_that_found_nothing_is_not_repeated():
    model, history, offered = rehearsal(MOVE), asked("move algebra"), tools("other", deferred=["find_free"])
    search = await respond(model, history, offered)
    history += [search, returned(search, {"discovered_tools": []})]
    response = await respond(model, history, offered)
    assert calls(response) == []
    assert "find_free" in words(response)


async def test_pydantic_ais_own_tool_search_reveals_the_tool_within_the_turn():
    async def find_free(course: str) -> dict[str, Any]:
        """Find the free slots of a day."""
        return {"free": [3]}

    async def move_course(course: str, slot: int) -> dict[str, Any]:
        """Move a course."""
        return {"status": "ok"}

    agent = Agent(rehearsal(MOVE), tools=[Tool(find_free), Tool(move_course, defer_loading=True)])
    result = await agent.run("move algebra")
    assert result.output == "Moved algebra."
    used = [
        part.tool_name for message in result.all_messages() for part in message.parts if isinstance(part, ToolCallPart)
    ]
    assert used == ["find_free", "search_tools", "move_course"]


async def test_without_the_tool_it_says_that_it_cannot():
    response = await respond(rehearsal(MOVE), asked("移动高数"), tools("other"))
    assert calls(response) == []
    assert words(response).startswith("这里做不了")
    assert "find_free" in words(response)


async def test_a_scene_of_another_assistant_gives_way_to_one_that_can_play():
    def elsewhere(cue: Cue) -> Play:
        yield Use(Call("not_here"))
        yield Say("elsewhere")

    other = Scene(name="elsewhere", patterns=("move",), play=elsewhere)
    model, history = rehearsal(other, MOVE), asked("move algebra")
    first = await respond(model, history, BOTH)
    assert calls(first) == [("find_free", {"course": "algebra"})]
    history += [first, returned(first, {"free": [3]})]
    assert calls(await respond(model, history, BOTH)) == [("move_course", {"course": "algebra", "slot": 3})]


async def test_a_paused_write_that_is_denied_is_told_truthfully():
    async def find_free(course: str) -> dict[str, Any]:
        """Find the free slots of a day."""
        return {"free": [3]}

    moved: list[int] = []

    async def move_course(course: str, slot: int) -> dict[str, Any]:
        """Move a course."""
        moved.append(slot)
        return {"status": "ok"}

    agent = Agent(
        rehearsal(MOVE),
        tools=[Tool(find_free), Tool(move_course, requires_approval=True)],
        output_type=[str, DeferredToolRequests],
    )
    paused = await agent.run("move algebra")
    assert isinstance(paused.output, DeferredToolRequests)
    decisions = DeferredToolResults(approvals={paused.output.approvals[0].tool_call_id: ToolDenied("Not on Mondays.")})
    result = await agent.run(message_history=paused.all_messages(), deferred_tool_results=decisions)
    assert moved == []
    assert result.output == "Not moved: Not on Mondays."


@pytest.mark.parametrize("where", ["at once", "after a result", "without a word", "with nothing", "unserializable"])
async def test_a_broken_scene_ends_in_honest_words(where: str, caplog: pytest.LogCaptureFixture):
    def broken(cue: Cue) -> Play:
        if where == "at once":
            raise KeyError("nothing")
        if where == "with nothing":
            yield Say("  ")
        if where == "unserializable":
            yield Use(Call("find_free", {"course": object()}))
        (found,) = yield Use(Call("find_free"))
        if where == "after a result":
            yield Say(found.content["no such key"])

    model, history = rehearsal(Scene(name="broken", patterns=("move",), play=broken)), asked("move algebra")
    response = await respond(model, history, BOTH)
    if calls(response):
        history += [response, returned(response, {"free": []})]
        response = await respond(model, history, BOTH)
    assert words(response).startswith('The rehearsal of "broken" broke')
    assert "scene broken broke" in caplog.text


async def test_a_turn_that_another_model_began_is_not_guessed_at():
    begun = ModelResponse(parts=[ToolCallPart("list_courses", {}, "c1")])
    history = [*asked("move algebra"), begun, returned(begun, {"courses": []})]
    response = await respond(rehearsal(MOVE), history, BOTH)
    assert calls(response) == []
    assert "rehearsed" in words(response)


async def test_without_any_tools_a_begun_turn_is_wrapped_up():
    model, history = rehearsal(MOVE), asked("move algebra")
    first = await respond(model, history, BOTH)
    history += [first, returned(first, {"free": [3]})]
    response = await respond(model, history, tools())
    assert calls(response) == []
    assert words(response) == "I stop here. Done so far: find_free."


async def test_it_says_what_it_is_what_it_can_play_and_how_to_set_a_model():
    suggestions = [Words(zh="移动高数", en="move algebra"), Words(zh="下单", en="buy a coin")]
    said = words(await respond(rehearsal(MOVE, suggestions=suggestions), asked("What can you do?"), BOTH))
    assert "rehearsal model" in said
    assert "- move algebra" in said
    assert "buy a coin" not in said
    assert "PLACET_MODEL" in said


async def test_a_suggestion_that_needs_a_tool_that_is_not_here_is_left_out():
    suggestions = [Words(zh="移动高数", en="move algebra")]
    said = words(await respond(rehearsal(MOVE, suggestions=suggestions), asked("你好"), tools("other")))
    assert said.startswith("你好！我是排练模型")
    assert "移动高数" not in said


async def test_what_it_has_not_rehearsed_it_does_not_pretend_to_do():
    said = words(await respond(rehearsal(MOVE), asked("write a poem"), BOTH))
    assert said.startswith("I haven't rehearsed that.")


@pytest.mark.parametrize(("text", "said"), [("是", "现在没有什么在等你答复"), ("ok!", "Nothing is waiting")])
async def test_a_bare_yes_with_nothing_pending_does_nothing(text: str, said: str):
    assert words(await respond(rehearsal(MOVE), asked(text), BOTH)).startswith(said)


def test_a_pattern_that_is_no_regular_expression_names_its_scene():
    with pytest.raises(SceneError, match="scene 'bad'"):
        rehearsal(Scene(name="bad", patterns=("(",), play=find_and_move))
