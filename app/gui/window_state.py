"""What the window remembers between two runs: place, size, panels and what is read; kept in `window.ini`.

Not a setting: losing it costs nothing but a habit.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

MOST_KEPT = 50


class WindowState:
    """Reads and writes the window's memory of itself."""

    def __init__(self, data_dir: Path) -> None:
        self._settings = QSettings(str(data_dir / "window.ini"), QSettings.Format.IniFormat)

    def bytes_of(self, name: str) -> QByteArray:
        """Return what Qt made of a geometry, empty when nothing was kept."""
        value = self._settings.value(name)
        return value if isinstance(value, QByteArray) else QByteArray()

    def text(self, name: str, default: str = "") -> str:
        """Return a word that was kept."""
        return str(self._settings.value(name, default))

    def flag(self, name: str, default: bool) -> bool:
        """Return a yes or no that was kept."""
        return self.text(name, "true" if default else "false") == "true"

    def keep(self, name: str, value: QByteArray | str | bool) -> None:
        """Keep a value until the next run."""
        self._settings.setValue(name, ("true" if value else "false") if isinstance(value, bool) else value)

    def widths(self, name: str) -> list[int]:
        """Return widths in pixels that were kept, none where nothing was."""
        return [int(width) for width in self.text(name).split() if width.isdecimal()]

    def keep_widths(self, name: str, widths: Sequence[int]) -> None:
        """Keep widths in pixels until the next run."""
        self.keep(name, " ".join(str(width) for width in widths))

    def old_drafts(self) -> dict[str, str]:
        """Return the texts that were kept here before drafts had files of their own, by what they were for."""
        self._settings.beginGroup("drafts")
        found = {name: str(self._settings.value(name)) for name in self._settings.childKeys()}
        self._settings.endGroup()
        return found

    def forget_old_drafts(self) -> None:
        """Let go of them, once they are kept elsewhere."""
        self._settings.remove("drafts")
        self.save()

    def place(self, session_id: str) -> str:
        """Return where a session was read, empty for its end."""
        return self.text(f"places/{session_id}")

    def keep_place(self, session_id: str, place: str) -> None:
        """Keep where a session is read; of many sessions only the newest ones'."""
        settings = self._settings
        if not place:
            settings.remove(f"places/{session_id}")
            return
        settings.setValue(f"places/{session_id}", place)
        settings.beginGroup("places")
        # Ids begin with the time they were made, so their order is that of their age.
        names = sorted(settings.childKeys())
        for old in names[: max(0, len(names) - MOST_KEPT)]:
            settings.remove(old)
        settings.endGroup()

    def save(self) -> None:
        """Write to the disk now."""
        self._settings.sync()
