"""A choice of several things as chips that can be removed, and a menu with the others.

Used by the editor of assistants for tools, sub-agents and MCP servers.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import FlowBox, vbox
from app.gui.widgets.controls import Button, button, name_button
from app.gui.widgets.label import plain_label, plain_tip

MOST_TEXT = 40
CHIP_HEIGHT = 24


class ChipOption(NamedTuple):
    """Something that can be chosen: its key, text, help, group and tone."""

    key: str
    text: str
    help: str = ""
    group: str = ""
    tone: str = "neutral"


class ChipButton(Button):
    """A chosen thing; a click, Delete or Backspace removes it."""

    def __init__(self, look: Look, offer: ChipOption, name: str, *, fixed: bool) -> None:
        super().__init__("chip", name)
        self.setProperty("tone", offer.tone)
        self.setText(offer.text if len(offer.text) <= MOST_TEXT else offer.text[:MOST_TEXT] + "…")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setToolTip(plain_tip(offer.help))
        if fixed:
            self.setAccessibleName(offer.text)
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self.setCursor(Qt.CursorShape.ArrowCursor)
        else:
            self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            self.dress(look, "x", "text_2", side=11, room=4)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.click()
        else:
            super().keyPressEvent(event)


class ChipList(QWidget):
    """The chosen things as wrapped chips; emits `changed` when one is added or removed.

    Emits `drawn` when `stops` have changed.
    """

    changed = Signal()
    drawn = Signal()

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self._language = language
        self._look = look
        self._name = name
        self._what = ""
        self._offers: dict[str, ChipOption] = {}
        self._chosen: list[str] = []
        self._chips: list[ChipButton] = []
        self._fixed = False
        self._none = plain_label("hint")
        self._none.setMinimumHeight(CHIP_HEIGHT)
        self.add = button("chip", f"{name}_add")
        self.add.dress(look, "plus", "text_2", side=12)
        self._menu = QMenu(self.add)
        self._menu.setToolTipsVisible(True)
        self.add.setMenu(self._menu)
        self._flow = FlowBox()
        self._flow.add(self._none)
        self._flow.add(self.add)
        vbox(self._flow, inside=self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """The widgets in the tab order."""
        return (*self._chips, self.add)

    def chosen(self) -> tuple[str, ...]:
        """Return the keys of the chosen things, in order."""
        return tuple(self._chosen)

    def set_words(self, what: str, none: str) -> None:
        """Set the name of what is chosen here, for screen readers, and the text shown while nothing is."""
        self._what = what
        self._none.setText(none)
        self.add.setText(self._language("chips.add"))
        name_button(self.add, self._language("chips.add_to", what=what))
        self._draw()

    def set_offers(self, offers: Sequence[ChipOption]) -> None:
        """Set what can be chosen; things of a group stand together in the menu."""
        fresh = {offer.key: offer for offer in offers}
        # Drawing again would take the focus from a chip.
        if fresh != self._offers:
            self._offers = fresh
            self._draw()

    def show_chosen(self, keys: Sequence[str], *, fixed: bool = False) -> None:
        """Show what is chosen; `fixed` if it cannot be changed."""
        if (list(keys), fixed) != (self._chosen, self._fixed):
            self._chosen, self._fixed = list(keys), fixed
            self._draw()

    def choose(self, key: str) -> None:
        """Add a thing by its key."""
        if key not in self._chosen:
            self._chosen.append(key)
            self._draw()
            self.changed.emit()

    def remove(self, key: str) -> None:
        """Remove a thing by its key; the focus moves to its neighbour."""
        place = self._chosen.index(key)
        focused = self._chips[place].hasFocus()
        self._chosen.remove(key)
        self._draw()
        if focused:
            (self._chips[min(place, len(self._chips) - 1)] if self._chips else self.add).setFocus()
        self.changed.emit()

    def _draw(self) -> None:
        for chip in self._chips:
            self._flow.remove(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = [self._chip(key) for key in self._chosen]
        for place, chip in enumerate(self._chips):
            self._flow.insert(place, chip)
            chip.show()
        rest = [offer for offer in self._offers.values() if offer.key not in self._chosen]
        self._none.setVisible(not self._chosen)
        self.add.setVisible(not self._fixed and bool(rest))
        self._fill_menu(rest)
        self.updateGeometry()
        self.drawn.emit()

    def _chip(self, key: str) -> ChipButton:
        offer = self._offers.get(key, ChipOption(key, key))
        chip = ChipButton(self._look, offer, f"{self._name}_{key}", fixed=self._fixed)
        if not self._fixed:
            chip.setAccessibleName(self._language("chips.remove", text=offer.text, what=self._what))
            chip.clicked.connect(lambda: self.remove(key))
        return chip

    def _fill_menu(self, rest: Sequence[ChipOption]) -> None:
        self._menu.clear()
        group = ""
        for offer in sorted(rest, key=lambda one: one.group):
            if offer.group != group:
                group = offer.group
                self._menu.addSection(group)
            action = self._menu.addAction(offer.text, partial(self.choose, offer.key))
            action.setToolTip(plain_tip(offer.help))
