"""The list of the window: what a row shows, the model of the rows, how a row is painted, and the keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from PySide6 import QtCore, QtGui
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QListView, QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui.commands import deletes, written
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.widgets.badge import chip_colours, paint_avatar, paint_chip, paint_text, paint_tile
from app.gui.widgets.controls import TICK, paint_tick, passing_menu
from app.gui.widgets.text import plain_tip

Index = QtCore.QModelIndex | QtCore.QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
ITEM = Qt.ItemDataRole.UserRole + 1
HEADING = Qt.ItemDataRole.UserRole + 2
# Joined once: that takes longer than all else that is asked of a row as it is painted.
USUAL = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
DRAGS = USUAL | Qt.ItemFlag.ItemIsDragEnabled
STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowItem:
    """What a row shows. All texts are plain; colours and icons go by their names in the theme."""

    title: str
    id: str = ""
    second: str = ""  # under the title
    second_colour: str = "text_2"
    third: str = ""  # under the second line
    note: str = ""  # at the right
    note_colour: str = "text_2"
    title_first: bool = False  # the note has only the room that the title leaves
    icon: str = ""
    icon_colour: str = "text_2"
    colour: int | None = None  # a speaker's, for a badge with its letters in place of an icon
    letters: str = ""
    ticked: bool | None = None  # None for a row without a tick box
    chevron: str = ""  # the icon before the icon
    indent: int = 0  # in pixels
    dot: str = ""  # the colour of a dot before the second line
    action: str = ""  # the icon at the right in place of the note, under the mouse
    spoken: str = ""  # what a screen reader says, "" for the texts that are shown
    tip: str = ""
    heading: bool = False
    faint: bool = False
    front: bool = False  # painted as if it were selected

    @property
    def text(self) -> str:
        """The lines of the row."""
        return "\n".join(filter(None, (self.title, self.second, self.third)))

    @property
    def said(self) -> str:
        """What a screen reader says."""
        shown = (self.title,) if self.heading else (self.title, self.second, self.note)
        return self.spoken or ", ".join(filter(None, shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListStyle:
    """How the rows of a list look; measures in pixels at the usual text size."""

    height: int
    width: int = 80  # where rows stand side by side
    heading: int = 0  # the height of a heading
    upper: bool = True  # whether headings are in capitals
    heading_size: int = 11  # of the letters of a heading
    heading_colour: str = "text_2"
    gap: int = 0  # under a row
    left: int = 10
    right: int = 8
    mark: int = 16  # the side of what stands before the title
    space: int = 8  # between that and the title
    edge: int = 0  # above and below two lines
    inset: float = 0.5  # from the sides to the background
    note: int = 12  # the size of the note's letters
    share: int = 2  # the note takes at most half the row, or a third for 3
    size: int = 13  # of the title's letters
    weight: int = 400  # of the title
    selected_weight: int = 400  # of a selected row's title
    fill: str = "accent_bg"  # the background of a selected row; "surface" has a frame
    card: bool = False  # each row is a card with a frame
    chip: int = 0  # the height of the notes' chips, 0 for notes that are plain texts
    tile: bool = False  # icons lie on a tile
    hovers: bool = True  # the row under the mouse has a background
    fades: bool = True  # all of a faint row is faint, not only what stands before its title
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight


TWO_LINES = ListStyle(height=48, edge=6)
TICKS = ListStyle(
    height=32,
    heading=38,
    upper=False,
    heading_size=13,
    heading_colour="text",
    right=10,
    space=10,
    elide=Qt.TextElideMode.ElideMiddle,
)


class ItemDelegate(QStyledItemDelegate):
    """Paints the items of a list, or what a subclass makes of the data of another list."""

    def __init__(self, look: Look, style: ListStyle, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._look, self._style = look, style

    def item_of(self, index: Index) -> RowItem:
        """Return what the row shows."""
        item: RowItem = index.data(ITEM)
        return item

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QtCore.QSize:
        # Asked for each of a thousand rows when they are shown.
        style, rows = self._style, index.model()
        heading = rows.is_heading(index.row()) if isinstance(rows, ItemModel) else index.data(HEADING)
        height = tall(style.heading) if heading else tall(style.height) + style.gap
        return QtCore.QSize(tall(style.width), height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item = self.item_of(index)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if item.heading:
            self._paint_heading(painter, QRect(option.rect), item)
        else:
            self._paint_item(painter, option, item)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, item: RowItem) -> None:
        style = self._style
        room = rect.adjusted(style.left, 0, -style.right, -6)
        room.setRight(self._paint_note(painter, room.adjusted(0, 14, style.right, 0), item, room.left()))
        font = sized(painter.font(), style.heading_size, 620)
        if style.upper:
            font.setLetterSpacing(font.SpacingType.AbsoluteSpacing, 0.6)
        text = item.title.upper() if style.upper else item.title
        self._write(painter, room, text, font, style.heading_colour, Qt.AlignmentFlag.AlignBottom)

    def _paint_item(self, painter: QPainter, option: QStyleOptionViewItem, item: RowItem) -> None:
        style, rect = self._style, QRect(option.rect).adjusted(0, 0, 0, -self._style.gap)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        selected = item.front or bool(option.state & QStyle.StateFlag.State_Selected)
        self._paint_back(painter, rect, selected, hovered, self._look.ringed(option))
        if item.faint:
            painter.setOpacity(0.6)
        left = self._paint_mark(painter, rect, item)
        if not style.fades:
            painter.setOpacity(1)
        font = sized(painter.font(), style.size, style.selected_weight if selected else style.weight)
        if item.action and hovered:
            picture = self._look.picture(item.action, "text", 15, painter.device().devicePixelRatioF())
            painter.drawPixmap(rect.right() - 21, rect.center().y() - 7, picture)
            right = rect.right() - 29
        else:
            right = self._paint_note(painter, rect, item, left)
        room = QRect(left, rect.top() + style.edge, right - left + 1, rect.height() - 2 * style.edge)
        line = Qt.AlignmentFlag.AlignTop if item.second else Qt.AlignmentFlag.AlignVCenter
        self._write(painter, room, item.title, font, "text", line)
        if item.second:
            font = sized(painter.font(), 12)
            room.setLeft(self._paint_dot(painter, room, item.dot, QtGui.QFontMetrics(font).height()))
            line = Qt.AlignmentFlag.AlignVCenter if item.third else Qt.AlignmentFlag.AlignBottom
            self._write(painter, room, item.second, font, item.second_colour, line)
            self._write(painter, room, item.third, font, "text_2", Qt.AlignmentFlag.AlignBottom)

    def _paint_back(
        self, painter: QPainter, rect: QRect, selected: bool, hovered: bool, focused: bool
    ) -> None:
        style, tokens = self._style, self._look.tokens
        if not (style.card or selected or focused or (hovered and style.hovers)):
            return
        framed = focused or style.card or (selected and style.fill == "surface")
        edge = tokens.accent if focused or (style.card and selected) else tokens.line
        wide = 2 if style.card and focused else 1
        painter.setPen(QtGui.QPen(QtGui.QColor(edge), wide) if framed else Qt.PenStyle.NoPen)
        fill = style.fill if selected or (style.card and not hovered) else "hover"
        painter.setBrush(QtGui.QColor(getattr(tokens, fill)))
        inside = QRectF(rect).adjusted(style.inset, wide / 2, -style.inset, -wide / 2)
        radius = 9 if style.card else 7
        painter.drawRoundedRect(inside, radius, radius)

    def _paint_mark(self, painter: QPainter, rect: QRect, item: RowItem) -> int:
        """Paint what stands before the title, and return where that begins."""
        look, style, ratio = self._look, self._style, painter.device().devicePixelRatioF()
        left, middle = rect.left() + style.left + item.indent, rect.center().y()
        place = QRect(left, middle - style.mark // 2 + 1, style.mark, style.mark)
        if item.chevron:
            painter.drawPixmap(left - 15, middle - 5, look.picture(item.chevron, "text_2", 11, ratio))
        if item.ticked is not None:
            box = QRectF(left + 0.5, middle - TICK / 2 + 1.5, TICK - 1, TICK - 1)
            paint_tick(painter, look, box, item.ticked)
        elif item.colour is not None:
            paint_avatar(painter, place, item.title, look.tokens.speaker(item.colour), item.letters)
        elif item.icon and style.tile:
            paint_tile(painter, place, look, item.icon)
        elif item.icon:
            picture = look.picture(item.icon, item.icon_colour, 16, ratio)
            painter.drawPixmap(left + (style.mark - 16) // 2, middle - 7, picture)
        else:
            return left
        return left + style.mark + style.space

    def _paint_note(self, painter: QPainter, rect: QRect, item: RowItem, left: int) -> int:
        """Paint the note, and return where the room for the title ends, which begins at `left`."""
        style, tokens, right = self._style, self._look.tokens, rect.right() - self._style.right
        if not item.note:
            return right
        most = rect.width() // style.share
        if item.title_first:
            title = QtGui.QFontMetrics(sized(painter.font(), style.size, style.selected_weight))
            most = min(rect.width() // 3, right - left - title.horizontalAdvance(item.title) - 16)
        painter.setFont(sized(painter.font(), style.note, 500 if style.chip else 400))
        metrics, note = painter.fontMetrics(), item.note
        if metrics.horizontalAdvance(note) > most:
            note = metrics.elidedText(note, Qt.TextElideMode.ElideRight, most)
        width = metrics.horizontalAdvance(note)
        if style.chip:
            high, tone = tall(style.chip), "neutral" if item.note_colour == "text_2" else item.note_colour
            chip = QRect(right - width - 16, rect.center().y() - high // 2, width + 16, high)
            paint_chip(painter, chip, note, chip_colours(tokens, tone))
            return chip.left() - 6
        colour, room = getattr(tokens, item.note_colour), rect.adjusted(0, 0, -style.right, 0)
        paint_text(painter, painter.font(), colour, room, note, Qt.AlignmentFlag.AlignRight)
        return right - width - 8

    def _paint_dot(self, painter: QPainter, room: QRect, colour: str, line: int) -> int:
        """Paint a dot at the last line of a row, which is so high, and return where its text begins."""
        if not colour:
            return room.left()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QtGui.QColor(getattr(self._look.tokens, colour)))
        painter.drawEllipse(QRectF(room.left(), room.bottom() - line // 2 - 2.5, 7, 7))
        return room.left() + 12

    def _write(
        self, painter: QPainter, room: QRect, text: str, font: QFont, colour: str, line: Qt.AlignmentFlag
    ) -> None:
        painter.setFont(font)
        painter.setPen(QtGui.QColor(getattr(self._look.tokens, colour)))
        shown = painter.fontMetrics().elidedText(text, self._style.elide, room.width())
        painter.drawText(room, line, shown)


class ItemModel(QtCore.QAbstractListModel):
    """The rows of a list: texts, which are headings, and what `item_of` makes an item of once it is shown."""

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Any] = []
        self.ordered = False  # whether the user orders them

    @property
    def rows(self) -> Sequence[Any]:
        """The rows in order."""
        return self._rows

    def set_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def change_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows by as many of the same ids."""
        self._rows = list(rows)
        self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))

    def item_of(self, row: Any) -> RowItem:
        """Return what a row shows that is no text."""
        item: RowItem = row
        return item

    def text_of(self, row: Any) -> str:
        """Return the text of a row that is no heading, which typing in the list looks for in every row."""
        return self.item_of(row).text

    def said_of(self, row: Any) -> str:
        """Return what a screen reader says of a row that is no heading."""
        return self.item_of(row).said

    def item(self, place: int) -> RowItem:
        """Return what the row at a place shows."""
        row = self._rows[place]
        return RowItem(title=row, heading=True) if isinstance(row, str) else self.item_of(row)

    def is_heading(self, place: int) -> bool:
        """Say whether the row at a place is a heading."""
        row = self._rows[place]
        return isinstance(row, str) or (isinstance(row, RowItem) and row.heading)

    def ids(self) -> list[str]:
        """Return the ids in order, "" for a row without one."""
        return [getattr(row, "id", "") for row in self._rows]

    def row_of(self, wanted: str) -> int:
        """Return the row of an id, -1 where there is none."""
        ids = self.ids()
        return ids.index(wanted) if wanted and wanted in ids else -1

    def rowCount(self, parent: Index = QtCore.QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role == HEADING:
            return self.is_heading(index.row())
        if role == ITEM:
            return self.item(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return row if isinstance(row, str) else self.text_of(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row if isinstance(row, str) else self.said_of(row)
        tips = role == Qt.ItemDataRole.ToolTipRole
        return plain_tip(self.item(index.row()).tip) if tips else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            # What is dragged is dropped between the rows.
            return Qt.ItemFlag.ItemIsDropEnabled
        if self.is_heading(index.row()):
            return Qt.ItemFlag.NoItemFlags
        return DRAGS if self.ordered else USUAL

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction if self.ordered else Qt.DropAction.CopyAction

    def moveRows(self, before: Index, row: int, count: int, after: Index, place: int) -> bool:
        """Move a row before the one at a place."""
        if not self.beginMoveRows(before, row, row, after, place):
            return False
        self._rows.insert(place - (place > row), self._rows.pop(row))
        self.endMoveRows()
        return True


def takes_f2(event: QtCore.QEvent) -> bool:
    """Claim F2, which the window uses too; say whether the event asks who does."""
    asks = event.type() == QtCore.QEvent.Type.ShortcutOverride
    if asks and cast("QtGui.QKeyEvent", event).key() == Qt.Key.Key_F2:
        event.accept()
        return True
    return False


class ItemList(QListView):
    """A list of items; emits what the user asks for, with the id of the row.

    `edit_requested` on F2, `delete_requested` on Delete unless the row is `fixed`, `ticked` on Space or a
    click at the tick box, `order_chosen` with all ids once a row of an `ordered` list was dragged, or moved
    with Alt and an arrow key. Subclasses give a row its menu with `menu_of`.
    """

    currentItemChanged = QtCore.Signal(object, object)  # noqa: N815 as that of a QListWidget
    edit_requested = QtCore.Signal(str)
    delete_requested = QtCore.Signal(str)
    order_chosen = QtCore.Signal(object)
    ticked = QtCore.Signal(str)
    EDITS: tuple[Qt.Key, ...] = (Qt.Key.Key_F2,)
    SELECTS = QtCore.QItemSelectionModel.SelectionFlag.ClearAndSelect
    """What making a row the current one does to the selection."""

    def __init__(
        self, look: Look, name: str, style: ListStyle, rows: ItemModel | None = None, *, ordered: bool = False
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self.fixed: frozenset[str] = frozenset()
        self.rows = rows or ItemModel()
        self.rows.setParent(self)
        self.rows.ordered = ordered
        self._style = style
        self.setModel(self.rows)
        self.setItemDelegate(ItemDelegate(look, style, self))
        # Of rows that are all as high as one another, Qt asks for the size once.
        self.setUniformItemSizes(not style.heading)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QListView.Shape.NoFrame)
        if ordered:
            self.setDragDropMode(QListView.DragDropMode.InternalMove)
            self.setDefaultDropAction(Qt.DropAction.MoveAction)

    def show_rows(self, rows: Sequence[Any]) -> None:
        """Replace the rows; the current one and the scroll position stay."""
        current, place = self.current_id(), self.verticalScrollBar().value()
        self.rows.set_rows(rows)
        self.choose(current)
        self.executeDelayedItemsLayout()
        self.verticalScrollBar().setValue(place)

    def rows_height(self) -> int:
        """Return the height of all rows in pixels."""
        headings = sum(map(self.rows.is_heading, range(self.count())))
        each = tall(self._style.height) + self._style.gap
        return headings * tall(self._style.heading) + (self.count() - headings) * each

    def count(self) -> int:
        """Return the number of rows."""
        return len(self.rows.rows)

    def ids(self) -> tuple[str, ...]:
        """Return the ids in order."""
        return tuple(self.rows.ids())

    def item(self, row: int) -> RowItem:
        """Return what a row shows."""
        return self.rows.item(row)

    def currentItem(self) -> RowItem | None:
        """Return what the current row shows, None if there is none."""
        return self._item_at(self.currentIndex())

    def current_id(self) -> str:
        """Return the id of the current row, "" if there is none."""
        row = self.currentIndex().row()
        return str(getattr(self.rows.rows[row], "id", "")) if row >= 0 else ""

    def selected_ids(self) -> tuple[str, ...]:
        """Return the ids of the selected rows in order."""
        selected = {index.row() for index in self.selectedIndexes()}
        return tuple(row_id for place, row_id in enumerate(self.ids()) if place in selected)

    def setCurrentRow(self, row: int) -> None:
        """Make a row the current one, -1 for none."""
        self.selectionModel().setCurrentIndex(self.rows.index(row), self.SELECTS)

    def choose(self, row_id: str) -> bool:
        """Make the row of an id the current one; return whether there is one."""
        row = self.rows.row_of(row_id)
        if row >= 0:
            self.setCurrentRow(row)
        return row >= 0

    def visualItemRect(self, item: RowItem | None) -> QRect:
        """Return the rectangle of an item's row."""
        return self.visualRect(self.rows.index(self.rows.row_of(item.id if item else "")))

    def move_row(self, row: int, step: int) -> None:
        """Move a row by `step` places if possible."""
        if 0 <= row + step < self.count():
            top = QtCore.QModelIndex()
            self.rows.moveRow(top, row, top, row + step + (step > 0))
            self.order_chosen.emit(self.ids())

    def menu_of(self, row_id: str) -> QMenu | None:
        """Return the context menu of a row, None where it has none."""
        return None

    def new_menu(self) -> QMenu:
        """Return an empty menu, which is deleted once it is closed."""
        return passing_menu(self)

    def add_moves(self, menu: QMenu, words: Language, row_id: str) -> None:
        """Add the actions that move a row up and down."""
        row = self.rows.row_of(row_id)
        for key, step, keys in (("assistant.up", -1, "Alt+↑"), ("assistant.down", 1, "Alt+↓")):
            action = menu.addAction(f"{words(key)}\t{keys}", partial(self.move_row, row, step))
            action.setEnabled(0 <= row + step < self.count())

    def add_delete(self, menu: QMenu, text: str, row_id: str) -> None:
        """Add the entry that deletes a row, with its key."""
        menu.addAction(f"{text}\t{written('Del')}", partial(self.delete_requested.emit, row_id))

    def currentChanged(self, current: QtCore.QModelIndex, previous: QtCore.QModelIndex) -> None:
        super().currentChanged(current, previous)
        self.currentItemChanged.emit(self._item_at(current), self._item_at(previous))

    def event(self, event: QtCore.QEvent) -> bool:
        return takes_f2(event) or super().event(event)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        item, key = self.currentItem(), Qt.Key(event.key())
        moves = self.rows.ordered and event.modifiers() & Qt.KeyboardModifier.AltModifier
        if item is None:
            super().keyPressEvent(event)
        elif moves and key in STEPS:
            self.move_row(self.currentIndex().row(), STEPS[key])
        elif key in self.EDITS:
            self.edit_requested.emit(item.id)
        elif deletes(key):
            if item.id not in self.fixed:
                self.delete_requested.emit(item.id)
        elif key == Qt.Key.Key_Space and item.ticked is not None:
            self.ticked.emit(item.id)
        elif key != Qt.Key.Key_Menu or not self._pop_up(item.id, self.visualItemRect(item).center()):
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        point, style = event.position().toPoint(), self._style
        if (item := self._item_at(self.indexAt(point))) is not None and item.ticked is not None:
            left = self.visualItemRect(item).left()
            if point.x() - left < style.left + style.mark + style.space:
                self.ticked.emit(item.id)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        keyboard = event.reason() == QtGui.QContextMenuEvent.Reason.Keyboard
        item = self.currentItem() if keyboard else self._item_at(self.indexAt(event.pos()))
        place = self.visualItemRect(item).center() if keyboard else event.pos()
        if item is None or not self._pop_up(item.id, place):
            super().contextMenuEvent(event)

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        before = self.ids()
        super().dropEvent(event)
        if self.ids() != before:
            self.order_chosen.emit(self.ids())

    def _item_at(self, index: QtCore.QModelIndex) -> RowItem | None:
        return self.rows.item(index.row()) if index.isValid() else None

    def _pop_up(self, row_id: str, place: QtCore.QPoint) -> bool:
        """Open the menu of a row; return whether it has one."""
        menu = self.menu_of(row_id) if row_id else None
        if menu is not None:
            self._show_menu(menu, place)
        return menu is not None

    def _show_menu(self, menu: QMenu, place: QtCore.QPoint) -> None:
        menu.popup(self.viewport().mapToGlobal(place))
