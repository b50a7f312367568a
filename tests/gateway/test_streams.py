"""Every kind of stream, read by the AI SDK: nothing unknown, nothing open, one message that goes on."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic_ai.exceptions import ModelAPIError

from tests.agents.strict_provider import ScriptedModel, Step, call, cut_after, fail, say
from tests.contracts.sdk import Message, StreamReader
from tests.gateway.desk import JSON, desk, responded
from tests.gateway.reading import Page, states, text, tools

pytestmark = pytest.mark.anyio

LINEAR = {"task_id": 9, "day": 2, "slot_start": 7}
CALCULUS = {"task_id": 10, "day": 3, "slot_start": 7}
ASKED: Sequence[Step] = ([say("This would do."), call("place", LINEAR)],)
TWO: Sequence[Step] = ([call("place", LINEAR), call("place", CALCULUS)],)


@pytest.fixture
def page(reader: StreamReader, tmp_path: Path) -> Page:
    return Page(reader=reader, folder=tmp_path)


async def test_a_plain_answer_is_text_in_one_step(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([say("Friday is free. Anything else that I can do?")])) as at:
        answer = await at.say("What is free?")
        message = page.read(answer)
    assert text(message) == "Friday is free. Anything else that I can do?"
    assert answer.types[:2] == ["start", "data-turn"]
    assert answer.types[-3:] == ["data-usage", "finish-step", "finish"]


async def test_reads_run_and_a_write_waits_with_its_card(database_url: str, page: Page) -> None:
    steps = [[say("Looking."), call("list_tasks", {"status": "pending"}), call("get_overview")], *ASKED]
    async with desk(database_url, ScriptedModel(steps)) as at:
        answer = await at.say("Place linear algebra")
        message = page.read(answer)
    assert states(message) == ["output-available", "output-available", "approval-requested"]
    assert tools(message)[-1]["approval"]["id"] == answer.cards[0]["approval_id"]
    assert answer.cards[0]["status"] == "pending"


async def test_an_approved_call_goes_on_in_the_same_message(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*ASKED, say("Placed.")])) as at:
        first = await at.say("Place linear algebra")
        asking = page.read(first)
        second = await at.approve(first.cards[0])
        message = page.read(second, responded(asking, [True]))
    assert second.types[0] == "start"
    assert second.chunks[0]["messageId"] == asking["id"]
    assert second.types.index("tool-output-available") < second.types.index("start-step")
    assert states(message) == ["output-available"]
    assert second.cards[-1]["status"] == "executed"
    assert text(message).endswith("Placed.")


async def test_a_denied_call_is_answered_and_the_model_goes_on(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*ASKED, say("All right, it stays.")])) as at:
        first = await at.say("Place linear algebra")
        asking = page.read(first)
        second = await at.approve(first.cards[0], "deny", reason="not on Tuesday")
        message = page.read(second, responded(asking, [False]))
    assert states(message) == ["output-denied"]
    assert second.cards[-1]["status"] == "denied"


async def test_edited_arguments_are_announced_before_their_output(database_url: str, page: Page) -> None:
    other = {**LINEAR, "day": 5, "slot_start": 5}
    async with desk(database_url, ScriptedModel([*ASKED, say("Placed on Friday.")])) as at:
        first = await at.say("Place linear algebra")
        asking = page.read(first)
        second = await at.approve(first.cards[0], arguments=other, execute=True)
        message = page.read(second, responded(asking, [True]))
    kinds = second.types
    assert kinds.index("tool-input-available") < kinds.index("tool-output-available") < kinds.index("start-step")
    assert other.items() <= tools(message)[0]["input"].items()
    assert states(message) == ["output-available"]


async def test_an_edit_that_waits_again_is_a_new_version_of_the_card(database_url: str, page: Page) -> None:
    other = {**LINEAR, "day": 5, "slot_start": 5}
    async with desk(database_url, ScriptedModel([*ASKED, say("Placed on Friday.")])) as at:
        first = await at.say("Place linear algebra")
        asking = page.read(first)
        edited = await at.decide(first.cards[0], arguments=other)
        assert (edited.status_code, edited.headers["content-type"]) == (200, "application/json")
        assert (edited.json()["status"], edited.json()["version"]) == ("pending", 2)
        second = await at.approve(edited.json())
        message = page.read(second, responded(asking, [True]))
    assert other.items() <= tools(message)[0]["input"].items()
    assert states(message) == ["output-available"]


async def test_two_cards_are_decided_in_one_message(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*TWO, say("One of the two.")])) as at:
        first = await at.say("Place both")
        asking = page.read(first)
        assert [card["short_name"] for card in first.cards] == ["A1", "A2"]
        second = await at.vote(responded(asking, [True, False]), [])
        message = page.read(second, responded(asking, [True, False]))
    assert states(message) == ["output-available", "output-denied"]


async def test_the_first_of_two_decisions_is_answered_without_a_stream(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*TWO, say("Both are placed.")])) as at:
        first = await at.say("Place both")
        asking = page.read(first)
        waiting = await at.decide(first.cards[0])
        assert waiting.json()["status"] == "approved"
        second = await at.approve(first.cards[1])
        message = page.read(second, responded(asking, [True, True]))
    assert states(message) == ["output-available", "output-available"]


async def test_a_question_waits_for_words_and_its_answer_goes_on(database_url: str, page: Page) -> None:
    ask = call("ask_user", {"question": "Which day?", "options": ["Tuesday", "Friday"]})
    async with desk(database_url, ScriptedModel([[ask], say("Friday then.")])) as at:
        first = await at.say("Place linear algebra")
        asking = page.read(first)
        question = first.of("data-question")[0]["data"]
        assert states(asking) == ["input-available"]
        body = {"option": "Friday"}
        second = await at.stream("POST", f"/api/questions/{question['question_id']}/answer", body)
        message = page.read(second, asking)
    assert states(message) == ["output-available"]
    assert tools(message)[0]["output"]["answer"] == "Friday"


async def test_words_that_answer_a_question_are_followed_by_the_whole_message(database_url: str, page: Page) -> None:
    ask = call("ask_user", {"question": "Which day?"})
    async with desk(database_url, ScriptedModel([[say("One thing."), ask], say("Friday then.")])) as at:
        first = await at.say("Place linear algebra")
        asking = page.read(first)
        message = page.read(await at.say("On Friday, please"))
    assert message["id"] == asking["id"]
    assert (states(message), text(message)) == (["output-available"], "One thing.\nFriday then.")


@pytest.mark.parametrize(
    ("word", "state", "said"), [("yes", "output-available", "Placed."), ("no", "output-error", "It stays.")]
)
async def test_a_short_word_that_decides_is_followed_by_the_whole_message(
    database_url: str, page: Page, word: str, state: str, said: str
) -> None:
    async with desk(database_url, ScriptedModel([*ASKED, say(said)])) as at:
        asking = page.read(await at.say("Place linear algebra"))
        answer = await at.say(word)
        message = page.read(answer)
    assert message["id"] == asking["id"]
    assert (states(message), text(message)) == ([state], f"This would do.\n{said}")


async def test_a_yes_to_one_of_two_shows_what_still_waits(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*TWO, say("Both are placed.")])) as at:
        page.read(await at.say("Place both"))
        still = page.read(await at.say("approve A1"))
        assert states(still) == ["approval-requested", "approval-requested"]
        message = page.read(await at.say("approve A2"))
    assert states(message) == ["output-available", "output-available"]


async def test_a_model_that_cannot_be_reached_is_said_without_internals(database_url: str, page: Page) -> None:
    error = ModelAPIError(model_name="scripted", message="https://key@provider.internal refused")
    async with desk(database_url, ScriptedModel([fail(error)])) as at:
        answer = await at.say("What is free?")
        page.read(answer)
    assert answer.of("error")[0]["errorText"].startswith("model_unavailable: ")
    assert "provider.internal" not in answer.body
    assert answer.chunks[-1] == {"type": "finish", "finishReason": "error"}


async def test_a_model_that_breaks_off_leaves_no_part_open(database_url: str, page: Page) -> None:
    for piece in (1, 3):
        steps = [cut_after(piece, say("Friday is quite "), call("place", LINEAR))]
        async with desk(database_url, ScriptedModel(steps)) as at:
            answer = await at.say("What is free?", f"cut-{piece}")
            page.read(answer)
        assert answer.types.count("error") == 1
        assert "place" not in [chunk.get("toolName") for chunk in answer.of("tool-input-available")] or piece == 3


async def test_a_command_is_answered_by_code(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([])) as at:
        body = at.message("/undo")
        message = page.read(await at.stream("POST", "/api/conversation/stream", body))
        again = page.read(await at.stream("POST", "/api/conversation/stream", body))
    assert text(message) == "There is no change to undo in this conversation."
    assert again["id"] == message["id"]


@pytest.mark.parametrize(
    "arguments", ['{"task_id": ', "[9, 2, 7]", "null", '{"task_id": "nine", "day": 2, "slot_start": 7}', '{"day": NaN}']
)
async def test_arguments_that_cannot_be_used_are_an_error_of_the_call(
    database_url: str, page: Page, arguments: str
) -> None:
    steps: list[Step] = [[say("Placing."), call("place", arguments)], *ASKED]
    async with desk(database_url, ScriptedModel(steps)) as at:
        answer = await at.say("Place linear algebra")
        message = page.read(answer)
        rejoined = page.read(await at.stream("GET", "/api/conversation/c1/stream"))
    assert states(message) == ["output-error", "approval-requested"]
    assert states(rejoined) == ["output-error", "approval-requested"]
    assert len(answer.cards) == 1


async def test_a_tool_that_refuses_is_an_error_of_the_call(database_url: str, page: Page) -> None:
    steps: list[Step] = [
        [call("place", {**LINEAR, "task_id": 999}), call("get_task_info", {"task_id": 998})],
        say("Not there."),
    ]
    async with desk(database_url, ScriptedModel(steps)) as at:
        answer = await at.say("Place it")
        message = page.read(answer)
    assert states(message) == ["output-error", "output-error"]
    assert all(not chunk["errorText"].startswith("{") for chunk in answer.of("tool-output-error"))


async def test_a_step_of_which_one_call_would_not_work_shows_no_card(database_url: str, page: Page) -> None:
    steps: list[Step] = [[call("place", LINEAR), call("place", {**CALCULUS, "task_id": 999})], say("Let me think.")]
    async with desk(database_url, ScriptedModel(steps)) as at:
        answer = await at.say("Place both")
        message = page.read(answer)
        stored = await at.get("/api/conversations/c1")
    assert states(message) == ["output-error", "output-error"]
    assert answer.cards == []
    assert states(stored["messages"][1]) == ["output-error", "output-error"]


async def test_a_turn_that_waits_can_be_joined_again_and_again(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*ASKED, say("Placed.")])) as at:
        first = await at.say("Place linear algebra")
        joined = [await at.stream("GET", "/api/conversation/c1/stream") for _ in range(2)]
        assert [one.body for one in joined] == [first.body, first.body]
        message = page.read(joined[0])
        page.read(await at.approve(first.cards[0]), responded(message, [True]))
        assert (await at.stream("GET", "/api/conversation/c1/stream")).status == 204


async def test_a_stream_goes_on_after_the_event_that_was_read_last(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel(ASKED)) as at:
        first = await at.say("Place linear algebra")
        cut = first.frames[len(first.frames) // 2][0]
        rest = await at.stream("GET", "/api/conversation/c1/stream", headers={"last-event-id": str(cut)})
    assert rest.frames == [frame for frame in first.frames if frame[0] > cut]


@pytest.mark.parametrize("verdict", ["approve", "deny"])
async def test_a_turn_is_told_again_after_its_log_is_lost(database_url: str, page: Page, verdict: str) -> None:
    async with desk(database_url, ScriptedModel([[call("get_overview")], *ASKED])) as at:
        first = await at.say("Place linear algebra")
        shown = page.read(first)
    async with desk(database_url, ScriptedModel([call("place", CALCULUS)])) as at:
        told = page.read(await at.stream("GET", "/api/conversation/c1/stream"))
        assert (told["id"], states(told), text(told)) == (shown["id"], states(shown), text(shown))
        second = await at.approve(first.cards[0], verdict)
        message = page.read(second, responded(told, [verdict == "approve"]))
        joined = page.read(await at.stream("GET", "/api/conversation/c1/stream"))
    assert states(message)[-1] == "approval-requested"
    assert text(joined) == text(message)
    settled = "output-available" if verdict == "approve" else "output-error"
    assert states(joined) == ["output-available", settled, "approval-requested"]


async def test_version_five_of_the_sdk_gets_only_what_it_knows(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*ASKED, say("It stays.")])) as at:
        first = await at.say("Place linear algebra", path="?sdk=5")
        asking = page.read(first)
        second = await at.approve(first.cards[0], "deny", path="?sdk=5")
        message = page.read(second, asking)
    both = [*first.chunks, *second.chunks]
    assert first.cards
    assert not {"tool-approval-request", "tool-output-denied"} & {chunk["type"] for chunk in both}
    assert all(set(chunk) == {"type"} for chunk in both if chunk["type"] == "finish")
    assert states(message) == ["output-error"]


async def test_an_answer_made_anew_is_a_message_of_its_own(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([say("First."), say("Second."), say("Third.")])) as at:
        first = page.read(await at.say("What is free?"))
        second = page.read(await at.stream("POST", "/api/conversation/c1/regenerate"))
        body: JSON = {"id": "c1", "trigger": "regenerate-message", "messageId": second["id"], "messages": []}
        third = page.read(await at.stream("POST", "/api/conversation/stream", body))
        stored = await at.get("/api/conversations/c1")
    assert [text(one) for one in (first, second, third)] == ["First.", "Second.", "Third."]
    assert len({first["id"], second["id"], third["id"]}) == 3
    assert [text(one) for one in stored["messages"]] == ["What is free?", "Third."]


async def test_stored_messages_are_what_a_page_can_begin_with(database_url: str, page: Page) -> None:
    steps = [*TWO, say("One of the two.")]
    async with desk(database_url, ScriptedModel(steps)) as at:
        first = await at.say("Place both")
        shown = page.read(await at.vote(page.read(first), [True, False]), responded(page.read(first), [True, False]))
        stored = (await at.get("/api/conversations/c1"))["messages"]
    assert [one["role"] for one in stored] == ["user", "assistant"]
    assert stored[1]["id"] == shown["id"]
    assert states(stored[1]) == states(shown)
    assert [part["approval"]["approved"] for part in tools(stored[1])] == [True, False]


async def test_a_vote_through_the_chat_on_one_of_two_waits_for_the_other(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*TWO, say("Both are placed.")])) as at:
        asking = page.read(await at.say("Place both"))
        first, second = [part["approval"]["id"] for part in tools(asking)]
        nothing = await at.vote(one_vote(asking, first), [])
        assert nothing.types == ["start", "finish"]
        message = page.read(await at.vote(one_vote(asking, second), []), responded(asking, [True, True]))
    assert states(message) == ["output-available", "output-available"]


async def test_the_same_vote_again_leads_to_where_the_turn_went_on(database_url: str, page: Page) -> None:
    async with desk(database_url, ScriptedModel([*ASKED, say("Placed.")])) as at:
        asking = page.read(await at.say("Place linear algebra"))
        answers = [await at.vote(asking, [True]) for _ in range(3)]
        other = await at.vote(asking, [False])
        made = await at.get("/api/changes", conversation_id="c1")
    assert len({answer.body for answer in answers}) == 1
    assert states(page.read(answers[2], responded(asking, [True]))) == ["output-available"]
    assert other.status == 409
    assert len(made["items"]) == 1


async def test_edits_through_the_chat_are_executed_as_edited(database_url: str, page: Page) -> None:
    other = {**LINEAR, "day": 5, "slot_start": 5}
    async with desk(database_url, ScriptedModel([*ASKED, say("Placed on Friday.")])) as at:
        asking = page.read(await at.say("Place linear algebra"))
        edits = {tools(asking)[0]["approval"]["id"]: other}
        message = page.read(await at.vote(asking, [True], editedInput=edits), responded(asking, [True]))
    assert other.items() <= tools(message)[0]["input"].items()
    assert states(message) == ["output-available"]


async def test_a_stream_names_its_turn_and_forbids_that_it_is_kept(database_url: str) -> None:
    async with desk(database_url, ScriptedModel(ASKED)) as at:
        answer = await at.say("Place linear algebra", None)
        rejoined = await at.stream("GET", f"/api/conversation/{answer.conversation_id}/stream")
    expected = {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
        "x-conversation-id": answer.of("data-turn")[0]["data"]["conversation_id"],
        "x-turn-id": answer.of("data-turn")[0]["data"]["turn_id"],
    }
    for one in (answer, rejoined):
        assert expected.items() <= dict(one.headers).items()
    ids = [number for number, _ in answer.frames]
    assert ids == sorted(set(ids))


def one_vote(message: Message, approval_id: str) -> Message:
    """The message with a yes to one approval only."""
    answered = responded(message, [True] * len(tools(message)))
    mine = [part for part in answered["parts"] if part.get("approval", {}).get("id") in (None, approval_id)]
    return {**answered, "parts": mine}
