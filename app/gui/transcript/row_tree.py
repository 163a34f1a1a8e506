"""The rows of the messages of a session, in the order of the calls.

Pure functions: the same messages give the same rows, live or read from disk.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from app.core.message import Message, MessageState, PromptType, Role
from app.core.turns import Item, ItemKind, Turns

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


def tree_rows(turns: Turns, roots: Iterable[str], folded: Collection[str] = ()) -> list[RowEntry]:
    """Return the rows of root turns and the turns called in them; `folded` are turn ids."""
    return [row for root in roots for row in _spaced(whole_rows(turns, root, folded))]


def whole_rows(turns: Turns, root: str, folded: Collection[str] = ()) -> Iterator[RowEntry]:
    """Yield the rows of a root turn one by one and without gaps."""
    speakers: dict[str, str] = {}
    for item in turns.read([root], folded):
        kind, message, groups, *_ = item
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


def same_rows(old: Message, new: Message) -> bool:
    """Return whether a new version of a message changes no row but its own."""
    return _shape(old) == _shape(new)


def _shape(message: Message) -> tuple[object, ...]:
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
        return TURN_GAP
    if entry.kind in (GROUP, SUMMARY) or len(before.groups) > len(entry.groups):
        return STEP_GAP
    if before.kind == GROUP:
        return 0
    if entry.kind == MESSAGE:
        return TEXT_GAP
    return UNDER_TEXT_GAP if before.kind == MESSAGE else CARD_GAP
