"""The line at the foot of a page that shows the progress of its work; used by Data in the settings."""

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from app.gui.display.appearance import Language
from app.gui.display.descriptions import time_text
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import named, plain_label, show_as

BEAT_MS = 1_000


class WorkLine(QWidget):
    """Shows progress and elapsed time, and Cancel if the work can be stopped."""

    def __init__(self, words: Language, name: str) -> None:
        """`name` begins the object names of its parts."""
        super().__init__()
        self._words = words
        self._count = (0, 0)
        self._began = 0.0
        self._on_cancel: Callable[[], object] | None = None
        self.said = named(f"{name}_said", plain_label("hint", wrap=True))
        self._cancel = button("", f"{name}_cancel", self._cancel_it)
        self._cancel.hide()
        self._beat = QTimer(self)
        self._beat.setInterval(BEAT_MS)
        self._beat.timeout.connect(self._show)
        hbox((self.said, 1), (self._cancel, 0, Qt.AlignmentFlag.AlignTop), inside=self)

    def begin(self, total: int = 0, cancel: Callable[[], object] | None = None) -> None:
        """Show that work has begun, of `total` parts if known; `cancel` is called to stop it."""
        self._began, self._count, self._on_cancel = monotonic(), (0, total), cancel
        show_as(self.said, "hint", "")
        self._cancel.setText(self._words("dialog.cancel"))
        self._cancel.setVisible(cancel is not None)
        self._beat.start()
        self._show()

    def show_count(self, done: int, total: int) -> None:
        """Show the progress."""
        if self._beat.isActive():
            self._count = (done, total)
            self._show()

    def say(self, text: str, kind: str = "hint") -> None:
        """Show a text when the work has ended; `kind` is hint or error."""
        self._beat.stop()
        self._on_cancel = None
        self._cancel.hide()
        show_as(self.said, kind, text)

    def _show(self) -> None:
        words, (done, total) = self._words, self._count
        parts = [words("data.progress", done=done, total=total) if total else words("data.working")]
        if seconds := int(monotonic() - self._began):
            parts.append(time_text(seconds, words))
        self.said.setText(" · ".join(parts))

    def _cancel_it(self) -> None:
        if self._on_cancel is not None:
            self._on_cancel()
