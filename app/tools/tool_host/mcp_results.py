"""Makes the tools and results of MCP servers small and plain for the parent;
works on the protocol's JSON alone.
"""

import base64
import json
import mimetypes
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import unquote

from app.core.files import GIF, MOST_ANSWER_PICTURES, PICTURE_TYPES, BadPicture, PictureFault, cleaned
from app.core.texts import readable, visible

_DESCRIPTION_CHARACTERS = 4_000
_SCHEMA_CHARACTERS = 20_000
_NAME_CHARACTERS = 200
_RESULT_CHARACTERS = 200_000
_RESOURCES_CHARACTERS = 1_000_000
_ALL_TOOLS_CHARACTERS = 400_000
_TOOLS = 200
_DEPTH = 12
_LINKS = 50
_URI_CHARACTERS = 2_000
_LINK_CHARACTERS = 300
_FILE_NAME = 120
# What Python does not know, or differs between systems; of any bytes nothing is said.
_ANY_BYTES = "application/octet-stream"
_SUFFIXES = {"audio/wav": ".wav", "audio/ogg": ".ogg", "image/jpeg": ".jpg", "text/markdown": ".md"}
_PARTS = ("text", "image", "audio", "resource", "resource_link")
# The keywords of JSON Schema whose texts a call must repeat, or fit.
_FOR_THE_LETTER = ("enum", "const", "required", "pattern")
_ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}

Json = Mapping[str, Any]


def offered_tool(tool: Json) -> dict[str, Any]:
    """Return a tool's name, description, schema, `ui://` page, what its annotations say of it, and a hash
    of each of these as the server sent it.
    """
    name = str(tool.get("name", ""))
    description = str(tool.get("description") or tool.get("title") or "")
    schema = tool.get("inputSchema") or _ANY_OBJECT
    hints = tool.get("annotations") or {}
    reads = hints.get("readOnlyHint") is True
    meta = tool.get("_meta") or {}
    # In the order of `PARTS` (app/core/tool.py).
    bound = (name, description, schema, hints, [meta.get("ui"), meta.get("ui/resourceUri")])
    return {
        "name": name,
        "description": readable(description)[:_DESCRIPTION_CHARACTERS],
        "schema": plain_schema(schema),
        "hash": ".".join(map(_digest, bound)),
        "reads": reads,
        "deletes": hints.get("destructiveHint") is True and not reads,
        "outside": hints.get("openWorldHint") is True,
        "ui": _page_of(meta),
    }


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def for_models(tool: Json) -> bool:
    """Return whether a tool may be offered to a model: some are for the server's own pages only, or run
    as tasks only.
    """
    ui = (tool.get("_meta") or {}).get("ui")
    visibility = ui.get("visibility") if isinstance(ui, Mapping) else None
    named = 0 < len(str(tool.get("name", ""))) <= _NAME_CHARACTERS
    return named and not runs_as_task(tool) and (not isinstance(visibility, list) or "model" in visibility)


def runs_as_task(tool: Json) -> bool:
    """Return whether a tool runs only as a task, whose result is fetched later: a call without one fails."""
    execution = tool.get("execution")
    return isinstance(execution, Mapping) and execution.get("taskSupport") == "required"


def offered_tools(tools: Sequence[Json]) -> list[dict[str, Any]]:
    """Return the tools that a server offers to models: at most 200, and 400 kB in all."""
    offers: list[dict[str, Any]] = []
    room = _ALL_TOOLS_CHARACTERS
    for tool in tools:
        if for_models(tool) and len(offers) < _TOOLS:
            offer = offered_tool(tool)
            room -= len(json.dumps(offer))
            if room < 0:
                break
            offers.append(offer)
    return offers


def plain_schema(schema: Any) -> dict[str, Any]:
    """Return a JSON Schema without references and of at most 20 kB; if that is impossible, one
    that allows any object.
    """
    if not isinstance(schema, Mapping):
        return dict(_ANY_OBJECT)
    definitions = {
        f"#/{place}/{name}": value
        for place in ("$defs", "definitions")
        if isinstance(named := schema.get(place), Mapping)
        for name, value in named.items()
    }
    room = [_SCHEMA_CHARACTERS]
    plain = _without_references(schema, definitions, (), room)
    if not isinstance(plain, dict) or room[0] < 0 or len(json.dumps(plain)) > _SCHEMA_CHARACTERS:
        return dict(_ANY_OBJECT)
    # Providers refuse a tool whose arguments are not an object.
    return {**plain, "type": "object"}


def _without_references(value: Any, definitions: Json, inside: tuple[str, ...], room: list[int]) -> Any:
    # References to references can make a small schema endless, so the room is counted.
    room[0] -= 4
    if room[0] < 0 or len(inside) > _DEPTH:
        return {}
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str):
            target = definitions.get(reference)
            if target is None or reference in inside:
                return {}
            return _without_references(target, definitions, (*inside, reference), room)
        return {
            name: item
            if name in _FOR_THE_LETTER
            else _without_references(item, definitions, inside, room)
            if name != "properties" or not isinstance(item, Mapping)
            # These names are the server's own, so one may equal a keyword of JSON Schema.
            else {key: _without_references(rule, definitions, inside, room) for key, rule in item.items()}
            for name, item in value.items()
            if name not in ("$defs", "definitions", "$schema", "$id")
        }
    if isinstance(value, list):
        return [_without_references(item, definitions, inside, room) for item in value]
    return readable(value) if isinstance(value, str) else value


