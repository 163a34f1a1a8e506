"""What the window remembers between two runs: place, size, panels, and drafts; kept in `window.ini`.

Not a setting: losing it costs nothing but a habit.
"""

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

MOST_DRAFTS = 50


class WindowState:
    """Reads and writes the window's memory of itself."""

    def __init__(self, data_dir: Path) -> None:
        self._settings = QSettings(str(data_dir / "window.ini"), QSettings.Format.IniFormat)

    def bytes_of(self, name: str) -> QByteArray:
        """Return what Qt made of a geometry or a splitter, empty when nothing was kept."""
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

    def draft(self, session_id: str) -> str:
        """Return what was left unsent for a session (`""` is Setup's topic)."""
        return self.text(f"drafts/{session_id or 'topic'}")

    def keep_draft(self, session_id: str, text: str) -> None:
        """Keep what is left unsent; of many sessions only the newest ones'."""
        name = f"drafts/{session_id or 'topic'}"
        if not text:
            self._settings.remove(name)
            return
        self._settings.setValue(name, text)
        self._settings.beginGroup("drafts")
        names = sorted(key for key in self._settings.childKeys() if key != "topic")
        for old in names[: max(0, len(names) - MOST_DRAFTS)]:
            self._settings.remove(old)
        self._settings.endGroup()

    def save(self) -> None:
        """Write to the disk now."""
        self._settings.sync()
