"""Converts the dataclasses of Moot's own files to JSON objects and back, with msgspec.

A sound record is converted at once. One with a wrong field is read field by field: the field is reported with
its path and gets its default, the rest is kept. What a record has besides the fields of its class survives a
save; so does the data of a message whose part is not known. Messages and sessions are mended as after a
restart.
"""

import dataclasses
import functools
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from app.core import session as core_session
from app.core.definitions import put_down
from app.core.frozen import Frozen
from app.core.json_values import json_name, json_of, objects_in
from app.core.message import Author, Message, MessageState, PromptReason
from app.core.session import ChatSession, DebateSession, GroupSession, Reason, Session, SessionSummary, Status
from app.core.texts import clean_values

Plain = dict[str, Any]
Place = tuple[str | int, ...]
Kind = TypeVar("Kind")

MISSING = "missing"
WRONG_TYPE = "wrong_type"
# Empty defaults, each with what it is in a record.
_NOTHING: dict[object, object] = {None: None, "": "", (): []}
# What JSON has no form for is written as the text that it prints as.
_ENCODER = msgspec.json.Encoder(enc_hook=str)
_DECODER = msgspec.json.Decoder()
# Stands for a value that cannot be read.
_UNREAD: Any = object()


class Wrong(Frozen, kw_only=False):
    """A field that could not be read: its path, whether it is MISSING or of a WRONG_TYPE,
    and what msgspec says.
    """

    place: Place
    code: str
    detail: str = ""

    @property
    def path(self) -> str:
        """The path as msgspec writes it: `$.tool_calls[0].name`."""
        return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.place)


def plain(value: Any) -> Any:
    """Return a dataclass as JSON objects and arrays, without fields that have an empty default value."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    record = _DECODER.decode(encode(value))
    kind: Any = type(value)
    if dataclasses.is_dataclass(value):
        _leave_out_empty(kind, record)
    if _has_parts(kind) and value.data is not None:
        record["data"] = json_of(value.data)
    return record


def encode(value: Any) -> bytes:
    """Return a value as JSON; characters that cannot be encoded are replaced, and numbers
    that are none are null.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _ENCODER.encode(clean_values(msgspec.to_builtins(value, enc_hook=str)))


def _leave_out_empty(kind: type, record: Plain) -> None:
    for name, empty, inner in _empty(kind):
        value = record[name]
        if value == empty:
            del record[name]
        elif inner is not None and value is not None:
            for item in value if isinstance(value, list) else (value,):
                _leave_out_empty(inner, item)


@functools.cache
def _empty(kind: Any) -> tuple[tuple[str, object, Any], ...]:
    """Return a class's fields, each with the empty value that is omitted, and the class of what it holds."""
    types, nothing = _types(kind), dataclasses.MISSING
    fields = ((field.name, _NOTHING.get(field.default, nothing)) for field in dataclasses.fields(kind))
    return tuple((name, empty, _class_in(types[name])) for name, empty in fields)


def check(kind: Any, value: Any) -> None:
    """Raise ValueError for a value that could not be read back as this type."""
    _convert(value, kind)


def _convert(value: Any, hint: type[Kind]) -> Kind:
    """Return a JSON value as what a hint says; raises msgspec.ValidationError.

    msgspec chooses no class by another field, and knows no other names of fields than those in their class.
    """
    kind = _class_in(typing.cast("Any", hint))
    if isinstance(value, dict) and value.get("data") is not None and _has_parts(kind):
        data = _hints(kind, value).get("data")
        value = {**value, "data": None if data is None else _convert(value["data"], data)}
    elif kind is not None:
        value = _with_own_names(kind, value)
    return msgspec.convert(value, hint)


def _with_own_names(kind: Any, value: Any) -> Any:
    """Return JSON objects of a class with the names that the fields have in it, at every depth."""
    names = _names(kind)
    if isinstance(value, list) and names:
        return [_with_own_names(kind, item) for item in value]
    if not isinstance(value, dict) or not names:
        return value
    there = ((own, inner, value[name]) for name, (own, inner) in names.items() if name in value)
    return {own: held if inner is None else _with_own_names(inner, held) for own, inner, held in there}


@functools.cache
def _names(kind: Any) -> dict[str, tuple[str, Any]]:
    """Return a class's fields by their names in JSON, each with its own name and the class of what it holds.

    There are none where the names are the same at every depth.
    """
    types, fields = _types(kind), dataclasses.fields(kind)
    names = {json_name(field): (field.name, _class_in(types[field.name])) for field in fields}
    same = all(name == own and not (inner and _names(inner)) for name, (own, inner) in names.items())
    return {} if same else names


