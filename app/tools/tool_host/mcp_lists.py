"""Mends what a server lists before the MCP library reads it: one malformed entry would take all others down."""

from collections.abc import Mapping
from typing import Any

from mcp_types import Prompt, Resource, ResourceTemplate, Tool
from pydantic import BaseModel, ValidationError

from app.core.texts import visible

_LISTS: Mapping[str, tuple[type[BaseModel], str]] = {
    "tools": (Tool, "name"),
    "prompts": (Prompt, "name"),
    "resources": (Resource, "uri"),
    "resourceTemplates": (ResourceTemplate, "uriTemplate"),
}
_NAME_CHARACTERS = 200


def mend_lists(result: dict[str, Any]) -> list[str]:
    """Mend the lists of a result in place; return the names of the entries that cannot be used.

    An empty cursor means that there is no further page. What an entry may lack and has in a wrong form is removed. A tool
    whose schema is missing or cannot be read takes any object.
    """
    if not isinstance(result.get("nextCursor", ""), str) or result.get("nextCursor") == "":
        result.pop("nextCursor", None)
    unusable: list[str] = []
    for field, (kind, key) in _LISTS.items():
        if not isinstance(result.get(field), list):
            continue
        mended: dict[str, dict[str, Any]] = {}
        for place, entry in enumerate(result[field], 1):
            sound = _mended(entry, kind, key)
            if sound is None:
                name = entry.get(key) if isinstance(entry, Mapping) else None
                unusable.append(
                    visible(name)[:_NAME_CHARACTERS] if isinstance(name, str) and name else f"#{place}"
                )
            else:
                mended.setdefault(sound[key], sound)
        result[field] = list(mended.values())
    return unusable


def _mended(entry: object, kind: type[BaseModel], key: str) -> dict[str, Any] | None:
    """Return an entry as the library reads it, None where that is impossible."""
    if not isinstance(entry, dict) or not isinstance(entry.get(key), str) or not entry[key]:
        return None
    sound = {name: value for name, value in entry.items() if value is not None}
    if kind is Tool:
        schema = sound.get("inputSchema")
        sound["inputSchema"] = {**(schema if isinstance(schema, dict) else {}), "type": "object"}
        if isinstance(shape := sound.get("outputSchema"), dict) and shape.get("type") != "object":
            del sound["outputSchema"]
    try:
        kind.model_validate(sound, by_name=False)
    except ValidationError as error:
        wrong = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
        sound = {name: value for name, value in sound.items() if name not in wrong}
        try:
            kind.model_validate(sound, by_name=False)
        except ValidationError:
            return None
    return sound
