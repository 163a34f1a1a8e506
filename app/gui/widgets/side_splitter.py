"""A row of parts around a main one, each as wide as the user made it while there is room; used by the window."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QSplitter, QWidget

MAIN = 1


class SideSplitter(QSplitter):
    """Gives the part in the middle what is left, and the sides their widths back when the window has grown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._widths: dict[int, int] = {}
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(self._on_moved)

    def widths(self) -> list[int]:
        """Return how wide each part is to be, in pixels; 0 for the one in the middle."""
        sizes = self.sizes()
        return [
            0 if place == MAIN else self._widths.get(place, sizes[place]) for place in range(self.count())
        ]

    def set_widths(self, widths: Sequence[int]) -> None:
        """Make the parts as wide as that, in pixels; the one in the middle has the rest, whatever stands there."""
        self._widths = {place: width for place, width in enumerate(widths) if place != MAIN and width > 0}
        rest = max(1, self.width() - sum(self._widths.values()))
        self.setSizes([self._widths.get(place, rest) for place in range(self.count())])

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._give_back()
        return done

    def _give_back(self) -> None:
        sizes = self.sizes()
        middle = self.widget(MAIN)
        if middle is None:
            return
        spare = sizes[MAIN] - max(middle.minimumWidth(), middle.minimumSizeHint().width())
        given = 0
        for place, width in self._widths.items():
            part = self.widget(place)
            if part is not None and part.isVisibleTo(self):
                more = max(0, min(width - sizes[place], spare - given))
                sizes[place] += more
                given += more
        if given:
            sizes[MAIN] -= given
            self.setSizes(sizes)

    def _on_moved(self, _position: int, handle: int) -> None:
        moved = 0 if handle == MAIN else handle
        self._widths[moved] = self.sizes()[moved]
