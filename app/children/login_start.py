"""Lets Moot start without a window when the user logs in: an autostart entry of the desktop (Linux), a launch
agent (macOS), or a value in the user's part of the registry (Windows).
"""

import contextlib
import os
import plistlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from app.children.private_files import replace_text
from app.core.errors import StorageError

_RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
_NAME = "Moot background"
_LABEL = "app.moot.background"


class BackgroundAtLogin:
    """Implements `core.schedule.LoginStart` for a data directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        self._file = config / "autostart" / "moot-background.desktop"
        if sys.platform == "darwin":
            self._file = Path.home() / "Library" / "LaunchAgents" / f"{_LABEL}.plist"
        self.place = rf"HKEY_CURRENT_USER\{_RUN}\{_NAME}" if sys.platform == "win32" else str(self._file)

    def is_installed(self) -> bool:
        """Say whether this Moot starts so, with this data directory."""
        if sys.platform == "win32":
            return self._in_registry() == self._text()
        with contextlib.suppress(OSError, ValueError):
            return self._file.read_text(encoding="utf-8") == self._text()
        return False

    def install(self) -> None:
        """Write the entry, in place of one of another data directory. Raises StorageError."""
        with self._named():
            if sys.platform == "win32":
                import winreg

                with winreg.CreateKey(winreg.HKEY_CURRENT_USER, _RUN) as key:
                    winreg.SetValueEx(key, _NAME, 0, winreg.REG_SZ, self._text())
            else:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                replace_text(self._file, self._text())

    def remove(self) -> None:
        """Remove the entry, if there is one. Raises StorageError."""
        with self._named(), contextlib.suppress(FileNotFoundError):
            if sys.platform == "win32":
                import winreg

                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN, 0, winreg.KEY_SET_VALUE) as key:
                    winreg.DeleteValue(key, _NAME)
            else:
                self._file.unlink()

    def _text(self) -> str:
        command = [*_program(), "background", "--data-dir", str(self._root)]
        if sys.platform == "win32":
            return subprocess.list2cmdline(command)
        if sys.platform == "darwin":
            agent = {"Label": _LABEL, "ProgramArguments": command, "RunAtLoad": True}
            return plistlib.dumps(agent).decode()
        line = " ".join(f'"{_escaped(word)}"' for word in command)
        return f"[Desktop Entry]\nType=Application\nName=Moot\nNoDisplay=true\nExec={line}\n"

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            # No entry can hold every path.
            detail = getattr(error, "strerror", "") or str(self._root)
            raise StorageError("login_start", path=self.place, detail=detail) from error

    def _in_registry(self) -> str:
        if sys.platform == "win32":
            import winreg

            with contextlib.suppress(OSError), winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN) as key:
                return str(winreg.QueryValueEx(key, _NAME)[0])
        return ""


def _program() -> list[str]:
    """Return the words that start this Moot from anywhere, without a console of its own."""
    python = Path(sys.executable)
    if getattr(sys, "frozen", False):
        return [str(python)]
    if sys.platform == "win32" and python.stem.casefold() == "moot":
        # The launcher for a terminal is in a folder below the one without a console.
        folder = python.parent.parent if python.parent.name == "bin" else python.parent
        return [str(folder / "Moot.exe"), "-m", "app"]
    script = python.with_name("moot.exe" if sys.platform == "win32" else "moot")
    return [str(script)] if script.is_file() else [str(python), "-m", "app"]


def _escaped(word: str) -> str:
    """Return a word as it stands between quotation marks in a desktop entry."""
    for character in ("\\", '"', "`", "$"):
        word = word.replace(character, "\\" + character)
    # The value of a key is unescaped once more before, and ends with its line.
    word = word.replace("\\", "\\\\").replace("%", "%%")
    return word.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
