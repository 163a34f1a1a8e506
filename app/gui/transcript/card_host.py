"""The widgets laid over open questions: made when one comes on screen, hidden off it, gone when answered."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.core.message import Message
from app.gui.widgets.controls import put_in_tab_order

Factory = Callable[[Message], QWidget]


class CardHost(QObject):
    """Widgets by the id of their question; emits `resized` when one wants another height."""

    resized = Signal(str)

    def __init__(self, area: QAbstractScrollArea, overlays: list[QWidget]) -> None:
        """`overlays` is kept up to date with the widgets that stand over the viewport."""
        super().__init__(area)
        self._area = area
        self._overlays = overlays
        self._factory: Factory | None = None
        self._widgets: dict[str, QWidget] = {}
        self._heights: dict[str, tuple[int, int]] = {}

    def set_factory(self, factory: Factory) -> None:
        """Say who makes the widgets."""
        self._factory = factory

    def widget(self, message_id: str) -> QWidget | None:
        """Return the widget of a question, if it is made."""
        return self._widgets.get(message_id)

    def height(self, message: Message, width: int) -> int:
        """Return how tall the widget of a question is in a width, making it; 0 without a factory."""
        widget = self._widgets.get(message.id)
        if widget is None:
            if self._factory is None:
                return 0
            widget = self._factory(message)
            widget.setParent(self._area.viewport())
            widget.ensurePolished()
            widget.installEventFilter(self)
            self._widgets[message.id] = widget
            self._overlays.append(widget)
            put_in_tab_order((self._area, *_stops(widget)))
        height = widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
        self._heights[message.id] = (width, height)
        return height

    def place(self, boxes: Mapping[str, QRect]) -> None:
        """Show the widgets of these questions in their boxes, and hide the others."""
        for message_id, widget in self._widgets.items():
            box = boxes.get(message_id)
            if box is not None and widget.geometry() != box:
                widget.setGeometry(box)
            if widget.isHidden() == (box is not None):
                widget.setVisible(box is not None)

    def keep(self, open_ids: set[str]) -> None:
        """Throw away the widgets of all questions but these."""
        for message_id in [each for each in self._widgets if each not in open_ids]:
            widget = self._widgets.pop(message_id)
            self._heights.pop(message_id, None)
            self._overlays.remove(widget)
            widget.removeEventFilter(self)
            focused = self._area.window().focusWidget()
            if focused in (widget, *widget.findChildren(QWidget)):
                self._area.setFocus()
            widget.hide()
            widget.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            for message_id, widget in self._widgets.items():
                width, height = self._heights.get(message_id, (0, 0))
                if widget is watched and width:
                    wanted = widget.heightForWidth(width) if widget.hasHeightForWidth() else -1
                    if (wanted if wanted >= 0 else widget.sizeHint().height()) != height:
                        self.resized.emit(message_id)
        return super().eventFilter(watched, event)


def _stops(card: QWidget) -> list[QWidget]:
    """Return a card and what Tab stops at in it, in its own order."""
    # A card that hands the focus on is no stop itself: Qt would take it for what it hands it to.
    stops: list[QWidget] = [] if card.focusProxy() is not None else [card]
    part = card.nextInFocusChain()
    while part is not None and part is not card:
        if card.isAncestorOf(part) and part.focusPolicy() != Qt.FocusPolicy.NoFocus:
            stops.append(part)
        part = part.nextInFocusChain()
    return stops
