"""Pages of MCP servers, shown in a sandbox without network, files or storage.

What a page is and what it may ask for: mcp_page. The widget: sandbox_view, which needs the extra `webui`; import it
late and only if `available()`. viewer_offer is what cards show of the installation of that.
"""

import importlib.util
import os
from functools import cache

FLAGS = "--webrtc-ip-handling-policy=disable_non_proxied_udp --force-webrtc-ip-handling-policy"
"""Flags of the web engine that also block WebRTC, which bypasses the request interceptor."""


@cache
def available() -> bool:
    """Return whether the extra `webui` is installed; nothing of it is imported."""
    return all(
        importlib.util.find_spec(f"PySide6.{name}") for name in ("QtWebEngineCore", "QtWebEngineWidgets")
    )


def prepare() -> None:
    """Set the flags of the web engine; call it before the first view is made."""
    given = os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", "")
    if FLAGS not in given:
        os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = f"{given} {FLAGS}".strip()
