"""The palette (Ctrl+K): a search over commands, assistants, sessions and messages, and its entries.

It lies over the window and is not modal. Results from memory are shown at once, messages found on disk
a moment later.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.gui.display.appearance import Language, Look
from app.gui.tasks import timer
from app.gui.widgets.boxes import Frame, vbox
from app.gui.widgets.item_list import ROW, ItemList, ListStyle, RowItem
from app.gui.widgets.text import plain_label, say, show_or_hide


@dataclass(frozen=True, slots=True)
class PaletteEntry(RowItem):
    """An entry of the palette; choosing it calls `act`.

    `section` is command, setting, prompt, assistant, panel, group, session or message; `more` are further
    words it is found by, `id` tells it from others that look the same.
    """

    section: str
    act: Callable[[], object] = field(compare=False)
    more: str = ""


WIDTH = 620
TOP = 70
SEARCH_AFTER_MS = 200
LEAST_SEARCHED = 2
HIGHEST = 480
FRAME = 90  # height of the box and of the line under the list, in pixels
STYLE = ListStyle(height=34, heading=28, left=11, right=14, mark=20, space=11, inset=4, share=3, hovers=False)


class PaletteBox(QLineEdit):
    """The search box; passes on the keys for the list, unless an input method is composing."""

    step_requested = Signal(int)
    chosen = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("palette_box")
        self._composing = False

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        key = Qt.Key(event.key())
        if self._composing:
            super().keyPressEvent(event)
        elif key in steps:
            self.step_requested.emit(steps[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class Palette(Frame):
    """The search box and its results; closes on Escape, or when it loses the focus.

    `find` returns the entries for what is typed. Signals: search_requested(typed) for messages,
    search_dropped().
    """

    search_requested = Signal(str)
    search_dropped = Signal()

    def __init__(
        self, language: Language, look: Look, find: Callable[[str], list[PaletteEntry]], over: QWidget
    ) -> None:
        super().__init__("popup", "palette", over)
        self._language, self._find, self._over = language, find, over
        self._hits: Sequence[PaletteEntry] = ()
        self._before: QWidget | None = None
        self.box = say(PaletteBox(), language, name="palette.placeholder", hint="palette.placeholder")
        self.box.setProperty("kind", "palette")
        self.list = say(ItemList(look, "palette_list", STYLE), language, name="palette.found")
        self.rows = self.list.rows
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._note = plain_label("hint")
        foot = vbox(self._note, margins=(14, 2, 14, 2))
        vbox(self.box, (self.list, 1), foot, inside=self, margins=(1, 1, 1, 8), spacing=4)
        search = self.search_requested.emit
        self._timer = timer(self, SEARCH_AFTER_MS, lambda: search(self.box.text().strip()), once=True)
        self.box.textChanged.connect(self._on_typed)
        self.box.step_requested.connect(self._step)
        self.box.chosen.connect(lambda: self._choose(self.list.currentIndex()))
        self.box.left.connect(self.leave)
        self.list.clicked.connect(self._choose)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)
        self.hide()

    def come(self, typed: str) -> None:
        """Open over the window with a typed text; close if it is open already."""
        if self.isVisible():
            self.leave()
            return
        self._before = QApplication.focusWidget()
        width = min(WIDTH, self._over.width() - 60)
        self.move((self._over.width() - width) // 2, TOP)
        self.setFixedWidth(width)
        self.box.setText(typed)
        self._on_typed()
        self.show()
        self.raise_()
        self.box.setFocus()

    def refresh(self) -> None:
        """Show what there is to find now, while it is open."""
        if self.isVisible():
            self._fill(keep=True)

    def leave(self) -> None:
        """Close, and return the focus to where it was."""
        self._timer.stop()
        self.search_dropped.emit()
        had_focus = self.box.hasFocus()
        self.hide()
        if had_focus and self._before is not None:
            self._before.setFocus()
        self._before = None

    def show_hits(self, typed: str, hits: Sequence[PaletteEntry]) -> None:
        """Show the messages found for a typed text, unless another was typed since."""
        if typed != self.box.text().strip() or not self.isVisible():
            return
        self._hits = hits
        self._fill(keep=True)
        show_or_hide(self._note, "" if self.rows.rows else self._language("palette.nothing"))

    def _on_typed(self) -> None:
        self._hits = ()
        self._timer.stop()
        self.search_dropped.emit()
        self._fill(keep=False)
        if len(self.box.text().strip()) >= LEAST_SEARCHED:
            self._timer.start()
            show_or_hide(self._note, self._language("palette.searching"))
        else:
            show_or_hide(self._note, "" if self.rows.rows else self._language("palette.nothing"))

    def _fill(self, *, keep: bool) -> None:
        chosen = self.list.currentIndex().data(ROW) if keep and self.list.currentIndex().isValid() else None
        rows: list[str | PaletteEntry] = []
        section = ""
        for entry in (*self._find(self.box.text()), *self._hits):
            if entry.section != section:
                section = entry.section
                rows.append(self._language(f"palette.section.{section}"))
            rows.append(entry)
        self.rows.set_rows(rows)
        places = [place for place, row in enumerate(self.rows.rows) if isinstance(row, PaletteEntry)]
        place = next((place for place in places if self.rows.rows[place] == chosen), None)
        # As high as the results, within the window.
        high = self.list.rows_height() + FRAME
        self.setFixedHeight(min(HIGHEST, self._over.height() - TOP - 60, high))
        if places:
            self._go_to(places[0] if place is None else place)

    def _step(self, step: int) -> None:
        places = [place for place, row in enumerate(self.rows.rows) if isinstance(row, PaletteEntry)]
        if places:
            now = self.list.currentIndex().row()
            at = places.index(now) if now in places else 0
            self._go_to(places[max(0, min(len(places) - 1, at + step))])

    def _go_to(self, place: int) -> None:
        index = self.rows.index(place)
        self.list.setCurrentIndex(index)
        # Scroll to the first entry together with its section's title.
        self.list.scrollTo(self.rows.index(0) if place == 1 else index)
        self.box.setAccessibleDescription(str(index.data(Qt.ItemDataRole.AccessibleTextRole)))

    def _choose(self, index: QModelIndex) -> None:
        entry = index.data(ROW) if index.isValid() else None
        if isinstance(entry, PaletteEntry):
            self.leave()
            entry.act()

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and now is not None and now is not self.box:
            self.leave()
