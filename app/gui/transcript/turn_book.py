"""The turns of a session: the messages of each, which call started which, and the state of each call."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from app.core.events import ToolFinished, ToolProgressed, ToolStarted, TurnFinished
from app.core.message import Message, MessageState, PromptType, Role, ToolCall
from app.core.tool import ToolProgress
from app.engine.turns.context import TurnState
from app.gui.transcript.call_rows import CallState
from app.gui.transcript.row_words import SUB_AGENT

_CALL_STATES: dict[str, CallState] = {
    MessageState.DONE: CallState.DONE,
    MessageState.FAILED: CallState.FAILED,
}


class TurnBook:
    """Messages by id and by turn; a new version of a message replaces it."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.messages: dict[str, Message] = {}
        self._said: dict[str, list[str]] = {}
        self._children: dict[str, list[str]] = {}
        self._blocks: dict[str, list[str]] = {}
        self._roots: dict[str, str] = {}
        self._started: set[tuple[str, str]] = set()
        self._ended: dict[tuple[str, str], bool] = {}
        self._progress: dict[tuple[str, str], ToolProgress] = {}
        self._over: set[str] = set()
        self._retaken: set[str] = set()
        for message in messages:
            self.put(message)

    def put(self, message: Message) -> None:
        """Add a message or replace the one with its id."""
        known = message.id in self.messages
        self.messages[message.id] = message
        if message.retakes:
            self._retaken.add(message.retakes)
        if known:
            return
        said = self._said.get(message.turn_id)
        if said is None:
            said = self._said[message.turn_id] = [message.id]
        else:
            said.append(message.id)
        self._over.discard(message.turn_id)
        if len(said) == 1 and message.parent_turn_id:
            self._children.setdefault(message.parent_turn_id, []).append(message.turn_id)
        root = self.root(message.turn_id)
        if root in self._blocks:
            self._blocks[root].append(message.id)
        elif root != message.turn_id:
            self._blocks[root] = [*self._said.get(root, ()), message.id]

    def put_before(self, messages: Sequence[Message]) -> None:
        """Add whole root turns before all others."""
        for message in messages:
            self.put(message)
        self.messages = {message.id: message for message in messages} | self.messages

    def said(self, turn_id: str) -> list[Message]:
        """Return the messages of a turn in the order they came."""
        return [self.messages[each] for each in self._said.get(turn_id, ())]

    def is_past(self, message: Message) -> bool:
        """Return whether a message that was cut or failed was taken again, or its turn went on after it."""
        if message.state not in (MessageState.STOPPED, MessageState.FAILED) or message.role != Role.ASSISTANT:
            return False
        spoken = [one for one in self.said(message.turn_id) if one.role == Role.ASSISTANT]
        return message.id in self._retaken or (bool(spoken) and spoken[-1].id != message.id)

    def is_last(self, message: Message) -> bool:
        """Return whether nothing was said after the root turn of a message."""
        last = next(reversed(self.messages.values()), message)
        return self.root(last.turn_id) == self.root(message.turn_id)

    def before(self, message: Message) -> list[Message]:
        """Return what was said in the root turn before that which a message begins, nothing if it begins none."""
        if message.parent_turn_id is not None or self._said[message.turn_id][0] != message.id:
            return []
        earlier = (one for one in reversed(self.messages.values()) if one.turn_id != message.turn_id)
        root = next((self.root(one.turn_id) for one in earlier), "")
        return self.block(root)

    def parent(self, turn_id: str) -> str:
        """Return the turn that called a turn, "" for a root."""
        said = self._said.get(turn_id)
        parent = self.messages[said[0]].parent_turn_id if said else None
        return parent if parent in self._said and parent is not None else ""

    def root(self, turn_id: str) -> str:
        """Return the turn at the top of the chain of calls."""
        known = self._roots.get(turn_id)
        if known is not None:
            return known
        said = self._said.get(turn_id)
        if not said or self.messages[said[0]].parent_turn_id is None:
            return turn_id
        top, seen = turn_id, {turn_id}
        while (parent := self.parent(top)) and parent not in seen:
            seen.add(parent)
            top = parent
        self._roots[turn_id] = top
        return top

    def block(self, root: str) -> list[Message]:
        """Return the messages of a root turn and the turns called in it, in the order they came."""
        ids = self._blocks[root] if root in self._blocks else self._said.get(root, [])
        return [self.messages[each] for each in ids]

    def above(self, turn_id: str) -> Iterator[str]:
        """Yield a turn and those that called it, innermost first."""
        seen: set[str] = set()
        while turn_id and turn_id not in seen:
            seen.add(turn_id)
            yield turn_id
            turn_id = self.parent(turn_id)

    def below(self, turn_id: str) -> list[str]:
        """Return a turn and all turns called in it."""
        found, seen = [turn_id], {turn_id}
        for each in found:
            fresh = [child for child in self._children.get(each, ()) if child not in seen]
            seen.update(fresh)
            found += fresh
        return found

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
        return any(
            self.waits(child)
            for child in self._children.get(turn_id, ())
            if self.said(child)[0].parent_call_id == call_id
        )

    def _asks(self, turn_id: str, call_id: str) -> bool:
        return any(
            each.tool_call_id == call_id and each.prompt is not None and each.prompt.open
            for each in self.said(turn_id)
        )

    def permission(self, turn_id: str, call_id: str) -> str:
        """Return the user's answer to the newest approval of a call, "" if there is none."""
        asked = [
            one.prompt for one in self.said(turn_id) if one.tool_call_id == call_id and one.prompt is not None
        ]
        answers = [one.answer for one in asked if one.type == PromptType.APPROVAL and one.answered_by]
        return answers[-1] if answers else ""

    def together(self, message: Message) -> list[Message]:
        """Return the open approvals of a turn that are answered together with one of them."""
        if message.prompt is None or not message.prompt.joins:
            return [message]
        said = self.said(message.turn_id)
        calls = next(
            (one.tool_calls for one in said if message.tool_call_id in [each.id for each in one.tool_calls]),
            (),
        )
        ids = {call.id for call in calls}
        return [
            one for one in said if one.prompt is not None and one.prompt.joins and one.tool_call_id in ids
        ]

    def calls_agent(self, turn_id: str, call: ToolCall) -> bool:
        """Return whether a call starts a sub-agent."""
        return call.name == SUB_AGENT or any(
            self.messages[self._said[child][0]].parent_call_id == call.id
            for child in self._children.get(turn_id, ())
        )

    # Facts about a sub-agent's turn

    def waits(self, turn_id: str) -> bool:
        """Return whether a turn, or one called in it, has an open question."""
        return any(
            each.prompt is not None and each.prompt.open
            for turn in self.below(turn_id)
            for each in self.said(turn)
        )

    def asks_in(self, message: Message) -> bool:
        """Return whether one of a message's own calls waits for the user."""
        return any(self._asks(message.turn_id, call.id) for call in message.tool_calls)

    def goes_on(self, turn_id: str) -> bool:
        """Return whether a turn is not over yet."""
        said = self.said(turn_id)
        if turn_id in self._over or not said:
            return False
        first, last = said[0], said[-1]
        if first.parent_turn_id and any(
            each.role == Role.TOOL and each.tool_call_id == first.parent_call_id and each.ended
            for each in self.said(first.parent_turn_id)
        ):
            return False
        if last.role != Role.ASSISTANT or last.state == MessageState.STREAMING:
            return True
        return last.state == MessageState.DONE and bool(last.tool_calls)

    def steps(self, turn_id: str) -> int:
        """Return the number of model calls of a turn."""
        return sum([each.role == Role.ASSISTANT for each in self.said(turn_id)])

    def tokens(self, turn_id: str) -> int:
        """Return the tokens of a turn and all turns called in it."""
        said = [each for turn in self.below(turn_id) for each in self.said(turn)]
        return sum([each.usage.tokens for each in said if each.usage])

    def last_call(self, turn_id: str) -> ToolCall | None:
        """Return the call that runs now, None while the model writes."""
        said = self.said(turn_id)
        last = said[-1] if said else None
        if last is not None and last.role == Role.TOOL:
            calls = [call for each in said for call in each.tool_calls if call.id == last.tool_call_id]
            return calls[-1] if calls else None
        return last.tool_calls[-1] if last is not None and last.tool_calls else None

    def failure(self, turn_id: str) -> str:
        """Return failed or stopped if a turn ended so, else nothing."""
        spoken = [each for each in self.said(turn_id) if each.role == Role.ASSISTANT]
        return (
            spoken[-1].state
            if spoken and spoken[-1].state in (MessageState.FAILED, MessageState.STOPPED)
            else ""
        )

    def elapsed(self, turn_id: str, now: datetime | None = None) -> int:
        """Return the whole seconds since a turn began."""
        said = self.said(turn_id)
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
