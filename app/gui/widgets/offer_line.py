"""A slim line that offers one thing: words, one button, and where it makes sense a way to wave it off."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar

from app.gui.display.style import Look
from app.gui.widgets.controls import button, icon_button, name_button
from app.gui.widgets.label import ElidedLabel


class OfferLine(QFrame):
    """Emits `accepted` and `dismissed`; while work is under way it shows how far that is."""

    accepted = Signal()
    dismissed = Signal()

    def __init__(self, look: Look, name: str, icon: str, colour: str) -> None:
        super().__init__()
        self._look, self._icon, self._colour = look, icon, colour
        self.setObjectName(name)
        self.setProperty("kind", "card")
        self._picture = QLabel()
        self._text = ElidedLabel("meta")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(110, 6)
        self._bar.hide()
        self._button = button("link", f"{name}_accept")
        self._dismiss = icon_button(look, "x", f"{name}_dismiss")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 6, 4)
        row.setSpacing(9)
        row.addWidget(self._picture)
        row.addWidget(self._text, 1)
        row.addWidget(self._bar, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._button)
        row.addWidget(self._dismiss)
        self._button.clicked.connect(self.accepted)
        self._dismiss.clicked.connect(self.dismissed)
        look.changed.connect(self._draw)
        self._draw()

    def show_offer(self, text: str, action: str, dismiss: str = "") -> None:
        """Say what is offered; without words for `dismiss` it cannot be waved off."""
        self._text.setText(text)
        self._button.setText(action)
        self._button.setAccessibleName(f"{action}: {text}")
        self._dismiss.setVisible(bool(dismiss))
        name_button(self._dismiss, dismiss)
        self._bar.hide()

    def show_progress(self, text: str, done: int, total: int, action: str) -> None:
        """Say how far the work is; the button then stands for ending it."""
        self._text.setText(text)
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._dismiss.hide()
        self._bar.setRange(0, 1_000)
        self._bar.setValue(1_000 * done // max(1, total))
        self._bar.setAccessibleName(text)
        self._bar.show()

    def text(self) -> str:
        """Return what it says."""
        return self._text.text()

    def _draw(self) -> None:
        ratio = self.devicePixelRatioF()
        self._picture.setPixmap(self._look.picture(self._icon, self._colour, 16, ratio))
