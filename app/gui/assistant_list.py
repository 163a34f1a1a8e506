"""The side bar's list of assistants: an initial in its colour, the name, and the model in a word."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QContextMenuEvent, QDropEvent, QFocusEvent, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.agent import Agent
from app.core.provider import ProviderStatus
from app.gui.assistant_looks import colours_of, short_model
from app.gui.i18n import Language
from app.gui.style import Look, sized
from app.gui.widgets.badge import paint_avatar

ROW_HEIGHT = 34
TILE = 22
AGENT = Qt.ItemDataRole.UserRole
META = Qt.ItemDataRole.UserRole + 1
COLOUR = Qt.ItemDataRole.UserRole + 2
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class AssistantRowDelegate(QStyledItemDelegate):
    """Paints an assistant's row; one that is switched off is faint."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens, rect = self._look.tokens, QRect(option.rect)
        agent = index.data(AGENT)
        if not isinstance(agent, Agent):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if selected or focused or option.state & QStyle.StateFlag.State_MouseOver:
            edge = tokens.accent if focused else tokens.line
            painter.setPen(QPen(QColor(edge), 1) if selected or focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.surface if selected else tokens.hover))
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7)
        if not agent.enabled:
            painter.setOpacity(0.55)
        tile = QRect(rect.left() + 8, rect.top() + (rect.height() - TILE) // 2, TILE, TILE)
        paint_avatar(painter, tile, agent.name, tokens.speaker(index.data(COLOUR)))
        painter.setFont(sized(painter.font(), 11))
        meta = painter.fontMetrics().elidedText(
            str(index.data(META)), Qt.TextElideMode.ElideRight, rect.width() // 3
        )
        width = painter.fontMetrics().horizontalAdvance(meta)
        painter.setPen(QColor(tokens.text_2))
        painter.drawText(
            rect.adjusted(0, 0, -8, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, meta
        )
        painter.setFont(sized(painter.font(), 13, 520 if selected else 400))
        painter.setPen(QColor(tokens.text))
        room = rect.adjusted(38, 0, -(width + 16), 0)
        name = painter.fontMetrics().elidedText(agent.name, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, name)
        painter.restore()


class AssistantList(QListWidget):
    """The assistants in the user's order; emits what the user wants of one.

    A click starts a chat. Dragging and Alt with an arrow key change the order.
    """

    chat_requested = Signal(str)
    edit_requested = Signal(str)
    duplicate_requested = Signal(str)
    share_requested = Signal(str)
    delete_requested = Signal(str)
    order_chosen = Signal(object)

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("assistant_list")
        self._language = language
        self._built_in: frozenset[str] = frozenset()
        self.setItemDelegate(AssistantRowDelegate(look, self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListWidget.Shape.NoFrame)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.itemClicked.connect(self._on_clicked)
        look.changed.connect(self.viewport().update)

    def show_assistants(
        self, agents: Sequence[Agent], providers: Sequence[ProviderStatus], built_in: frozenset[str]
    ) -> None:
        """Show these assistants in this order; those `built_in` can be neither changed nor deleted."""
        current = self.current_id()
        self._built_in = built_in
        colours = colours_of(agents)
        self.clear()
        for agent in agents:
            item = QListWidgetItem(agent.name)
            meta = short_model(agent, providers, self._language)
            item.setData(AGENT, agent)
            item.setData(META, meta)
            item.setData(COLOUR, colours[agent.id])
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{agent.name}, {meta}")
            item.setToolTip(agent.description or agent.role)
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDropEnabled)
            self.addItem(item)
        self._make_current(current)
        self.setFixedHeight(self.count() * ROW_HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if agents else Qt.FocusPolicy.NoFocus)

    def current_id(self) -> str:
        """Return the id of the row the keyboard is at, "" when it is at none."""
        agent = self._agent_of(self.currentItem())
        return agent.id if agent is not None else ""

    def ids(self) -> tuple[str, ...]:
        """Return the ids in the order shown."""
        agents = [self._agent_of(self.item(row)) for row in range(self.count())]
        return tuple(agent.id for agent in agents if agent is not None)

    def menu_of(self, agent_id: str) -> QMenu:
        """Return what can be done with an assistant."""
        words, menu = self._language, QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fixed = agent_id in self._built_in
        menu.addAction(words("assistant.chat"), lambda: self.chat_requested.emit(agent_id))
        look_or_edit = words("assistant.look" if fixed else "assistant.edit")
        menu.addAction(f"{look_or_edit}\tF2", lambda: self.edit_requested.emit(agent_id))
        menu.addAction(words("assistant.duplicate"), lambda: self.duplicate_requested.emit(agent_id))
        menu.addAction(words("assistant.share"), lambda: self.share_requested.emit(agent_id))
        menu.addSeparator()
        row = self.ids().index(agent_id)
        for text, step in ((words("assistant.up"), -1), (words("assistant.down"), 1)):
            keys = "Alt+↑" if step < 0 else "Alt+↓"
            action = menu.addAction(f"{text}\t{keys}", partial(self._move, row, step))
            action.setEnabled(0 <= row + step < self.count())
        if not fixed:
            menu.addSeparator()
            menu.addAction(f"{words('assistant.delete')}\tDel", lambda: self.delete_requested.emit(agent_id))
        return menu

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_F2:  # type: ignore[attr-defined]
            # The window's own F2 is for elsewhere.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        agent_id = self.current_id()
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if not agent_id:
            super().keyPressEvent(event)
        elif step and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self._move(self.currentRow(), step)
        elif event.key() in ENTER:
            self._ask_for_chat(agent_id)
        elif event.key() == Qt.Key.Key_F2:
            self.edit_requested.emit(agent_id)
        elif event.key() == Qt.Key.Key_Delete:
            if agent_id not in self._built_in:
                self.delete_requested.emit(agent_id)
        elif event.key() == Qt.Key.Key_Menu:
            self._pop_up(agent_id, self.visualItemRect(self.currentItem()).center())
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        item = self.currentItem() if keyboard else self.itemAt(event.pos())
        agent = self._agent_of(item)
        if item is not None and agent is not None:
            self._pop_up(agent.id, self.visualItemRect(item).center() if keyboard else event.pos())

    def dropEvent(self, event: QDropEvent) -> None:
        before = self.ids()
        super().dropEvent(event)
        if self.ids() != before:
            self.order_chosen.emit(self.ids())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.clearSelection()

    def _pop_up(self, agent_id: str, place: QPoint) -> None:
        self.menu_of(agent_id).popup(self.viewport().mapToGlobal(place))

    def _move(self, row: int, step: int) -> None:
        place = row + step
        if 0 <= place < self.count():
            self.insertItem(place, self.takeItem(row))
            self.setCurrentRow(place, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.order_chosen.emit(self.ids())

    def _make_current(self, agent_id: str) -> None:
        """Put the keyboard at a row without marking it as chosen: choosing one starts a chat."""
        if agent_id in self.ids():
            self.setCurrentRow(self.ids().index(agent_id), QItemSelectionModel.SelectionFlag.NoUpdate)

    def _agent_of(self, item: QListWidgetItem | None) -> Agent | None:
        agent = item.data(AGENT) if item is not None else None
        return agent if isinstance(agent, Agent) else None

    def _ask_for_chat(self, agent_id: str) -> None:
        agent = self._agent_of(self.currentItem())
        if agent is not None and not agent.enabled:
            self.edit_requested.emit(agent_id)
        else:
            self.chat_requested.emit(agent_id)

    def _on_clicked(self, _item: QListWidgetItem) -> None:
        # What is on screen from now on is a chat, not the assistant.
        self.clearSelection()
        self._ask_for_chat(self.current_id())
