"""A transcript for screen readers: a list whose items are the rows.

An item says who speaks and the finished text; it is announced once, when it is finished.
"""

from collections.abc import Callable
from typing import Protocol, cast

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface, QColor, QWindow
from PySide6.QtWidgets import QAbstractScrollArea, QAccessibleWidget, QWidget

from app.gui.widgets.question_card import PromptCard
from app.gui.widgets.text import tell_as


class RowList(Protocol):
    """What a screen reader asks a transcript view."""

    @property
    def message_ids(self) -> list[str]: ...

    def message_at(self, point: QPoint) -> str: ...

    def message_rect(self, row_id: str) -> QRect | None: ...

    def describe(self, row_id: str) -> str: ...

    def unfolded(self, row_id: str) -> bool | None: ...


def install(view: QAbstractScrollArea) -> None:
    """Have Qt use these interfaces for a view, which is a RowList."""
    tell_as(view, lambda shown: TranscriptAccessible(shown, cast("RowList", shown)))


def announce(view: QObject, words: Callable[[], str]) -> None:
    """Have a screen reader read a finished message out, if one is running."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, words()))


class TranscriptAccessible(QAccessibleWidget):
    """A transcript as a list: its items, made when asked for and kept, then the cards that are open over them."""

    def __init__(self, area: QAbstractScrollArea, view: RowList) -> None:
        super().__init__(area, QAccessible.Role.List)
        self._area = area
        self._view = view
        self._items: dict[str, MessageAccessible] = {}
        area.destroyed.connect(self._end_items)

    def childCount(self) -> int:
        return len(self._view.message_ids) + len(self._cards())

    def child(self, index: int) -> QAccessibleInterface | None:
        ids, cards = self._view.message_ids, self._cards()
        if 0 <= index < len(ids):
            return self.item(ids[index])
        card = index - len(ids)
        return QAccessible.queryAccessibleInterface(cards[card]) if 0 <= card < len(cards) else None

    def _cards(self) -> list[PromptCard]:
        return [one for one in self._area.viewport().findChildren(PromptCard) if one.isVisible()]

    def item(self, message_id: str) -> "MessageAccessible":
        """Return the item of a message."""
        if message_id not in self._items:
            self._items[message_id] = MessageAccessible(self._area, self._view, self, message_id)
        return self._items[message_id]

    def _end_items(self) -> None:
        # Qt deletes interfaces with their widgets, and the items have none.
        for item in self._items.values():
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(item))

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        ids = self._view.message_ids
        if isinstance(child, MessageAccessible):
            return ids.index(child.message_id)
        cards: list[QObject] = list(self._cards())
        return len(ids) + cards.index(child.object()) if child.object() in cards else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:
        point = self._area.viewport().mapFromGlobal(QPoint(x, y))
        message_id = self._view.message_at(point)
        return self.item(message_id) if message_id else None


class MessageAccessible(QAccessibleInterface):
    """One row: its name says who speaks and what."""

    def __init__(
        self, area: QAbstractScrollArea, view: RowList, parent: TranscriptAccessible, message_id: str
    ) -> None:
        super().__init__()
        self._area = area
        self._view = view
        self._parent = parent
        self.message_id = message_id

    def isValid(self) -> bool:
        return self.message_id in self._view.message_ids

    def object(self) -> QObject | None:
        return None

    def window(self) -> QWindow | None:
        top: QWidget = self._area.window()
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
        return QRect(self._area.viewport().mapToGlobal(rect.topLeft()), rect.size()) if rect else QRect()

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
