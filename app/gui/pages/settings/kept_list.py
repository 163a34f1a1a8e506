"""A list of kept files, two lines each, with the buttons for the one that is chosen; used by the data page."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.gui.display.style import Look
from app.gui.pages.settings.two_line_item import TwoLineDelegate
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import plain_label
from app.gui.widgets.wording import named

MOST_ROWS = 4


class KeptList(QWidget):
    """Lists (id, first line, second line); emits `asked` with what to do and the chosen id.

    `actions` are (what, needs a choice); `set_words` names them. An empty list says so in words.
    """

    asked = Signal(str, str)

    def __init__(self, look: Look, name: str, actions: Sequence[tuple[str, bool]]) -> None:
        super().__init__()
        self._title = plain_label("field")
        self._hint = plain_label("hint", wrap=True)
        self._nothing = plain_label("hint")
        self.list = named(name, QListWidget())
        self._delegate = TwoLineDelegate(look, self.list)
        self.list.setItemDelegate(self._delegate)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.buttons = {what: button("", f"{name}_{what}") for what, _ in actions}
        self._needing = {what for what, needs in actions if needs}
        row = hbox(spacing=8)
        for what, made in self.buttons.items():
            row.addWidget(made)
            made.clicked.connect(lambda _checked=False, wanted=what: self._on_clicked(wanted))
        row.addStretch(1)
        vbox(self._title, self._hint, self._nothing, self.list, row, inside=self, spacing=6)
        self.list.currentRowChanged.connect(lambda _row: self._show_buttons())
        self.list.itemActivated.connect(lambda _item: self._on_clicked(next(iter(self.buttons))))

    def set_words(self, title: str, hint: str, nothing: str, actions: Sequence[str]) -> None:
        """Name the list, what it says when it is empty, and the buttons in their order."""
        self._title.setText(title)
        self._hint.setText(hint)
        self._nothing.setText(nothing)
        self.list.setAccessibleName(title)
        for made, text in zip(self.buttons.values(), actions, strict=True):
            made.setText(text)

    def show_rows(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Show these, keeping the choice where it still is one."""
        chosen = self.chosen()
        self.list.clear()
        for row_id, first, second in rows:
            item = QListWidgetItem(f"{' '.join(first.split())[:200]}\n{second}")
            item.setData(Qt.ItemDataRole.UserRole, row_id)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{first}, {second}")
            self.list.addItem(item)
            if row_id == chosen or self.list.count() == 1:
                self.list.setCurrentItem(item)
        self.list.setVisible(bool(rows))
        self._nothing.setVisible(not rows)
        height = self.list.sizeHintForRow(0) if rows else 0
        self.list.setFixedHeight(min(len(rows), MOST_ROWS) * height + 8)
        self._show_buttons()

    def chosen(self) -> str:
        """Return the id of the chosen row, "" where there is none."""
        item = self.list.currentItem()
        return str(item.data(Qt.ItemDataRole.UserRole)) if self.list.currentRow() >= 0 else ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter in the list means the list, not the dialog's default button.
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.list.hasFocus():
            self._on_clicked(next(iter(self.buttons)))
        else:
            super().keyPressEvent(event)

    def _show_buttons(self) -> None:
        for what, made in self.buttons.items():
            made.setEnabled(bool(self.chosen()) or what not in self._needing)

    def _on_clicked(self, what: str) -> None:
        if self.buttons[what].isEnabled():
            self.asked.emit(what, self.chosen())
