"""Declares Moot's own tools: the JSON Schema comes from a function's annotations and docstring.

A parameter is str, int, float, bool, a Literal of texts, a list of one of these, or any of them or None; its
description stands in the docstring's `Args:`. Schemas stay flat, because not every provider accepts more.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields
from keyword import iskeyword
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from app.core.session import AgentMode
from app.core.settings import Settings
from app.core.store import SessionFiles
from app.core.texts import clean_text
from app.core.tool import Strays, Tool, ToolContext, ToolError, ToolResult

MAX_CHARACTERS: Final = 100_000

# The types of each kind; the first one stands in a function's annotations.
_TYPES: Final = {"string": (str,), "integer": (int,), "number": (float, int), "boolean": (bool,)}
_WORDS: Final = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list",
}  # fmt: skip
_GIVEN: Final = {
    bool: "true or false", str: "a text", list: "a list", int: "a number", float: "a number",
    dict: "an object", NoneType: "null",
}  # fmt: skip
Call = Callable[[str, Mapping[str, Any], float], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Signature:
    """The part of a function that models see: its description and the JSON Schema of its arguments.

    `given` are the parameters that Moot fills in, with their types.
    """

    description: str
    parameters: Mapping[str, Any]
    given: Mapping[str, type]

    def checked(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments to call with; null means that one was left out. Raises ToolError."""
        properties = self.parameters["properties"]
        for name in arguments:
            if name not in properties:
                known = ", ".join(f"`{item}`" for item in properties) or "none"
                raise ToolError(f"{tool}: there is no argument {name[:60]!r}; it takes {known}.")
        checked: dict[str, object] = {}
        for name, schema in properties.items():
            value = arguments.get(name)
            if value is not None:
                checked[name] = _checked(f"{tool}: argument `{name}`", value, schema)
            elif name in self.parameters["required"]:
                raise ToolError(f"{tool}: argument `{name}` is missing; it is {_words(schema)}.")
        return checked


def signature_of(function: Callable[..., Any], given: tuple[type, ...]) -> Signature:
    """Read a function's signature; models do not see parameters of the types in `given`."""
    text = inspect.getdoc(function) or ""
    description, _, rest = text.partition("\nArgs:\n")
    meanings = _meanings(rest.partition("\n\n")[0])
    hints = get_type_hints(function)
    properties: dict[str, dict[str, Any]] = {}
    required: list[str] = []
    ours: dict[str, type] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] in given:
            ours[name] = hints[name]
            continue
        # A parameter whose name Python keeps for itself ends in a line that models do not see.
        shown = name.rstrip("_")
        properties[shown] = {**_schema(hints[name]), "description": meanings[name]}
        if parameter.default is inspect.Parameter.empty:
            required.append(shown)
    parameters = {"type": "object", "properties": properties, "required": required}
    return Signature(" ".join(description.split()), parameters, ours)


def checked_text(where: str, text: str, most: int, hint: str = "") -> str:
    """Return the text of an argument, cleaned. Raises ToolError for an empty or too long one."""
    text = clean_text(text).strip()
    if not text:
        raise ToolError(f"{where} is empty{hint}.")
    _check_length(where, text, most)
    return text


def _check_length(where: str, text: str, most: int) -> None:
    if len(text) > most:
        raise ToolError(f"{where} is {len(text):,} characters long; at most {most:,} are taken.")


def _meanings(section: str) -> dict[str, str]:
    """Return the description of each parameter from the lines below `Args:`."""
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line.startswith(" " * 5):
            found[name] += " " + line.strip()
        else:
            name, _, meaning = line.strip().partition(": ")
            found[name] = meaning
    return found


def _schema(annotation: Any) -> dict[str, Any]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        (annotation,) = [item for item in inner if item is not NoneType]
        return _schema(annotation)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": _schema(inner[0])}
    return {"type": next(kind for kind, types in _TYPES.items() if types[0] is annotation)}


def _checked(where: str, value: object, schema: Mapping[str, Any]) -> object:
    kind = schema["type"]
    if kind == "array" and isinstance(value, list):
        return [_checked(f"{where}[{place}]", item, schema["items"]) for place, item in enumerate(value)]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        # JSON has one kind of number, and some models write 5.0.
        return int(value)
    if type(value) not in _TYPES.get(kind, ()) or (isinstance(value, float) and not isfinite(value)):
        given = _GIVEN.get(type(value), type(value).__name__)
        raise ToolError(f"{where} must be {_words(schema)}, not {given}.")
    if isinstance(value, str):
        _check_length(where, value, MAX_CHARACTERS)
        if value not in schema.get("enum", (value,)):
            raise ToolError(f"{where} must be {_words(schema)}, not {value[:60]!r}.")
    return value


def _words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(f'"{item}"' for item in schema["enum"])
    return _WORDS[schema["type"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What tools can reach outside of the conversation.

    `call` runs a service of the tool host within a number of seconds (raises ToolError), `settings` returns
    the current settings, `open_link` opens an address in the system's browser and returns whether that
    worked, `files` are those of sessions.
    """

    call: Call
    settings: Callable[[], Settings]
    open_link: Callable[[str], Awaitable[bool]]
    files: SessionFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A tool before it is bound: `function` takes Outside and ToolContext if its annotations name them.

    Models see its other parameters and its docstring; the other fields are those of Tool.
    """

    key: str
    function: Callable[..., Awaitable[ToolResult]]
    group: str
    repeatable: bool = False
    asks: bool = False
    ends: bool = False
    reads: bool = False
    strays: Strays | None = None
    modes: tuple[str, ...] = (AgentMode.DEFAULT, AgentMode.SETTINGS)

    def bind(self, outside: Outside) -> Tool:
        """Return the tool, ready to run."""
        signature = signature_of(self.function, (Outside, ToolContext))

        async def run(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
            found = signature.checked(self.key, arguments)
            checked = {f"{name}_" if iskeyword(name) else name: value for name, value in found.items()}
            for name, kind in signature.given.items():
                checked[name] = outside if kind is Outside else context
            return await self.function(**checked)

        names = [field.name for field in fields(self) if field.name != "function"]
        own = {name: getattr(self, name) for name in names}
        return Tool(description=signature.description, parameters=signature.parameters, run=run, **own)
