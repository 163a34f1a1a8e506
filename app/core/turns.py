"""The tree of a session's turns: which follow each other, which are versions, and which were called by which.

A turn without a parent follows another one ("" the first); turns that follow the same one and begin with the
same role are versions of each other. A turn with a parent was called there: a sub-agent's, or a workflow's
step. A summary stands beside the tree, at the turn up to which it goes. Engine, window, export and terminal
have no other tree. Also removes the approvals from a session that comes from a file: they hold only where
they were given.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from itertools import dropwhile, takewhile
from typing import NamedTuple

from app.core.definitions import STEP, SWITCH_ASSISTANT, WORKFLOW
from app.core.frozen import Frozen
from app.core.message import Message, MessageState, PromptType, Role, ToolCall, new_message
from app.core.session import Reason, Session, Status
from app.core.tool import Control


class ItemKind(Enum):
    """What stands in the order of reading."""

    # A message.
    SAID = auto()
    # A call of a message.
    CALL = auto()
    # A question about a call, or a result of it.
    ABOUT = auto()
    # The questions about a message's calls that are answered together, behind all of its calls.
    TOGETHER = auto()


_NO_CALL = ToolCall(id="", name="")


class Item(NamedTuple):
    """A place in the order of reading."""

    kind: ItemKind
    # Of SAID and ABOUT the message that is read here, else the one that calls.
    message: Message
    # The called turns around it, outermost first.
    called: tuple[str, ...] = ()
    # Of CALL and ABOUT: the call.
    call: ToolCall = _NO_CALL
    # Of CALL: which of its message's calls it is.
    place: int = 0
    # Of CALL: its questions and results, as they came; of TOGETHER: the questions.
    about: Sequence[Message] = ()


# A called turn, and the called turns around what it holds, itself among them.
_Called = tuple[str, tuple[str, ...]]


class Turns:
    """The messages of a session by id and by turn; a new version of a message replaces it.

    A walk along turns takes as long as its way; all else takes the same time however many messages there are.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.messages: dict[str, Message] = {}
        # The names of the authors, by their ids.
        self.names: dict[str, str] = {}
        # The ids of the messages of each turn, summaries among them, and of each turn's first that is none.
        self._whole: dict[str, list[str]] = {}
        self._firsts: dict[str, str] = {}
        # The turns that each turn called, by the id of the call, and the turn at the top of each.
        self._called: dict[str, dict[str, list[str]]] = {}
        self._roots: dict[str, str] = {}
        self._versions: dict[tuple[str | None, str], list[str]] = {}
        # The ids of the summaries up to each turn.
        self._summaries: dict[str, list[str]] = {}
        for message in messages:
            self.put(message)

    def put(self, message: Message) -> None:
        """Add a message or replace the one with its id, which keeps its place in the tree."""
        message_id, author, turn_id = message.id, message.author, message.turn_id
        known = message_id in self.messages
        self.messages[message_id] = message
        self.names[author.id] = author.name
        if known:
            return
        parent = message.parent_turn_id
        self._whole.setdefault(turn_id, []).append(message_id)
        if message.role == Role.SUMMARY:
            self._summaries.setdefault(message.through, []).append(message_id)
        elif turn_id not in self._firsts:
            self._firsts[turn_id] = message_id
            if parent is None:
                self._versions.setdefault((message.follows, message.role), []).append(turn_id)
                self._roots[turn_id] = turn_id
            else:
                calls = self._called.setdefault(parent, {})
                calls.setdefault(message.parent_call_id or "", []).append(turn_id)
                self._roots[turn_id] = self._roots.get(parent, turn_id)
            if turn_id in self._called:
                # In a damaged log turns may begin before their caller, or call each other in a ring.
                self._roots.update(dict.fromkeys(self.below(turn_id), self._roots[turn_id]))

    def __contains__(self, turn_id: str) -> bool:
        return turn_id in self._firsts

    # Turns

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all turns, in the order in which they began."""
        return tuple(self._firsts)

    def first(self, turn_id: str) -> Message | None:
        """Return the first message of a turn; None for an unknown turn."""
        first = self._firsts.get(turn_id)
        return None if first is None else self.messages[first]

    def said(self, turn_id: str) -> list[Message]:
        """Return the messages of a turn in the order they came, without summaries."""
        whole = self.whole(turn_id)
        return [each for each in whole if each.role != Role.SUMMARY] if self._summaries else whole

    def whole(self, turn_id: str) -> list[Message]:
        """Return the messages of a turn in the order they came, with the summaries that stand there."""
        return [self.messages[each] for each in self._whole.get(turn_id, ())]

    def summaries(self, turn_id: str) -> list[Message]:
        """Return the summaries of all up to a turn, the oldest first."""
        return [self.messages[each] for each in self._summaries.get(turn_id, ())]

    @property
    def is_summarized(self) -> bool:
        """Whether there are summaries of any of the turns."""
        return bool(self._summaries)

    @property
    def work_turn(self) -> str:
        """The workflow's own turn, the parent of its steps; "" while no step has begun."""
        own = (each for each in self.messages.values() if each.author.id == WORKFLOW)
        return next((each.turn_id for each in own if each.parent_turn_id is None), "")

    # Calls

    def called_by(self, turn_id: str, call_id: str) -> Sequence[str]:
        """Return the turns that a call of a turn began."""
        return self._called.get(turn_id, {}).get(call_id, ())

    def child_turn(self, turn_id: str, call_id: str) -> str | None:
        """Return the turn that answers a call of a turn."""
        return next(reversed(self.called_by(turn_id, call_id)), None)

    def about(self, turn_id: str, call_id: str) -> list[Message]:
        """Return the questions about a call of a turn and its results, as they came."""
        return [message for message in self.said(turn_id) if message.tool_call_id == call_id]

    def together(self, question: Message) -> list[Message]:
        """Return the open approvals of a turn that are answered together with one of them."""
        if question.prompt is None or not question.prompt.joins:
            return [question]
        said = self.said(question.turn_id)
        calls = ({call.id for call in each.tool_calls} for each in said)
        of_answer = next((ids for ids in calls if question.tool_call_id in ids), set())
        asked = (each for each in said if each.prompt is not None and each.prompt.joins)
        return [each for each in asked if each.tool_call_id in of_answer] or [question]

    def root(self, turn_id: str) -> str:
        """Return the turn at the top of the chain of calls, the turn itself where it is one."""
        return self._roots.get(turn_id, turn_id)

    def above(self, turn_id: str) -> Iterator[str]:
        """Yield a turn and those that called it, innermost first."""
        return self._walk(turn_id, lambda first: first.parent_turn_id)

    def below(self, turn_id: str) -> list[str]:
        """Return a turn and all turns called in it, at any depth: those of a turn in the order
        of their calls.
        """
        if turn_id not in self._called:
            return [turn_id]
        found, seen = [turn_id], {turn_id}
        for each in found:
            called = self._called.get(each, {})
            calls = (call.id for message in self.said(each) for call in message.tool_calls) if called else ()
            turns = (turn for call in dict.fromkeys((*calls, *called)) for turn in called.get(call, ()))
            fresh = [turn for turn in turns if turn not in seen]
            seen.update(fresh)
            found += fresh
        return found

    def said_below(self, turn_id: str) -> Iterator[Message]:
        """Yield the messages of a turn and of those called in it, without summaries."""
        return (message for each in self.below(turn_id) for message in self.said(each))

    # Versions

    def back_from(self, turn_id: str) -> Iterator[str]:
        """Yield a turn and those that it follows, the newest first."""
        return self._walk(turn_id, lambda first: first.follows)

    def _walk(self, turn_id: str, after: Callable[[Message], str | None]) -> Iterator[str]:
        """Yield a turn and those after it, as its first message says; in a damaged log they may be a ring."""
        seen: set[str] = set()
        while (first := self.first(turn_id)) is not None and turn_id not in seen:
            seen.add(turn_id)
            yield turn_id
            turn_id = after(first) or ""

    def versions(self, turn_id: str) -> tuple[str, ...]:
        """Return a turn's versions, itself among them, in the order in which they were made."""
        first = self.first(turn_id)
        return () if first is None else tuple(self._versions.get((first.follows, first.role), ()))

    def versions_shown(self, head: str) -> dict[str, tuple[int, int]]:
        """Return (number from 1, how many) of each turn with several versions that leads to one."""
        groups = [group for group in self._versions.values() if len(group) > 1]
        chosen = set(self.back_from(head)) if groups else set()
        numbered = ((turn, (number, len(group))) for group in groups for number, turn in enumerate(group, 1))
        return {turn_id: place for turn_id, place in numbered if turn_id in chosen}

    def latest_leaf(self, turn_id: str) -> str:
        """Return the newest turn that a turn leads to, itself where nothing follows it."""
        firsts = ((each, self.messages[first]) for each, first in self._firsts.items())
        following = {msg.follows: each for each, msg in firsts if msg.parent_turn_id is None and msg.follows}
        # In a damaged log turns may follow each other in a ring.
        while turn_id in following:
            turn_id = following.pop(turn_id)
        return turn_id

    def with_answers(self, turn_id: str) -> list[str]:
        """Return a turn and those that last followed it up to the user's next one."""
        path = list(self.back_from(self.latest_leaf(turn_id)))
        after = reversed(path[: path.index(turn_id)])
        return [turn_id, *takewhile(lambda each: self.said(each)[0].role != Role.USER, after)]

    # The order of reading

    def roots(self) -> list[str]:
        """Return the turns that no known turn called, in the order in which they began."""
        return [turn_id for turn_id in self._whole if self.root(turn_id) == turn_id]

    def read(self, roots: Iterable[str], folded: Collection[str] = ()) -> Iterator[Item]:
        """Yield what root turns hold, each called turn behind its call, in front of what is about the call.

        Of a called turn in `folded` only the first message is read. Nothing is recursive: any depth is fine.
        """
        for root in roots:
            first = self.first(root)
            called = (root,) if first is not None and first.parent_turn_id is not None else ()
            stack = [iter(self._items(root, called, folded))]
            while stack:
                for item in stack[-1]:
                    if not isinstance(item, Item):
                        stack.append(iter(self._items(*item, folded)))
                        break
                    yield item
                else:
                    stack.pop()

    def _items(self, turn_id: str, called: tuple[str, ...], folded: Collection[str]) -> list[Item | _Called]:
        """Return what a turn holds, with the called turns around it, and in its place each turn
        that it called.
        """
        whole = self.whole(turn_id)
        if turn_id in folded:
            return [Item(ItemKind.SAID, whole[0], called)]
        if turn_id not in self._called and not any(message.tool_calls for message in whole):
            return [Item(ItemKind.SAID, message, called) for message in whole]
        about, below = _about_calls(whole), dict(self._called.get(turn_id, {}))
        told = {each.id for messages in about.values() for each in messages}
        items: list[Item | _Called] = []
        for message in whole:
            if message.id in told:
                continue
            items.append(Item(ItemKind.SAID, message, called))
            joint: list[Message] = []
            for place, call in enumerate(message.tool_calls):
                of_call = about.get((message.id, place), [])
                items.append(Item(ItemKind.CALL, message, called, call, place, of_call))
                items += self._begun(below.pop(call.id, ()), called)
                items += [Item(ItemKind.ABOUT, each, called, call) for each in of_call]
                joint += [each for each in of_call if each.prompt is not None and each.prompt.joins]
            if joint:
                items.append(Item(ItemKind.TOGETHER, message, called, about=joint))
        for turns in below.values():
            items += self._begun(turns, called)
        return items

    def _begun(self, turns: Iterable[str], called: tuple[str, ...]) -> list[_Called]:
        # Where turns call each other in a ring, the first of them is the root.
        return [(each, (*called, each)) for each in turns if self.root(each) != each]


