"""JSON: of dataclasses; in what models say, and the schemas for it; and from outside,
where what should be an object or an array may be anything.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from typing import Any

from app.core.texts import clean_values

_QUOTES = str.maketrans("“”„‟＂：，", '""""":,')


def object_in(text: str | bytes) -> dict[str, Any] | None:
    """Return the JSON object that a text is, None where it is not JSON or something else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_object(text: str) -> dict[str, object] | None:
    """Return the JSON object between the outermost braces, mended where that is easy; None
    where there is none.
    """
    begin, end = text.find("{"), text.rfind("}")
    if not 0 <= begin < end:
        return None
    inside = text[begin : end + 1]
    mended = re.sub(r",\s*([}\]])", r"\1", inside.translate(_QUOTES))
    tries = [inside, mended]
    if '"' not in mended:
        tries.append(re.sub(r"['‘’]", '"', mended))
    for item in tries:
        try:
            found = json.loads(item, strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            cleaned = clean_values(found)
            return cleaned if isinstance(cleaned, dict) else None
    return None


def as_object(value: object) -> dict[str, Any]:
    """Return a JSON value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a JSON value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a JSON array, none where it is no array."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def json_name(described: "Field[Any]") -> str:
    """Return how a field is called in JSON."""
    return described.metadata.get("name") or described.name


def json_of(value: object) -> object:
    """Return data as JSON objects and arrays."""
    if isinstance(value, tuple):
        return [json_of(item) for item in value]
    if not is_dataclass(value):
        return value
    kind: Any = type(value)
    record: dict[str, object] = {}
    for own, name, default, beside in _fields(kind):
        held = getattr(value, own)
        if held != default or (beside and getattr(value, beside)):
            record[name] = json_of(held)
    return record


@cache
def _fields(kind: Any) -> list[tuple[str, str, object, str]]:
    """Return the fields of a class: its names there and in JSON, its default, and what it is
    `kept_beside`.
    """
    return [
        (each.name, json_name(each), each.default, each.metadata.get("beside", "")) for each in fields(kind)
    ]


def schema_object(**fields: object) -> dict[str, object]:
    """Return a schema of an object with these fields and no others."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def schema_list(items: Mapping[str, object]) -> dict[str, object]:
    """Return a schema of an array."""
    return {"type": "array", "items": items}
