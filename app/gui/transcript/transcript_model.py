"""What a transcript shows, without a screen: rows in order, streaming texts, turns, the look of speakers.

`tree_rows` puts the rows of messages in the order of the calls: the same messages give the same rows, live or
read from disk. `TurnBook` says how far each call and each sub-agent is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import NamedTuple

from app.core.definitions import ORCHESTRATOR, WORKFLOW
from app.core.events import ToolFinished, ToolProgressed, ToolStarted, TurnFinished
from app.core.message import Author, Message, MessageState, PromptType, Role, ToolCall, user_name
from app.core.session import DebateTools, Reason, Session, Status
from app.core.texts import Texts
from app.core.tool import ToolProgress
from app.core.turns import Item, ItemKind, Turns
from app.engine.turns.context import TurnState
from app.engine.workflow.run import read_by_people
from app.gui.display.theme import Tokens
from app.gui.markdown.blocks import clean, parse, same_start
from app.gui.transcript.call_rows import CallState
from app.gui.transcript.message_rows import MessageContext
from app.gui.transcript.painted_row import RowFrame, RowSpeaker
from app.gui.transcript.row_words import SUB_AGENT, one_line
from app.gui.widgets.badge import initial, told_apart

MESSAGE = "message"
CARD = "card"
GROUP = "group"
QUESTION = "question"
SUMMARY = "summary"


class RowEntry(NamedTuple):
    """One row: what it shows and its place.

    `message_id` is the message it is drawn from, `call` the index of a CARD's call in it and `result_id` the
    tool message with the result. `groups` are the sub-agents' turns around the row, outermost first; a GROUP
    row is the head of the last of them. `gap` is the space over the row in pixels, `headed` whether a message
    shows its speaker.
    """

    id: str
    kind: str
    message_id: str
    groups: tuple[str, ...] = ()
    call: int = -1
    result_id: str = ""
    gap: int = 0
    headed: bool = True


def plain_rows(messages: Iterable[Message]) -> list[RowEntry]:
    """Return one row per message, for sessions without calls."""
    return [RowEntry(msg.id, SUMMARY if msg.role == Role.SUMMARY else MESSAGE, msg.id) for msg in messages]


def group_id(turn_id: str) -> str:
    """Return the id of the row over a sub-agent's turn."""
    return f"group {turn_id}"


def tree_rows(turns: Turns, roots: Iterable[str], folded: Collection[str] = ()) -> list[RowEntry]:
    """Return the rows of root turns and the turns called in them; `folded` are turn ids."""
    return [row for root in roots for row in _spaced(whole_rows(turns, root, folded))]


def whole_rows(turns: Turns, root: str, folded: Collection[str] = ()) -> Iterator[RowEntry]:
    """Yield the rows of a root turn one by one and without gaps."""
    speakers: dict[str, str] = {}
    for item in turns.read([root], folded):
        kind, message, groups = item[:3]
        turn_id = groups[-1] if groups else root
        if turn_id not in speakers:
            # The first of a turn: a called one has a head, which names who speaks.
            speakers[turn_id] = message.author.id if groups else ""
            if groups:
                yield RowEntry(group_id(turn_id), GROUP, message.id, groups)
        if turn_id in folded:
            continue
        if kind is ItemKind.CALL:
            yield from _call_rows(item)
        elif kind is ItemKind.TOGETHER:
            # One row asks about all of them.
            yield RowEntry(item.about[0].id, QUESTION, item.about[0].id, groups)
        elif kind is ItemKind.ABOUT:
            continue
        elif message.role == Role.SUMMARY:
            yield RowEntry(message.id, SUMMARY, message.id, groups)
        elif message.prompt is not None:
            yield RowEntry(message.id, QUESTION, message.id, groups)
        elif message.role not in (Role.TOOL, Role.SYSTEM) and not _answers(message, turns):
            headed = message.author.id != speakers[turn_id] or message.role != Role.ASSISTANT
            speakers[turn_id] = message.author.id if message.role == Role.ASSISTANT else ""
            if headed or not _is_empty(message):
                yield RowEntry(message.id, MESSAGE, message.id, groups, headed=headed)


