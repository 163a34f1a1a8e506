"""What waits for the user: a badge in the top bar with the count, and the list of every question it opens."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.gui.i18n import Language
from app.gui.style import Look
from app.gui.widgets.composer import ENTER
from app.gui.widgets.controls import Button
from app.gui.widgets.label import plain_label

WIDTH = 380
ROW = 48
MOST_ROWS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A question that waits: where it is, and in words who asks in which session and what."""

    session_id: str
    message_id: str
    who: str
    session: str
    question: str


class Questions(QListWidget):
    """The list; emits picked(place) on Enter or a click."""

    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("needs_you_list")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.itemClicked.connect(lambda item: self.picked.emit(self.row(item)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER and self.currentRow() >= 0:
            self.picked.emit(self.currentRow())
        else:
            super().keyPressEvent(event)


class NeedsYou(Button):
    """The badge; hidden while nothing waits. Emits question_requested(session id, message id)."""

    question_requested = Signal(str, str)

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__("chip", "needs_you")
        self.setParent(parent)
        self.setProperty("tone", "warn")
        self.dress(look, "circle-question-mark", "warn", side=14)
        self._language = language
        self._waiting: tuple[Waiting, ...] = ()
        self._popup = QFrame(self, Qt.WindowType.Popup)
        self._popup.setProperty("kind", "popup")
        self._popup.setObjectName("needs_you_popup")
        self._title = plain_label("section")
        self._list = Questions()
        column = QVBoxLayout(self._popup)
        column.setContentsMargins(10, 10, 10, 10)
        column.addWidget(self._title)
        column.addWidget(self._list)
        self.clicked.connect(self.open)
        self._list.picked.connect(self._on_picked)
        language.changed.connect(self._refresh)
        self.hide()

    def show_waiting(self, waiting: Sequence[Waiting]) -> None:
        """Show what waits, the oldest first."""
        if tuple(waiting) != self._waiting:
            self._waiting = tuple(waiting)
            self._refresh()

    def open(self) -> None:
        """Open the list, where anything waits."""
        if not self._waiting:
            return
        self._list.setCurrentRow(0)
        corner = self.mapToGlobal(QPoint(self.width() - self._popup.width(), self.height() + 6))
        self._popup.move(max(corner.x(), self.window().mapToGlobal(QPoint(8, 0)).x()), corner.y())
        self._popup.show()
        self._list.setFocus()

    def _refresh(self) -> None:
        words, count = self._language, len(self._waiting)
        self.setText(str(count))
        name = words("needs_you.count", count=count)
        self.setAccessibleName(name)
        self.setToolTip(f"{name}  (Ctrl+Shift+J)")
        self._title.setText(words("needs_you.title"))
        self._list.setAccessibleName(words("needs_you.title"))
        row = self._list.currentRow()
        self._list.clear()
        for one in self._waiting:
            item = QListWidgetItem(f"{one.question}\n{one.who} · {one.session}")
            item.setData(
                Qt.ItemDataRole.AccessibleTextRole,
                words("needs_you.row", name=one.who, title=one.session, question=one.question),
            )
            item.setSizeHint(QSize(WIDTH - 40, ROW))
            self._list.addItem(item)
        self._list.setCurrentRow(min(max(0, row), count - 1))
        self._list.setFixedHeight(min(MOST_ROWS, max(1, count)) * ROW + 4)
        self._popup.setFixedWidth(WIDTH)
        self._popup.adjustSize()
        self.setVisible(bool(count))
        if not count:
            self._popup.hide()

    def _on_picked(self, place: int) -> None:
        self._popup.hide()
        one = self._waiting[place]
        self.question_requested.emit(one.session_id, one.message_id)
