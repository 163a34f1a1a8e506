"""What the keyboard reaches in a transcript: links and actions one by one, and a moving cursor."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, Qt

from app.gui.transcript.painted_row import COPY_CODE, PaintedRow
from app.gui.transcript.row_scroller import Placed
from app.gui.transcript.selection import TO_END, Place
from app.gui.transcript.transcript_model import TranscriptModel


@dataclass(frozen=True, slots=True)
class Target:
    """Something Enter can use: a link, or an action; `rect` and `point` are in the row."""

    message_id: str
    rect: QRect
    point: QPoint
    url: str = ""
    text: str = ""
    action: str = ""


def targets(rows: Iterable[tuple[Placed, PaintedRow]]) -> list[Target]:
    """Return the links and actions of the rows on screen, from top to bottom."""
    found: list[Target] = []
    for _placed, row in rows:
        for position, span in row.links:
            rect = row.position_rect(position).adjusted(-2, 0, 0, 0)
            end = row.position_rect(position + len(span.text))
            rect.setRight(end.right() + 2 if end.top() == rect.top() else rect.left() + 40)
            found.append(Target(row.row_id, rect, rect.center(), span.link, span.text))
        for rect in row.copy_rects:
            found.append(Target(row.row_id, rect, rect.center(), action=COPY_CODE))
        for action, rect in row.action_rects:
            found.append(Target(row.row_id, rect, rect.center(), action=action))
    return found


def moved(
    model: TranscriptModel, row_of: Callable[[int], PaintedRow], place: Place, key: int
) -> Place | None:
    """Return where an arrow key takes the cursor of the selection; None for another key."""
    index = model.index(place.message_id)
    row = row_of(index)
    length = row.length
    position = min(place.position, length)
    keys = Qt.Key
    if key == keys.Key_Left:
        position -= 1
    elif key == keys.Key_Right:
        position += 1
    elif key in (keys.Key_Up, keys.Key_Down):
        position = _line_moved(row, position, key == keys.Key_Down)
    elif key == keys.Key_Home:
        return Place(model.id(0), 0)
    elif key == keys.Key_End:
        return Place(model.id(-1), TO_END)
    else:
        return None
    if position < 0 and index > 0:
        above = row_of(index - 1)
        return Place(above.row_id, above.length)
    if position > length and index < len(model.entries) - 1:
        return Place(model.id(index + 1), 0)
    return Place(place.message_id, max(0, min(position, length)))


def _line_moved(row: PaintedRow, position: int, down: bool) -> int:
    rect = row.position_rect(position)
    y = rect.bottom() + rect.height() // 2 if down else rect.top() - rect.height() // 2
    result = row.position_at(QPoint(rect.left(), y))
    if down:
        return result if row.position_rect(result).top() > rect.top() else row.length + 1
    return result if row.position_rect(result).top() < rect.top() else -1