def read(kind: type[Kind], record: object, wrong: list[Wrong], at: Place = ()) -> Kind | None:
    """Return the object of class `kind` that a record describes, None if it has no identity or is no object.

    Adds each field that could not be read to `wrong`; it has its default, a text without one is empty. `at`
    is the place of the record.
    """
    try:
        return _convert(record, kind)
    except msgspec.ValidationError as error:
        if not isinstance(record, dict):
            wrong.append(Wrong(at, WRONG_TYPE, _said(error)))
            return None
    values: Plain = {}
    plain_kind: type = kind
    hints = _hints(plain_kind, record)
    for field in dataclasses.fields(plain_kind):
        name = json_name(field)
        hint = hints.get(name)
        value: Any = _UNREAD
        if name in record and hint is not None:
            value = _read_value(hint, record[name], wrong, (*at, name))
        elif not _has_default(field):
            wrong.append(Wrong((*at, name), MISSING))
        if value is _UNREAD and not _has_default(field):
            # Without what says which thing it is or belongs to a record is of no use.
            if field.name == "id" or field.name.endswith("_id") or hint is not str:
                return None
            value = ""
        if value is not _UNREAD:
            values[field.name] = value
    return kind(**values)


def _read_value(hint: Any, value: Any, wrong: list[Wrong], at: Place) -> Any:
    try:
        return _convert(value, hint)
    except msgspec.ValidationError as error:
        said = _said(error)
    if typing.get_origin(hint) is tuple:
        if isinstance(value, list):
            return _read_items(typing.get_args(hint)[0], value, wrong, at)
    elif isinstance(value, dict) and (inner := _class_in(hint)) is not None:
        found = read(inner, value, wrong, at)
        return _UNREAD if found is None else found
    wrong.append(Wrong(at, WRONG_TYPE, said))
    return _UNREAD


def _read_items(hint: Any, items: list[Any], wrong: list[Wrong], at: Place) -> tuple[Any, ...]:
    """Return those of a list's items that can be read."""
    found = (_read_value(hint, item, wrong, (*at, number)) for number, item in enumerate(items))
    return tuple(entry for entry in found if entry is not _UNREAD)


def _said(error: msgspec.ValidationError) -> str:
    """Return what msgspec says is wrong, without the place."""
    return str(error).partition(" - at ")[0]


def _has_default(field: "dataclasses.Field[Any]") -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


