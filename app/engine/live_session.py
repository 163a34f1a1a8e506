"""A session in memory, and the only code that changes one; used by the runner, the turn and the engine.

Every change is one batch on the bus, so screen and disk see it whole or not at all. The text of an
answer that streams is kept as pieces beside the immutable message, so that a delta costs nothing.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TypeVar

from app.core import events
from app.core.criteria import CRITERIA, reopened
from app.core.errors import BadInput
from app.core.ids import utc_now
from app.core.message import Message, MessageState, Role, ToolCall, UsageEntry
from app.core.session import ChatSession, DebateSession, GroupSession, Session, WorkflowSession
from app.core.store import StoredSession
from app.core.turns import Turns

S = TypeVar("S", bound=Session)
# What is told of a turn that starts.
_OF_TURN = ("turn_id", "parent_turn_id", "author", "part", "round", "why")


@dataclass(slots=True)
class _Growing:
    """The pieces of an answer that streams; `length` counts the characters of its text."""

    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    tool_calls: tuple[ToolCall, ...] = ()
    length: int = 0


class LiveSession:
    """One open session: its data, its messages in order, and the ways to change them."""

    def __init__(self, stored: StoredSession, bus: events.EventBus) -> None:
        self.session: Session = stored.session
        self.messages: list[Message] = stored.messages
        self.damaged = stored.damaged
        self.read_only = stored.read_only
        # The MCP servers of which the user was told that an assistant, by its id, cannot use them, and
        # whether they wait for the user.
        self.servers_told: set[tuple[str, str, bool]] = set()
        # The answers to forms with hidden fields as they were given, by the question's id, until the tool has
        # taken them.
        self.hidden_answers: dict[str, str] = {}
        self._bus = bus
        # The messages as last written.
        self.turns = Turns(stored.messages)
        self._position = {message.id: place for place, message in enumerate(stored.messages)}
        self._growing: dict[str, _Growing] = {}
        # The turn that each call began last, by the calling turn and the call; ("", "") for a turn at the
        # root.
        self._begun: dict[tuple[str, str], str] = {}
        # When something came last of a turn, by the monotonic clock.
        self._heard: dict[str, float] = {}
        self._told_tools: set[str] = set()
        self._told_near: set[tuple[str, str, float]] = set()
        # Whether a debate has messages that are no statements.
        self._beside = any(item.is_interim or item.part for item in stored.messages)

    @property
    def id(self) -> str:
        """The session's id."""
        return self.session.id

    @property
    def debate_session(self) -> DebateSession:
        """The session as a debate. Raises BadInput when it is of another kind."""
        return self._of_kind(DebateSession, "not_a_debate")

    @property
    def chat_session(self) -> ChatSession:
        """The session as a chat, which groups and workflows are too. Raises BadInput for another kind."""
        return self._of_kind(ChatSession, "not_a_chat")

    @property
    def group_session(self) -> GroupSession:
        """The session as a group's. Raises BadInput when it is of another kind."""
        return self._of_kind(GroupSession, "not_a_group")

    @property
    def workflow_session(self) -> WorkflowSession:
        """The session as a workflow's. Raises BadInput when it is of another kind."""
        return self._of_kind(WorkflowSession, "not_a_workflow")

    def _of_kind(self, kind: type[S], code: str) -> S:
        if not isinstance(self.session, kind):
            raise BadInput(code, title=self.session.title)
        return self.session

    @property
    def said(self) -> list[Message]:
        """What was said in a debate, in order, without summaries, steps on the way to an answer, ballots
        and readings.
        """
        if not self.turns.is_summarized and not self._beside:
            return self.messages
        return [msg for msg in self.messages if not (msg.part or msg.is_interim or msg.role == Role.SUMMARY)]

    def text_of(self, message_id: str) -> str:
        """Return a message's text so far."""
        growing = self._growing.get(message_id)
        return "".join(growing.text) if growing else self.turns.messages[message_id].content

    def thinking_of(self, message_id: str) -> str:
        """Return a message's thinking so far."""
        growing = self._growing.get(message_id)
        return "".join(growing.thinking) if growing else self.turns.messages[message_id].thinking

    def whole_messages(self) -> Iterator[Message]:
        """Yield the messages with the text that streamed so far filled in."""
        if not self._growing:
            yield from self.messages
            return
        for message in self.messages:
            yield self._with_text(message) if message.id in self._growing else message

    def said_in(self, turn_ids: Iterable[str]) -> list[Message]:
        """Return the messages of turns with their text so far, those of the turns below them included,
        in order.

        What a checker said of criteria is left out: it is in these.
        """
        taken = {below for turn_id in turn_ids for below in self.turns.below(turn_id)}
        said = (item for item in self.whole_messages() if item.turn_id in taken and item.part != CRITERIA)
        return [message for message in said if message.role != Role.SUMMARY]

    def shown(self) -> list[Message]:
        """Return the messages of a chat's chosen version with their text so far, sub-agents' included,
        in order.
        """
        return self.said_in(self.turns.back_from(self.chat_session.chat.head))

    def shown_with_summaries(self) -> list[Message]:
        """Return the messages of the chosen version, each summary behind the last message
        of the turn it goes to.
        """
        messages, turns = self.shown(), self.turns
        ends = {turns.root(message.turn_id): place for place, message in enumerate(messages)}
        behind = {place: turns.summaries(turn_id) for turn_id, place in ends.items()}
        return [each for place, message in enumerate(messages) for each in (message, *behind.get(place, ()))]

    def as_stored(self) -> StoredSession:
        """Return the session as a log holds it, with the text so far; any thread may call this."""
        # The session first: messages that come meanwhile may be more than it knows of, never less.
        session, messages = self.session, list(self.messages)
        with contextlib.suppress(KeyError):  # One ended meanwhile: its end will be written anyway.
            messages = [self._with_text(item) if item.id in self._growing else item for item in messages]
        return StoredSession(session=session, messages=messages, damaged=0, read_only=self.read_only)

    def streaming(self) -> tuple[Message, ...]:
        """Return the messages that still grow, with their text so far."""
        return tuple(self._with_text(self.turns.messages[message_id]) for message_id in self._growing)

    def turn_begun(self, turn_id: str = "", call_id: str = "") -> str:
        """Return the turn that a call began last, or the last at the root, which may have said nothing yet;
        "" for none.
        """
        return self._begun.get((turn_id, call_id)) or self.turns.child_turn(turn_id, call_id) or ""

    def quiet_for(self, turn_id: str) -> float:
        """Return for how many seconds nothing came of a turn and those below it; 0 where nothing is known."""
        heard = [self._heard[each] for each in self.turns.below(turn_id) if each in self._heard]
        return monotonic() - max(heard) if heard else 0.0

    def begin(self) -> None:
        """Announce a session that was just made."""
        self.tell(events.SessionStarted(session_id=self.id, session=self.session))

    def change(self, **fields: object) -> None:
        """Replace fields of the session: title, status, reason, debate."""
        self.tell(*self._changed(fields))

    def note_unsaid(self, *calls: UsageEntry) -> None:
        """Keep the usage of calls that led to no message."""
        if calls:
            self.change(unsaid=(*self.session.unsaid, *calls))

    def tell(self, *news: events.Event) -> None:
        """Publish events in one batch; by themselves they change nothing that is stored."""
        if news:
            self._bus.publish(*news)

    def notice(self, code: str, *, level: str = "warning", sticky: bool = False, **details: object) -> None:
        """Tell the user something about this session that is not stored."""
        self.tell(events.Notice(session_id=self.id, level=level, code=code, details=details, sticky=sticky))

    def tell_near(self, limit: str, spent: float, most: float) -> None:
        """Tell once that a limit of the run is nearly reached."""
        told = (self.chat_session.chat.budget_from, limit, most)
        if told not in self._told_near:
            self._told_near.add(told)
            self.tell(events.LimitNear(session_id=self.id, limit=limit, spent=spent, most=most))

    def first_told(self, tools: Sequence[str]) -> list[str]:
        """Return those of these tools that the user was not yet told of, and remember them."""
        news = [tool for tool in tools if tool not in self._told_tools]
        self._told_tools.update(news)
        return news

    def start_turn(self, first: Message) -> None:
        """Announce a turn; `first` is its first message to be."""
        self._begun[(first.parent_turn_id or "", first.parent_call_id or "")] = first.turn_id
        self._heard[first.turn_id] = monotonic()
        about = {name: getattr(first, name) for name in _OF_TURN}
        self.tell(events.TurnStarted(session_id=self.id, **about))

    def start_message(self, message: Message, *extra: events.Event) -> None:
        """Add a message that will stream."""
        self.check_writable()
        message = replace(message, state=MessageState.STREAMING, content="", thinking="")
        self._growing[message.id] = _Growing()
        fields = self._put(message)
        self.tell(events.MessageStarted(session_id=self.id, message=message), *self._changed(fields), *extra)

    def stream_calls(self, message_id: str, tool_calls: tuple[ToolCall, ...]) -> None:
        """Show the tool calls of a streaming message; they are kept when it finishes."""
        growing = self._growing.get(message_id)
        if growing is not None:
            growing.tool_calls = tool_calls
            self._heard[self.turns.messages[message_id].turn_id] = monotonic()
            self.tell(events.CallsStreamed(session_id=self.id, message_id=message_id, tool_calls=tool_calls))

    def append_text(self, message_id: str, text: str, thinking: str = "") -> None:
        """Append to a streaming message; text after its end is dropped."""
        growing = self._growing.get(message_id)
        if growing is None or not (text or thinking):
            return
        self._heard[self.turns.messages[message_id].turn_id] = monotonic()
        growing.text.append(text)
        growing.thinking.append(thinking)
        offset, growing.length = growing.length, growing.length + len(text)
        about = {"session_id": self.id, "message_id": message_id}
        self.tell(events.MessageDelta(**about, offset=offset, text=text, thinking=thinking))

    def take_back_text(self, message_id: str) -> None:
        """Turn the text of a streaming message so far into thinking; the message begins again."""
        growing = self._growing.get(message_id)
        if growing is None:
            return
        growing.thinking += growing.text
        growing.text, growing.length = [], 0
        message = replace(self.turns.messages[message_id], thinking="".join(growing.thinking))
        self.tell(events.MessageStarted(session_id=self.id, message=message))

    def finish_message(self, message: Message, *extra: events.Event, **fields: object) -> None:
        """Write a message in its final state and, in the same batch, change fields of the session."""
        self.finish_messages((message,), *extra, **fields)

    def finish_answer(self, message: Message, turn_id: str = "", /, **fields: object) -> None:
        """Write a model's answer and, in the same batch, what it used: in its own turn, or for another
        one.
        """
        used, turn_id = message.usage, turn_id or message.turn_id
        reported = [events.UsageReported(session_id=self.id, turn_id=turn_id, usage=used)] if used else []
        self.finish_message(message, *reported, **fields)

    def finish_messages(self, messages: Sequence[Message], *extra: events.Event, **fields: object) -> None:
        """Write messages that belong together, and change fields of the session, in one batch."""
        self.check_writable()
        finished: list[events.Event] = []
        for message in messages:
            self._growing.pop(message.id, None)
            fields = {**self._put(message), **fields}
            finished.append(events.MessageFinished(session_id=self.id, message=message))
        self.tell(*finished, *self._changed(fields), *extra)

    def settle(self) -> None:
        """Mark streaming messages as stopped, with the text they have; later text is dropped."""
        for message in self.streaming():
            self.finish_message(replace(message, state=MessageState.STOPPED, tool_calls=()))

    def _with_text(self, message: Message) -> Message:
        text, thinking = self.text_of(message.id), self.thinking_of(message.id)
        calls = self._growing[message.id].tool_calls
        return replace(message, content=text, thinking=thinking, tool_calls=calls)

    def _put(self, message: Message) -> dict[str, object]:
        """Keep a message; return the changed fields of the session:
        a turn without a parent becomes the chat's head.
        """
        self._heard[message.turn_id] = monotonic()
        self._beside = self._beside or message.is_interim or bool(message.part)
        chat, in_tree = self.session.chat, message.parent_turn_id is None and message.role != Role.SUMMARY
        begins = in_tree and message.turn_id not in self.turns
        self.turns.put(message)
        place = self._position.setdefault(message.id, len(self.messages))
        if place < len(self.messages):
            self.messages[place] = message
            return {}
        self.messages.append(message)
        if not begins or chat is None:
            return {}
        # What the user says now asks for new work.
        asks = message.by_user and self.session.criteria
        again = {"criteria": reopened(self.session.criteria)} if asks else {}
        return {"chat": replace(chat, head=message.turn_id), **again}

    def _changed(self, fields: dict[str, object]) -> tuple[events.Event, ...]:
        """Change the session and return the event for it; none where nothing changes."""
        if not fields:
            return ()
        self.check_writable()
        before = self.session
        self.session = replace(before, **{"updated_at": utc_now(), **fields})  # type: ignore[arg-type]
        moved = (before.status, before.reason) != (self.session.status, self.session.reason)
        changed = events.SessionChanged(session_id=self.id, session=self.session, status_changed=moved)
        if (plan := self.session.plan) == before.plan:
            return (changed,)
        return (changed, events.PlanChanged(session_id=self.id, plan=plan))

    def check_writable(self) -> None:
        """Raise BadInput where a newer version wrote the session, so that it may only be read."""
        if self.read_only:
            raise BadInput("session_read_only", title=self.session.title)