def plain_result(result: Json, pages: Sequence[Json] = ()) -> dict[str, Any]:
    """Return `ok`, `text`, `resources` (pages and links) and `files` (the fields of attachments)
    of a tool's result; `pages` are resources that were read separately.
    """
    parts = _ResultParts()
    for part in result.get("content") or ():
        parts.take(part)
    for page in pages:
        parts.take_resource(page)
    structured = result.get("structuredContent")
    # Beside a page the structured content is the page's data, or the page again.
    if structured is not None and not parts.pages and not _is_said(structured, parts.texts):
        parts.texts.append(json.dumps(structured, ensure_ascii=False))
    return {
        "ok": not result.get("isError", False),
        "text": shortened("\n".join(text for text in parts.texts if text)),
        "resources": [*parts.pages, *parts.links],
        "files": parts.files,
    }


class _ResultParts:
    """What the parts of a result come to: texts for the model, pages and links for the user, and files
    for both.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.pages: list[dict[str, Any]] = []
        self.links: list[dict[str, Any]] = []
        self.files: list[dict[str, Any]] = []

    def take(self, part: Json) -> None:
        """Take a part of a result's content."""
        kind = part.get("type")
        if kind == "text":
            self.texts.append(str(part.get("text", "")))
        elif kind in ("image", "audio"):
            name = f"{kind}-{len(self.files) + 1}"
            self._take_data(part.get("data"), str(part.get("mimeType") or ""), name)
        elif kind == "resource":
            self.take_resource(part.get("resource") or {})
        elif kind == "resource_link":
            uri = str(part.get("uri", ""))
            name = str(part.get("title") or part.get("name") or uri)
            said = f": {part['description']}" if part.get("description") else ""
            self.texts.append(f"[{name}]({uri}){said}")
            if len(self.links) < _LINKS and len(uri) <= _URI_CHARACTERS:
                shown = {"name": name, "description": str(part.get("description") or "")}
                link = {key: readable(value)[:_LINK_CHARACTERS] for key, value in shown.items()}
                link |= {"type": "resource_link", "uri": uri, "mimeType": str(part.get("mimeType") or "")}
                self.links.append(link)
        else:
            self.texts.append(f"[{kind}, not shown]")

    def take_resource(self, resource: Json) -> None:
        """Take an embedded resource: a page, a text or other data."""
        uri, text = str(resource.get("uri", "")), resource.get("text")
        if uri.startswith("ui://"):
            taken = sum(len(json.dumps(page)) for page in self.pages)
            if taken + len(json.dumps(resource)) > _RESOURCES_CHARACTERS:
                body = text or resource.get("blob") or ""
                self.texts.append(f"[a page, {len(body)} characters, not shown]")
            else:
                self.pages.append({"type": "resource", "resource": dict(resource)})
            return
        name, media_type = _name_of(uri), str(resource.get("mimeType") or "")
        if isinstance(text, str):
            self.texts.append(text)
            if text.strip() and len(self.files) < MOST_ANSWER_PICTURES:
                kept = {"name": name, "media_type": media_type or "text/plain", "text": text, "data": ""}
                self.files.append(kept)
        else:
            self._take_data(resource.get("blob"), media_type, name)

    def _take_data(self, data: Any, media_type: str, name: str) -> None:
        """Keep data in base 64 as a file; a picture that is broken or too large is none."""
        media_type = media_type.partition(";")[0].strip().lower() or _ANY_BYTES
        if "." not in name and media_type != _ANY_BYTES:
            name += _SUFFIXES.get(media_type) or mimetypes.guess_extension(media_type) or ""
        said = f"{name}, {media_type}, {_bytes(data)} bytes"
        try:
            if len(self.files) >= MOST_ANSWER_PICTURES:
                raise BadPicture(PictureFault.TOO_MANY)
            content = base64.b64decode(data, validate=True)
            if media_type in (*PICTURE_TYPES, GIF):
                media_type, content = cleaned(content)
        except (TypeError, ValueError) as error:
            why = error.fault if isinstance(error, BadPicture) else PictureFault.BROKEN
            self.texts.append(f"[{said}: {why.replace('_', ' ')}, not shown]")
            return
        self.texts.append(f"[{said}: shown to the user]")
        kept = base64.b64encode(content).decode()
        self.files.append({"name": name, "media_type": media_type, "text": "", "data": kept})


def _name_of(uri: str) -> str:
    """Return the last part of an address as the name of a file."""
    last = unquote(uri.partition("?")[0].rstrip("/").rpartition("/")[2])
    return re.sub(r'[\\/:*?"<>|]', " ", visible(last))[:_FILE_NAME].strip() or "file"


def _is_said(structured: Any, texts: Sequence[str]) -> bool:
    """Return whether the texts are the structured content again, perhaps a `result` without its name,
    or item by item.
    """
    said = [_value(text) for text in texts if text]
    if not said:
        return False
    inner = structured["result"] if isinstance(structured, Mapping) and [*structured] == ["result"] else None
    # Parts of a result again, as servers of the Python SDK send those of some functions.
    items = inner if isinstance(inner, list) else []
    if items and all(isinstance(item, Mapping) and item.get("type") in _PARTS for item in items):
        return True
    return structured in said or (inner is not None and inner in [*said, *texts, said, [*texts]])


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _page_of(meta: Json) -> str:
    ui = meta.get("ui")
    uri = ui.get("resourceUri") if isinstance(ui, Mapping) else meta.get("ui/resourceUri")
    return uri if isinstance(uri, str) and uri.startswith("ui://") else ""


def _bytes(data: Any) -> int:
    return len(data) * 3 // 4 if isinstance(data, str) else 0


def shortened(text: str) -> str:
    """Return a text; of one of more than 200,000 characters the beginning, with a note of that."""
    left = len(text) - _RESULT_CHARACTERS
    return f"{text[:_RESULT_CHARACTERS]}\n[cut: {left} more characters]" if left > 0 else text
