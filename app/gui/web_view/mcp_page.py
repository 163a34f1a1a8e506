"""Pages in the results of MCP tools: read from a resource, and the messages exchanged with one.

Supported are MCP-UI (text/html, text/uri-list; remote-dom is recognized) and MCP Apps (profile=mcp-app). A
message from a page in any other form is dropped without an answer.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from email.message import Message as MimeHeader
from html import unescape
from typing import Final

from app import __version__
from app.core.json_values import object_in
from app.core.texts import clean_text, clean_values

MAX_PAGE = 2_000_000
# Characters of a page that are read for its words, and of the words that are shown.
_MOST_READ = 20_000
MOST_SHOWN = 2_000
_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9-]*(?=[\s/>])|!)[^<>]*>")
_UNSEEN = ("head", "script", "style", "template", "svg")
_IN_A_LINE = ("a", "abbr", "b", "code", "em", "i", "label", "small", "span", "strong", "sub", "sup", "u")
HTML = "html"
ADDRESS = "address"
UNKNOWN = "unknown"
TOO_LARGE = "too_large"
UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class UiPage:
    """A page: `kind` is html, address, or why it cannot be shown: unknown, too_large, unreadable.

    `text` is the HTML or the address, `mime` the type as the server names it, `app` whether it uses the MCP
    Apps protocol. `height` is the height the server prefers in pixels, 0 for none; `data` what the page gets
    on request.
    """

    kind: str
    text: str = ""
    mime: str = ""
    app: bool = False
    height: int = 0
    data: Mapping[str, object] | None = None


def read_page(resources: Sequence[Mapping[str, object]]) -> UiPage:
    """Return the first page among a result's resources; a page that cannot be read is UNREADABLE."""
    for item in resources:
        resource = item.get("resource")
        if isinstance(resource, Mapping) and str(resource.get("uri", "")).startswith("ui://"):
            return _read(resource)
    return UiPage(UNREADABLE)


def text_of(page: str) -> str:
    """Return the words of a page's beginning, without its tags, scripts and styles."""
    lines: list[str] = [""]
    unseen = ""
    for place, part in enumerate(_TAG.split(page[:_MOST_READ])):
        if place % 2:
            name = part.strip().lower()
            if unseen:
                unseen = "" if name == f"/{unseen}" else unseen
            elif name in _UNSEEN:
                unseen = name
            elif name.strip("/") not in _IN_A_LINE:
                lines.append("")
        elif not unseen:
            lines[-1] += part
    words = [" ".join(unescape(line).split()) for line in lines]
    return clean_text("\n".join(filter(None, words)))[:MOST_SHOWN]


def _read(resource: Mapping[str, object]) -> UiPage:
    named = resource.get("mimeType")
    mime = named[:200] if isinstance(named, str) else ""
    header = MimeHeader()
    header["content-type"] = "".join(sign for sign in mime if sign.isprintable())
    kind = header.get_content_type() if "/" in mime else mime
    body = _body(resource)
    if body is None:
        return UiPage(UNREADABLE, mime=mime)
    if len(body) > MAX_PAGE:
        return UiPage(TOO_LARGE, mime=mime)
    if kind == "text/html":
        meta = resource.get("_meta")
        meta = meta if isinstance(meta, Mapping) else {}
        data = meta.get("mcpui.dev/ui-initial-render-data")
        data = data if isinstance(data, Mapping) else None
        height = _height(meta.get("mcpui.dev/ui-preferred-frame-size"))
        app = header.get_param("profile") == "mcp-app"
        return UiPage(HTML, body, mime, app=app, height=height, data=data)
    if kind == "text/uri-list":
        lines = (line.strip() for line in body.splitlines())
        address = next((line for line in lines if line.lower().startswith(("http://", "https://"))), "")
        return UiPage(ADDRESS, address, mime) if address else UiPage(UNREADABLE, mime=mime)
    return UiPage(UNKNOWN, mime=mime)


