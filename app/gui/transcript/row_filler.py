"""Brings the earlier messages of a long conversation into a transcript between frames, a slice at a time."""

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractScrollArea

from app.gui.transcript.gradual_loading import Backlog

SLICE = 200
"""This many messages are laid out in two to four milliseconds."""
HELD_MS = 50


class RowFiller(QObject):
    """Emits `slice_due(messages)` until the backlog is given out; waits while the scroll bar is held."""

    slice_due = Signal(object)

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self.backlog = Backlog()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_time)

    def start(self, backlog: Backlog) -> None:
        """Give out this backlog from now on, instead of what is left of another."""
        self.backlog = backlog
        self._timer.stop()
        if len(backlog):
            self._timer.start(0)

    def finish(self) -> None:
        """Give out all that is left now, for whoever needs the whole."""
        self._timer.stop()
        if len(self.backlog):
            self.slice_due.emit(self.backlog.take(len(self.backlog)))

    def reach(self, message_id: str) -> None:
        """Give out now what is left down to a message, where it is among it."""
        if self.backlog.holds(message_id):
            self.slice_due.emit(self.backlog.take_to(message_id))

    def _on_time(self) -> None:
        if self._area.verticalScrollBar().isSliderDown():
            # Under the mouse the bar would lead elsewhere with every slice.
            self._timer.start(HELD_MS)
            return
        if len(self.backlog):
            self.slice_due.emit(self.backlog.take(SLICE))
        if len(self.backlog):
            self._timer.start(0)