def _about_calls(said: Sequence[Message]) -> dict[tuple[str, int], list[Message]]:
    """Return the questions and results of a turn's calls, by message and place.

    They belong to the last call before them that has their id, of several in a message to the first.
    """
    calls: dict[str, tuple[str, int]] = {}
    about: dict[tuple[str, int], list[Message]] = {}
    for message in said:
        if message.tool_call_id in calls and message.role in (Role.TOOL, Role.SYSTEM):
            about.setdefault(calls[message.tool_call_id], []).append(message)
        for place, call in reversed([*enumerate(message.tool_calls)]):
            calls[call.id] = (message.id, place)
    return about


# What the messages of a turn say of it.


def unanswered(answer: Message | None, messages: Iterable[Message]) -> list[ToolCall]:
    """Return the calls of an answer that have no result yet; none where there is no answer."""
    finished = {each.tool_call_id for each in messages if each.role == Role.TOOL and each.ended}
    return [call for call in answer.tool_calls if call.id not in finished] if answer else []


def handed_at_once(answer: Message) -> tuple[str, ...]:
    """Return the ids of the hand-overs that members work on side by side: the first of an answer
    and those right behind it, where there are several.
    """
    behind = dropwhile(lambda call: call.name != SWITCH_ASSISTANT, answer.own_calls)
    found = tuple(call.id for call in takewhile(lambda call: call.name == SWITCH_ASSISTANT, behind))
    return found if len(found) > 1 else ()


