"""Makes messages and sessions of their records, mended as after a restart;
the patches between two records of a session.

The conversion itself is in `codec`.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from app.core.definitions import put_down
from app.core.message import Author, Message, MessageState, PromptReason
from app.core.session import (
    ChatSession,
    DebateSession,
    GroupSession,
    Reason,
    Session,
    SessionSummary,
    Status,
    WorkflowSession,
)
from app.storage.codec import Plain, Wrong, check, encode, is_known, plain, read, with_unknown

# Deeper sub-agents are shown at this depth.
MOST_DEPTH = 32

_SESSIONS: dict[str, type[Session]] = {
    "chat": ChatSession,
    "group": GroupSession,
    "workflow": WorkflowSession,
    "debate": DebateSession,
}
# What only some kinds have; a file can hold more than its kind has.
_PARTS = ("debate", "chat", "group", "workflow")
_REASONS = frozenset(("", *PromptReason))


def merge_patch(old: Plain, new: Plain) -> Plain:
    """Return the RFC 7396 patch that makes `old` into `new`."""
    patch: Plain = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if key in old and before == value:
            continue
        if isinstance(before, dict) and isinstance(value, dict):
            patch[key] = merge_patch(before, value)
        else:
            patch[key] = value
    return patch


def apply_patch(target: Plain, patch: Plain) -> None:
    """Change `target` as an RFC 7396 patch says; never recurses."""
    changes = [(target, patch)]
    for inside, changed in changes:
        for key, value in changed.items():
            if value is None:
                inside.pop(key, None)
            elif isinstance(value, dict):
                if not isinstance(inside.get(key), dict):
                    inside[key] = {}
                changes.append((inside[key], value))
            else:
                inside[key] = value


def check_session(record: Plain) -> None:
    """Raise ValueError for a session that could not be read back."""
    check(kind_of(record), record)


def checked_session(session: Session) -> Plain:
    """Return the record of a session. Raises ValueError if it could not be read back."""
    record: Plain = plain(session)
    check_session(record)
    return record


def whole_session(before: Plain | None, now: Plain) -> Plain:
    """Return a session's record with what `before` has besides its fields, also the parts of other kinds."""
    kind = kind_of(now)
    others = {part: before[part] for part in _PARTS if before and part in before and _is_optional(kind, part)}
    return {**with_unknown(kind, before, now), **others}


def kind_of(record: Plain) -> type[Session]:
    """Return the class of a session's record."""
    return _SESSIONS.get(str(record.get("kind")), Session)


class MessageReader:
    """Makes messages of one session from records; equal authors and turn ids share one object.

    `wrong` are the fields of the last message that could not be read and have their defaults; `more` the
    records, by the message's id, that have more than their message: such fields, and unknown ones. `mended`
    are the messages with wrong fields.
    """

    def __init__(self) -> None:
        self.wrong: list[Wrong] = []
        self.more: dict[str, Plain] = {}
        self.mended: set[str] = set()
        self._authors: dict[bytes, Author] = {}
        self._texts: dict[str, str] = {}

    def read(self, record: Plain) -> Message | None:
        """Return the message, None if the record is none."""
        self.wrong = []
        author = record.get("author")
        if not isinstance(author, dict):
            return None
        checked = {
            **record,
            "author": self._author(author),
            "turn_id": self._once(record.get("turn_id")),
            "parent_turn_id": self._once(record.get("parent_turn_id")),
            "follows": self._once(record.get("follows")),
        }
        message = read(Message, checked, self.wrong)
        if message is None:
            return None
        # The same message may come several times: the last record counts.
        self.mended.discard(message.id)
        self.more.pop(message.id, None)
        if self.wrong:
            self.mended.add(message.id)
        if self.wrong or not is_known(Message, record):
            self.more[message.id] = record
        return _without_unknown_question(message)

    def _author(self, record: Plain) -> Author | None:
        key = encode(record)
        if key in self._authors:
            return self._authors[key]
        wrong: list[Wrong] = []
        author = read(Author, record, wrong, ("author",))
        if author is None:
            return None
        author = dataclasses.replace(author, depth=max(0, min(author.depth, MOST_DEPTH)))
        if not wrong:
            self._authors[key] = author
        self.wrong += wrong
        return author

    def _once(self, text: object) -> object:
        return self._texts.setdefault(text, text) if isinstance(text, str) else text


