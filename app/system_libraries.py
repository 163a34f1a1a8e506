"""Which of the system's libraries Qt needs and this Linux lacks; used by __main__ and doctor.

Qt aborts the process when one of its screen's libraries is missing, so they are looked for before
there is an application.
"""

import ctypes
import os
import shutil
import sys

# The library Qt loads, and what Debian's and Fedora's packages of it are called.
_BASE = (
    ("libEGL.so.1", "libegl1", "libglvnd-egl"),
    ("libGL.so.1", "libgl1", "libglvnd-glx"),
    ("libglib-2.0.so.0", "libglib2.0-0", "glib2"),
    ("libdbus-1.so.3", "libdbus-1-3", "dbus-libs"),
    ("libfontconfig.so.1", "libfontconfig1", "fontconfig"),
    ("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon"),
)
_SCREEN = (
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11"),
    ("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor"),
    ("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms"),
    ("libxcb-shape.so.0", "libxcb-shape0", "libxcb"),
)


def missing_libraries() -> list[tuple[str, str, str]]:
    """Return (library, Debian package, Fedora package) of all that is missing; loads what is there."""
    if not sys.platform.startswith("linux"):
        return []
    offscreen = os.environ.get("QT_QPA_PLATFORM", "").startswith(("offscreen", "minimal"))
    return [row for row in (_BASE if offscreen else _BASE + _SCREEN) if not _loads(row[0])]


def install_command(missing: list[tuple[str, str, str]]) -> str:
    """Return the command that installs them on this machine."""
    debian, fedora = [row[1] for row in missing], [row[2] for row in missing]
    if shutil.which("apt-get") is None and shutil.which("dnf") is not None:
        return "sudo dnf install -y " + " ".join(fedora)
    return "sudo apt-get install -y --no-install-recommends " + " ".join(debian)


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