def failed_result(answer: Message, call_id: str, text: str) -> Message:
    """Return the failed result of a call that was not carried out to its end, in the turn of its answer."""
    names = ("parent_turn_id", "parent_call_id", "follows", "retakes", "round", "part", "data", "why")
    same = {name: getattr(answer, name) for name in names}
    same |= {"content": text, "tool_call_id": call_id, "state": MessageState.FAILED}
    return new_message(Role.TOOL, answer.author, answer.turn_id, **same)


def last_answer(messages: Sequence[Message]) -> Message | None:
    """Return the newest whole answer or failure of a turn; None for none, or where a question followed."""
    for message in reversed(messages):
        if message.role == Role.USER and message.answers is None:
            return None
        if message.role == Role.ASSISTANT and message.ended:
            return message
    return None


def is_over(messages: Sequence[Message]) -> bool:
    """Whether an assistant's turn is over: an answer without calls, a failure, or a tool that ended it."""
    answer = last_answer(messages)
    if answer is None:
        return False
    calls = {call.id for call in answer.tool_calls}
    ended = (each for each in messages if each.control == Control.END and each.state == MessageState.DONE)
    return not calls or any(each.tool_call_id in calls for each in ended)


def asked_at(messages: Sequence[Message], *, group: bool) -> int:
    """Return the place of the message with which the user asked for what was done last, -1
    where there is none.

    What was told a `group` on the way, and so stands behind what a member says, is a part of what was asked
    before.
    """
    kinds = {message.turn_id: message.author.kind for message in reversed(messages)} if group else {}
    if group:
        # Members who work side by side do so below the orchestrator's turn, which they end.
        ended = {(item.turn_id, item.tool_call_id) for item in messages if item.control == Control.END}
        below = (item for item in messages if (item.parent_turn_id, item.parent_call_id) in ended)
        kinds |= {item.parent_turn_id or "": "main" for item in below if item.author.kind == "main"}
    for place in range(len(messages) - 1, -1, -1):
        one = messages[place]
        told = group and kinds.get(one.follows or "") not in (None, "orchestrator")
        if one.by_user and one.answers is None and not told:
            return place
    return -1


