"""The mouse over a transcript: selecting, following links, choosing actions, the shape of the pointer."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractScrollArea

from app.gui.transcript.canvas import Canvas
from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.selection import Selection, TextPlace

AUTO_SCROLL_MS = 40


class Pointer(QObject):
    """Turns mouse events into selections, links and actions."""

    def __init__(
        self,
        area: QAbstractScrollArea,
        canvas: Canvas,
        selection: Selection,
        act: Callable[[PaintedRow, str, QPoint], None],
        follow: Callable[[str, str], None],
    ) -> None:
        """`act(row, action, point)` does what a row offers; `follow(url, shown text)` opens a link."""
        super().__init__(area)
        self._area = area
        self._canvas = canvas
        self._selection = selection
        self._act = act
        self._follow = follow
        self._pressed: tuple[str, str] | None = None
        self._drag = QPoint()
        self._auto_scroll = QTimer(self)
        self._auto_scroll.setInterval(AUTO_SCROLL_MS)
        self._auto_scroll.timeout.connect(self._on_auto_scroll)

    def press(self, event: QMouseEvent) -> None:
        """Begin a selection, or extend it with Shift."""
        found = self._canvas.row_at(event.position().toPoint())
        if found is None:
            return
        row, point = found
        self._pressed = (row.text.link_at(point)[0], row.action_at(point))
        place = TextPlace(row.row_id, row.position_at(point))
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selection.anchor:
            self._selection.extend(place)
        else:
            self._selection.start(place)
        self._canvas.repaint()

    def move(self, event: QMouseEvent) -> None:
        """Extend the selection while the button is held; else show by the pointer what is under it."""
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed:
            self._drag = point
            outside = not 0 <= point.y() < self._area.viewport().height()
            if outside and not self._auto_scroll.isActive():
                self._auto_scroll.start()
            elif not outside:
                self._auto_scroll.stop()
            self._extend_to(point)
            return
        shape = Qt.CursorShape.ArrowCursor
        if found := self._canvas.row_at(point):
            row, inside = found
            if row.text.link_at(inside)[0] or row.action_at(inside):
                shape = Qt.CursorShape.PointingHandCursor
            elif any(segment.rect.contains(inside) for segment in row.text.segments):
                shape = Qt.CursorShape.IBeamCursor
        self._area.viewport().setCursor(shape)

    def release(self, event: QMouseEvent) -> None:
        """Do what was clicked, unless something was selected."""
        self._auto_scroll.stop()
        pressed, self._pressed = self._pressed, None
        found = self._canvas.row_at(event.position().toPoint())
        if (
            event.button() != Qt.MouseButton.LeftButton
            or not pressed
            or not found
            or self._selection.bounds()
        ):
            return
        row, point = found
        url, shown = row.text.link_at(point)
        action = row.action_at(point)
        if action and action == pressed[1]:
            self._act(row, action, point)
        elif url and url == pressed[0]:
            self._follow(url, shown)

    def double_click(self, event: QMouseEvent) -> None:
        """Select the word under the pointer."""
        if found := self._canvas.row_at(event.position().toPoint()):
            row, point = found
            start, end = row.word_at(row.position_at(point))
            self._selection.start(TextPlace(row.row_id, start))
            self._selection.extend(TextPlace(row.row_id, end))
            self._canvas.repaint()

    def _extend_to(self, point: QPoint) -> None:
        if found := self._canvas.row_at(point):
            row, inside = found
            self._selection.extend(TextPlace(row.row_id, row.position_at(inside)))
            self._canvas.repaint()

    def _on_auto_scroll(self) -> None:
        over = self._drag.y() - (0 if self._drag.y() < 0 else self._area.viewport().height())
        bar = self._area.verticalScrollBar()
        bar.setValue(bar.value() + over // 2 + (1 if over > 0 else -1))
        self._extend_to(self._drag)