def _call_rows(item: Item) -> Iterator[RowEntry]:
    """Yield the card of a call, or the question that is its result, and what is asked about it alone."""
    results = [each for each in item.about if each.role == Role.TOOL]
    asked = [each for each in results if each.prompt is not None]
    if not asked:
        # Of several results the last counts: the others are of runs that were cut off.
        result_id = results[-1].id if results else ""
        row_id = f"{item.message.id}/{item.place}"
        yield RowEntry(row_id, CARD, item.message.id, item.called, item.place, result_id)
    for each in item.about:
        if each in asked or _asks_alone(each):
            yield RowEntry(each.id, QUESTION, each.id, item.called)


def _asks_alone(message: Message) -> bool:
    """Return whether a question has its own row: no approval that its call tells of, or that joins others."""
    prompt = message.prompt if message.role == Role.SYSTEM else None
    return prompt is not None and not prompt.joins and (prompt.open or prompt.type != PromptType.APPROVAL)


def _answers(message: Message, turns: Turns) -> bool:
    """Return whether a message answers a question that is shown."""
    asked = turns.messages.get(message.answers) if message.answers else None
    return asked is not None and asked.prompt is not None


def _shape(message: Message) -> tuple[object, ...]:
    """Return what decides which rows there are besides the message's own."""
    calls = [call.id for call in message.tool_calls]
    who = (message.role, message.author.id, message.answers, message.tool_call_id)
    prompt = message.prompt
    asks = prompt is not None and prompt.type == PromptType.APPROVAL and prompt.open
    return *who, prompt is None, asks, calls, _is_empty(message)


def _is_empty(message: Message) -> bool:
    """Return whether a message has nothing to show but its calls."""
    if message.content or message.thinking:
        return False
    if message.state == MessageState.STREAMING:
        return bool(message.tool_calls)
    return message.error is None


def _spaced(entries: Iterable[RowEntry]) -> Iterator[RowEntry]:
    """Set the space over each row of a root turn."""
    before: RowEntry | None = None
    for entry in entries:
        yield RowEntry(*entry[:6], _gap(before, entry), entry.headed)
        before = entry


def _gap(before: RowEntry | None, entry: RowEntry) -> int:
    if before is None or (entry.kind == MESSAGE and entry.headed):
        return 22
    if entry.kind in (GROUP, SUMMARY) or len(before.groups) > len(entry.groups):
        return 16
    if before.kind == GROUP:
        return 0
    if entry.kind == MESSAGE:
        return 8
    return 6 if before.kind == MESSAGE else 4


TurnEvent = ToolStarted | ToolProgressed | ToolFinished | TurnFinished


# So much of a result can say that the user stopped its call.
MOST_SAID = 100


