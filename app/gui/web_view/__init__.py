"""Pages of MCP servers, shown in a sandbox without network, files or storage.

What a page is and what it may ask for: mcp_page. The widget: sandbox_view, which needs the extra `webui`;
import it late and only if `available()`.
"""

import importlib.util
import os
import sys
from functools import cache

FLAGS = "--webrtc-ip-handling-policy=disable_non_proxied_udp --force-webrtc-ip-handling-policy"
"""Flags of the web engine that also block WebRTC, which bypasses the request interceptor."""

# What the engine's sandbox begins with; Debian and others forbid it to programs that have no leave.
_NAMESPACE = """
import ctypes, os
own = f"{os.getuid()} {os.getuid()} 1"
if ctypes.CDLL(None).unshare(0x10000000):
    raise SystemExit(1)
with open("/proc/self/uid_map", "w") as mapped:
    mapped.write(own)
"""


@cache
def available() -> bool:
    """Return whether the extra `webui` is installed; nothing of it is imported."""
    modules = "PySide6.QtWebEngineCore", "PySide6.QtWebEngineWidgets"
    return all(importlib.util.find_spec(name) for name in modules)


def unguarded() -> bool:
    """Return whether the user has switched the sandbox of the web engine off, by a variable of the engine."""
    given = os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", "").split()
    return os.environ.get("QTWEBENGINE_DISABLE_SANDBOX") == "1" or "--no-sandbox" in given


def sandbox_problem() -> str:
    """Return why the sandbox of the web engine can't start, "root" or "sandbox"; "" where it can,
    or is switched off.

    The engine would end the process. Each has a text `page.no_<problem>`. The first call waits for a process:
    call it in a thread.
    """
    if not sys.platform.startswith("linux") or unguarded():
        return ""
    if os.geteuid() == 0:
        return "root"
    return "" if _may_begin(sys.executable) else "sandbox"


@cache
def _may_begin(python: str) -> bool:
    """Return whether this process may make what the sandbox begins with; a child process tries it."""
    # Each start imports this module, and few ever get here.
    import subprocess

    try:
        tried = subprocess.run([python, "-I", "-S", "-c", _NAMESPACE], capture_output=True, check=False)
    except OSError:
        return False
    return tried.returncode == 0


def prepare() -> None:
    """Set the flags of the web engine; call it before the first view is made."""
    given = os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", "")
    if FLAGS not in given:
        os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = f"{given} {FLAGS}".strip()
