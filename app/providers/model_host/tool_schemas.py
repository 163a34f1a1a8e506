"""Makes the tools of a request legal for every provider, and the arguments of their calls true again.

What is legal at one provider is refused by another, and a gateway may ask any of them, so the rules of all
hold everywhere: names of properties of `a-z`, `A-Z`, `0-9`, `_`, `.` and `-`, no alternatives at the top, no
deep nesting, each list with its items. A property with another name gets a legal one, which calls use;
`TrueNames` turns it back.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from app.core.frozen import Frozen
from app.core.json_values import as_list, as_object

Schema = dict[str, Any]
Tool = dict[str, Any]

_NOT_OF_A_PROPERTY = re.compile(r"[^a-zA-Z0-9_.-]+")
_LONGEST_PROPERTY = 64
# Google does not document its limit; LiteLLM fails on much deeper schemas.
_DEEPEST = 20
# OpenAI refuses a request with more.
_MOST_TOOLS = {"openai": 128}
_TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
_COMBINED = ("anyOf", "oneOf", "allOf")
_NOT_AT_TOP = {*_COMBINED, "not", "enum", "const", "if", "then", "else"}
_NOT_AT_TOP |= {"dependentSchemas", "dependentRequired"}
_ANYTHING = {"type": "string"}
# Gemini has all functions in one tool.
_REFUSED_PLACE = re.compile(r"(?:tools\[0\]\.function_?declarations|tools)[.\[](\d+)", re.IGNORECASE)
_REFUSED_NAME = re.compile(r"schema for function '([a-zA-Z0-9_-]+)'")


@dataclass(slots=True)
class TrueNames:
    """The names that were changed in a schema: of each legal one the true one, and those inside of it."""

    names: dict[str, str] = field(default_factory=dict)
    inner: dict[str, "TrueNames"] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.names) or any(self.inner.values())

    def restored(self, value: Any, *, back: bool = True) -> Any:
        """Return a value of a call's arguments with the true names, with `back` off one with those
        that are sent.
        """
        if isinstance(value, list):
            return [self.restored(item, back=back) for item in value]
        if not isinstance(value, dict):
            return value
        legal = {true: name for name, true in self.names.items()}
        changed: dict[str, Any] = {}
        for name, item in value.items():
            sent: str = legal[name] if not back and name in legal else name
            inner = self.inner.get(sent, _UNCHANGED)
            changed[self.names.get(sent, sent) if back else sent] = inner.restored(item, back=back)
        return changed


_UNCHANGED = TrueNames()


def renamed(arguments: str, change: Callable[[Any], Any]) -> str:
    """Return the arguments of a call, JSON text, with other names; a text that is no JSON as it is."""
    try:
        return json.dumps(change(json.loads(arguments)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


class LegalTools(Frozen, kw_only=False):
    """The tools as they are sent, the true names of those that were changed, and the names of tools
    that are left out.
    """

    tools: list[Tool]
    true_names: dict[str, TrueNames]
    left_out: list[str]

    def messages(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the messages with earlier calls as the model made them."""
        return [
            message | {"tool_calls": list(map(self._call, calls))}
            if (calls := message.get("tool_calls"))
            else message
            for message in messages
        ]

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        names = self.true_names.get(call["function"]["name"])
        if names is None:
            return call
        arguments = renamed(call["function"]["arguments"], partial(names.restored, back=False))
        return call | {"function": call["function"] | {"arguments": arguments}}


def legal_tools(kind: str, tools: Sequence[Tool], without: Sequence[str] = ()) -> LegalTools:
    """Return the tools as providers of this kind accept them, but for those `without`; changes nothing
    in place.
    """
    sent: dict[str, Tool] = {}
    true_names: dict[str, TrueNames] = {}
    left_out: list[str] = []
    for tool in tools:
        function, names = tool["function"], TrueNames()
        name = function["name"]
        try:
            legal = _top(function.get("parameters"), names)
            parameters = _plain(legal) if kind == "gemini" else legal
            json.dumps(parameters, allow_nan=False)
        except (TypeError, ValueError, AttributeError, RecursionError):
            left_out.append(name)
            continue
        if name in without or name in sent or len(sent) >= _MOST_TOOLS.get(kind, len(tools)):
            left_out.append(name)
            continue
        sent[name] = {"type": "function", "function": {**function, "parameters": parameters}}
        if names:
            true_names[name] = names
    return LegalTools(list(sent.values()), true_names, left_out)


def refused_tool(detail: str, tools: Sequence[Tool]) -> str:
    """Return the name of the tool whose schema a provider refused, "" where it names none."""
    names = [tool["function"]["name"] for tool in tools]
    if (found := _REFUSED_NAME.search(detail)) and found[1] in names:
        return str(found[1])
    place = _REFUSED_PLACE.search(detail)
    return names[int(place[1])] if place and int(place[1]) < len(names) else ""


def _top(schema: object, names: TrueNames) -> Schema:
    """Return the schema of a tool's arguments: an object, whose alternatives are joined into one."""
    joined = _joined(schema if isinstance(schema, Mapping) else {})
    legal = {name: value for name, value in _legal(joined, names, 0).items() if name not in _NOT_AT_TOP}
    # OpenAI refuses an object without properties, which tools without arguments often have.
    return {"properties": {}} | legal | {"type": "object"}


