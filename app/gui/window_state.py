"""State of the window kept between runs in `window.ini`: size, panels, scroll positions.

It is no setting: losing it does no harm.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

MOST_KEPT = 50


class WindowState:
    """Reads and writes `window.ini`."""

    def __init__(self, data_dir: Path) -> None:
        self._settings = QSettings(str(data_dir / "window.ini"), QSettings.Format.IniFormat)

    def bytes_of(self, name: str) -> QByteArray:
        """Return bytes that Qt made of a geometry, empty if there are none."""
        value = self._settings.value(name)
        return value if isinstance(value, QByteArray) else QByteArray()

    def text(self, name: str, default: str = "") -> str:
        """Return a text value."""
        return str(self._settings.value(name, default))

    def flag(self, name: str, default: bool) -> bool:
        """Return a yes or no value."""
        return self.text(name, "true" if default else "false") == "true"

    def keep(self, name: str, value: QByteArray | str | bool) -> None:
        """Store a value."""
        self._settings.setValue(name, ("true" if value else "false") if isinstance(value, bool) else value)

    def widths(self, name: str) -> list[int]:
        """Return stored widths in pixels, empty if there are none."""
        return [int(width) for width in self.text(name).split() if width.isdecimal()]

    def keep_widths(self, name: str, widths: Sequence[int]) -> None:
        """Store widths in pixels."""
        self.keep(name, " ".join(str(width) for width in widths))

    def old_drafts(self) -> dict[str, str]:
        """Return the drafts that older versions stored here, by place."""
        self._settings.beginGroup("drafts")
        found = {name: str(self._settings.value(name)) for name in self._settings.childKeys()}
        self._settings.endGroup()
        return found

    def forget_old_drafts(self) -> None:
        """Delete them, once they are stored elsewhere."""
        self._settings.remove("drafts")
        self.save()

    def place(self, session_id: str) -> str:
        """Return the scroll position of a session, "" for its end."""
        return self.text(f"places/{session_id}")

    def keep_place(self, session_id: str, place: str) -> None:
        """Store the scroll position of a session; only those of the newest sessions are kept."""
        settings = self._settings
        if not place:
            settings.remove(f"places/{session_id}")
            return
        settings.setValue(f"places/{session_id}", place)
        settings.beginGroup("places")
        # Ids begin with their time, so their order is that of their age.
        names = sorted(settings.childKeys())
        for old in names[: max(0, len(names) - MOST_KEPT)]:
            settings.remove(old)
        settings.endGroup()

    def save(self) -> None:
        """Write the file now."""
        self._settings.sync()
