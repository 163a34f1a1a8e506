"""The arguments of a tool call as rows, for those who are asked whether it may run: the window and the terminal."""

import json
from collections.abc import Mapping

from app.core.texts import exact


def argument_rows(arguments: str) -> list[tuple[str, str]]:
    """Return each argument's name with its value as JSON, over several lines if it is nested.

    A text that is no object, or has a field twice, which parsers read in different ways, comes back whole and nameless.
    Invisible characters are shown as codes.
    """
    found = _fields(arguments)
    if found is None:
        return [("", exact(arguments, "\n"))]
    return [(exact(name), exact(_json(value), "\n")) for name, value in found.items()]


def readable_rows(arguments: str) -> list[tuple[str, str]]:
    """Return `argument_rows` with texts as they are, but for those that would be taken for another value."""
    found = _fields(arguments)
    if found is None:
        return argument_rows(arguments)
    return [
        (exact(name), exact(value if isinstance(value, str) and _is_plain(value) else _json(value), "\n"))
        for name, value in found.items()
    ]


def _fields(arguments: str) -> Mapping[str, object] | None:
    try:
        found = json.loads(arguments, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found else None


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _is_plain(text: str) -> bool:
    """Return whether a text can be shown without quotes: it is not empty, has no space around it, and is no JSON."""
    if not text or text != text.strip():
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False
