"""The keyboard in a transcript: links and actions reached one by one, and a text cursor that selects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, Qt

from app.gui.transcript.canvas import Canvas
from app.gui.transcript.painted_row import COPY_CODE, PaintedRow
from app.gui.transcript.selection import TO_END, Selection, TextPlace
from app.gui.transcript.transcript_model import TranscriptModel


@dataclass(frozen=True, slots=True)
class KeyTarget:
    """Something Enter can use: a link or an action of a row; `rect` and `point` are in the row."""

    row_id: str
    rect: QRect
    point: QPoint
    url: str = ""
    text: str = ""
    action: str = ""


class Keyboard:
    """The focused link or action, and the keys that extend a selection."""

    def __init__(self, model: TranscriptModel, canvas: Canvas, selection: Selection) -> None:
        self._model = model
        self._canvas = canvas
        self._selection = selection
        self.target: KeyTarget | None = None

    def to_next(self, *, forward: bool) -> bool:
        """Go to the next link or action on screen; return False past the last."""
        stops = self._targets()
        index = stops.index(self.target) if self.target in stops else (-1 if forward else len(stops))
        index += 1 if forward else -1
        self.target = stops[index] if 0 <= index < len(stops) else None
        self._canvas.repaint()
        return self.target is not None

    def follow_target(self) -> None:
        """Take the new place of the target after its row was folded or unfolded."""
        if self.target:
            row_id = self.target.row_id
            self.target = next((each for each in self._targets() if each.row_id == row_id), None)

    def extend(self, key: int) -> bool:
        """Extend the selection by an arrow key, Home or End; return False for another key."""
        cursor = self._selection.cursor
        if cursor is None:
            if not self._canvas.placed:
                return False
            cursor = TextPlace(self._model.id(self._canvas.placed[0].row), 0)
            self._selection.start(cursor)
        place = moved(self._model, self._canvas.row, cursor, key)
        if place is not None:
            self._selection.extend(place)
            self._canvas.repaint()
        return place is not None

    def _targets(self) -> Sequence[KeyTarget]:
        """Return the links and actions on screen from top to bottom."""
        found: list[KeyTarget] = []
        for placed in self._canvas.placed:
            row = self._canvas.row(placed.row)
            for position, span in row.text.links:
                rect = row.position_rect(position).adjusted(-2, 0, 0, 0)
                end = row.position_rect(position + len(span.text))
                rect.setRight(end.right() + 2 if end.top() == rect.top() else rect.left() + 40)
                found.append(KeyTarget(row.row_id, rect, rect.center(), span.link, span.text))
            for rect in row.text.copy_rects:
                found.append(KeyTarget(row.row_id, rect, rect.center(), action=COPY_CODE))
            for action, rect in row.action_rects:
                found.append(KeyTarget(row.row_id, rect, rect.center(), action=action))
        return found


def moved(
    model: TranscriptModel, row_of: Callable[[int], PaintedRow], place: TextPlace, key: int
) -> TextPlace | None:
    """Return where a key takes the cursor of the selection; None for a key that moves nothing."""
    index = model.index(place.row_id)
    row = row_of(index)
    length = row.text.length
    position = min(place.position, length)
    keys = Qt.Key
    if key == keys.Key_Left:
        position -= 1
    elif key == keys.Key_Right:
        position += 1
    elif key in (keys.Key_Up, keys.Key_Down):
        position = _line_moved(row, position, key == keys.Key_Down)
    elif key == keys.Key_Home:
        return TextPlace(model.id(0), 0)
    elif key == keys.Key_End:
        return TextPlace(model.id(-1), TO_END)
    else:
        return None
    if position < 0 and index > 0:
        above = row_of(index - 1)
        return TextPlace(above.row_id, above.text.length)
    if position > length and index < len(model.entries) - 1:
        return TextPlace(model.id(index + 1), 0)
    return TextPlace(place.row_id, max(0, min(position, length)))


def _line_moved(row: PaintedRow, position: int, down: bool) -> int:
    rect = row.position_rect(position)
    y = rect.bottom() + rect.height() // 2 if down else rect.top() - rect.height() // 2
    result = row.position_at(QPoint(rect.left(), y))
    if down:
        return result if row.position_rect(result).top() > rect.top() else row.text.length + 1
    return result if row.position_rect(result).top() < rect.top() else -1
