"""Sentences of a verdict, each followed by small buttons that lead to the messages it rests on."""

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy

from app.core.verdict import Point
from app.gui.widgets.controls import Button, button
from app.gui.widgets.label import plain_tip
from app.gui.widgets.painted_text import PaintedText

LINE_HEIGHT = 1.55
INDENT = 16
GAP = 3
WIDEST_CITE = 150

Cite = tuple[str, str]
"""How a message is cited, and what a screen reader says of the button."""


class CitedText(PaintedText):
    """Plain sentences that run on, or a list of them; emits `cite_requested` with a message's id."""

    cite_requested = Signal(str)

    def __init__(self, kind: str, *, listed: bool = False) -> None:
        super().__init__()
        self.setProperty("kind", kind)
        self._listed = listed
        self._points: tuple[Point, ...] = ()
        self._buttons: list[list[Button]] = []
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def text(self) -> str:
        """Return the sentences without what they rest on."""
        return " ".join(point.text for point in self._points)

    @property
    def stops(self) -> list[Button]:
        """The buttons, in the order they are read."""
        return [cite for row in self._buttons for cite in row]

    def show_points(self, points: Sequence[Point], cite: Callable[[str], Cite | None]) -> None:
        """Show sentences; `cite` says how a message is cited, None for one that is not there."""
        for row in self._buttons:
            for old in row:
                old.hide()
                old.deleteLater()
        self._points = tuple(points)
        self._buttons = [
            [self._button(message_id, words) for message_id in point.cites if (words := cite(message_id))]
            for point in self._points
        ]
        self.setAccessibleName(self.text())
        self.setVisible(bool(self._points))
        self._place()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(width)[1]

    def sizeHint(self) -> QSize:
        return QSize(260, self.heightForWidth(max(260, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(80, math.ceil(self._line_height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        self.ensurePolished()
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        for layout in self._arrange(self.width())[0]:
            layout.draw(painter, QPointF())

    def _button(self, message_id: str, words: Cite) -> Button:
        made = button("cite", f"cite_{message_id}")
        made.setParent(self)
        made.ensurePolished()
        metrics = QFontMetrics(made.font())
        # A single & would be a shortcut's mark.
        shown = metrics.elidedText(words[0], Qt.TextElideMode.ElideMiddle, WIDEST_CITE)
        made.setText(shown.replace("&", "&&"))
        made.setAccessibleName(words[1])
        made.setToolTip(plain_tip(words[1]))
        made.clicked.connect(lambda: self.cite_requested.emit(message_id))
        made.show()
        return made

    def _line_height(self) -> float:
        return self.font().pixelSize() * LINE_HEIGHT

    def _place(self) -> None:
        for cite, rect in self._arrange(self.width())[2]:
            cite.setGeometry(rect)
        self.updateGeometry()
        self.update()

    def _arrange(self, width: int) -> tuple[list[QTextLayout], int, list[tuple[Button, QRect]]]:
        """Break the lines at a width; return them, their height, and where the buttons are."""
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
                layouts.append(self._laid_out("•", 2.0, y, width, 0)[0])
            layout, x, y = self._laid_out(point.text, x, y, width, indent)
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
        """Say whether at least the first word fits in what is left of a line."""
        return QFontMetricsF(self.font()).horizontalAdvance(text.split(" ", 1)[0]) <= room

    def _laid_out(
        self, text: str, x: float, y: float, width: int, indent: int
    ) -> tuple[QTextLayout, float, float]:
        """Lay a sentence out from a place on; return it and the place where it ends."""
        layout = QTextLayout(text, self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        height = self._line_height()
        air = (height - QFontMetricsF(self.font()).height()) / 2
        layout.beginLayout()
        end, top = x, y
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width - x))
            line.setPosition(QPointF(x, y + air))
            end, top = x + line.naturalTextWidth(), y
            x, y = float(indent), y + height
        layout.endLayout()
        return layout, end, top
