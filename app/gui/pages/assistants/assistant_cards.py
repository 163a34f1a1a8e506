"""A list of assistants as cards: initial, name, model and number of tools."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.agent import Agent
from app.core.tool import ToolChoice
from app.gui.display.assistant_display import model_line
from app.gui.display.i18n import Language
from app.gui.display.style import Look, sized, tall
from app.gui.widgets.badge import paint_avatar, paint_chip
from app.gui.widgets.ordered_list import OrderedList

CARD_HEIGHT = 56
GAP = 6
TILE = 30
AGENT = Qt.ItemDataRole.UserRole + 1
LINE = Qt.ItemDataRole.UserRole + 2
MARK = Qt.ItemDataRole.UserRole + 3
COLOUR = Qt.ItemDataRole.UserRole + 4


class AssistantCardDelegate(QStyledItemDelegate):
    """Paints a card: name over model and tools, and a mark at the right."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, tall(CARD_HEIGHT) + GAP)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        agent = index.data(AGENT)
        if not isinstance(agent, Agent):
            return
        tokens = self._look.tokens
        rect = QRect(option.rect).adjusted(0, 0, -1, -GAP)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        painter.setPen(QPen(QColor(tokens.accent if selected else tokens.line), 2 if focused else 1))
        painter.setBrush(QColor(tokens.hover if hovered and not selected else tokens.surface))
        painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 9, 9)
        if not agent.enabled:
            painter.setOpacity(0.6)
        tile = QRect(rect.left() + 12, rect.top() + (rect.height() - TILE) // 2, TILE, TILE)
        paint_avatar(painter, tile, agent.name, tokens.speaker(index.data(COLOUR)))
        right = rect.right() - 10
        mark = str(index.data(MARK))
        if mark:
            painter.setFont(sized(painter.font(), 11, 500))
            width = painter.fontMetrics().horizontalAdvance(mark) + 16
            chip = QRect(right - width, rect.center().y() - tall(19) // 2, width, tall(19))
            paint_chip(painter, chip, mark, (tokens.text_2, tokens.hover))
            right = chip.left()
        room = QRect(tile.right() + 12, rect.top() + 8, right - tile.right() - 18, rect.height() - 16)
        for text, pixels, weight, colour, line in (
            (agent.name, 13, 600, tokens.text, Qt.AlignmentFlag.AlignTop),
            (str(index.data(LINE)), 12, 400, tokens.text_2, Qt.AlignmentFlag.AlignBottom),
        ):
            painter.setFont(sized(painter.font(), pixels, weight))
            painter.setPen(QColor(colour))
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, line, shown)
        painter.restore()


class AssistantCards(OrderedList):
    """The cards; emits `chosen` with an assistant's id. `removal` is the key of the text for Del."""

    chosen = Signal(str)

    def __init__(
        self,
        language: Language,
        look: Look,
        name: str = "assistant_cards",
        removal: str = "assistant.delete",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(language, name, parent)
        self._removal = removal
        self.setItemDelegate(AssistantCardDelegate(look, self))
        self.setVerticalScrollMode(self.ScrollMode.ScrollPerPixel)
        self.currentItemChanged.connect(self._on_current_changed)
        self.itemDoubleClicked.connect(lambda _item: self.edit_requested.emit(self.current_id()))
        look.changed.connect(self.viewport().update)

    def show_assistants(
        self,
        agents: Sequence[Agent],
        tools: Sequence[ToolChoice],
        marks: Mapping[str, str],
        chosen: str,
        *,
        colours: Mapping[str, int],
    ) -> None:
        """Show these assistants in their colours and mark the chosen one; `marks` are texts by id."""
        words = self.language
        with QSignalBlocker(self):
            position = self.verticalScrollBar().value()
            self.clear()
            for agent in agents:
                line = model_line(agent, tools, words)
                mark = marks.get(agent.id, "") or ("" if agent.enabled else words("assistant.mark.off"))
                item = self.new_row(agent.id, agent.name)
                item.setData(AGENT, agent)
                item.setData(LINE, line)
                item.setData(MARK, mark)
                item.setData(COLOUR, colours.get(agent.id, 0))
                item.setData(
                    Qt.ItemDataRole.AccessibleTextRole,
                    ", ".join(part for part in (agent.name, line, mark) if part),
                )
                if agent.id == chosen:
                    self.setCurrentItem(item)
            self.verticalScrollBar().setValue(position)

    def menu_of(self, row_id: str) -> QMenu:
        menu, words = super().menu_of(row_id), self.language
        edit = QAction(f"{words('assistant.look' if row_id in self.fixed else 'assistant.edit')}\tF2", menu)
        edit.triggered.connect(lambda: self.edit_requested.emit(row_id))
        menu.insertAction(menu.actions()[0], edit)
        if row_id not in self.fixed:
            menu.addSeparator()
            menu.addAction(f"{words(self._removal)}\tDel", lambda: self.delete_requested.emit(row_id))
        return menu

    def _on_current_changed(self, item: QListWidgetItem | None) -> None:
        agent = item.data(AGENT) if item is not None else None
        if isinstance(agent, Agent):
            self.chosen.emit(agent.id)
