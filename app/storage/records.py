"""Converts sessions and messages to JSON objects and back, and checks both.

Empty values are omitted. pydantic is imported at its first use, after the first paint.
"""

import contextlib
import dataclasses
import functools
import types
import typing
from typing import TYPE_CHECKING, Any

from app.core.forms import FormField
from app.core.message import (
    Attachment,
    Author,
    Failure,
    Message,
    MessageState,
    Prompt,
    PromptReason,
    ToolCall,
    Usage,
)
from app.core.reasons import Reason
from app.core.session import (
    ChatSession,
    DebateSession,
    GroupSession,
    Session,
    SessionSummary,
    Status,
    WorkflowSession,
)
from app.core.text import clean_text

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Plain = dict[str, Any]

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
_ONE: dict[str, type] = {"author": Author, "prompt": Prompt, "error": Failure, "usage": Usage}
_MANY: dict[str, type] = {"tool_calls": ToolCall, "attachments": Attachment}
_REASONS = frozenset(("", *PromptReason))


def plain(value: object) -> Any:
    """Return a dataclass as JSON objects and arrays, without fields that have an empty default value."""
    if isinstance(value, str):
        return _storable(value)
    kind: Any = type(value)
    fields = _fields(kind)
    if fields:
        found = {}
        for name, empty in fields:
            item = getattr(value, name)
            if item != empty:
                found[name] = plain(item)
        return found
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return clean_text(text)
    return text


@functools.cache
def _fields(kind: type) -> tuple[tuple[str, object], ...]:
    """Return a class's fields, each with the empty value that is omitted."""
    return tuple(
        (field.name, field.default if field.default in (None, "", ()) else dataclasses.MISSING)
        for field in (dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ())
    )


