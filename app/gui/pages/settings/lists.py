"""Lists of the settings: rows of two lines, kept files with buttons, and a list to tick."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.core.texts import visible
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.item_list import ITEM, TICKS, TWO_LINES, ItemDelegate, ItemList, ItemModel, RowItem
from app.gui.widgets.text import plain_label, say

MOST_ROWS = 4
SHOWN = 1_000


class TwoLineList(QListWidget):
    """A list of rows of two lines, each with an id."""

    def __init__(self, look: Look, name: str, width: int = 0) -> None:
        """`width` fixes the width, in pixels."""
        super().__init__()
        self.setObjectName(name)
        self.setItemDelegate(ItemDelegate(look, TWO_LINES, self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if width:
            self.setFixedWidth(width)

    def add_row(self, row_id: str, first: str, second: str, tone: str = "") -> QListWidgetItem:
        """Add a row at the end; `tone` is the theme's colour of its dot, "" for none."""
        item = QListWidgetItem()
        item.setData(Qt.ItemDataRole.UserRole, row_id)
        self.addItem(item)
        self.set_row(self.count() - 1, first, second, tone)
        return item

    def set_row(self, row: int, first: str, second: str, tone: str = "") -> None:
        """Change the lines and the dot of a row."""
        self.item(row).setData(ITEM, RowItem(title=first, second=second, dot=tone))
        self.item(row).setText(f"{first}\n{second}")
        self.item(row).setData(Qt.ItemDataRole.AccessibleTextRole, f"{first}, {second}")

    def show_rows(self, rows: Sequence[tuple[str, ...]]) -> None:
        """Replace the rows by these, each with id, first and second line and perhaps a tone; keep the choice if it is among them."""
        chosen = self.chosen()
        with QSignalBlocker(self):
            self.clear()
            for row in rows:
                self.add_row(*row)
            if rows and not self.choose(chosen):
                self.setCurrentRow(0)

    def chosen(self) -> str:
        """Return the id of the chosen row, "" if there is none."""
        return self.id_at(self.currentRow())

    def id_at(self, row: int) -> str:
        """Return the id of a row, "" for -1."""
        return str(self.item(row).data(Qt.ItemDataRole.UserRole)) if row >= 0 else ""

    def choose(self, row_id: str) -> bool:
        """Choose a row by its id; return whether there is one."""
        row = next((row for row in range(self.count()) if self.id_at(row) == row_id), -1)
        if row >= 0:
            self.setCurrentRow(row)
        return row >= 0


class KeptList(QWidget):
    """A list of kept files with the buttons for the chosen one; emits `asked` with a button's name and the id."""

    asked = Signal(str, str)

    def __init__(
        self,
        language: Language,
        look: Look,
        name: str,
        texts: tuple[str, str, str],
        actions: Sequence[tuple[str, str, bool]],
    ) -> None:
        """`texts` are the keys of title, hint, and the text of an empty list.

        The buttons are given as (name, key of the text, whether it needs a choice).
        """
        super().__init__()
        title, hint, nothing = texts
        self._nothing = say(plain_label("hint"), language, nothing)
        self.list = say(TwoLineList(look, name), language, name=title)
        self.buttons = {
            what: say(button("", f"{name}_{what}", partial(self._on_clicked, what)), language, key)
            for what, key, _ in actions
        }
        self._needing = {what for what, _, needs in actions if needs}
        vbox(
            say(plain_label("field"), language, title),
            say(plain_label("hint", wrap=True), language, hint),
            self._nothing,
            self.list,
            hbox(*self.buttons.values(), STRETCH, spacing=8),
            inside=self,
            spacing=6,
        )
        self.list.currentRowChanged.connect(lambda _row: self._show_buttons())
        self.list.itemActivated.connect(lambda _item: self._on_clicked(next(iter(self.buttons))))

    def show_rows(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Show rows of id, first and second line; keep the choice if it is among them."""
        self.list.show_rows(rows)
        self.list.setVisible(bool(rows))
        self._nothing.setVisible(not rows)
        height = self.list.sizeHintForRow(0) if rows else 0
        self.list.setFixedHeight(min(len(rows), MOST_ROWS) * height + 8)
        self._show_buttons()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter in the list means the list, not the dialog's default button.
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.list.hasFocus():
            self._on_clicked(next(iter(self.buttons)))
        else:
            super().keyPressEvent(event)

    def _show_buttons(self) -> None:
        for what, made in self.buttons.items():
            made.setEnabled(bool(self.list.chosen()) or what not in self._needing)

    def _on_clicked(self, what: str, _checked: bool = False) -> None:
        if self.buttons[what].isEnabled():
            self.asked.emit(what, self.list.chosen())


class TickRows(ItemModel):
    """Items with ticks; `ticked` says of each id whether it is ticked."""

    def __init__(self) -> None:
        super().__init__()
        self.ticked: dict[str, bool] = {}

    def item_of(self, row: RowItem) -> RowItem:
        return replace(row, ticked=self.ticked[row.id])


class TickList(QWidget):
    """A list of (id, text, note) with ticks; emits `changed`.

    Only the first thousand are shown; the rest are ticked only by All and None.
    """

    changed = Signal()

    def __init__(self, words: Language, look: Look, name: str, title: str) -> None:
        super().__init__()
        self._rows = TickRows()
        self.list = ItemList(look, name, TICKS, self._rows)
        self.list.setAccessibleName(title)
        self.all = button("link", f"{name}_all", lambda: self._tick_all(on=True), text=words("tick_list.all"))
        self.none = button(
            "link", f"{name}_none", lambda: self._tick_all(on=False), text=words("tick_list.none")
        )
        vbox((self.list, 1), hbox(self.all, self.none, STRETCH), inside=self, spacing=4)
        self.list.ticked.connect(self._tick)

    def show_rows(self, rows: Sequence[tuple[str, str, str]], *, ticked: bool = True) -> None:
        """Show these rows, all `ticked` or none."""
        self._rows.ticked = {row_id: ticked for row_id, _, _ in rows}
        self.list.show_rows(
            [
                RowItem(id=row_id, title=" ".join(visible(text[:200]).split()), note=visible(note))
                for row_id, text, note in rows[:SHOWN]
            ]
        )
        self.list.setCurrentRow(0 if rows else -1)

    def chosen(self) -> list[str]:
        """Return the ticked ids in order."""
        return [row_id for row_id, ticked in self._rows.ticked.items() if ticked]

    def _tick(self, row_id: str) -> None:
        self._rows.ticked[row_id] = not self._rows.ticked[row_id]
        self._show_ticks()

    def _tick_all(self, *, on: bool) -> None:
        self._rows.ticked = dict.fromkeys(self._rows.ticked, on)
        self._show_ticks()

    def _show_ticks(self) -> None:
        self.list.viewport().update()
        self.changed.emit()