def _stopped(result: Message) -> bool:
    """Say whether a call failed only because the user stopped it, its sub-agent or its step."""
    said = result.content[:MOST_SAID]
    return result.state == MessageState.FAILED and ("The user stopped" in said or said == Reason.BY_USER)


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
        if self._over and message.id not in self.messages:
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

    def note(self, event: TurnEvent) -> None:
        """Note that a call runs, how far it is or that it ended, or that a turn did, not only waits."""
        if isinstance(event, TurnFinished):
            waits = event.outcome == TurnState.WAITING
            (self._over.discard if waits else self._over.add)(event.turn_id)
            return
        key = event.turn_id, event.tool_call_id
        if isinstance(event, ToolStarted):
            self._started.add(key)
        elif isinstance(event, ToolProgressed):
            self._progress[key] = event.progress
        else:
            self._ended[key] = event.ok
            self._progress.pop(key, None)

    def progress(self, turn_id: str, call_id: str) -> ToolProgress | None:
        """Return how far a running call is, None where it did not say."""
        return self._progress.get((turn_id, call_id))

    def call_state(self, message: Message, call: ToolCall, result_id: str, *, runs: bool) -> CallState:
        """Return the state of a call; `runs` says whether the session runs."""
        result = self.messages.get(result_id)
        key = (message.turn_id, call.id)
        # It waits too while a sub-agent that it started, or one below that, has an open question.
        if self._asks(*key) or any(map(self.waits, self.called_by(*key))):
            return CallState.WAITING
        if result is not None and result.state != MessageState.STREAMING:
            return CallState(result.state) if result.ended and not _stopped(result) else CallState.STOPPED
        if key in self._ended:
            return CallState.DONE if self._ended[key] else CallState.FAILED
        if message.state == MessageState.STREAMING:
            return CallState.GROWING
        if runs:
            return CallState.RUNNING
        return CallState.LEFT if result is None and key not in self._started else CallState.STOPPED

    def _asks(self, turn_id: str, call_id: str) -> bool:
        return any(each.asks for each in self.about(turn_id, call_id))

    def permission(self, turn_id: str, call_id: str) -> str:
        """Return the user's answer to the newest approval of a call, "" if there is none."""
        asked = [each.prompt for each in self.about(turn_id, call_id) if each.prompt is not None]
        answers = [item.answer for item in asked if item.type == PromptType.APPROVAL and item.answered_by]
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
        caller, call = first.parent_turn_id, first.parent_call_id or ""
        if caller and any(each.role == Role.TOOL and each.ended for each in self.about(caller, call)):
            return False
        if last.role != Role.ASSISTANT or last.state == MessageState.STREAMING:
            return True
        return last.state == MessageState.DONE and bool(last.tool_calls)

    def is_settled(self, turn_id: str) -> bool:
        """Return whether a sub-agent's turn ended well and the answer that called it went on or ended."""
        first = self.whole(turn_id)[0]
        caller = first.parent_turn_id
        over = not (self.goes_on(turn_id) or self.waits(turn_id) or self.failure(turn_id))
        if caller is None or of_step(first) or not over:
            return False
        spoken = [each for each in self.whole(caller) if each.role == Role.ASSISTANT]
        calls = [call.id for call in spoken[-1].tool_calls] if spoken else []
        return bool(spoken) and first.parent_call_id not in calls

    def steps(self, turn_id: str) -> int:
        """Return the number of model calls of a turn."""
        return sum([each.role == Role.ASSISTANT for each in self.whole(turn_id)])

    def tokens(self, turn_id: str) -> int:
        """Return the tokens of a turn and all turns called in it."""
        said = (each for turn in self.below(turn_id) for each in self.whole(turn))
        return sum([each.usage.tokens for each in said if each.usage])

    def last_call(self, turn_id: str) -> ToolCall | None:
        """Return the call that runs now, None while the model writes."""
        said = self.whole(turn_id)
        calls = list(said[-1].tool_calls) if said else []
        if said and said[-1].role == Role.TOOL:
            calls = [call for each in said for call in each.tool_calls if call.id == said[-1].tool_call_id]
        return calls[-1] if calls else None

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


ROLES = ("for", "against", "neutral", "optimist", "realist", "devils-advocate")


@dataclass(slots=True)
class LiveText:
    """The text of a streaming message, with its length and number of line ends."""

    pieces: list[str] = field(default_factory=list)
    characters: int = 0
    lines: int = 0
    began: float = field(default_factory=monotonic)

    def add(self, text: str) -> None:
        """Add a piece."""
        self.pieces.append(text)
        self.characters += len(text)
        self.lines += text.count("\n")

    def after(self, position: int) -> str:
        """Return the text from a position on, without joining the text before it."""
        found: list[str] = []
        start = self.characters
        for piece in reversed(self.pieces):
            if start <= position:
                break
            start -= len(piece)
            found.append(piece[max(0, position - start) :])
        return "".join(reversed(found))

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


class Splice(NamedTuple):
    """A change of the rows: from index `start`, the rows `removed` were replaced by `added`."""

    start: int
    removed: tuple[RowEntry, ...]
    added: tuple[RowEntry, ...]