def _joined(schema: Mapping[str, Any], depth: int = 0) -> Schema:
    """Return a schema with the properties of its alternatives; only what all of these require is required."""
    joined = dict(schema)
    properties = dict(as_object(schema.get("properties")))
    required = [*_texts(schema.get("required"))]
    for combined in _COMBINED if depth < _DEEPEST else ():
        listed = [part for part in as_list(schema.get(combined)) if isinstance(part, Mapping)]
        parts = [_joined(part, depth + 1) for part in listed]
        for key, rule in (item for part in parts for item in part["properties"].items()):
            properties.setdefault(key, rule)
        wanted = [_texts(part.get("required")) for part in parts]
        if combined == "allOf":
            required += [key for keys in wanted for key in keys]
        elif wanted:
            required += [key for key in wanted[0] if all(key in keys for keys in wanted)]
            if told := " or ".join(dict.fromkeys(", ".join(keys) for keys in wanted if keys)):
                joined["description"] = f"{_text(joined.get('description'))} Needs {told}.".lstrip()
    return joined | {"properties": properties, "required": required}


def _legal(schema: object, names: TrueNames, depth: int) -> Schema:
    """Return a schema without what a provider refuses; its own and inner changed names are noted in
    `names`.
    """
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return {}
    legal = {str(name): value for name, value in schema.items() if name not in ("required", "$schema", "$id")}
    keys = _legal_keys(as_object(schema.get("properties")), names)
    if "properties" in legal:
        legal["properties"] = {
            keys[key]: _property(key, keys[key], rule, names, depth)
            for key, rule in as_object(schema.get("properties")).items()
        }
    wanted = [keys[key] for key in dict.fromkeys(_texts(schema.get("required"))) if key in keys]
    if wanted:
        legal["required"] = wanted
    for combined in _COMBINED:
        if combined in legal:
            legal[combined] = [_legal(part, names, depth + 1) for part in as_list(legal[combined])]
            if not legal[combined]:
                del legal[combined]
    for inside in ("items", "additionalProperties", "not"):
        if isinstance(legal.get(inside), Mapping):
            legal[inside] = _legal(legal[inside], names, depth + 1)
    return _mended(legal)


def _mended(legal: Schema) -> Schema:
    """Return a schema without values that JSON Schema does not know, as older drafts
    and careless servers have them.
    """
    kinds = [kind for kind in as_list(legal.get("type")) or [legal.get("type")] if kind in _TYPES]
    if "type" in legal:
        legal["type"] = kinds if isinstance(legal["type"], list) and kinds else kinds[0] if kinds else ""
        if not legal["type"]:
            del legal["type"]
    if "array" in kinds and not isinstance(legal.get("items"), Mapping):
        legal["items"] = {}
    for limit in ("exclusiveMinimum", "exclusiveMaximum"):
        if isinstance(legal.get(limit), bool):
            del legal[limit]
    if "enum" in legal and not as_list(legal["enum"]):
        del legal["enum"]
    return legal


def _property(key: str, legal_key: str, rule: object, names: TrueNames, depth: int) -> Schema:
    inner = names.inner.setdefault(legal_key, TrueNames())
    legal = _legal(rule, inner, depth + 1)
    if key != legal_key:
        legal["description"] = ": ".join(filter(None, (key, _text(legal.get("description")))))
    return legal


def _legal_keys(properties: Mapping[str, object], names: TrueNames) -> dict[str, str]:
    """Return the legal name of each property, and note those that differ."""
    keys: dict[str, str] = {}
    taken = {key for key in properties if _is_legal(key)}
    for key in properties:
        legal = key
        if not _is_legal(key):
            start = _NOT_OF_A_PROPERTY.sub("_", key).strip("_")[:_LONGEST_PROPERTY] or "property"
            legal, number = start, 2
            while legal in taken:
                legal, number = f"{start[: _LONGEST_PROPERTY - 4]}_{number}", number + 1
            taken.add(legal)
            names.names[legal] = key
        keys[key] = legal
    return keys


def _is_legal(key: str) -> bool:
    return 0 < len(key) <= _LONGEST_PROPERTY and not _NOT_OF_A_PROPERTY.search(key)


def _plain(schema: Schema, depth: int = 0) -> Schema:
    """Return a schema without what Gemini refuses: any value, deep nesting, enums of numbers."""
    if not schema or depth > _DEEPEST:
        return dict(_ANYTHING)
    plain = dict(schema)
    for name in ("properties", "$defs", "definitions"):
        if isinstance(plain.get(name), dict):
            plain[name] = {key: _plain(as_object(inner), depth + 1) for key, inner in plain[name].items()}
    for name in _COMBINED:
        if isinstance(plain.get(name), list):
            plain[name] = [_plain(as_object(inner), depth + 1) for inner in plain[name]]
    if "items" in plain:
        plain["items"] = _plain(as_object(plain["items"]), depth + 1)
    if any(not isinstance(value, str) for value in plain.get("enum") or ()):
        del plain["enum"]
    return plain


def _texts(value: object) -> list[str]:
    return [item for item in as_list(value) if isinstance(item, str)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
