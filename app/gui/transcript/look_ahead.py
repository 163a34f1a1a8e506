"""Says between frames which row of a transcript comes on screen next, so that it is made before it is seen."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QAbstractScrollArea

from app.gui.transcript.row_scroller import Placed
from app.gui.transcript.row_store import RowStore
from app.gui.transcript.transcript_model import TranscriptModel

AHEAD_MS = 3


class LookAhead(QObject):
    """Emits `row_wanted(row)` for one row at a time, within a screen in the scroll's direction."""

    row_wanted = Signal(int)

    def __init__(
        self,
        model: TranscriptModel,
        rows: RowStore,
        on_screen: Callable[[], list[Placed]],
        area: QAbstractScrollArea,
    ) -> None:
        super().__init__(area)
        self._model = model
        self._rows = rows
        self._on_screen = on_screen
        self._area = area
        self._downwards = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(AHEAD_MS)
        self._timer.timeout.connect(self._on_time)

    def start(self, *, downwards: bool) -> None:
        """Look in the direction of the scroll, once the frame is done."""
        self._downwards = downwards
        self._timer.start()

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()

    def _on_time(self) -> None:
        row = self._next_row()
        if row is not None:
            self.row_wanted.emit(row)
            self._timer.start()

    def near(self) -> set[str]:
        """Return the messages whose rows are made and on screen or within a screen of it."""
        placed = self._on_screen()
        model = self._model
        result = {model.id(each.row) for each in placed}
        for step, edge in ((1, -1), (-1, 0)) if placed else ():
            row, room = placed[edge].row + step, self._area.viewport().height()
            while 0 <= row < len(model.entries) and room > 0:
                made = self._rows.get(model.id(row))
                if made is None:
                    break
                result.add(model.id(row))
                room -= made.height
                row += step
        return result

    def _next_row(self) -> int | None:
        """Return the nearest row in the scroll's direction that is not made yet."""
        placed = self._on_screen()
        if not placed:
            return None
        step, edge = (1, placed[-1]) if self._downwards else (-1, placed[0])
        row, room = edge.row + step, self._area.viewport().height()
        pictures = self._rows.pictures
        while 0 <= row < len(self._model.entries) and room > 0:
            made = self._rows.get(self._model.id(row))
            if made is None or (pictures.can_have(made) and not pictures.has(made)):
                return row
            room -= made.height
            row += step
        return None
