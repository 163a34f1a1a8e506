"""Makes the definitions of tools legal for the provider: those of MCP servers are written by anybody."""

from typing import Any

Schema = dict[str, Any]

# Google's own limit is not told; nobody writes deeper forms, and LiteLLM fails on much deeper ones.
_DEEPEST = 20
_ANYTHING = {"type": "string"}


def legal_tools(kind: str, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tools as this kind of provider takes them; the given ones stay as they are."""
    return [_legal(kind, tool) for tool in tools]


def _legal(kind: str, tool: dict[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    # OpenAI refuses an object without properties, as tools without arguments often have it.
    parameters: Schema = {"type": "object", "properties": {}} | (function.get("parameters") or {})
    if kind == "gemini":
        parameters = _plain(parameters)
    return {"type": "function", "function": {**function, "parameters": parameters}}


def _plain(schema: object, depth: int = 0) -> Schema:
    """Return a schema without what Gemini has no words for: `true` for anything, deep nests, enums of numbers."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return dict(_ANYTHING)
    plain = dict(schema)
    for name in ("properties", "$defs", "definitions"):
        if isinstance(plain.get(name), dict):
            plain[name] = {key: _plain(inner, depth + 1) for key, inner in plain[name].items()}
    for name in ("anyOf", "oneOf", "allOf"):
        if isinstance(plain.get(name), list):
            plain[name] = [_plain(inner, depth + 1) for inner in plain[name]]
    if "items" in plain:
        plain["items"] = _plain(plain["items"], depth + 1)
    if any(not isinstance(value, str) for value in plain.get("enum") or ()):
        del plain["enum"]
    return plain
