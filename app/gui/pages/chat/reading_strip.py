"""The files that are still being read for a message: a chip each, to be taken off again. Used by a chat's composer."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import icon_button, name_button
from app.gui.widgets.label import ElidedLabel

HEIGHT = 40
CHIP_WIDTH = 200


class ReadingStrip(QScrollArea):
    """Shows what is being read; hidden while that is nothing; emits `cancelled` with a number."""

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
        """Show these instead: names by the numbers they are cancelled with."""
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
