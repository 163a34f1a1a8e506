"""The rows of the messages of a session, in the order of the calls.

Pure functions: the same messages give the same rows, live or read from disk.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from app.core.message import Message, MessageState, PromptType, Role

MESSAGE = "message"
CARD = "card"
GROUP = "group"
QUESTION = "question"
SUMMARY = "summary"

TURN_GAP = 22
STEP_GAP = 16
CARD_GAP = 4
UNDER_TEXT_GAP = 6
TEXT_GAP = 8


class RowEntry(NamedTuple):
    """One row: what it shows and its place.

    `message_id` is the message it is drawn from, `call` the index of a CARD's call in it and `result_id` the tool message
    with the result. `groups` are the sub-agents' turns around the row, outermost first; a GROUP row is the head of the
    last of them. `gap` is the space over the row in pixels, `headed` whether a message shows its speaker.
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
    return [RowEntry(one.id, SUMMARY if one.role == Role.SUMMARY else MESSAGE, one.id) for one in messages]


def group_id(turn_id: str) -> str:
    """Return the id of the row over a sub-agent's turn."""
    return f"group {turn_id}"


def tree_rows(messages: Sequence[Message], folded: Collection[str] = ()) -> list[RowEntry]:
    """Return the rows of root turns and the turns called in them; `folded` are turn ids."""
    tree = _Tree(messages, folded)
    rows: list[RowEntry] = []
    for root in tree.roots():
        rows += _spaced(tree.walk(root))
    return rows


def whole_rows(messages: Sequence[Message]) -> Iterator[RowEntry]:
    """Yield the rows of root turns with nothing folded, one by one and without gaps."""
    tree = _Tree(messages, ())
    for root in tree.roots():
        yield from tree.walk(root)