@functools.cache
def _types(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _hints(kind: Any, record: Plain) -> dict[str, Any]:
    """Return the types of a record's fields by their names in JSON,
    without a message's data whose part is not known.
    """
    part = record.get("part") if _has_parts(kind) else None
    return _hints_of(kind, part if isinstance(part, str) and part in _part_data() else "")


@functools.cache
def _hints_of(kind: Any, part: str) -> dict[str, Any]:
    hints = {json_name(field): _types(kind)[field.name] for field in dataclasses.fields(kind)}
    if _has_parts(kind):
        del hints["data"]
    return {**hints, "data": _part_data()[part] | None} if part else hints


def _part_data() -> Mapping[str, type]:
    # Imported with the first message: what lists sessions reads none.
    from app.core.council_parts import PART_DATA

    return PART_DATA


@functools.cache
def _has_parts(kind: Any) -> bool:
    """Return whether the class of what a record's `data` holds depends on its `part`, as in a message."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return any(field.metadata.get("by_part") for field in fields)


@functools.cache
def _class_in(hint: Any) -> Any:
    """Return the dataclass in a hint, which may also be None or a tuple of many; None for another hint."""
    if dataclasses.is_dataclass(hint):
        return hint
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is tuple:
        return next(filter(None, map(_class_in, typing.get_args(hint))), None)
    return None


def is_known(kind: type, record: Plain) -> bool:
    """Return whether a record has no field besides those of its class, at any depth."""
    hints = _hints(kind, record)
    for name, value in record.items():
        if name not in hints:
            return False
        inner = _class_in(hints[name])
        many = objects_in(value if isinstance(value, list) else [value])
        if inner is not None and not all(is_known(inner, item) for item in many):
            return False
    return True


def with_unknown(kind: type, before: Plain | None, now: Plain) -> Plain:
    """Return a record with what the one before has besides the fields of its class,
    and what could not be read of it.

    Items of a list are the same thing if they have the same id; where there is none, the same content or else
    the same place. Those that could not be read stay where they are.
    """
    if not before or before == now:
        return now
    hints, unset = _hints(kind, now), _unset(kind)
    whole = dict(now)
    for name, value in before.items():
        if name not in hints:
            whole[name] = value
        elif isinstance(value, list) and typing.get_origin(hint := hints[name]) is tuple:
            if items := _with_unknown_items(typing.get_args(hint)[0], value, now.get(name, [])):
                whole[name] = items
        elif now.get(name, unset[name]) == unset[name] and not _fits(hints[name], value):
            # It could not be read, and nothing has taken its place.
            whole[name] = value
        elif isinstance(value, dict) and isinstance(inside := now.get(name), dict):
            inner = _class_in(hints[name])
            whole[name] = inside if inner is None else with_unknown(inner, value, inside)
    return whole


def _with_unknown_items(hint: Any, before: list[Any], now: Sequence[Any]) -> list[Any]:
    if before == now:
        return before
    readable = [item for item in before if _read_value(hint, item, [], ()) is not _UNREAD]
    inner = _class_in(hint)
    whole = list(now)
    if inner is not None:
        partners = _partners(inner, readable, now)
        whole = [with_unknown(inner, partner, item) for partner, item in zip(partners, now, strict=True)]
    for place, item in enumerate(before):
        if item not in readable:
            whole.insert(place, item)
    return whole


def _partners(kind: type, before: list[Plain], now: Sequence[Plain]) -> list[Plain | None]:
    """Return what each item was before, None for what is new."""
    if "id" in _types(kind):
        by_id = {record["id"]: record for record in before}
        return [by_id.get(record["id"]) for record in now]
    values: list[Any] = [read(kind, record, []) for record in before]
    left, found = dict(enumerate(before)), dict[int, Plain]()
    for place, record in enumerate(now):
        value: Any = read(kind, record, [])
        same = next((other for other in left if values[other] == value), None)
        if same is not None:
            found[place] = left.pop(same)
    return [found.get(place) or left.get(place) for place in range(len(now))]


@functools.cache
def _unset(kind: Any) -> Plain:
    """Return what each field of a class has in a record if it could not be read."""
    unset: Plain = {}
    for field in dataclasses.fields(kind):
        make = field.default_factory
        value = field.default if make is dataclasses.MISSING else make()
        unset[json_name(field)] = "" if value is dataclasses.MISSING else plain(value)
    return unset


def _fits(hint: Any, value: object) -> bool:
    try:
        _convert(value, hint)
    except msgspec.ValidationError:
        return False
    return True


# Deeper sub-agents are shown at this depth.
MOST_DEPTH = 32

_SESSIONS: dict[str, type[Session]] = {
    "chat": ChatSession,
    "group": GroupSession,
    "workflow": core_session.WorkflowSession,
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
        turns = ("turn_id", "parent_turn_id", "follows")
        checked = {**record, **{name: self._once(record.get(name)) for name in turns}}
        message = read(Message, {**checked, "author": self._author(author)}, self.wrong)
        if message is None:
            return None
        # The same message may come several times: the last record counts.
        self.mended.discard(message.id)
        self.more.pop(message.id, None)
        if self.wrong:
            self.mended.add(message.id)
        if self.wrong or not is_known(Message, record):
            self.more[message.id] = record
        # What it asks for a reason that is not known is dismissed: nothing waits for the answer.
        known = message.prompt is None or message.prompt.reason in _REASONS
        return message if known or not message.asks else message.dismissed()

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
    names = [field.name for field in dataclasses.fields(Session) if field.type is str]
    texts: dict[str, Any] = {name: whole[name] for name in names if isinstance(whole.get(name), str)}
    texts.setdefault("title", "")
    if not record:
        texts.update(status=Status.ERROR, reason=Reason.DAMAGED, kind="unknown")
    return Session(**texts), True


def _is_optional(kind: type[Session], part: str) -> bool:
    return any(field.name == part and field.default is None for field in dataclasses.fields(kind))


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
# What a summary has of its session as it is.
_SHOWN = (
    *("id", "kind", "title", "status", "reason", "created_at"),
    *("folder", "asked_by", "always", "chosen_folder", "proposed"),
)


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


Prices = Mapping[str, float]
_NO_PRICES: Prices = MappingProxyType({})


def summary_of(
    session_id: str, record: Plain, messages: int, latest: str, read_only: bool, prices: Prices = _NO_PRICES
) -> SessionSummary:
    """Return the summary of a session's record; see `summarised`."""
    session, partly = read_session(session_id, record)
    return summarised(session, messages, latest, prices, read_only or partly)


def summarised(
    session: Session, messages: int, latest: str, prices: Prices, read_only: bool = False
) -> SessionSummary:
    """Return a session's summary; `latest` is the time of its newest message, `prices` are those
    of all by their ids.
    """
    debate, chat, group = session.debate, session.chat, session.group
    speakers = [seat.name for seat in debate.participants] if debate is not None else []
    if group is not None:
        speakers.append(group.name)
    elif chat is not None and chat.assistant_name:
        speakers.append(chat.assistant_name)
    fields: dict[str, Any] = {name: getattr(session, name) for name in _SHOWN}
    fields |= {"updated_at": max(session.updated_at, latest), "messages": messages, "read_only": read_only}
    if debate is not None:
        fields |= {"mode": debate.mode, "rounds": debate.rounds, "round": debate.round}
        # Forks of earlier versions tell until they go on.
        fields["is_fork"] = bool(debate.fork_of or session.reason == Reason.FORKED)
    # Ids begin with their time.
    since = chat.budget_from if chat is not None else ""
    cost = sum_of(price for message_id, price in prices.items() if message_id >= since)
    return SessionSummary(**fields, speakers=tuple(speakers), cost_usd=cost)