CLOSED_RESULT = (
    "This call was not run: the session comes from a file, and approvals are not taken from files."
)


class Unapproved(Frozen):
    """A session without approvals: `messages` are all of its messages, `written` those that are new
    or changed.
    """

    session: Session
    messages: tuple[Message, ...]
    written: tuple[Message, ...]


def without_approvals(session: Session, messages: Sequence[Message]) -> Unapproved:
    """Return a session in which no call can run on the strength of an earlier approval.

    Each call without a result gets one that says it was not run, the questions of such a call and every open
    approval are dismissed, and lasting permissions are removed, with the folder that was chosen.
    """
    finished = {(msg.turn_id, msg.tool_call_id) for msg in messages if msg.role == Role.TOOL and msg.ended}
    results: dict[tuple[str, str | None], Message] = {}
    for message in messages:
        for call in message.tool_calls:
            # A step of a workflow is written down as a call, but no tool has its name.
            is_step = session.workflow is not None and call.name == STEP
            if not is_step and (message.turn_id, call.id) not in finished:
                closed = failed_result(message, call.id, CLOSED_RESULT)
                results.setdefault((message.turn_id, call.id), closed)
    asking = (message for message in messages if message.asks and _is_of_call(message, results))
    dismissed = {message.id: message.dismissed() for message in asking}
    kept = (dismissed.get(message.id, message) for message in messages)
    written = (*dismissed.values(), *results.values())
    if session.chat is not None or session.debate is not None:
        session = replace(session, **session.allowing(()))  # type: ignore[arg-type]
        if session.chat is not None:
            session = replace(session, chat=replace(session.chat, chosen_folder=""))
        if written and session.status == Status.WAITING:
            session = replace(session, status=Status.PAUSED, reason=Reason.FROM_FILE)
    return Unapproved(session=session, messages=(*kept, *results.values()), written=written)


def _is_of_call(message: Message, results: dict[tuple[str, str | None], Message]) -> bool:
    """Say whether a question asks for an approval, or belongs to a call that had no result."""
    assert message.prompt is not None
    return message.prompt.type == PromptType.APPROVAL or (message.turn_id, message.tool_call_id) in results
