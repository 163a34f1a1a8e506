"""The files of a message that is being written: those attached, and those still being read."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.core.message import Attachment
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.files.attachments import is_image
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import icon_button, name_button
from app.gui.widgets.label import ElidedLabel

HEIGHT = 40
CHIP_WIDTH = 200


class AttachmentStrip(QScrollArea):
    """Shows attachments in a row that scrolls sideways; hidden if there are none.

    Signals: changed(), removed(attachment, position) after the user removed one.
    """

    changed = Signal()
    removed = Signal(object, int)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._look = look
        self._attachments: tuple[Attachment, ...] = ()
        self.setObjectName("attachments")
        self.setWidgetResizable(True)
        self.setFixedHeight(HEIGHT)
        self.hide()

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the attachments in order."""
        return self._attachments

    def show_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments."""
        if tuple(attachments) == self._attachments:
            return
        self._attachments = tuple(attachments)
        body = QWidget()
        row = hbox(inside=body, margins=(0, 2, 0, 2), spacing=6)
        for place, attachment in enumerate(self._attachments):
            row.addWidget(self._chip(place, attachment))
        row.addStretch(1)
        self.setWidget(body)
        self.setVisible(bool(self._attachments))
        self.changed.emit()

    def add(self, attachments: Sequence[Attachment]) -> None:
        """Add attachments."""
        self.show_attachments((*self._attachments, *attachments))

    def _chip(self, place: int, attachment: Attachment) -> QFrame:
        chip = QFrame()
        chip.setProperty("kind", "card")
        chip.setMaximumWidth(CHIP_WIDTH)
        name = ElidedLabel("meta", text=attachment.name)
        icon = icon_button(self._look, "image" if is_image(attachment) else "file-text")
        icon.setFixedSize(20, 20)
        icon.setEnabled(False)
        remove = icon_button(self._look, "x", f"attachment_remove_{place + 1}")
        remove.setFixedSize(22, 22)
        name_button(remove, self._language("chat.attachment.remove", name=attachment.name))
        remove.clicked.connect(lambda: self._on_remove(place))
        hbox(icon, (name, 1), remove, inside=chip, margins=(6, 3, 4, 3), spacing=4)
        name.setMinimumWidth(min(name.sizeHint().width(), CHIP_WIDTH - 70))
        return chip

    def _on_remove(self, place: int) -> None:
        gone = self._attachments[place]
        self.show_attachments(self._attachments[:place] + self._attachments[place + 1 :])
        self.removed.emit(gone, place)


class ReadingStrip(QScrollArea):
    """Shows the files being read; hidden if there are none; emits `cancelled` with a file's number."""

    cancelled = Signal(int)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._look = look
        self._names: dict[int, str] = {}
        self.setObjectName("readings")
        self.setWidgetResizable(True)
        self.setFixedHeight(HEIGHT)
        self.hide()
        language.changed.connect(self._fill)

    def __bool__(self) -> bool:
        return bool(self._names)

    def show_readings(self, names: Mapping[int, str]) -> None:
        """Show these files: names by number."""
        if dict(names) != self._names:
            self._names = dict(names)
            self._fill()
            self.setVisible(bool(names))

    def _fill(self) -> None:
        body = QWidget()
        row = hbox(inside=body, margins=(0, 2, 0, 2), spacing=6)
        for number, name in self._names.items():
            row.addWidget(self._chip(number, name))
        row.addStretch(1)
        self.setWidget(body)

    def _chip(self, number: int, name: str) -> QFrame:
        chip = QFrame()
        chip.setProperty("kind", "card")
        chip.setMaximumWidth(CHIP_WIDTH)
        words = ElidedLabel("hint", text=self._language("chat.reading", name=name))
        words.setMinimumWidth(min(words.sizeHint().width(), CHIP_WIDTH - 40))
        remove = icon_button(self._look, "x", f"reading_cancel_{number}")
        remove.setFixedSize(22, 22)
        name_button(remove, self._language("chat.attachment.remove", name=name))
        remove.clicked.connect(lambda: self.cancelled.emit(number))
        hbox((words, 1), remove, inside=chip, margins=(8, 3, 4, 3), spacing=4)
        return chip
