"""A row of segments of which one is chosen, as tabs or as a switch."""

from collections.abc import Collection

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QSizePolicy

from app.gui.display.i18n import Language
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import ShorteningButton
from app.gui.widgets.label import plain_tip

CHAT, DEBATE, COUNCIL = "chat", "debate", "council"
BEGINS = (CHAT, DEBATE, COUNCIL)


class Segmented(QFrame):
    """A row of exclusive segments; emits `chosen` with the value of the chosen one."""

    chosen = Signal(str)

    def __init__(self, values: tuple[str, ...], *, tabs: bool = False) -> None:
        """With `tabs` the chosen segment is underlined."""
        super().__init__()
        self.setProperty("kind", "" if tabs else "segmented")
        self._values = values
        self._group = QButtonGroup(self)
        edge = 0 if tabs else 3
        row = hbox(inside=self, margins=(edge, edge, edge, edge), spacing=14 if tabs else 2)
        self._segments = [
            ShorteningButton("tab" if tabs else "segment", f"segment_{value}") for value in values
        ]
        for index, segment in enumerate(self._segments):
            segment.setCheckable(True)
            # A button's default policy would keep it as wide as its text.
            segment.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            self._group.addButton(segment, index)
            row.addWidget(segment)
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

    def set_usable(self, values: Collection[str]) -> None:
        """Let only these be chosen; the others are grey."""
        for value, segment in zip(self._values, self._segments, strict=True):
            segment.setEnabled(value in values)

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
    """The switch of what a text begins: a chat, a debate or a council."""

    def __init__(self, language: Language, name: str) -> None:
        super().__init__(BEGINS)
        self.setObjectName(name)
        self._language = language
        language.changed.connect(self._retranslate)
        self._retranslate()

    def _retranslate(self) -> None:
        words = self._language
        texts = tuple(words(f"welcome.mode.{mode}") for mode in BEGINS)
        self.set_texts(texts, tuple(words(f"welcome.mode.{mode}.hint") for mode in BEGINS))
        self.setAccessibleName(words("welcome.mode"))
