"""A list whose rows the user can reorder, by dragging or with Alt and an arrow key."""

from functools import partial

from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QMenu

from app.gui.display.appearance import Language

ROW_ID = Qt.ItemDataRole.UserRole
EDITS = (Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter)
STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class OrderedList(QListWidget):
    """Rows with an id; emits the new order, and the row to delete or to edit.

    Subclasses make rows with `new_row` and extend `menu_of`.
    """

    order_chosen = Signal(object)
    delete_requested = Signal(str)
    edit_requested = Signal(str)

    def __init__(self, language: Language, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.language = language
        self.fixed: frozenset[str] = frozenset()
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListWidget.Shape.NoFrame)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)

    def ids(self) -> tuple[str, ...]:
        """Return the ids in order."""
        return tuple(str(self.item(row).data(ROW_ID)) for row in range(self.count()))

    def current_id(self) -> str:
        """Return the id of the current row, "" if there is none."""
        row = self.currentRow()
        return str(self.item(row).data(ROW_ID)) if row >= 0 else ""

    def new_row(self, row_id: str, name: str) -> QListWidgetItem:
        """Append a row and return it."""
        item = QListWidgetItem(name)
        item.setData(ROW_ID, row_id)
        item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDropEnabled)
        self.addItem(item)
        return item

    def menu_of(self, row_id: str) -> QMenu:
        """Return the context menu of a row."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.add_moves(menu, row_id)
        return menu

    def add_moves(self, menu: QMenu, row_id: str) -> None:
        """Add the actions that move a row up and down."""
        words, row = self.language, self.ids().index(row_id)
        for text, step in ((words("assistant.up"), -1), (words("assistant.down"), 1)):
            keys = "Alt+↑" if step < 0 else "Alt+↓"
            action = menu.addAction(f"{text}\t{keys}", partial(self.move_row, row, step))
            action.setEnabled(0 <= row + step < self.count())

    def move_row(self, row: int, step: int) -> None:
        """Move a row by `step` places if possible."""
        place, current = row + step, self.current_id()
        if not 0 <= place < self.count():
            return
        # Taking a row out makes another one current for a moment, which must not be reported.
        self.blockSignals(True)
        self.insertItem(place, self.takeItem(row))
        self.setCurrentRow(self.ids().index(current) if current else -1, self.moving_selects())
        self.blockSignals(False)
        self.order_chosen.emit(self.ids())

    def moving_selects(self) -> QItemSelectionModel.SelectionFlag:
        """Return how moving changes the selection, besides the current row."""
        return QItemSelectionModel.SelectionFlag.ClearAndSelect

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_F2:  # type: ignore[attr-defined]
            # The window uses F2 too.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row_id = self.current_id()
        step = STEPS.get(Qt.Key(event.key()), 0)
        if not row_id:
            super().keyPressEvent(event)
        elif step and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.move_row(self.currentRow(), step)
        elif event.key() in EDITS:
            self.edit_requested.emit(row_id)
        elif event.key() == Qt.Key.Key_Delete:
            if row_id not in self.fixed:
                self.delete_requested.emit(row_id)
        elif event.key() == Qt.Key.Key_Menu:
            self._pop_up(row_id, self.visualItemRect(self.currentItem()).center())
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        item = self.currentItem() if keyboard else self.itemAt(event.pos())
        if item is not None:
            place = self.visualItemRect(item).center() if keyboard else event.pos()
            self._pop_up(str(item.data(ROW_ID)), place)

    def dropEvent(self, event: QDropEvent) -> None:
        before = self.ids()
        super().dropEvent(event)
        if self.ids() != before:
            self.order_chosen.emit(self.ids())

    def _pop_up(self, row_id: str, place: QPoint) -> None:
        self.menu_of(row_id).popup(self.viewport().mapToGlobal(place))
