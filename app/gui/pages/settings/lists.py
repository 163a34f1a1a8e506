"""What pages of the settings share: their base, and lists: of two lines, of kept files with buttons, and to tick."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.core.errors import MootError
from app.core.texts import visible
from app.engine.engine import Engine
from app.gui.display.appearance import Language, Look, tall
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import ENTER, button
from app.gui.widgets.item_list import TICKS, TWO_LINES, ItemList, ItemModel, RowItem
from app.gui.widgets.text import plain_label, say

MOST_ROWS = 4
SHOWN = 1_000


class DataShown(QWidget):
    """The base of pages that read what they show again whenever they are shown: another page may have changed it."""

    def __init__(self, language: Language, engine: Engine, tasks: Tasks) -> None:
        super().__init__()
        self._language, self._engine, self._tasks = language, engine, tasks

    def refresh(self) -> None:
        """Read the data again."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        self.refresh()
        super().showEvent(event)

    async def _problem_of(self, work: Awaitable[object]) -> str:
        """Await work, and return in words what went wrong, "" for nothing."""
        try:
            await work
        except MootError as error:
            return self._language.problem(error.code, **error.details)
        return ""


class TwoLineList(ItemList):
    """A list of rows of two lines, of which always one is chosen."""

    def __init__(self, look: Look, name: str, width: int = 0) -> None:
        """`width` fixes the width, in pixels."""
        super().__init__(look, name, TWO_LINES)
        if width:
            self.setFixedWidth(width)

    def show_rows(self, rows: Sequence[RowItem]) -> None:
        """Replace the rows; keep the choice if it is among them."""
        with QSignalBlocker(self):
            super().show_rows(rows)
            if rows and not self.current_id():
                self.setCurrentRow(0)


class KeptList(QWidget):
    """A list of kept files with the buttons for the chosen one; emits `asked` with a button's name and the id."""

    asked = Signal(str, str)

    def __init__(
        self,
        language: Language,
        look: Look,
        texts: tuple[str, str, str],
        actions: Mapping[str, str],
        free: Sequence[str] = (),
    ) -> None:
        """`texts` are the keys of title, hint, and the text of an empty list.

        `actions` are the names of the buttons with the keys of their texts; the `free` ones need no choice.
        """
        super().__init__()
        title, hint, nothing = texts
        name = title.replace(".", "_")
        self._nothing = say(plain_label("hint"), language, nothing)
        self.list = say(TwoLineList(look, name), language, name=title)
        self.buttons = {
            what: say(button("", f"{name}_{what}", partial(self._on_clicked, what)), language, text)
            for what, text in actions.items()
        }
        self._free = free
        head = say(plain_label("field"), language, title), say(plain_label("hint", wrap=True), language, hint)
        foot = hbox(*self.buttons.values(), STRETCH, spacing=8)
        vbox(*head, self._nothing, self.list, foot, inside=self, spacing=6)
        self.list.currentItemChanged.connect(lambda *_: self._show_buttons())
        self.list.activated.connect(lambda _index: self._on_clicked(next(iter(self.buttons))))

    def show_rows(self, rows: Sequence[RowItem]) -> None:
        """Show these rows; keep the choice if it is among them."""
        self.list.show_rows(rows)
        self.list.setVisible(bool(rows))
        self._nothing.setVisible(not rows)
        self.list.setFixedHeight(min(self.list.rows_height(), MOST_ROWS * tall(TWO_LINES.height)) + 8)
        self._show_buttons()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter in the list means the list, not the dialog's default button.
        if event.key() in ENTER and self.list.hasFocus():
            self._on_clicked(next(iter(self.buttons)))
        else:
            super().keyPressEvent(event)

    def _show_buttons(self) -> None:
        for what, made in self.buttons.items():
            made.setEnabled(bool(self.list.current_id()) or what in self._free)

    def _on_clicked(self, what: str, _checked: bool = False) -> None:
        if self.buttons[what].isEnabled():
            self.asked.emit(what, self.list.current_id())


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
