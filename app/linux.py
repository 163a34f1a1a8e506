"""What Qt needs of a Linux desktop: libraries, and a plugin for the input method of Korean, Japanese
and Chinese.

Qt aborts the process when a library of its screen is missing. Its wheel has a plugin for ibus and none for
fcitx, but fcitx5 answers at the address of ibus too.
"""

import ctypes
import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# The library that Qt loads, and the names of Debian's and Fedora's packages.
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
CHOICE = "QT_IM_MODULES"
# Tried in this order; if neither ibus nor fcitx5 runs, keys can be composed at least.
INSTEAD = "ibus;compose"
_SERVED = ("ibus", "fcitx")
# These stand for the input method that XMODIFIERS names, which Qt does not support.
_X11 = {"xim", "compose"}
# No input method is wanted, or Qt needs no plugin for it.
_NO_PLUGIN = {"none", "simple", "wayland"}


def missing_libraries() -> list[tuple[str, str, str]]:
    """Return (library, Debian package, Fedora package) of every missing library; loads the others."""
    if not sys.platform.startswith("linux"):
        return []
    offscreen = os.environ.get("QT_QPA_PLATFORM", "").startswith(("offscreen", "minimal"))
    return [row for row in (_BASE if offscreen else _BASE + _SCREEN) if not _loads(row[0])]


def install_command(missing: list[tuple[str, str, str]]) -> str:
    """Return the command that installs the missing libraries on this computer."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class InputMethod:
    """The input methods that are asked for.

    `instead` is the value that `QT_IM_MODULES` needs for this Qt, "" if it can stay; `served` says whether
    one of those asked for can be used.
    """

    asked: tuple[str, ...] = ()
    instead: str = ""
    served: bool = True


def input_method(environment: Mapping[str, str] | None = None, plugins: Path | None = None) -> InputMethod:
    """Return what the environment asks for, given the folder of Qt's plugins."""
    if not sys.platform.startswith("linux"):
        return InputMethod()
    environment = os.environ if environment is None else environment
    names = environment.get(CHOICE) or environment.get("QT_IM_MODULE", "")
    asked = tuple(name.strip().lower() for name in names.split(";") if name.strip())
    # Under Wayland Qt finds the input method by itself if none is named.
    wayland = bool(environment.get("WAYLAND_DISPLAY"))
    if set(asked) <= _X11 and not (wayland and not environment.get("QT_QPA_PLATFORM", "").startswith("xcb")):
        named = environment.get("XMODIFIERS", "").partition("@im=")[2].strip().lower()
        served = named.startswith(_SERVED)
        return InputMethod(asked=(named,), instead=INSTEAD) if served else InputMethod(asked=asked)
    folder = plugins or _plugin_folder()
    files = [path.name for path in folder.glob("lib*.so")] if folder is not None else []
    # Another Qt than Moot's keeps its own plugins elsewhere.
    if not asked or not files or any(_has_plugin(name, files) for name in asked):
        return InputMethod(asked=asked)
    served = any(name.startswith(_SERVED) for name in asked)
    return InputMethod(asked=asked, instead=INSTEAD if served else "", served=served)


def choose_input_method() -> bool:
    """Let Qt use its ibus plugin if it has none of those asked for; return whether fcitx5 is asked for."""
    method = input_method()
    if method.instead:
        os.environ[CHOICE] = method.instead
    return bool(method.instead) and any(name.startswith("fcitx") for name in method.asked)


def _has_plugin(name: str, files: list[str]) -> bool:
    stem = name.partition(":")[0].rstrip("0123456789")
    return stem in _NO_PLUGIN | _X11 or any(file.startswith(f"lib{stem}") for file in files)


def _plugin_folder() -> Path | None:
    """Return the folder of Qt's input method plugins, None if more plugins may be elsewhere."""
    found = None if os.environ.get("QT_PLUGIN_PATH") else importlib.util.find_spec("PySide6")
    places = found.submodule_search_locations if found is not None else None
    return Path(places[0]) / "Qt" / "plugins" / "platforminputcontexts" if places else None
