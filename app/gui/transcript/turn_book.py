"""The turns of a session as the window shows them: how far each call and each sub-agent is."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from app.core.events import ToolFinished, ToolProgressed, ToolStarted, TurnFinished
from app.core.message import Message, MessageState, PromptType, Role, ToolCall
from app.core.tool import ToolProgress
from app.core.turns import Turns
from app.engine.turns.context import TurnState
from app.gui.transcript.call_rows import CallState
from app.gui.transcript.row_words import SUB_AGENT

_CALL_STATES: dict[str, CallState] = {
    MessageState.DONE: CallState.DONE,
    MessageState.FAILED: CallState.FAILED,
}


class TurnBook(Turns):
    """The turns that a transcript shows, and what is known of their calls besides the messages."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._started: set[tuple[str, str]] = set()
        self._ended: dict[tuple[str, str], bool] = {}
        self._progress: dict[tuple[str, str], ToolProgress] = {}
        self._over: set[str] = set()
        self._retaken: set[str] = set()
        super().__init__(messages)

    def put(self, message: Message) -> None:
        """Add a message or replace the one with its id."""
        if message.retakes:
            self._retaken.add(message.retakes)
        if message.id not in self.messages:
            self._over.discard(message.turn_id)
        super().put(message)

    def put_before(self, messages: Sequence[Message]) -> None:
        """Add whole root turns before all others."""
        for message in messages:
            self.put(message)
        self.messages = {message.id: message for message in messages} | self.messages

    def is_past(self, message: Message) -> bool:
        """Return whether a message that was cut or failed was taken again, or its turn went on after it."""
        if message.state not in (MessageState.STOPPED, MessageState.FAILED) or message.role != Role.ASSISTANT:
            return False
        spoken = [each.id for each in self.whole(message.turn_id) if each.role == Role.ASSISTANT]
        return message.id in self._retaken or (bool(spoken) and spoken[-1] != message.id)

    def is_last(self, message: Message) -> bool:
        """Return whether nothing was said after the root turn of a message."""
        last = next(reversed(self.messages.values()), message)
        return self.root(last.turn_id) == self.root(message.turn_id)

    def before(self, message: Message) -> list[Message]:
        """Return what was said in the root turn before that which a message begins, [] if it begins none."""
        if message.parent_turn_id is not None or self.whole(message.turn_id)[0].id != message.id:
            return []
        earlier = (each for each in reversed(self.messages.values()) if each.turn_id != message.turn_id)
        turns = next((self.below(self.root(each.turn_id)) for each in earlier), [])
        return [each for turn_id in turns for each in self.whole(turn_id)]

    # Events

    def tool_started(self, event: ToolStarted) -> None:
        """Note that a call runs."""
        self._started.add((event.turn_id, event.tool_call_id))

    def tool_progressed(self, event: ToolProgressed) -> None:
        """Note how far a call is."""
        self._progress[event.turn_id, event.tool_call_id] = event.progress

    def progress(self, turn_id: str, call_id: str) -> ToolProgress | None:
        """Return how far a running call is, None where it did not say."""
        return self._progress.get((turn_id, call_id))

    def tool_finished(self, event: ToolFinished) -> None:
        """Note that a call ended."""
        self._ended[event.turn_id, event.tool_call_id] = event.ok
        self._progress.pop((event.turn_id, event.tool_call_id), None)

    def turn_finished(self, event: TurnFinished) -> None:
        """Note that a turn ended, unless it waits for the user."""
        if event.outcome == TurnState.WAITING:
            self._over.discard(event.turn_id)
        else:
            self._over.add(event.turn_id)

    def call_state(self, message: Message, call: ToolCall, result_id: str, *, runs: bool) -> CallState:
        """Return the state of a call; `runs` says whether the session runs."""
        result = self.messages.get(result_id)
        key = (message.turn_id, call.id)
        if self._asks(message.turn_id, call.id) or self._child_waits(message.turn_id, call.id):
            return CallState.WAITING
        if result is not None and result.state != MessageState.STREAMING:
            return _CALL_STATES.get(result.state, CallState.STOPPED)
        if key in self._ended:
            return CallState.DONE if self._ended[key] else CallState.FAILED
        if message.state == MessageState.STREAMING:
            return CallState.GROWING
        if not runs and not (result is not None or key in self._started):
            return CallState.LEFT
        return CallState.RUNNING if runs else CallState.STOPPED

    def _child_waits(self, turn_id: str, call_id: str) -> bool:
        """Return whether a sub-agent started by a call, or one below it, has an open question."""
        return any(map(self.waits, self.called_by(turn_id, call_id)))

    def _asks(self, turn_id: str, call_id: str) -> bool:
        return any(each.asks for each in self.about(turn_id, call_id))

    def permission(self, turn_id: str, call_id: str) -> str:
        """Return the user's answer to the newest approval of a call, "" if there is none."""
        asked = [each.prompt for each in self.about(turn_id, call_id) if each.prompt is not None]
        answers = [one.answer for one in asked if one.type == PromptType.APPROVAL and one.answered_by]
        return answers[-1] if answers else ""

    def calls_agent(self, turn_id: str, call: ToolCall) -> bool:
        """Return whether a call starts a sub-agent."""
        return call.name == SUB_AGENT or bool(self.called_by(turn_id, call.id))

    # Facts about a sub-agent's turn

    def waits(self, turn_id: str) -> bool:
        """Return whether a turn, or one called in it, has an open question."""
        return any(each.asks for each in self.said_below(turn_id))

    def asks_in(self, message: Message) -> bool:
        """Return whether one of a message's own calls waits for the user."""
        return any(self._asks(message.turn_id, call.id) for call in message.tool_calls)

    def goes_on(self, turn_id: str) -> bool:
        """Return whether a turn is not over yet."""
        said = self.whole(turn_id)
        if turn_id in self._over or not said:
            return False
        first, last = said[0], said[-1]
        if first.parent_turn_id and any(
            each.role == Role.TOOL and each.ended
            for each in self.about(first.parent_turn_id, first.parent_call_id or "")
        ):
            return False
        if last.role != Role.ASSISTANT or last.state == MessageState.STREAMING:
            return True
        return last.state == MessageState.DONE and bool(last.tool_calls)

    def steps(self, turn_id: str) -> int:
        """Return the number of model calls of a turn."""
        return sum([each.role == Role.ASSISTANT for each in self.whole(turn_id)])

    def tokens(self, turn_id: str) -> int:
        """Return the tokens of a turn and all turns called in it."""
        usages = [each.usage for turn in self.below(turn_id) for each in self.whole(turn) if each.usage]
        return sum([usage.tokens for usage in usages])

    def last_call(self, turn_id: str) -> ToolCall | None:
        """Return the call that runs now, None while the model writes."""
        said = self.whole(turn_id)
        last = said[-1] if said else None
        if last is not None and last.role == Role.TOOL:
            calls = [call for each in said for call in each.tool_calls if call.id == last.tool_call_id]
            return calls[-1] if calls else None
        return last.tool_calls[-1] if last is not None and last.tool_calls else None

    def failure(self, turn_id: str) -> str:
        """Return failed or stopped if a turn ended so, else nothing."""
        states = [each.state for each in self.whole(turn_id) if each.role == Role.ASSISTANT]
        return states[-1] if states and states[-1] in (MessageState.FAILED, MessageState.STOPPED) else ""

    def elapsed(self, turn_id: str, now: datetime | None = None) -> int:
        """Return the whole seconds since a turn began."""
        said = self.whole(turn_id)
        return seconds_since(said[0].created_at if said else "", now)


def seconds_since(time: str, now: datetime | None = None) -> int:
    """Return the whole seconds since a time in ISO 8601, 0 if it is unknown."""
    try:
        began = datetime.fromisoformat(time)
    except ValueError:
        return 0
    if began.tzinfo is None:
        return 0
    return max(0, int(((now or datetime.now(UTC)) - began).total_seconds()))
