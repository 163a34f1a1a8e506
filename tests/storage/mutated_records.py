"""Sound records of every kind, ways to spoil them, and what the rules of reading make of a spoilt one.

`expected` says what a record is to be read as: it knows the types of fields, and nothing of how Moot reads.
"""

import copy
import dataclasses
import functools
import json
import math
import random
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from enum import EnumType
from typing import Any, Literal

from app.core.council_parts import PART_DATA
from app.core.message import Message, PartData

Place = tuple[str | int, ...]
Record = dict[str, Any]

UNKNOWN = "of_tomorrow"
LOST: Any = object()
"""What is read where nothing can be made of a value."""

_NESTED: Any = functools.reduce(lambda inside, _: [{"deep": inside}], range(20), 1)
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 7, 2**63, -(10**60), 10**299, 1e308, "", "x", "한\u2028\0\x85e\u0301", [], {},
    [None], [[]], ["x", 5], [{}], {"id": "x"}, {"id": 5, "name": []}, _NESTED,
)  # fmt: skip


@functools.cache
def hints(kind: Any) -> dict[str, Any]:
    """Return the types of a class's fields."""
    found = typing.get_type_hints(kind)
    if kind is Message:
        # None of its fields is known to any part; those that are known are in test_council_parts.
        found["data"] = dict[str, object] | None
    return {field.name: found[field.name] for field in dataclasses.fields(kind)}


def filled(hint: Any, name: str = "", number: int = 1) -> Any:
    """Return a JSON value of a type in which every field holds something that is not its default."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return filled(next(item for item in inner if item is not types.NoneType), name, number)
    if dataclasses.is_dataclass(hint):
        return {key: filled(item, key, number) for key, item in hints(hint).items()}
    if origin is Literal:
        return inner[0]
    if origin is tuple:
        return [filled(inner[0], name, 10 * number + place) for place in range(2)]
    if origin is dict:
        value = {"deep": [1, "둘"]} if inner[1] is object else filled(inner[1], name, number)
        return {"key": value}
    if isinstance(hint, EnumType):
        return list(hint)[-1].value
    return {str: f"{name}-{number}", int: number, float: number + 0.5, bool: True}[hint]


def fits(hint: Any, value: Any) -> bool:
    """Return whether a JSON value is one of a type."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in (object, Any):
        return True
    if isinstance(hint, types.UnionType):
        return any(fits(item, value) for item in inner)
    if origin is Literal:
        return value in inner and type(value) is str
    if origin is tuple:
        return isinstance(value, list) and all(fits(inner[0], item) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(inner[1], item) for item in value.values())
    if dataclasses.is_dataclass(hint):
        return isinstance(value, dict) and all(
            fits(hints(hint)[field.name], value[field.name]) if field.name in value else _has_default(field)
            for field in dataclasses.fields(hint)
        )
    if isinstance(hint, EnumType):
        return type(value) is str and value in tuple(hint)
    if hint is float and type(value) is int:
        return _is_finite(value)
    return type(value) is hint or (hint is types.NoneType and value is None)


def _is_finite(number: int) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _has_default(field: "dataclasses.Field[Any]") -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def expected(hint: Any, value: Any, wrong: set[Place], at: Place = ()) -> Any:
    """Return what a value is read as, LOST for one of which nothing is left; adds the places that are wrong.

    A field that cannot be read has its default; a text that has none is empty. An object is lost without what
    says which thing it is, and without what is no text and has no default.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        if value is None and types.NoneType in inner:
            return None
        return expected(next(item for item in inner if item is not types.NoneType), value, wrong, at)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return _expected_object(hint, value, wrong, at)
    if origin is tuple and isinstance(value, list):
        found = [expected(inner[0], item, wrong, (*at, place)) for place, item in enumerate(value)]
        return tuple(item for item in found if item is not LOST)
    if not fits(hint, value):
        wrong.add(at)
        return LOST
    return hint(value) if hint is float or isinstance(hint, EnumType) else value


def _expected_object(kind: Any, record: Record, wrong: set[Place], at: Place) -> Any:
    values: Record = {}
    for field in dataclasses.fields(kind):
        value = LOST
        if kind is Message and field.name == "data":
            values["data"] = _expected_data(record, wrong, at)
            continue
        if field.name in record:
            value = expected(hints(kind)[field.name], record[field.name], wrong, (*at, field.name))
        elif not _has_default(field):
            wrong.add((*at, field.name))
        if value is not LOST:
            values[field.name] = value
        elif not _has_default(field):
            if hints(kind)[field.name] is not str or field.name == "id" or field.name.endswith("_id"):
                return LOST
            values[field.name] = ""
    return kind(**values)


def _expected_data(record: Record, wrong: set[Place], at: Place) -> PartData | None:
    """Return what a message's data is read as: that of a part that is not known is kept as it is, and read as none."""
    part, data = record.get("part"), record.get("data")
    known = PART_DATA.get(part) if isinstance(part, str) else None
    if known is None or data is None:
        return None
    if not isinstance(data, dict):
        wrong.add((*at, "data"))
        return None
    return known()


