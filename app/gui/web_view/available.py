"""Whether pages can be shown: the extra `webui` may not be installed; nothing of it is loaded before its use."""

import importlib.util
import os
from functools import cache

FLAGS = "--webrtc-ip-handling-policy=disable_non_proxied_udp --force-webrtc-ip-handling-policy"
"""What the engine starts with besides: a second wall behind the blocked requests, for calls between browsers."""


@cache
def available() -> bool:
    """Say whether the part that shows pages is installed."""
    return all(
        importlib.util.find_spec(f"PySide6.{name}") for name in ("QtWebEngineCore", "QtWebEngineWidgets")
    )


def prepare() -> None:
    """Set how the engine starts; call it before the first view is made."""
    given = os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", "")
    if FLAGS not in given:
        os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = f"{given} {FLAGS}".strip()