@functools.cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


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
    """Change `target` as an RFC 7396 patch says."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            inside = target.get(key)
            if not isinstance(inside, dict):
                inside = target[key] = {}
            apply_patch(inside, value)
        else:
            target[key] = value


@functools.cache
def _adapter(kind: type) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def check_message(record: Plain) -> None:
    """Raise ValueError for a message that could not be read back."""
    _adapter(Message).validate_python(record)


def check_session(record: Plain) -> None:
    """Raise ValueError for a session that could not be read back."""
    kind: Any = _SESSIONS.get(_text(record, "kind"), Session)
    _adapter(kind).validate_python(record)


class MessageReader:
    """Makes messages of one session from records; equal authors and turn ids share one object."""

    def __init__(self) -> None:
        self._authors: dict[tuple[object, ...], Author] = {}
        self._texts: dict[str, str] = {}

    def read(self, record: Plain) -> Message | None:
        """Return the message, None if the record is none."""
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
        try:
            message: Message = _adapter(Message).validate_python(checked)
        except ValueError:
            return None
        return _without_unknown_question(message)

    def _author(self, record: Plain) -> Author | Plain:
        path = record.get("path") or ()
        try:
            key = (record.get("id"), record.get("name"), record.get("kind"), tuple(path), record.get("depth"))
            if key not in self._authors:
                author = _adapter(Author).validate_python(record)
                self._authors[key] = dataclasses.replace(author, depth=_depth(author.depth))
            return self._authors[key]
        except (TypeError, ValueError):
            return record

    def _once(self, text: object) -> object:
        return self._texts.setdefault(text, text) if isinstance(text, str) else text


def read_session(session_id: str, record: Plain) -> tuple[Session, bool]:
    """Return a session, and whether it is read-only: its kind is unknown, or parts are missing.

    Its id is the file's, because a copied log is a session of its own.
    """
    whole = {**record, "id": session_id}
    kind: Any = _SESSIONS.get(_text(whole, "kind"))
    if kind is not None:
        for part in _PARTS:
            if _is_optional(kind, part):
                whole.pop(part, None)
        with contextlib.suppress(ValueError):
            session: Session = _adapter(kind).validate_python(whole)
            return session, False
    texts: dict[str, Any] = {
        field.name: value
        for field in dataclasses.fields(Session)
        if isinstance(value := whole.get(field.name), str)
    }
    texts.setdefault("title", "")
    if not record:
        texts.update(status=Status.ERROR, reason=Reason.DAMAGED, kind="unknown")
    return Session(**texts), True


@functools.cache
def _is_optional(kind: type[Session], part: str) -> bool:
    return any(one.name == part and one.default is None for one in dataclasses.fields(kind))


def _without_unknown_question(message: Message) -> Message:
    """Return the message; what it asks for a reason that is not known is dismissed: nothing waits for the answer."""
    known = message.prompt is None or message.prompt.reason in _REASONS
    return message if known or not message.asks else message.dismissed()


def mended_session(session: Session) -> Session:
    """Return the session as after a restart: a running one is paused."""
    if session.status != Status.RUNNING:
        return session
    return dataclasses.replace(session, status=Status.PAUSED, reason=Reason.APP_RESTART)


def mended_message(message: Message) -> Message:
    """Return the message as after a restart: a streaming one is stopped, its text kept; an external agent that asked is gone."""
    if message.asks and message.prompt is not None and message.prompt.reason == PromptReason.AGENT_ASKS:
        message = message.dismissed()
    if message.state == MessageState.STREAMING:
        message = dataclasses.replace(message, state=MessageState.STOPPED)
    return message


def trusted_message(record: Plain) -> Message | None:
    """Make a message from a line with a correct checksum, without the cost of pydantic.

    For the last lines of a log, which are painted before everything else is loaded.
    """
    try:
        values = {name: record[name] for name in _field_names(Message) if name in record}
        for name, kind in _ONE.items():
            if name in values:
                values[name] = _noun(kind, values[name])
        for name, kind in _MANY.items():
            if name in values:
                values[name] = tuple(_noun(kind, item) for item in values[name])
        if "resources" in values:
            values["resources"] = tuple(values["resources"])
        message = Message(**values)
        return _without_unknown_question(message) if _is_sound(message) else None
    except (TypeError, AttributeError):
        return None


def _noun(kind: type, record: Plain) -> Any:
    names = _field_names(kind)
    values: Plain = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in record.items()
        if name in names
    }
    if kind is Author and "depth" in values:
        values["depth"] = _depth(values["depth"])
    if kind is Prompt and "fields" in values:
        values["fields"] = tuple(_noun(FormField, one) for one in values["fields"])
    return kind(**values)


def _is_sound(noun: Any) -> bool:
    """Return whether every field has its type; a correct checksum does not tell who wrote the line."""
    kind: Any = type(noun)
    return all(_fits(getattr(noun, name), hint) for name, hint in _hints(kind).items())


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _fits(value: object, hint: Any) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(one, inner[0]) for one in value)
    if hint is float:
        return isinstance(value, int | float)
    wanted: type = origin or hint
    return isinstance(value, wanted) and (not dataclasses.is_dataclass(value) or _is_sound(value))


def _depth(depth: int) -> int:
    """Return a depth that can be shown; a file may contain any number."""
    return max(0, min(depth, MOST_DEPTH))


def summary_of(session_id: str, record: Plain, messages: int, latest: str, read_only: bool) -> SessionSummary:
    """Return a session's summary; `latest` is the time of its newest message."""
    kind = _text(record, "kind") if record else "unknown"
    debate = record.get("debate")
    debate = debate if isinstance(debate, dict) else {}
    participants = debate.get("participants")
    seats = participants if isinstance(participants, list) else []
    chat = record.get("chat")
    state = chat if isinstance(chat, dict) else debate
    always = state.get("always")
    speakers = [_text(one, "name") for one in seats if isinstance(one, dict)]
    group = record.get("group")
    if isinstance(group, dict):
        speakers.append(_text(group, "name"))
    elif isinstance(chat, dict) and (name := _text(chat, "assistant_name")):
        speakers.append(name)
    return SessionSummary(
        id=session_id,
        kind=kind,
        title=_text(record, "title"),
        status=_text(record, "status") if record else Status.ERROR,
        reason=_text(record, "reason") if record else Reason.DAMAGED,
        created_at=_text(record, "created_at"),
        updated_at=max(_text(record, "updated_at"), latest),
        messages=messages,
        read_only=read_only or kind not in _SESSIONS or not isinstance(record.get(kind), dict),
        mode=_text(debate, "mode"),
        rounds=_number(debate, "rounds"),
        round=_number(debate, "round"),
        folder=_text(record, "folder"),
        asked_by=_text(record, "asked_by"),
        speakers=tuple(speakers),
        always=tuple(one for one in always if isinstance(one, str))
        if isinstance(always, list | tuple)
        else (),
    )


def summary_record(session: Session) -> Plain:
    """Return the part of a session's record that `summary_of` reads, without making all of it."""
    record: Plain = {name: getattr(session, name) for name in _field_names(Session)}
    if session.debate is not None:
        debate = session.debate
        seats = [{"name": seat.name} for seat in debate.participants]
        record["debate"] = {
            "mode": debate.mode,
            "rounds": debate.rounds,
            "round": debate.round,
            "participants": seats,
            "always": debate.always,
        }
    elif session.chat is not None:
        record["chat"] = {"assistant_name": session.chat.assistant_name, "always": session.chat.always}
        if session.group is not None:
            record["group"] = {"name": session.group.name}
    return record


def _text(record: Plain, name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _number(record: Plain, name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) else 0