def read_session(session_id: str, record: Plain, wrong: list[Wrong] | None = None) -> tuple[Session, bool]:
    """Return a session, and whether it is read-only: its kind is unknown, or parts are missing.

    Its id is the file's, because a copied log is a session of its own. Adds the fields that could not be read
    and have their defaults to `wrong`.
    """
    whole = {**record, "id": session_id}
    kind = kind_of(whole)
    if kind is not Session:
        for part in _PARTS:
            if _is_optional(kind, part):
                whole.pop(part, None)
        session = read(kind, whole, [] if wrong is None else wrong)
        if session is not None:
            return session, False
    texts: dict[str, Any] = {
        field.name: value
        for field in dataclasses.fields(Session)
        if field.type is str and isinstance(value := whole.get(field.name), str)
    }
    texts.setdefault("title", "")
    if not record:
        texts.update(status=Status.ERROR, reason=Reason.DAMAGED, kind="unknown")
    return Session(**texts), True


def _is_optional(kind: type[Session], part: str) -> bool:
    return any(field.name == part and field.default is None for field in dataclasses.fields(kind))


def _without_unknown_question(message: Message) -> Message:
    """Return the message; what it asks for a reason that is not known is dismissed: nothing waits
    for the answer.
    """
    known = message.prompt is None or message.prompt.reason in _REASONS
    return message if known or not message.asks else message.dismissed()


def mended_session(session: Session) -> Session:
    """Return the session as after a restart: a running one is paused, and nobody holds a step."""
    work = session.workflow
    if work is not None and any(step.taken for step in work.steps):
        work = dataclasses.replace(work, steps=put_down(work.steps))
        session = dataclasses.replace(session, workflow=work)
    if session.status != Status.RUNNING:
        return session
    return dataclasses.replace(session, status=Status.PAUSED, reason=Reason.APP_RESTART)


def mended_message(message: Message) -> Message:
    """Return the message as after a restart: a streaming one is stopped, its text kept;
    an external agent that asked is gone.
    """
    if message.asks and message.prompt is not None and message.prompt.reason == PromptReason.AGENT_ASKS:
        message = message.dismissed()
    if message.state == MessageState.STREAMING:
        message = dataclasses.replace(message, state=MessageState.STOPPED)
    return message


UNPRICED = -1.0


def price_of(made: Plain | Message) -> float:
    """Return what the call that made a message cost in dollars: 0 without a call, UNPRICED
    where no price is known.
    """
    if isinstance(made, Message):
        cost: object = made.usage.cost_usd if made.usage is not None else 0.0
    else:
        usage = made.get("usage")
        cost = usage.get("cost_usd") if isinstance(usage, dict) else 0.0
    return float(cost) if isinstance(cost, int | float) else UNPRICED


def sum_of(prices: Iterable[float]) -> float | None:
    """Return the sum of what `price_of` returned, None where no call has a price."""
    known, unpriced = 0.0, False
    for price in prices:
        known, unpriced = known + max(price, 0.0), unpriced or price < 0
    return known if known or not unpriced else None


def summary_of(
    session_id: str,
    record: Plain,
    messages: int,
    latest: str,
    read_only: bool,
    prices: Mapping[str, float] = MappingProxyType({}),
) -> SessionSummary:
    """Return the summary of a session's record; see `summarised`."""
    session, partly = read_session(session_id, record)
    return summarised(session, messages, latest, prices, read_only or partly)


def summarised(
    session: Session, messages: int, latest: str, prices: Mapping[str, float], read_only: bool = False
) -> SessionSummary:
    """Return a session's summary; `latest` is the time of its newest message, `prices` are those
    of all by their ids.
    """
    debate, chat, group = session.debate, session.chat, session.group
    # Ids begin with their time.
    since = chat.budget_from if chat is not None else ""
    speakers = [seat.name for seat in debate.participants] if debate is not None else []
    if group is not None:
        speakers.append(group.name)
    elif chat is not None and chat.assistant_name:
        speakers.append(chat.assistant_name)
    return SessionSummary(
        id=session.id,
        kind=session.kind,
        title=session.title,
        status=session.status,
        reason=session.reason,
        created_at=session.created_at,
        updated_at=max(session.updated_at, latest),
        messages=messages,
        read_only=read_only,
        mode=debate.mode if debate is not None else "",
        rounds=debate.rounds if debate is not None else 0,
        round=debate.round if debate is not None else 0,
        folder=session.folder,
        asked_by=session.asked_by,
        # Forks of earlier versions tell until they go on.
        is_fork=debate is not None and bool(debate.fork_of or session.reason == Reason.FORKED),
        speakers=tuple(speakers),
        always=session.always,
        cost_usd=sum_of(price for message_id, price in prices.items() if message_id >= since),
        chosen_folder=session.chosen_folder,
    )
