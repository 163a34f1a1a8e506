"""Moves what only moved as pixels, and has the rest painted: what makes scrolling cheap."""

from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from app.gui.transcript.row_scroller import Placed


def shift(
    viewport: QWidget,
    overlays: Sequence[QWidget],
    old: dict[int, Placed],
    now: Sequence[Placed],
    changed: Collection[int],
    painted_to: Callable[[int], int],
) -> bool:
    """Move the pixels of the rows that were there; False where all must be painted.

    `changed` are the rows whose content is another; `painted_to` returns how far down, in pixels,
    such a row still stands as it was.
    """
    width, height = viewport.width(), viewport.height()
    distances = {placed.top - old[placed.row].top for placed in now if placed.row in old}
    if len(distances) != 1 and now:
        return False
    distance = distances.pop() if distances else 0
    if abs(distance) >= height:
        return False
    if distance:
        over = [child.geometry() for child in overlays if child.isVisible()]
        if over:
            viewport.scroll(0, distance, QRect(0, 0, width, height))
            for box in over:
                viewport.update(box.united(box.translated(0, distance)))
        else:
            viewport.scroll(0, distance)
    for placed in now:
        before = old.get(placed.row)
        if before is None:
            viewport.update(0, placed.top, width, placed.height)
        elif placed.row in changed or placed.height != before.height:
            top = placed.top + painted_to(placed.row)
            end = height if placed.height != before.height else placed.top + placed.height
            viewport.update(0, top, width, end - top)
    return True
