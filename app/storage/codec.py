"""Converts the dataclasses of Moot's own files to JSON objects and back, with msgspec.

A sound record is converted at once. One with a wrong field is read field by field: the field is reported with
its path and gets its default, the rest is kept. What a record has besides the fields of its class survives a
save; so does the data of a message whose part is not known.
"""

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from app.core.json_values import json_name, json_of, objects_in
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


@dataclass(frozen=True, slots=True)
class Wrong:
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
    return tuple(
        (field.name, _NOTHING.get(field.default, dataclasses.MISSING), _class_in(_types(kind)[field.name]))
        for field in dataclasses.fields(kind)
    )


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
    return {
        own: value[name] if inner is None else _with_own_names(inner, value[name])
        for name, (own, inner) in names.items()
        if name in value
    }


@functools.cache
def _names(kind: Any) -> dict[str, tuple[str, Any]]:
    """Return a class's fields by their names in JSON, each with its own name and the class of what it holds.

    There are none where the names are the same at every depth.
    """
    names = {
        json_name(field): (field.name, _class_in(_types(kind)[field.name]))
        for field in dataclasses.fields(kind)
    }
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
    return dataclasses.is_dataclass(kind) and any(
        field.metadata.get("by_part") for field in dataclasses.fields(kind)
    )


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
        elif (
            isinstance(value, dict)
            and isinstance(inside := now.get(name), dict)
            and (inner := _class_in(hints[name])) is not None
        ):
            whole[name] = with_unknown(inner, value, inside)
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
    return {
        json_name(field): plain(field.default)
        if field.default is not dataclasses.MISSING
        else ""
        if field.default_factory is dataclasses.MISSING
        else plain(field.default_factory())
        for field in dataclasses.fields(kind)
    }


def _fits(hint: Any, value: object) -> bool:
    try:
        _convert(value, hint)
    except msgspec.ValidationError:
        return False
    return True
