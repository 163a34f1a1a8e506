"""The base of the pages of decisions and of work: a list, chips that filter it, and the details
of the chosen row beside it.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QScrollArea, QWidget

from app.gui.display.appearance import Language
from app.gui.panels.conversation_view import empty_state
from app.gui.widgets.boxes import Fitting, FlowBox, Part, hbox, hold_width, vbox
from app.gui.widgets.controls import ENTER, IconButton, button
from app.gui.widgets.item_list import ItemList, ListStyle
from app.gui.widgets.text import Paragraph, named, say, set_shown

WIDE = ListStyle(
    height=54, heading=36, edge=8, size=14, weight=560, selected_weight=560, fill="surface", left=14, space=14
)
WIDTH = 396
BESIDE, LEAST_WINDOW = 760, 1_000
"""How wide page and window must be for the details to stand beside the list; else they cover it."""


class ActingList(ItemList):
    """A list of which Enter and a double-click act on a row and Space shows its details.

    Signals: acted(id), details_requested().
    """

    acted = Signal(str)
    details_requested = Signal()

    def act(self, row_id: str) -> None:
        """Act on a row."""
        self.acted.emit(row_id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER and self.current_id():
            # A held key was meant for what was here before.
            if not event.isAutoRepeat():
                self.act(self.current_id())
        elif event.key() == Qt.Key.Key_Space and self.current_id():
            self.details_requested.emit()
        else:
            super().keyPressEvent(event)


ALL = ""


class FilterChips(FlowBox):
    """Chips for all rows and for each sort of them, with their number; emits chosen()
    when the user clicks another.

    That of a sort is hidden while there is no such row. `value` is the chosen sort, ALL for no filter.
    """

    chosen = Signal()

    def __init__(self, name: str, sorts: Iterable[str]) -> None:
        """`name` begins the object names of the chips."""
        super().__init__(gap=2)
        self.value, group = ALL, QButtonGroup(self)
        self._chips = {sort: button("filter", f"{name}_{sort or 'all'}") for sort in (ALL, *sorts)}
        for sort, chip in self._chips.items():
            chip.setCheckable(True)
            chip.clicked.connect(partial(self._on_clicked, sort))
            group.addButton(chip)
            self.add(chip)
        self.show_all()

    def show_all(self) -> None:
        """Choose all rows."""
        self.value = ALL
        self._chips[ALL].setChecked(True)

    def show_counts(self, count: Counter[Any], words: Callable[[str], str]) -> None:
        """Show how many there are of each sort, which `words` names; all rows where none is left
        of the chosen one.
        """
        for sort, chip in self._chips.items():
            number = count[sort] if sort else count.total()
            chip.setText(f"{words(sort)}  {number}")
            chip.setAccessibleName(f"{words(sort)}, {number}")
            set_shown(chip, bool(number) or sort == ALL)
        if not count[self.value]:
            self.show_all()

    def _on_clicked(self, sort: str) -> None:
        self.value = sort
        self.chosen.emit()


class Details(QFrame):
    """What stands beside a list; emits left() for Escape.
    Subclasses have an `area` that scrolls and a button `_back`.
    """

    left = Signal()
    area: QScrollArea
    _back: IconButton

    def finish(self) -> None:
        """Make the parts that are not made yet."""

    def show_back(self, shown: bool) -> None:
        """Show the button that leads back to the list, where the details cover that."""
        set_shown(self._back, shown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class ListPage(Fitting, QWidget):
    """A list and details side by side; where there is no room for both, the details cover the list.

    Without any row it has a text instead, and a button that emits begin_requested().
    """

    begin_requested = Signal()

    def __init__(self, shown: ActingList, details: Details) -> None:
        super().__init__()
        self._list, self._details = shown, details
        # Whether the details cover the list where there is no room for both.
        self._covers = False
        self.side, self._both = QWidget(), QWidget()
        shown.clicked.connect(lambda _index: self._cover(True))
        shown.details_requested.connect(self._on_details)
        details.left.connect(self._on_left)

    def take_focus(self) -> None:
        """Show the list, and take the keyboard to it."""
        self._on_left()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and cast("QKeyEvent", event).key() == Qt.Key.Key_F6:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._covers:
            self._on_left()
        elif event.key() == Qt.Key.Key_F6:
            (self._on_details if self._list.hasFocus() else self._on_left)()
        else:
            super().keyPressEvent(event)

    def _lay_out_list(self, words: Language, name: str, none: str, begin: str, *above: Part) -> None:
        """Put the list under these parts and the details beside them.

        `name` begins the object names of the empty page; `none` and `begin` are the keys of its text and its
        button.
        """
        vbox(*above, (self._list, 1), inside=self.side, margins=(10, 12, 10, 0), spacing=8)
        hbox((self.side, 1), self._details, inside=self._both, spacing=0)
        act = say(button("primary", f"{name}_begin", self.begin_requested), words, begin)
        text = say(named(f"{name}_none", Paragraph("card_text", centred=True)), words, none)
        self._none = empty_state(text, act)
        vbox((self._both, 1), (self._none, 1), inside=self)

    def _show_some(self, some: bool) -> None:
        """Show list and details, or what there is without any row."""
        set_shown(self._both, some)
        set_shown(self._none, not some)

    def _fit(self) -> None:
        """Put the details beside the list, or let them cover it."""
        beside = self.width() >= BESIDE and self.window().width() >= LEAST_WINDOW
        hold_width(self._details, WIDTH if beside else 0)
        set_shown(self.side, beside or not self._covers)
        set_shown(self._details, beside or self._covers)
        self._details.show_back(not beside)

    def _cover(self, covers: bool) -> None:
        """Show the details in place of the list where there is no room for both, or the list again."""
        self._covers = covers
        self._fit()

    def _on_details(self) -> None:
        self._cover(True)
        self._details.finish()
        self._details.area.setFocus()
        self._details.focusNextChild()

    def _on_left(self) -> None:
        self._cover(False)
        self._list.setFocus()
