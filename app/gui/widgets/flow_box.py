"""A box that sets its widgets side by side and breaks the line where the next does not fit.

No QLayout: Qt deletes a layout's items behind the back of their Python names, and the next item made at
the same address is then taken for the one that is gone.
"""

from PySide6.QtCore import QEvent, QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget


class FlowBox(QWidget):
    """Rows of widgets, as many in each as fit; its height follows from its width."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 6) -> None:
        super().__init__(parent)
        self._widgets: list[QWidget] = []
        self._gap = gap
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def insert(self, place: int, widget: QWidget) -> None:
        """Put a widget at a place of the rows."""
        self._widgets.insert(place, widget)
        widget.setParent(self)
        self._change()

    def add(self, widget: QWidget) -> None:
        """Put a widget at the end."""
        self.insert(len(self._widgets), widget)

    def remove(self, widget: QWidget) -> None:
        """Take a widget out; it is still the box's child."""
        self._widgets.remove(widget)
        self._change()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(width, move=False)

    def sizeHint(self) -> QSize:
        size = self.minimumSizeHint()
        return QSize(size.width(), self.heightForWidth(max(size.width(), self.width())))

    def minimumSizeHint(self) -> QSize:
        shown = [_least(widget) for widget in self._widgets if not widget.isHidden()]
        width = max((size.width() for size in shown), default=0)
        height = max((size.height() for size in shown), default=0)
        return QSize(width, height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(self.width(), move=True)
        self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._change()
        return super().event(event)

    def _change(self) -> None:
        self._arrange(self.width(), move=True)
        self.updateGeometry()

    def _arrange(self, width: int, *, move: bool) -> int:
        """Go through the widgets, moving them or not; return the height they take."""
        x = y = line = 0
        for widget in self._widgets:
            if widget.isHidden():
                continue
            least = _least(widget)
            size = widget.sizeHint().expandedTo(least).boundedTo(widget.maximumSize())
            size.setWidth(min(size.width(), max(width, least.width())))
            if x > 0 and x + size.width() > width:
                x, y, line = 0, y + line + self._gap, 0
            if move:
                widget.setGeometry(QRect(x, y, size.width(), size.height()))
            x += size.width() + self._gap
            line = max(line, size.height())
        return y + line


def _least(widget: QWidget) -> QSize:
    return widget.minimumSizeHint().expandedTo(widget.minimumSize())