def _body(resource: Mapping[str, object]) -> str | None:
    """Return the text of a resource, decoded if it is base64; None if there is none."""
    text, blob = resource.get("text"), resource.get("blob")
    if isinstance(text, str):
        return text
    if not isinstance(blob, str):
        return None
    try:
        return base64.b64decode(blob, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def _height(size: object) -> int:
    """Return the height of a size such as ["300px", "200px"], 0 if it is none."""
    wanted = size[1] if isinstance(size, list | tuple) and len(size) == 2 else ""
    digits = str(wanted).removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 6 else 0


PROMPT: Final = "prompt"
LINK: Final = "link"
TOOL: Final = "tool"
INTENT: Final = "intent"
NOTIFY: Final = "notify"
SIZE: Final = "size"

MAX_MESSAGE: Final = 100_000
"""Characters of a message as JSON."""

_MOST = {PROMPT: 20_000, LINK: 2_000, TOOL: 200, INTENT: 200, NOTIFY: 500}
_FIELDS = {PROMPT: "prompt", LINK: "url", TOOL: "toolName", INTENT: "intent", NOTIFY: "message"}
_PROTOCOL: Final = "2026-01-26"
_NO_METHOD: Final = -32601
_NOT_ALLOWED: Final = -32000

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PageAction:
    """Something a page asks for.

    `text` is the prompt, address, tool, intent or note, `arguments` those of a tool or intent as JSON text,
    `height` the height the page wants in pixels. `refusal` is the message to send if it is refused.
    """

    kind: str
    text: str = ""
    arguments: str = ""
    height: int = 0
    refusal: Json | None = None


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page is told: theme and language, and arguments and result of its call."""

    dark: bool
    language: str
    arguments: str
    content: str
    data: Json | None = None


class PageTalk:
    """The protocol with one page: reads its messages and answers its requests."""

    def __init__(self, facts: PageFacts, say: Callable[[Json], None]) -> None:
        """`say` sends a message to the page."""
        self._facts, self._say = facts, say

    def take(self, text: str) -> PageAction | None:
        """Return what a message asks for, None if there is nothing to do."""
        if len(text) > MAX_MESSAGE:
            return None
        try:
            message = clean_values(json.loads(text))
        except (ValueError, RecursionError):
            return None
        if not isinstance(message, dict):
            return None
        return self._rpc(message) if message.get("jsonrpc") == "2.0" else self._plain(message)

    # MCP-UI

    def _plain(self, message: Json) -> PageAction | None:
        kind, payload = message.get("type"), message.get("payload")
        payload = payload if isinstance(payload, dict) else {}
        if kind in ("ui-lifecycle-iframe-ready", "ui-request-render-data"):
            data = {"renderData": self._facts.data or {}}
            self._say({"type": "ui-lifecycle-iframe-render-data", "payload": data, **_id_of(message)})
            return None
        if kind == "ui-size-change":
            return _size(payload)
        if not isinstance(kind, str) or kind not in _FIELDS:
            return None
        action = _action(kind, payload.get(_FIELDS[kind]), payload.get("params", {}))
        if action is None or not _id_of(message):
            return action
        self._say({"type": "ui-message-received", **_id_of(message)})
        if kind == TOOL:
            error = {"error": "The user did not allow it."}
            refusal = {"type": "ui-message-response", "payload": error, **_id_of(message)}
            return replace(action, refusal=refusal)
        self._say({"type": "ui-message-response", "payload": {"response": {}}, **_id_of(message)})
        return action

    # MCP Apps

    def _rpc(self, message: Json) -> PageAction | None:
        method, number, params = message.get("method"), message.get("id"), message.get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            return None
        if isinstance(number, bool) or not isinstance(number, int | str):
            return self._notified(method, params)
        if isinstance(number, str) and len(number) > 100:
            return None
        action: PageAction | None = None
        result: Json = {}
        match method:
            case "ui/initialize":
                result = self._initialized()
            case "ping":
                pass
            case "ui/request-display-mode":
                result = {"mode": "inline"}
            case "ui/message":
                action = _action(PROMPT, _text_of(params.get("content")), {})
                result = {} if action else {"isError": True}
            case "ui/open-link":
                action = _action(LINK, params.get("url"), {})
                result = {} if action else {"isError": True}
            case "tools/call":
                action = _action(TOOL, params.get("name"), params.get("arguments", {}))
                refusal = _error(number, _NOT_ALLOWED, "The user did not allow it.")
                if action is None:
                    self._say(refusal)
                return action and replace(action, refusal=refusal)
            case _:
                self._say(_error(number, _NO_METHOD, "Not supported."))
                return None
        self._say({"jsonrpc": "2.0", "id": number, "result": result})
        return action

    def _notified(self, method: str, params: Json) -> PageAction | None:
        """Handle a notification, which gets no answer."""
        if method == "ui/notifications/initialized":
            content = [{"type": "text", "text": self._facts.content}]
            self._tell("ui/notifications/tool-input", {"arguments": object_in(self._facts.arguments) or {}})
            self._tell("ui/notifications/tool-result", {"content": content})
        elif method == "ui/notifications/size-changed":
            return _size(params)
        elif method == "notifications/message":
            data = params.get("data")
            return _action(NOTIFY, data if isinstance(data, str) else json.dumps(data), {})
        return None

    def _tell(self, method: str, params: Json) -> None:
        self._say({"jsonrpc": "2.0", "method": method, "params": params})

    def _initialized(self) -> Json:
        return {
            "protocolVersion": _PROTOCOL,
            "hostInfo": {"name": "Moot", "version": __version__},
            "hostCapabilities": {"openLinks": {}, "logging": {}, "serverTools": {}, "message": {"text": {}}},
            "hostContext": {
                "theme": "dark" if self._facts.dark else "light",
                "displayMode": "inline",
                "availableDisplayModes": ["inline"],
                "locale": self._facts.language,
                "platform": "desktop",
            },
        }


def _action(kind: str, text: object, params: object) -> PageAction | None:
    if not isinstance(text, str) or not isinstance(params, dict):
        return None
    text = clean_text(text).strip()
    if kind == NOTIFY:
        text = " ".join(text.split())[: _MOST[NOTIFY]]
    if not text or len(text) > _MOST[kind]:
        return None
    arguments = json.dumps(params, ensure_ascii=False) if kind in (TOOL, INTENT) else ""
    return PageAction(kind, text, arguments)


def _size(payload: Json) -> PageAction | None:
    height = payload.get("height")
    if isinstance(height, bool) or not isinstance(height, int | float) or not 0 < height < 100_000:
        return None
    return PageAction(SIZE, height=round(height))


def _id_of(message: Json) -> Json:
    number = message.get("messageId")
    return {"messageId": number} if isinstance(number, str) and 0 < len(number) <= 100 else {}


def _text_of(content: object) -> str:
    """Return the text of a message's parts, nothing if one is no text."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    return "\n\n".join(text for text in texts if isinstance(text, str)) if all(texts) else ""


def _error(number: int | str, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
