"""Whether what is written in an editor is saved; it saves by itself, a moment after the last change."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel

from app.gui.display.i18n import Language

SAVE_AFTER_MS = 700
KINDS = {"assistant.saving": "hint", "assistant.saved": "ok", "assistant.not_saved": "error"}


class SaveState(QLabel):
    """Says how far the saving is; emits `due` when what was written is to be saved.

    `unsaved` holds while something is written that was not asked to be saved, `saving` while it is being.
    """

    due = Signal()

    def __init__(self, language: Language, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._language = language
        self._key = ""
        self.unsaved = self.saving = False
        self._timer = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)
        self._timer.timeout.connect(self.due)
        language.changed.connect(lambda: self._say(self._key))

    def touch(self) -> None:
        """Take note that something was written."""
        self.unsaved = True
        self._timer.start()
        self._say("assistant.saving")

    def take(self) -> bool:
        """Return whether something is to be saved; from now on it is not."""
        self._timer.stop()
        was, self.unsaved = self.unsaved, False
        return was

    def show_saved(self) -> None:
        """Say that it is on the disk, unless more was written meanwhile."""
        self.saving = False
        if not self.unsaved:
            self._say("assistant.saved")

    def show_failed(self) -> None:
        """Say that it is not saved; why stands beside a field."""
        self.saving = False
        self._say("assistant.not_saved")

    def start_over(self) -> None:
        """Say nothing: what is shown was not written here."""
        self._timer.stop()
        self.unsaved = self.saving = False
        self._say("")

    def _say(self, key: str) -> None:
        self._key = key
        self.setProperty("kind", KINDS.get(key, "hint"))
        self.style().unpolish(self)
        self.style().polish(self)
        self.setText(self._language(key) if key else "")
