"""Sentences of a verdict, each followed by small buttons for the messages it cites."""

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QTextLayout
from PySide6.QtWidgets import QWidget

from app.core.council import Point
from app.core.texts import unmarked
from app.gui.widgets.boxes import drop
from app.gui.widgets.controls import Button, button
from app.gui.widgets.text import WrappedText, plain_tip

INDENT = 16
GAP = 3

Cite = tuple[str, str]
"""How a message is cited, and what a screen reader says of the button."""


class CitedText(WrappedText):
    """Sentences as running text or as a list; emits `cite_requested` with a message's id."""

    LINE_HEIGHT = 1.55

    cite_requested = Signal(str)

    def __init__(self, kind: str, parent: QWidget | None = None, *, listed: bool = False) -> None:
        """Without a `parent` it would be a window of its own once it has sentences."""
        super().__init__(kind, parent)
        self._listed = listed
        self._points: tuple[Point, ...] = ()
        self._buttons: list[list[Button]] = []

    def text(self) -> str:
        """Return the sentences without the citations."""
        return " ".join(point.text for point in self._points)

    @property
    def stops(self) -> list[Button]:
        """The buttons in reading order, for Tab."""
        return [cite for row in self._buttons for cite in row]

    def show_points(self, points: Sequence[Point], cite: Callable[[str], Cite | None]) -> None:
        """Show sentences; `cite` returns the label of a message by its id, None for a missing message."""
        for old in self.stops:
            drop(old)
        self._points = tuple(points)
        named = [[(said, words) for said in point.cites if (words := cite(said))] for point in self._points]
        self._buttons = [[self._button(said, words) for said, words in cites] for cites in named]
        self.setAccessibleName(self.text())
        self.setVisible(bool(self._points))
        self._place()

    def heightForWidth(self, width: int) -> int:
        return self._arrange(width)[1]

    def sizeHint(self) -> QSize:
        return QSize(260, self.heightForWidth(max(260, self.width())))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._place()

    def _layouts(self, width: int) -> list[QTextLayout]:
        return self._arrange(width)[0]

    def _button(self, message_id: str, words: Cite) -> Button:
        made = button("cite", f"cite_{message_id}")
        made.setParent(self)
        made.ensurePolished()
        metrics = QFontMetrics(made.font())
        # A single & would mark a shortcut.
        made.setText(unmarked(metrics.elidedText(words[0], Qt.TextElideMode.ElideMiddle, 150)))
        made.setAccessibleName(words[1])
        made.setToolTip(plain_tip(words[1]))
        made.clicked.connect(lambda: self.cite_requested.emit(message_id))
        made.show()
        return made

    def _place(self) -> None:
        for cite, rect in self._arrange(self.width())[2]:
            cite.setGeometry(rect)
        super()._place()

    def _arrange(self, width: int) -> tuple[list[QTextLayout], int, list[tuple[Button, QRect]]]:
        """Break the lines at a width; return the layouts, their height, and the rectangles of the buttons."""
        self.ensurePolished()
        indent = INDENT if self._listed else 0
        layouts: list[QTextLayout] = []
        placed: list[tuple[Button, QRect]] = []
        height = self._line_height()
        x, y = float(indent), 0.0
        for point, cites in zip(self._points, self._buttons, strict=True):
            if x > indent and (self._listed or not self._fits(point.text, width - x)):
                x, y = float(indent), y + height
            if self._listed:
                layouts.append(self._laid_out("•", width, 2.0, y)[0])
            layout, x, y = self._laid_out(point.text, width, x, y, indent)
            layouts.append(layout)
            x += GAP if cites else 0
            for cite in cites:
                size = cite.sizeHint()
                if x > indent and x + 2 + size.width() > width:
                    x, y = indent - 1.0, y + height
                top = y + (height - size.height()) / 2
                room = min(size.width(), max(20, width - indent))
                placed.append((cite, QRect(round(x) + 1, round(top), room, size.height())))
                x += room + 2
            x += QFontMetricsF(self.font()).horizontalAdvance(" ")
        return layouts, math.ceil(y + height) if self._points else 0, placed

    def _fits(self, text: str, room: float) -> bool:
        """Return whether at least the first word fits into the rest of a line."""
        return QFontMetricsF(self.font()).horizontalAdvance(text.split(" ", 1)[0]) <= room