def path_of(place: Place) -> str:
    """Return a place as it is reported: `$.tool_calls[0].name`."""
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)


def field_of(place: Place) -> str:
    """Return a place as a problem of a file names it: `tool_calls[0].name`."""
    return path_of(place)[1:].removeprefix(".")


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A spoilt record."""

    record: Any
    # Where it was spoilt.
    places: tuple[Place, ...]


def spoilt(record: Record, chance: random.Random, keep: Callable[[Place], bool] = lambda _: False) -> Spoilt:
    """Return a copy of a record with fields of tomorrow, spoilt in up to three places but those to `keep`."""
    root: list[Any] = [copy.deepcopy(record)]
    for number in range(chance.randrange(1, 4)):
        holder = chance.choice([item for item, _ in _holders(root[0]) if isinstance(item, dict)])
        name = f"{UNKNOWN}{number}"
        holder[name] = copy.deepcopy(chance.choice(_VALUES[1:]))
    places: list[Place] = []
    for _ in range(chance.choice((0, 1, 1, 1, 1, 2, 3))):
        choices = [
            (holder, key, (*at, key))
            for holder, at in _holders(root[0])
            for key in (list(holder) if isinstance(holder, dict) else range(len(holder)))
            if not str(key).startswith(UNKNOWN) and not keep((*at, key))
        ]
        if not choices:
            break
        holder, key, place = chance.choice(choices)
        match chance.randrange(6):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1:
                holder[key] = None
            case 2 if isinstance(holder[key], dict | list):
                holder[key] = [holder[key]] if chance.random() < 0.5 else {"key": holder[key]}
            case 3 if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case _:
                holder[key] = copy.deepcopy(chance.choice(_VALUES))
        places.append(place)
    return Spoilt(root[0], tuple(places))


def _holders(value: Any, at: Place = ()) -> list[tuple[Any, Place]]:
    """Return the objects and lists in a JSON value with their places; not those of fields of tomorrow."""
    found = [(value, at)] if isinstance(value, dict | list) and value else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, dict | list) and not str(key).startswith(UNKNOWN) and len(at) < 8:
            found += _holders(item, (*at, key))
    return found


def unknown_in(value: Any) -> list[str]:
    """Return the fields of tomorrow in a JSON value with their values, sorted."""
    found: list[str] = []
    for holder, _ in _holders(value):
        if isinstance(holder, dict):
            found += [
                f"{key}={json.dumps(item, sort_keys=True)}"
                for key, item in holder.items()
                if key.startswith(UNKNOWN)
            ]
    return sorted(found)


def as_odd_text(record: Any, chance: random.Random) -> str:
    """Return a record as odd JSON text: a key twice, NaN, a lone surrogate, a huge number, deep nesting."""
    text = json.dumps(record, ensure_ascii=chance.random() < 0.5)
    places = [place for place, letter in enumerate(text) if letter == ":" and text[place - 1] == '"']
    place = chance.choice(places) + 1
    odd = chance.choice(
        (
            "NaN",
            "-Infinity",
            "1e999",
            "9" * 5_000,
            '"\\ud800"',
            '"\\udc00\\ud800"',
            "[" * 100_000,
            "twice",
            "cut",
        )
    )
    if odd == "twice":
        begin = text.rindex('"', 0, place - 2)
        return f"{text[:begin]}{text[begin:place]} 5, {text[begin:]}"
    if odd == "cut":
        return text[: chance.randrange(1, len(text))]
    end = next(
        (at for at in range(place, len(text)) if text[at] in ",}]" and text[at - 1] != "\\"), len(text)
    )
    return f"{text[:place]} {odd}{text[end:]}"