class _Tree:
    """The turns of some messages, and which call started which."""

    def __init__(self, messages: Sequence[Message], folded: Collection[str]) -> None:
        self._folded = folded
        self._turns: dict[str, list[Message]] = {}
        self._started: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self._seen: set[str] = set()
        for message in messages:
            self._turns.setdefault(message.turn_id, []).append(message)
        for turn_id, said in self._turns.items():
            if self._has_parent(turn_id):
                parent, call_id = said[0].parent_turn_id or "", said[0].parent_call_id or ""
                self._started[parent][call_id].append(turn_id)

    def _has_parent(self, turn_id: str) -> bool:
        parent = self._turns[turn_id][0].parent_turn_id
        return parent is not None and parent != turn_id and parent in self._turns

    def roots(self) -> Iterator[str]:
        """Yield the turns that no known call started; last those that call each other in a ring."""
        yield from [turn_id for turn_id in self._turns if not self._has_parent(turn_id)]
        yield from [turn_id for turn_id in self._turns if turn_id not in self._seen]

    def walk(self, root: str) -> Iterator[RowEntry]:
        """Yield the rows of a turn and the turns below it, without recursion because depth is not limited."""
        stack = [self._turn(root, ())]
        while stack:
            for step in stack[-1]:
                if isinstance(step, RowEntry):
                    yield step
                else:
                    turn_id, groups = step
                    stack.append(self._turn(turn_id, groups))
                    break
            else:
                stack.pop()

    def _turn(
        self, turn_id: str, groups: tuple[str, ...]
    ) -> Iterator[RowEntry | tuple[str, tuple[str, ...]]]:
        if turn_id in self._seen:
            return
        self._seen.add(turn_id)
        said = self._turns[turn_id]
        if not groups and len(said) == 1 and _is_plain(said[0]) and turn_id not in self._started:
            yield RowEntry(said[0].id, MESSAGE, said[0].id)
            return
        speaker = ""
        if said[0].parent_turn_id is not None:
            groups = (*groups, turn_id)
            speaker = said[0].author.id
            yield RowEntry(group_id(turn_id), GROUP, said[0].id, groups)
            if turn_id in self._folded:
                self._hide(turn_id)
                return
        results: dict[str, deque[Message]] = defaultdict(deque)
        questions: dict[str, deque[Message]] = defaultdict(deque)
        for message in said:
            if message.role == Role.TOOL:
                results[message.tool_call_id or ""].append(message)
            elif message.role == Role.SYSTEM and message.prompt is not None:
                questions[message.tool_call_id or ""].append(message)
        calls = Counter([call.id for message in said for call in message.tool_calls])
        asked = {message.id for message in said if message.prompt is not None}
        for message in said:
            of_call = message.tool_call_id in calls
            if message.role == Role.SUMMARY:
                yield RowEntry(message.id, SUMMARY, message.id, groups)
                continue
            if message.prompt is not None and not of_call:
                yield RowEntry(message.id, QUESTION, message.id, groups)
            elif message.role in (Role.TOOL, Role.SYSTEM) or (message.answers and message.answers in asked):
                continue
            else:
                headed = message.author.id != speaker or message.role != Role.ASSISTANT
                speaker = message.author.id if message.role == Role.ASSISTANT else ""
                if headed or not _is_empty(message):
                    yield RowEntry(message.id, MESSAGE, message.id, groups, headed=headed)
            together: list[Message] = []
            for place, call in enumerate(message.tool_calls):
                given = results[call.id]
                # Of several results of a call the last counts: the others are of runs that were cut off.
                while len(given) > max(1, calls[call.id]) and given[0].prompt is None:
                    given.popleft()
                calls[call.id] -= 1
                result = given.popleft() if given else None
                if result is not None and result.prompt is not None:
                    yield RowEntry(result.id, QUESTION, result.id, groups)
                else:
                    row_id = f"{message.id}/{place}"
                    result_id = result.id if result is not None else ""
                    yield RowEntry(row_id, CARD, message.id, groups, place, result_id)
                for question in questions.pop(call.id, ()):
                    if question.prompt is not None and question.prompt.joins:
                        together.append(question)
                    elif not _is_answered_approval(question):
                        yield RowEntry(question.id, QUESTION, question.id, groups)
                yield from [(child, groups) for child in self._children(turn_id, call.id)]
            if together:
                # One row asks about all of them.
                yield RowEntry(together[0].id, QUESTION, together[0].id, groups)
        for each in [each for given in results.values() for each in given if each.tool_call_id in calls]:
            if each.prompt is not None:
                yield RowEntry(each.id, QUESTION, each.id, groups)
        yield from [
            (child, groups) for call_id in self._left(turn_id) for child in self._children(turn_id, call_id)
        ]

    def _children(self, turn_id: str, call_id: str) -> list[str]:
        """Return the turns a call started, the first time only."""
        return self._started[turn_id].pop(call_id, []) if turn_id in self._started else []

    def _left(self, turn_id: str) -> list[str]:
        return list(self._started.get(turn_id, ()))

    def _hide(self, turn_id: str) -> None:
        """Mark everything under a folded turn as seen."""
        below = [turn_id]
        while below:
            for children in self._started.pop(below.pop(), {}).values():
                fresh = [child for child in children if child not in self._seen]
                self._seen.update(fresh)
                below += fresh


def same_rows(old: Message, new: Message) -> bool:
    """Return whether a new version of a message changes no row but its own."""
    return _shape(old) == _shape(new)


def _shape(message: Message) -> tuple[object, ...]:
    calls = [call.id for call in message.tool_calls]
    who = (message.role, message.author.id, message.answers, message.tool_call_id)
    prompt = message.prompt
    asks = prompt is not None and prompt.type == PromptType.APPROVAL and prompt.open
    return *who, prompt is None, asks, calls, _is_empty(message)


def _is_answered_approval(message: Message) -> bool:
    """Return whether a question is an approval that the row of its call tells of."""
    return message.prompt is not None and message.prompt.type == PromptType.APPROVAL and not message.asks


def _is_plain(message: Message) -> bool:
    """Return whether a message that is a whole turn needs one row only."""
    if message.role in (Role.TOOL, Role.SYSTEM, Role.SUMMARY) or message.parent_turn_id is not None:
        return False
    return not message.tool_calls and message.prompt is None


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
        return TURN_GAP
    if entry.kind in (GROUP, SUMMARY) or len(before.groups) > len(entry.groups):
        return STEP_GAP
    if before.kind == GROUP:
        return 0
    if entry.kind == MESSAGE:
        return TEXT_GAP
    return UNDER_TEXT_GAP if before.kind == MESSAGE else CARD_GAP
