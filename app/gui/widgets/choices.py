"""Choices: segments of which one is chosen, as tabs or as a switch, and chips for several things."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QMenu, QSizePolicy, QWidget

from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import FlowBox, Frame, drop, follow_width, hbox, put_where, vbox
from app.gui.widgets.controls import Button, ShorteningButton, button
from app.gui.widgets.text import name_button, plain_label, plain_tip

CHAT, DECIDE, WORK = "chat", "decide", "work"
BEGINS = {CHAT: "message-circle", DECIDE: "scale", WORK: "list-checks"}
"""What can begin, with its icon."""


Made = Callable[[str, str], ShorteningButton]


class Segmented(Frame):
    """A row of exclusive segments; emits `chosen` with the value of the chosen one."""

    chosen = Signal(str)

    def __init__(self, values: tuple[str, ...], *, tabs: bool = False, make: Made = ShorteningButton) -> None:
        """With `tabs` the chosen segment is underlined; `make` makes a segment of a kind and an object
        name.
        """
        super().__init__("" if tabs else "segmented")
        self._values = values
        self._group = QButtonGroup(self)
        self.row = hbox(inside=self, margins=0 if tabs else 3, spacing=14 if tabs else 2)
        self._segments = [make("tab" if tabs else "segment", f"segment_{value}") for value in values]
        for index, segment in enumerate(self._segments):
            segment.setCheckable(True)
            # A button's default policy would keep it as wide as its text.
            segment.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            self._group.addButton(segment, index)
            self.row.addWidget(segment)
        self._group.button(0).setChecked(True)
        self._group.idToggled.connect(self._on_toggled)

    def value(self) -> str:
        """Return the value of the chosen segment."""
        return self._values[self._group.checkedId()]

    def set_value(self, value: str) -> None:
        """Choose a segment."""
        self._group.button(self._values.index(value)).setChecked(True)

    def set_texts(self, texts: tuple[str, ...], hints: tuple[str, ...]) -> None:
        """Set the texts of the segments in order; `hints` are their tool tips."""
        for segment, text, hint in zip(self._segments, texts, hints, strict=True):
            segment.show_words(text, plain_tip(hint))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        index = self._group.checkedId() + step
        while step and 0 <= index < len(self._values) and not self._segments[index].isEnabled():
            index += step
        if step and 0 <= index < len(self._values):
            self._group.button(index).setChecked(True)
            self._group.button(index).setFocus()
        else:
            super().keyPressEvent(event)

    def _on_toggled(self, index: int, checked: bool) -> None:
        if checked:
            self.chosen.emit(self._values[index])


class BeginSwitch(Segmented):
    """The switch of what a text begins: a chat, a decision or work."""

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__(tuple(BEGINS))
        self.setObjectName(name)
        self._language = language
        for segment, icon in zip(self._segments, BEGINS.values(), strict=True):
            segment.dress(look, icon, room=7)
            # Its words are always whole.
            segment.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        language.follow(self._retranslate)

    def _retranslate(self) -> None:
        words = self._language
        texts = tuple(words(f"first.mode.{mode}") for mode in BEGINS)
        self.set_texts(texts, tuple(words(f"first.mode.{mode}.hint") for mode in BEGINS))
        self.setAccessibleName(words("first.mode"))


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
    """The chosen things as wrapped chips; emits `changed` when one is added or removed."""

    changed = Signal()

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self._language, self._look, self._name, self._what = language, look, name, ""
        self._offers: dict[str, ChipOption] = {}
        self._chosen: list[str] = []
        self._chips: list[ChipButton] = []
        self._fixed = False
        self._more: tuple[str, Sequence[QAction]] = ("", ())
        self._none = plain_label("hint")
        self._none.setMinimumHeight(CHIP_HEIGHT)
        self.add = button("chip", f"{name}_add").dress(look, "plus", side=12)
        self._menu = QMenu(self.add, toolTipsVisible=True)
        self.add.setMenu(self._menu)
        self._flow = FlowBox()
        self._flow.add(self._none)
        self._flow.add(self.add)
        vbox(self._flow, inside=self)
        follow_width(self)

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
        self.add.setText(self._more[0] or self._language("chips.add"))
        name_button(self.add, self._language("chips.add_to", what=what))
        self._draw()

    def set_more(self, text: str, actions: Sequence[QAction]) -> None:
        """Have the button say `text`, and its menu begin with these actions, each while it is visible."""
        self._more = text, actions

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

    def set_fixed(self, fixed: bool) -> None:
        """Let what is chosen be changed, or only be looked at."""
        self.show_chosen(self._chosen, fixed=fixed)

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
            drop(chip)
        self._chips = [self._chip(key) for key in self._chosen]
        for place, chip in enumerate(self._chips):
            self._flow.insert(place, chip)
            chip.show()
        rest = [offer for offer in self._offers.values() if offer.key not in self._chosen]
        self._none.setVisible(not self._chosen)
        self.add.setVisible(not self._fixed and bool(rest or self._more[1]))
        self._fill_menu(rest)
        # A new chip would come last.
        put_where(self, self.stops)
        self.updateGeometry()

    def _chip(self, key: str) -> ChipButton:
        offer = self._offers.get(key, ChipOption(key, key))
        chip = ChipButton(self._look, offer, f"{self._name}_{key}", fixed=self._fixed)
        if not self._fixed:
            chip.setAccessibleName(self._language("chips.remove", text=offer.text, what=self._what))
            chip.clicked.connect(lambda: self.remove(key))
        return chip

    def _fill_menu(self, rest: Sequence[ChipOption]) -> None:
        self._menu.clear()
        self._menu.addActions(self._more[1])
        group = ""
        for offer in sorted(rest, key=lambda option: option.group):
            if offer.group != group:
                group = offer.group
                self._menu.addSection(group)
            action = self._menu.addAction(offer.text, partial(self.choose, offer.key))
            action.setToolTip(plain_tip(offer.help))
