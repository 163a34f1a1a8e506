"""Which of Qt's plugins types Korean, Japanese and Chinese on Linux; used by main before Qt starts, and by doctor.

The Qt that comes with Moot has a plugin for ibus and none for fcitx. fcitx5 answers on ibus's address as well.
"""

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CHOICE = "QT_IM_MODULES"
# Tried in this order: where neither ibus nor fcitx5 runs, keys can be composed at least.
INSTEAD = "ibus;compose"
_SERVED = ("ibus", "fcitx")
# They stand for the input method that X11 names in XMODIFIERS, to which Qt does not speak.
_X11 = {"xim", "compose"}
# No input method is wanted, or Qt needs no plugin for it.
_NO_PLUGIN = {"none", "simple", "wayland"}


@dataclass(frozen=True, slots=True, kw_only=True)
class InputMethod:
    """The input methods that are asked for; `instead` is the value of `QT_IM_MODULES` where Qt needs another one,
    `served` says whether one that is asked for can be used.
    """

    asked: tuple[str, ...] = ()
    instead: str = ""
    served: bool = True


def input_method(environment: Mapping[str, str] | None = None, plugins: Path | None = None) -> InputMethod:
    """Return what the environment asks of a Qt that has its plugins in a folder."""
    if not sys.platform.startswith("linux"):
        return InputMethod()
    environment = os.environ if environment is None else environment
    names = environment.get(CHOICE) or environment.get("QT_IM_MODULE", "")
    asked = tuple(name.strip().lower() for name in names.split(";") if name.strip())
    # Under Wayland Qt finds the input method by itself where none is named.
    wayland = bool(environment.get("WAYLAND_DISPLAY"))
    if set(asked) <= _X11 and not (wayland and not environment.get("QT_QPA_PLATFORM", "").startswith("xcb")):
        named = environment.get("XMODIFIERS", "").partition("@im=")[2].strip().lower()
        served = named.startswith(_SERVED)
        return InputMethod(asked=(named,), instead=INSTEAD) if served else InputMethod(asked=asked)
    folder = plugins or _plugin_folder()
    files = [path.name for path in folder.glob("lib*.so")] if folder is not None else []
    # A Qt that did not come with Moot keeps its plugins elsewhere, and has its own.
    if not asked or not files or any(_has_plugin(name, files) for name in asked):
        return InputMethod(asked=asked)
    served = any(name.startswith(_SERVED) for name in asked)
    return InputMethod(asked=asked, instead=INSTEAD if served else "", served=served)


def choose_input_method() -> bool:
    """Let Qt use the plugin of ibus where it has none of those that are asked for; return whether that is fcitx5."""
    method = input_method()
    if method.instead:
        os.environ[CHOICE] = method.instead
    return bool(method.instead) and any(name.startswith("fcitx") for name in method.asked)


def _has_plugin(name: str, files: list[str]) -> bool:
    stem = name.partition(":")[0].rstrip("0123456789")
    return stem in _NO_PLUGIN | _X11 or any(file.startswith(f"lib{stem}") for file in files)


def _plugin_folder() -> Path | None:
    """Return where the input methods of Moot's Qt are, None where others may be added to them."""
    found = None if os.environ.get("QT_PLUGIN_PATH") else importlib.util.find_spec("PySide6")
    places = found.submodule_search_locations if found is not None else None
    return Path(places[0]) / "Qt" / "plugins" / "platforminputcontexts" if places else None
