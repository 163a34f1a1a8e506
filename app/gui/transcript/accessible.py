"""What a screen reader is given of a transcript: a list whose items are the messages.

An item says who speaks and the finished text; it is announced once, when it is finished.
"""

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QColor,
    QWindow,
)
from PySide6.QtWidgets import QAccessibleWidget, QWidget

from app.gui.transcript.transcript_canvas import TranscriptCanvas
from app.gui.widgets.label import keep

_INSTALLED: list[bool] = []


def install() -> None:
    """Teach Qt what a transcript is; called by every view, done once."""
    if not _INSTALLED:
        _INSTALLED.append(True)
        QAccessible.installFactory(_factory)


def announce(view: TranscriptCanvas, message_id: str) -> None:
    """Have a finished message read out, where a screen reader listens."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, view.describe(message_id)))


def _factory(_key: str, owner: QObject) -> QAccessibleInterface | None:
    if not isinstance(owner, TranscriptCanvas):
        return None
    return keep(TranscriptAccessible(owner))


class TranscriptAccessible(QAccessibleWidget):
    """A transcript as a list; its items are made when asked for and kept."""

    def __init__(self, view: TranscriptCanvas) -> None:
        super().__init__(view, QAccessible.Role.List)
        self._view = view
        self._items: dict[str, MessageAccessible] = {}
        view.destroyed.connect(self._end_items)

    def childCount(self) -> int:
        return len(self._view.message_ids)

    def child(self, index: int) -> QAccessibleInterface | None:
        ids = self._view.message_ids
        return self.item(ids[index]) if 0 <= index < len(ids) else None

    def item(self, message_id: str) -> "MessageAccessible":
        """Return the item of a message."""
        if message_id not in self._items:
            self._items[message_id] = MessageAccessible(self._view, self, message_id)
        return self._items[message_id]

    def _end_items(self) -> None:
        # They have no widget of their own that Qt would end them with.
        for item in self._items.values():
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(item))

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        ids = self._view.message_ids
        return ids.index(child.message_id) if isinstance(child, MessageAccessible) else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:
        point = self._view.viewport().mapFromGlobal(QPoint(x, y))
        message_id = self._view.message_at(point)
        return self.item(message_id) if message_id else None


class MessageAccessible(QAccessibleInterface):
    """One message: its name is who speaks and what was said."""

    def __init__(self, view: TranscriptCanvas, parent: TranscriptAccessible, message_id: str) -> None:
        super().__init__()
        self._view = view
        self._parent = parent
        self.message_id = message_id

    def isValid(self) -> bool:
        return self.message_id in self._view.message_ids

    def object(self) -> QObject | None:
        return None

    def window(self) -> QWindow | None:
        top: QWidget = self._view.window()
        return top.windowHandle()

    def parent(self) -> QAccessibleInterface:
        return self._parent

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.readOnly = True
        state.offscreen = self.rect().isEmpty()
        unfolded = self._view.unfolded(self.message_id)
        state.expandable = unfolded is not None
        state.expanded = unfolded is True
        state.collapsed = unfolded is False
        return state

    def text(self, kind: QAccessible.Text) -> str:
        return self._view.describe(self.message_id) if kind == QAccessible.Text.Name else ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """The text of a message cannot be changed."""

    def rect(self) -> QRect:
        rect = self._view.message_rect(self.message_id)
        return QRect(self._view.viewport().mapToGlobal(rect.topLeft()), rect.size()) if rect else QRect()

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> QAccessibleInterface | None:
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def foregroundColor(self) -> QColor:
        return QColor()

    def backgroundColor(self) -> QColor:
        return QColor()
