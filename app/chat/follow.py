"""Follows a turn to its end, over lost connections and restarted servers, and never sends a message twice."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.chat import wording
from app.chat.client import STREAM_OR_JSON, ApiClient, OpenReply, OutgoingMessage, Vote
from app.chat.errors import ApiError, ChatError, ConnectionLost
from app.chat.parts import Message
from app.chat.printer import Printer
from app.chat.thread import apply, from_ui
from app.chat.visible import visible
from app.chat.wire import Approval, Chunk, Conversation

T = TypeVar("T")
DONE = "[DONE]"
_CHUNK: TypeAdapter[Chunk] = TypeAdapter(Chunk)


@dataclass(kw_only=True)
class Follower:
    """One conversation's line to the server. Everything that arrives is printed by `printer`."""

    client: ApiClient
    conversation_id: str
    printer: Printer
    sleep: Callable[[float], Awaitable[None]]
    backoff: Sequence[float]
    """Seconds to wait after each loss, the last one again and again."""
    _losses: int = field(default=0, init=False)

    async def send(self, outgoing: OutgoingMessage) -> Message:
        """Send it and follow its turn. A message that the conversation holds is followed, not sent again."""
        while True:
            try:
                if (message := await self._read(partial(self.client.send, outgoing), Message())) is not None:
                    return message
                return await self.rejoin()
            except ConnectionLost as lost:
                await self._pause(lost)
            view = await self.patiently(self._conversation)
            if view is not None and view.holds(outgoing.message_id):
                return await self.rejoin()

    async def vote(self, vote: Vote, onto: Message) -> Message | None:
        """Vote and follow the turn if it goes on; None if it doesn't yet. The same vote may be cast again: it counts
        once.
        """
        try:
            return await self._read(partial(self.client.decide, vote, accept=STREAM_OR_JSON), onto)
        except ConnectionLost as lost:
            await self._pause(lost)
        await self.patiently(partial(self._cast, vote))
        return None

    async def answer(self, question_id: str, answer: dict[str, JsonValue], onto: Message) -> Message:
        """Answer and follow. If the line broke on the way, the turn's own stream tells whether the answer arrived."""
        try:
            message = await self._read(partial(self.client.answer, question_id, answer), onto)
        except ConnectionLost as lost:
            await self._pause(lost)
            message = None
        return message or await self.rejoin()

    async def rejoin(self) -> Message:
        """Follow the open turn from its start; if none is open, show how the last one ended."""
        while True:
            self.printer.rejoin()
            try:
                if (message := await self._read(partial(self.client.rejoin, self.conversation_id), Message())) is None:
                    return await self._ended()
                return message
            except ConnectionLost as lost:
                await self._pause(lost)

    async def pending(self) -> list[Approval]:
        return await self.patiently(partial(self.client.approvals, self.conversation_id))

    async def patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What `ask` gives, asked again for as long as the server is away."""
        while True:
            try:
                answer = await ask()
            except ConnectionLost as lost:
                await self._pause(lost)
                continue
            self._back()
            return answer

    async def stop(self) -> None:
        """Cancel the turn on the server; its stream then ends by itself."""
        self.printer.say(wording.STOPPING)
        try:
            cancelled = await self.client.cancel(self.conversation_id)
        except ChatError as error:
            self.printer.say(wording.PROBLEM, style="red", message=visible(str(error)))
            return
        for change in cancelled.applied:
            self.printer.say(wording.APPLIED, style="yellow", change=visible(change.summary or change.tool))

    async def conversation(self) -> Conversation | None:
        """The conversation as stored; None if the server has none of that id."""
        return await self.patiently(self._conversation)

    async def _read(self, opening: Callable[[], OpenReply], onto: Message) -> Message | None:
        """Apply one stream up to its `[DONE]`; None if the answer is no stream."""
        async with opening() as reply:
            if reply.frames is None:
                return None
            self._back()
            message = onto
            async with aclosing(reply.frames) as frames:
                async for frame in frames:
                    if frame.data == DONE:
                        self.printer.close()
                        return message
                    message = apply(message, _chunk(frame.data))
                    self.printer.show(message)
        raise ConnectionLost("the stream was cut short")

    async def _ended(self) -> Message:
        view = await self.conversation()
        last = view.messages[-1] if view and view.messages else None
        if last is None or last.role != "assistant":
            self.printer.say(wording.ENDED)
            return Message(finished=True)
        message = from_ui(last)
        self.printer.show(message)
        self.printer.close()
        return message

    async def _conversation(self) -> Conversation | None:
        try:
            return await self.client.conversation(self.conversation_id)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    async def _cast(self, vote: Vote) -> None:
        async with self.client.decide(vote):
            pass

    async def _pause(self, lost: ConnectionLost) -> None:
        if self._losses == 0:
            self.printer.say(wording.LOST, style="yellow", reason=visible(str(lost)))
        await self.sleep(self.backoff[min(self._losses, len(self.backoff) - 1)])
        self._losses += 1

    def _back(self) -> None:
        if self._losses:
            self.printer.say(wording.BACK, style="green")
        self._losses = 0


def _chunk(text: str) -> Chunk:
    """The chunk of a frame; one that isn't a JSON object is as good as none."""
    try:
        return _CHUNK.validate_json(text)
    except ValidationError:
        return {}
