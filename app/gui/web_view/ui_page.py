"""The page in a tool's result, read from its resource: HTML, an address, or something Moot cannot show; pure.

Both forms are read: MCP-UI's (text/html, text/uri-list, remote-dom) and MCP Apps' (profile=mcp-app).
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import Message as MimeHeader

MAX_PAGE = 2_000_000
HTML = "html"
ADDRESS = "address"
UNKNOWN = "unknown"
TOO_LARGE = "too_large"
UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class UiPage:
    """A page: `kind` is html, address, or why it cannot be shown: unknown, too_large, unreadable.

    `text` is the HTML or the address, `mime` the type as the server names it; `app` says that it
    speaks as MCP Apps do. `height` is what the server would like, in pixels, 0 for no wish; `data`
    what the page gets when it asks for its data.
    """

    kind: str
    text: str = ""
    mime: str = ""
    app: bool = False
    height: int = 0
    data: Mapping[str, object] | None = None


def read_page(resources: Sequence[Mapping[str, object]]) -> UiPage:
    """Return the first page among a result's resources; one that cannot be read is unreadable."""
    for item in resources:
        resource = item.get("resource")
        if isinstance(resource, Mapping) and str(resource.get("uri", "")).startswith("ui://"):
            return _read(resource)
    return UiPage(UNREADABLE)


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
        return UiPage(
            HTML,
            body,
            mime,
            app=header.get_param("profile") == "mcp-app",
            height=_height(meta.get("mcpui.dev/ui-preferred-frame-size")),
            data=data if isinstance(data, Mapping) else None,
        )
    if kind == "text/uri-list":
        lines = (line.strip() for line in body.splitlines())
        address = next((line for line in lines if line.lower().startswith(("http://", "https://"))), "")
        return UiPage(ADDRESS, address, mime) if address else UiPage(UNREADABLE, mime=mime)
    return UiPage(UNKNOWN, mime=mime)


def _body(resource: Mapping[str, object]) -> str | None:
    """Return the text of a resource, also where it comes as bytes; None where there is none."""
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
    """Return the height of a size such as ["300px", "200px"], 0 where it is none."""
    wanted = size[1] if isinstance(size, list | tuple) and len(size) == 2 else ""
    digits = str(wanted).removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 6 else 0
