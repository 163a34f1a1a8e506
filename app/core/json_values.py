"""JSON from outside: what should be an object or an array may be anything, and is read as an empty one then."""

import json
from typing import Any


def object_in(text: str | bytes) -> dict[str, Any] | None:
    """Return the JSON object that a text is, None where it is not JSON or something else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def as_object(value: object) -> dict[str, Any]:
    """Return a JSON value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a JSON value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in a JSON array, none where it is no array."""
    return [one for one in as_list(value) if isinstance(one, dict)]
