"""A file of a session as plain text, with its older versions."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.core.session_files import FileVersion
from app.core.texts import exact, size_text, visible
from app.gui.display.appearance import Language, Look
from app.gui.pages.chat.session_files import COPY, FOLDER, SAVE, author_text
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import Choice, button
from app.gui.widgets.text import ElidedLabel, named, plain_label

MOST_SHOWN = 1_000_000
PIECE = 20_000
SIZE = QSize(820, 640)
RESTORE = "restore"


def shown_text(data: bytes) -> str | None:
    """Return what a file holds as it is shown, None for what is too large or no text."""
    try:
        return visible(data.decode()) if len(data) <= MOST_SHOWN else None
    except UnicodeDecodeError:
        return None


class FileDialog(QDialog):
    """Shows a version of a file; nothing in it is opened or run.

    Signals: version_chosen(version), asked(SAVE, COPY, FOLDER or RESTORE).
    """

    version_chosen = Signal(int)
    asked = Signal(str)

    def __init__(self, words: Language, look: Look, versions: Sequence[FileVersion], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("file_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(SIZE.boundedTo(parent.size()))
        self._words, self._versions = words, versions
        self._left = ""
        title = exact(versions[-1].path)
        self.setWindowTitle(title)
        self.versions = named("file_versions", Choice(look))
        self.versions.setAccessibleName(words("files.versions"))
        self.versions.activated.connect(lambda _place: self.version_chosen.emit(self.versions.value()))
        self._facts = plain_label("hint")
        self.text = named("file_text", QPlainTextEdit())
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setAccessibleName(title)
        self._no_text = plain_label("hint", wrap=True)
        self.buttons = {
            action: button(
                "", f"file_{action}", partial(self.asked.emit, action), text=words(f"files.{action}")
            )
            for action in (RESTORE, COPY, FOLDER, SAVE)
        }
        close = button("primary", "file_close", self.reject, text=words("dialog.close"))
        close.setDefault(True)
        head = hbox((ElidedLabel("page_title", text=title), 1), self._facts, self.versions, spacing=10)
        foot = hbox(*self.buttons.values(), STRETCH, close, spacing=8)
        vbox(head, self._no_text, (self.text, 1), foot, inside=self, margins=(22, 18, 22, 16), spacing=12)
        self._more = QTimer(self, interval=0)
        self._more.timeout.connect(self._fill)

    def show_version(self, shown: FileVersion, text: str | None) -> None:
        """Show what a version holds; None for what cannot be shown."""
        words, newest = self._words, self._versions[-1]
        offered = (
            (one.version, words("files.version", version=one.version)) for one in reversed(self._versions)
        )
        self.versions.offer(offered, shown.version)
        self._facts.setText(f"{author_text(shown, words)} · {size_text(words, shown.bytes)}")
        self.buttons[RESTORE].setVisible(shown.version != newest.version)
        self.buttons[COPY].setEnabled(text is not None)
        self._no_text.setText(words("files.not_shown"))
        self._no_text.setVisible(text is None)
        self.text.setVisible(text is not None)
        self.text.clear()
        self._left = text or ""
        self._fill()

    def _fill(self) -> None:
        """Add a piece of the text: a long one in a single step would hold the window up."""
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._left[:PIECE])
        self._left = self._left[PIECE:]
        if self._left:
            self._more.start()
        else:
            self._more.stop()