class TranscriptModel:
    """The messages of one session as rows, by index and by id; prepending changes no stored number."""

    def __init__(self) -> None:
        self.entries: list[RowEntry] = []
        self.book = TurnBook()
        self.can_retry = self.chat = self.has_calls = self.runs = False
        self.unused: frozenset[str] = frozenset()
        self.pinned: frozenset[str] = frozenset()
        self.colours: Mapping[str, int] = {}
        self.names: Mapping[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._first = 0
        self._starts: dict[str, str] = {}
        self._speakers: dict[str, int] = {}
        self._roles: dict[str, str] = {}
        self._seats: dict[str, str] = {}
        self._debate = False
        self._group = ""
        self._forget()

    def _forget(self) -> None:
        """Drop what is known besides the messages: streaming texts, and what the reader unfolded."""
        self.live: dict[str, LiveText] = {}
        self.unfolded: set[str] = set()
        self.whole: set[str] = set()
        self.folded: set[str] = set()
        # Turns that the user unfolded or folded, which are never folded by themselves.
        self.chosen: set[str] = set()
        self.versions: dict[str, tuple[int, int]] = {}
        self.thought_s: dict[str, float] = {}

    def reset(self, session: Session) -> None:
        """Hold another session, without messages."""
        self._forget()
        debate = session.debate
        self._debate = debate is not None
        self.chat = session.chat is not None
        # Turns have calls: each is a block of rows.
        self.has_calls = self.chat or (debate is not None and debate.tools != DebateTools.NONE)
        self.mark(session)
        self._group = session.group.name if session.group is not None else ""
        participants = debate.participants if debate is not None else ()
        self._speakers = {each.id: index for index, each in enumerate(participants)}
        self._roles = {each.id: each.role for each in participants if each.role}
        self._seats = {each.id: one_line(each.name)[:80] for each in participants}
        self.load(())

    def mark(self, session: Session) -> bool:
        """Note what the session says of its rows: whether it runs, unused summaries, pinned messages;
        return if that changed.
        """
        before = self.runs, self.unused, self.pinned
        self.runs = session.status == Status.RUNNING
        self.unused = frozenset(session.unused_summaries)
        self.pinned = frozenset(session.pinned)
        return before != (self.runs, self.unused, self.pinned)

    def load(self, messages: Sequence[Message]) -> None:
        """Hold these messages; what the reader unfolded and folded stays so."""
        self.book = TurnBook(messages)
        self._first = 0
        self._starts = {}
        self._numbers = {}
        self.entries = self._rows(messages)
        self._number_from(0)

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._numbers

    def knows(self, message_id: str) -> bool:
        """Return whether a message is held, with a row of its own or not."""
        return message_id in self.book.messages

    def index(self, row_id: str) -> int:
        """Return the index of a row; raise KeyError if it is not shown."""
        return self._numbers[row_id] - self._first

    def id(self, index: int) -> str:
        """Return the id of a row; a message's row has the id of the message."""
        return self.entries[index].id

    def message(self, index: int) -> Message:
        """Return the message a row is drawn from."""
        return self.book.messages[self.entries[index].message_id]

    def prepend(self, messages: Sequence[Message]) -> Splice:
        """Add whole earlier root turns; return the change of the rows."""
        self.book.put_before(messages)
        rows = self._rows(messages)
        self._first -= len(rows)
        self.entries[:0] = rows
        numbers = range(self._first, self._first + len(rows))
        self._numbers.update(zip([row.id for row in rows], numbers, strict=True))
        return Splice(0, (), tuple(rows))

    def _rows(self, messages: Sequence[Message]) -> list[RowEntry]:
        """Return the rows of whole root turns that the book has, and remember where each turn starts."""
        if not self.has_calls:
            return plain_rows(messages)
        turns = {message.turn_id for message in messages if message.parent_turn_id}
        self.folded.update(each for each in turns - self.chosen if self.book.is_settled(each))
        roots = dict.fromkeys(self.book.root(message.turn_id) for message in messages)
        rows = tree_rows(self.book, roots, self.folded)
        for row in rows:
            self._starts.setdefault(self._root_of(row), row.id)
        return rows

    def rows_in(self, root: str) -> Iterable[RowEntry]:
        """Return the rows of a root turn, also of those that are folded, without gaps."""
        return whole_rows(self.book, root) if self.has_calls else plain_rows(self.book.whole(root))

    def meet(self, messages: Sequence[Message]) -> None:
        """Note the speakers of messages in order, which decides their colours."""
        known = messages if self.has_calls else messages[-1:]
        for author in {message.author.id: message.author for message in known}.values():
            self._see(author)

    def put(self, message: Message) -> Splice:
        """Add a message or replace the one with its id; return the change of the rows."""
        if self.has_calls:
            self._see(message.author)
            before = self.book.messages.get(message.id)
            self.book.put(message)
            if before is not None and _shape(before) == _shape(message):
                return Splice(0, (), ())
            return self.arrange(message.turn_id)
        known = message.id in self
        self.book.put(message)
        if known:
            return Splice(self.index(message.id), (), ())
        [entry] = plain_rows((message,))
        self._numbers[message.id] = self._first + len(self.entries)
        self.entries.append(entry)
        return Splice(len(self.entries) - 1, (), (entry,))

    def arrange(self, turn_id: str) -> Splice:
        """Bring the rows of a turn's whole tree up to date; return the change of the rows."""
        root = self.book.root(turn_id)
        start, end = self._span(root)
        now = tree_rows(self.book, [root], self.folded)
        before = self.entries[start:end]
        same = same_start(now, before)
        tail = same_start(now[same:][::-1], before[same:][::-1])
        removed = tuple(before[same : len(before) - tail])
        added = tuple(now[same : len(now) - tail])
        self.entries[start + same : end - tail] = added
        for entry in removed:
            del self._numbers[entry.id]
        if now:
            self._starts[root] = now[0].id
        else:
            self._starts.pop(root, None)
        moved = len(added) != len(removed)
        self._number_from(start + same, None if moved else start + same + len(added))
        return Splice(start + same, removed, added)

    def _span(self, root: str) -> tuple[int, int]:
        """Return first and end index of the rows of a root turn; if it has none, the end of all rows."""
        first = self._starts.get(root)
        if first is None:
            return len(self.entries), len(self.entries)
        start = end = self.index(first)
        while end < len(self.entries) and self._root_of(self.entries[end]) == root:
            end += 1
        return start, end

    def _root_of(self, entry: RowEntry) -> str:
        return self.book.root(self.book.messages[entry.message_id].turn_id)

    def _number_from(self, start: int, end: int | None = None) -> None:
        for number in range(start, len(self.entries) if end is None else end):
            self._numbers[self.entries[number].id] = self._first + number

    def begin_live(self, message: Message) -> None:
        """Begin to collect the text of a streaming message."""
        live = self.live[message.id] = LiveText()
        if message.content:
            live.add(message.content)

    def group_rows(self, turn_id: str) -> list[str]:
        """Return the ids of the heads over a turn and those around it that are shown."""
        return [group_id(each) for each in self.book.above(turn_id) if group_id(each) in self]

    def card_rows(self, message: Message) -> list[str]:
        """Return the ids of the shown rows of a message's calls."""
        ids = [f"{message.id}/{place}" for place in range(len(message.tool_calls))]
        return [each for each in ids if each in self]

    def caller_rows(self, turn_id: str, call_id: str) -> list[str]:
        """Return the ids of the card of a call and of the row of the message that made it."""
        said = self.book.whole(turn_id)
        made = [message for message in said if any(call.id == call_id for call in message.tool_calls)]
        return [row for message in made for row in (*self.card_rows(message), message.id) if row in self]

    def text(self, index: int) -> str:
        """Return the text of a row's message as it is now."""
        entry = self.entries[index]
        return self.said(entry.message_id) if entry.kind == MESSAGE else ""

    def said(self, message_id: str) -> str:
        """Return the text of a message as it is now."""
        live = self.live.get(message_id)
        return live.text if live else self.book.messages[message_id].content

    def shown(self, message: Message, texts: Texts) -> str:
        """Return the text of a message as it is shown; of a step, without the protocol lines that end it."""
        text = self.said(message.id)
        if not of_step(message):
            return text
        shown, artifacts = read_by_people(text, ended=message.state != MessageState.STREAMING)
        # A list begins on a line of its own.
        made = f"\n\n{artifacts}" if "\n" in artifacts else artifacts
        return f"{shown}\n\n{texts('step.artifacts', text=made)}" if artifacts else shown

    def result_line(self, turn_id: str, texts: Texts) -> str:
        """Return the first line of what a turn said last, without Markdown."""
        said = [each for each in self.book.whole(turn_id) if each.role == Role.ASSISTANT and each.content]
        blocks = parse(self.shown(said[-1], texts)[:1_000]) if said else []
        lines = (line for block in blocks for line in clean(block.text).splitlines())
        return next((line.strip() for line in lines if line.strip()), "")

    def start_of(self, root: str) -> int:
        """Return the index of the first row of a root turn, -1 if it has none."""
        first = self._starts.get(root) if self.has_calls else self.book.whole(root)[0].id
        return self.index(first) if first is not None else -1

    def size(self, index: int) -> tuple[int, int]:
        """Return the number of characters and line ends of a row."""
        entry = self.entries[index]
        if entry.kind != MESSAGE:
            return 0, 0
        message = self.book.messages[entry.message_id]
        if live := self.live.get(message.id):
            return live.characters, live.lines
        return len(message.content), message.content.count("\n")

    def context(self, index: int, tokens: Tokens, texts: Texts) -> MessageContext:
        """Return what a message's row shows besides its message."""
        entry, message = self.entries[index], self.message(index)
        said = (each for each in range(index - 1, -1, -1) if self.entries[each].kind == MESSAGE)
        before = next((self.message(each).round for each in said), 0)
        # It would take back what was said since; the buttons over the message and its menu still offer it.
        last = not self.chat or self.book.is_last(message)
        may_act = self.can_retry and last and not self.book.is_past(message)
        separator = ""
        if self._debate and message.round and message.round != before:
            separator = texts("transcript.round", round=message.round)
        return MessageContext(
            speaker=self.speaker(message.author, message.role, tokens, texts),
            role=self.role(message, texts),
            separator=separator,
            # A step is retried as a whole in the list of steps.
            can_retry=may_act and WORKFLOW not in message.author.path,
            can_continue=self.chat and may_act and message.parent_turn_id is None,
            text=self.shown(message, texts),
            whole=message.id in self.whole,
            frame=self.frame(index, tokens),
            chat=self.chat,
            pinned=message.id in self.pinned,
            headed=entry.headed,
            waiting=self.has_calls and entry.headed and self.book.asks_in(message),
            versions=self._versions_of(message),
            thought_open=f"thought {message.id}" in self.unfolded,
            thought_s=message.thinking_seconds or self.thought_s.get(message.id) or self._thinks_for(message),
        )

    def _thinks_for(self, message: Message) -> float | None:
        live = self.live.get(message.id)
        return monotonic() - live.began if live is not None and not live.characters else None

    def frame(self, index: int, tokens: Tokens) -> RowFrame:
        """Return the place of a row."""
        entry = self.entries[index]
        if not self.has_calls:
            return RowFrame(first=index == 0)
        lines = tuple([self._colour(turn_id, tokens) for turn_id in entry.groups])
        return RowFrame(entry.gap, 0, lines, index == 0)

    def _colour(self, turn_id: str, tokens: Tokens) -> str:
        said = self.book.whole(turn_id)
        return tokens.speaker(self._see(said[0].author))[0] if said else tokens.line_strong

    def _versions_of(self, message: Message) -> tuple[int, int]:
        versions = self.versions.get(message.turn_id)
        if versions is None or self.book.whole(message.turn_id)[0].id != message.id:
            return 1, 1
        return versions

    def role(self, message: Message, texts: Texts) -> str:
        """Return the role of a message's author in words; for the user, the addressee."""
        if message.role == Role.USER:
            return texts("transcript.to_everyone") if self._debate else ""
        if message.author.kind == ORCHESTRATOR:
            return one_line(self._group)
        role = self._roles.get(message.author.id, "")
        return texts(f"transcript.role.{role}") if role in ROLES else clean(role)

    def speaker(self, author: Author, role: str, tokens: Tokens, texts: Texts) -> RowSpeaker:
        """Return how a speaker is painted."""
        if author.kind == ORCHESTRATOR:
            name = shown_name(author, texts)
            return RowSpeaker(name, initial(name), tokens.accent, tokens.accent_bg, icon="users")
        if role == Role.USER:
            name = _user_name(author, texts)
            return RowSpeaker(name, initial(name), tokens.on_user, tokens.user)
        name = shown_name(author, texts)
        colour, background = tokens.speaker(self._see(author))
        return RowSpeaker(name, self._letters(author.id, name), colour, background)

    def _letters(self, author_id: str, shown: str) -> str:
        """Return the letters that tell a participant, or an assistant, apart; nothing of a name
        that is hidden.
        """
        names = self._seats or {item: name for item, name in self.names.items() if item in self.colours}
        if names.get(author_id) != shown:
            return initial(shown)
        return told_apart(shown, [item for item in names.values() if item != shown])

    def name(self, message: Message, texts: Texts) -> str:
        """Return the name of a message's speaker as it is shown."""
        return (_user_name if message.by_user else shown_name)(message.author, texts)

    def _see(self, author: Author) -> int:
        if author.id not in self.names:
            self.names = {**self.names, author.id: one_line(author.name)[:80] or author.id}
        if self.has_calls and author.id in self.colours:
            return self.colours[author.id]
        return len(self.colours) + self._speakers.setdefault(author.id, len(self._speakers))


def of_step(message: Message) -> bool:
    """Return whether a message is from a step of a workflow."""
    path = message.author.path
    return len(path) == 2 and path[0] == WORKFLOW


def shown_name(author: Author, texts: Texts) -> str:
    """Return a speaker's name on one line without deceptive characters;
    a group's orchestrator has a fixed name.
    """
    if author.id == ORCHESTRATOR and author.kind == ORCHESTRATOR:
        return texts("group.orchestrator")
    return one_line(author.name)[:80] or author.id


def _user_name(author: Author, texts: Texts) -> str:
    return one_line(user_name(author, texts))[:80]
