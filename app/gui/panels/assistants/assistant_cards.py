"""The assistants as cards: an initial, the name, the model and how many tools; one is chosen."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.agent import Agent
from app.core.tool import Tool
from app.gui.assistant_looks import colours_of, model_line
from app.gui.i18n import Language
from app.gui.style import Look, sized
from app.gui.widgets.badge import paint_avatar, paint_chip

CARD_HEIGHT = 56
GAP = 6
TILE = 30
AGENT = Qt.ItemDataRole.UserRole
LINE = Qt.ItemDataRole.UserRole + 1
MARK = Qt.ItemDataRole.UserRole + 2
COLOUR = Qt.ItemDataRole.UserRole + 3


class AssistantCardDelegate(QStyledItemDelegate):
    """Paints a card: name over model and tools, and at the right what sets it apart."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, CARD_HEIGHT + GAP)

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
            chip = QRect(right - width, rect.center().y() - 9, width, 19)
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


class AssistantCards(QListWidget):
    """The cards; emits `chosen` with the id of the one the user goes to."""

    chosen = Signal(str)

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("assistant_cards")
        self._language = language
        self.setItemDelegate(AssistantCardDelegate(look, self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.currentItemChanged.connect(self._on_current_changed)
        look.changed.connect(self.viewport().update)

    def show_assistants(
        self, agents: Sequence[Agent], tools: Sequence[Tool], built_in: frozenset[str], chosen: str
    ) -> None:
        """Show these assistants, the chosen one marked."""
        words, colours = self._language, colours_of(agents)
        self.blockSignals(True)
        position = self.verticalScrollBar().value()
        self.clear()
        for agent in agents:
            line = model_line(agent, tools, words)
            mark = words("assistant.mark.built_in") if agent.id in built_in else ""
            mark = mark if agent.enabled else words("assistant.mark.off")
            item = QListWidgetItem(agent.name)
            item.setData(AGENT, agent)
            item.setData(LINE, line)
            item.setData(MARK, mark)
            item.setData(COLOUR, colours[agent.id])
            item.setData(
                Qt.ItemDataRole.AccessibleTextRole,
                ", ".join(part for part in (agent.name, line, mark) if part),
            )
            self.addItem(item)
            if agent.id == chosen:
                self.setCurrentItem(item)
        self.verticalScrollBar().setValue(position)
        self.blockSignals(False)

    def _on_current_changed(self, item: QListWidgetItem | None) -> None:
        agent = item.data(AGENT) if item is not None else None
        if isinstance(agent, Agent):
            self.chosen.emit(agent.id)
