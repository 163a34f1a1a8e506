"""What a page of a server may ask for: MCP-UI's five actions, and the same in MCP Apps' words; pure.

Every message is a stranger's: what is not exactly of a known form is dropped, without an answer.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from app import __version__
from app.core.text import clean_text, clean_values

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
    """Something a page asks for; `acted` says that the person had just done something in the page.

    `text` is the prompt, address, tool, intent or note, `arguments` a tool's or an intent's as JSON
    text, `height` the page's wish in pixels. `refusal` is what to tell the page where it is refused.
    """

    kind: str
    text: str = ""
    arguments: str = ""
    height: int = 0
    acted: bool = False
    refusal: Json | None = None


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page is told: the theme and language around it, the call it belongs to and its result."""

    dark: bool
    language: str
    arguments: str
    content: str
    data: Json | None = None


class PageTalk:
    """The conversation with one page: reads what it says, answers what asks for an answer."""

    def __init__(self, facts: PageFacts, say: Callable[[Json], None]) -> None:
        """`say` sends a message to the page."""
        self._facts = facts
        self._say = say

    def take(self, text: str, *, acted: bool) -> PageAction | None:
        """Return what a message asks for, None where there is nothing to do."""
        if len(text) > MAX_MESSAGE:
            return None
        try:
            message = clean_values(json.loads(text))
        except (ValueError, RecursionError):
            return None
        if not isinstance(message, dict):
            return None
        return self._rpc(message, acted) if message.get("jsonrpc") == "2.0" else self._plain(message, acted)

    # MCP-UI

    def _plain(self, message: Json, acted: bool) -> PageAction | None:
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
        action = _action(kind, payload.get(_FIELDS[kind]), payload.get("params", {}), acted)
        if action is None or not _id_of(message):
            return action
        self._say({"type": "ui-message-received", **_id_of(message)})
        if kind == TOOL:
            error = {"error": "The user did not allow it."}
            return _refusable(action, {"type": "ui-message-response", "payload": error, **_id_of(message)})
        self._say({"type": "ui-message-response", "payload": {"response": {}}, **_id_of(message)})
        return action

    # MCP Apps

    def _rpc(self, message: Json, acted: bool) -> PageAction | None:
        method, number, params = message.get("method"), message.get("id"), message.get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            return None
        if isinstance(number, bool) or not isinstance(number, int | str):
            return self._told(method, params, acted)
        if isinstance(number, str) and len(number) > 100:
            return None
        action: PageAction | None = None
        result: Json = {}
        match method:
            case "ui/initialize":
                result = self._welcome()
            case "ping":
                pass
            case "ui/request-display-mode":
                result = {"mode": "inline"}
            case "ui/message":
                action = _action(PROMPT, _text_of(params.get("content")), {}, acted)
                result = {} if action else {"isError": True}
            case "ui/open-link":
                action = _action(LINK, params.get("url"), {}, acted)
                result = {} if action else {"isError": True}
            case "tools/call":
                action = _action(TOOL, params.get("name"), params.get("arguments", {}), acted)
                refusal = _error(number, _NOT_ALLOWED, "The user did not allow it.")
                if action is None:
                    self._say(refusal)
                return action and _refusable(action, refusal)
            case _:
                self._say(_error(number, _NO_METHOD, "Not supported."))
                return None
        self._say({"jsonrpc": "2.0", "id": number, "result": result})
        return action

    def _told(self, method: str, params: Json, acted: bool) -> PageAction | None:
        """Take what asks for no answer."""
        if method == "ui/notifications/initialized":
            content = [{"type": "text", "text": self._facts.content}]
            self._tell("ui/notifications/tool-input", {"arguments": _object(self._facts.arguments)})
            self._tell("ui/notifications/tool-result", {"content": content})
        elif method == "ui/notifications/size-changed":
            return _size(params)
        elif method == "notifications/message":
            data = params.get("data")
            return _action(NOTIFY, data if isinstance(data, str) else json.dumps(data), {}, acted)
        return None

    def _tell(self, method: str, params: Json) -> None:
        self._say({"jsonrpc": "2.0", "method": method, "params": params})

    def _welcome(self) -> Json:
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


def _action(kind: str, text: object, params: object, acted: bool) -> PageAction | None:
    if not isinstance(text, str) or not isinstance(params, dict):
        return None
    text = clean_text(text).strip()
    if kind == NOTIFY:
        text = " ".join(text.split())[: _MOST[NOTIFY]]
    if not text or len(text) > _MOST[kind]:
        return None
    arguments = json.dumps(params, ensure_ascii=False) if kind in (TOOL, INTENT) else ""
    return PageAction(kind, text, arguments, acted=acted)


def _refusable(action: PageAction, refusal: Json) -> PageAction:
    return PageAction(action.kind, action.text, action.arguments, acted=action.acted, refusal=refusal)


def _size(payload: Json) -> PageAction | None:
    height = payload.get("height")
    if isinstance(height, bool) or not isinstance(height, int | float) or not 0 < height < 100_000:
        return None
    return PageAction(SIZE, height=round(height))


def _id_of(message: Json) -> Json:
    number = message.get("messageId")
    return {"messageId": number} if isinstance(number, str) and 0 < len(number) <= 100 else {}


def _text_of(content: object) -> str:
    """Return the words of a message's parts, nothing where one is no text."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    return "\n\n".join(text for text in texts if isinstance(text, str)) if all(texts) else ""


def _error(number: int | str, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _object(arguments: str) -> object:
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
