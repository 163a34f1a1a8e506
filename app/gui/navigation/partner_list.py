"""The sidebar's lists of panels, groups and assistants.

A row has a mark (an initial in the assistant's colour, or an icon), the name, and a short note at the right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.core.agent import Agent, Group
from app.core.council import Panel
from app.core.provider import ProviderStatus
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.display.descriptions import colours_of, short_model
from app.gui.widgets.badge import initials, paint_avatar, paint_row, paint_row_text, paint_tile
from app.gui.widgets.ordered_list import OrderedList
from app.gui.widgets.text import plain_tip

ROW_HEIGHT = 34
TILE = 22
PARTNER = Qt.ItemDataRole.UserRole + 1
IN_FRONT = Qt.ItemDataRole.UserRole + 2
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A row: `meta` is the note at the right, `said` the text for screen readers.

    `colour` is the assistant's, None for a group or a panel, which has an `icon`. A row that is not `enabled` is faint; a `fixed` one
    can be neither edited nor deleted. `busy` is the load shown instead of the note, "" for none; `letters` stand on an assistant's badge.
    """

    id: str
    name: str
    meta: str
    said: str
    about: str = ""
    colour: int | None = None
    icon: str = "users"
    enabled: bool = True
    fixed: bool = False
    busy: str = ""
    letters: str = ""


def assistant_partners(
    agents: Sequence[Agent], providers: Sequence[ProviderStatus], built_in: frozenset[str], words: Language
) -> list[Partner]:
    """Return the rows of assistants, of which `built_in` cannot be changed."""
    colours = colours_of(agents)
    rows = []
    for agent, letters in zip(agents, initials([one.name for one in agents]), strict=True):
        meta = short_model(agent, providers, words)
        rows.append(
            Partner(
                id=agent.id,
                name=agent.name,
                meta=meta,
                said=f"{agent.name}, {meta}",
                about=agent.description or agent.role,
                colour=colours[agent.id],
                enabled=agent.enabled,
                fixed=agent.id in built_in,
                letters=letters,
            )
        )
    return rows


def group_partners(groups: Sequence[Group], agents: Sequence[Agent], words: Language) -> list[Partner]:
    """Return the rows of groups, each with the number of its members that exist."""
    known = {agent.id: agent.name for agent in agents}
    rows = []
    for group in groups:
        names = [known[member] for member in group.members if member in known]
        said = words("group.members_count", count=len(names))
        rows.append(
            Partner(
                id=group.id,
                name=group.name,
                meta=str(len(names)),
                said=f"{group.name}, {said}",
                about=", ".join(names),
                enabled=bool(names),
            )
        )
    return rows


def panel_partners(panels: Sequence[Panel], words: Language) -> list[Partner]:
    """Return the rows of panels, each with the number of those who are asked."""
    rows = []
    for panel in panels:
        count = len(panel.participants)
        rows.append(
            Partner(
                id=panel.id,
                name=panel.name,
                meta=str(count),
                said=f"{panel.name}, {words('panel.count', count=count)}",
                about=", ".join(one.name for one in panel.participants),
                icon="scale",
            )
        )
    return rows


class PartnerDelegate(QStyledItemDelegate):
    """Paints a partner's row."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, tall(ROW_HEIGHT))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tokens, rect = self._look.tokens, QRect(option.rect)
        partner = index.data(PARTNER)
        if not isinstance(partner, Partner):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected) or bool(index.data(IN_FRONT))
        paint_row(painter, option, self._look, selected=selected)
        if not partner.enabled:
            painter.setOpacity(0.55)
        tile = QRect(rect.left() + 8, rect.top() + (rect.height() - TILE) // 2, TILE, TILE)
        if partner.colour is None:
            paint_tile(painter, tile, self._look, partner.icon)
        else:
            paint_avatar(painter, tile, partner.name, tokens.speaker(partner.colour), partner.letters)
        wide = QFontMetrics(sized(painter.font(), 13, 520)).horizontalAdvance(partner.name)
        note = QFontMetrics(sized(painter.font(), 11)).elidedText(
            partner.busy or partner.meta,
            Qt.TextElideMode.ElideRight,
            # The name comes first: a note has what it leaves, unless it says that somebody is busy.
            rect.width() // 2 if partner.busy else min(rect.width() // 3, rect.width() - 62 - wide),
        )
        colour = tokens.accent if partner.busy else tokens.text_2
        paint_row_text(painter, rect, self._look, partner.name, note, colour, left=38, bold=selected)
        painter.restore()


class PartnerList(OrderedList):
    """Panels, groups or assistants in the user's order; emits the action the user chose for one. A click starts a session.

    `begins` is the key of the text that says so.
    """

    chat_requested = Signal(str)
    duplicate_requested = Signal(str)
    share_requested = Signal(str)
    queue_requested = Signal(str)

    def __init__(self, language: Language, look: Look, name: str, begins: str = "assistant.chat") -> None:
        super().__init__(language, name)
        self._in_front, self._begins = "", begins
        self._busy: dict[str, str] = {}
        self.setItemDelegate(PartnerDelegate(look, self))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemClicked.connect(self._on_clicked)
        look.changed.connect(self._fit)
        self.show_partners(())

    def show_partners(self, partners: Sequence[Partner]) -> None:
        """Show these rows in this order; the current row stays the same."""
        current = self.current_id()
        self.fixed = frozenset(partner.id for partner in partners if partner.fixed)
        self.clear()
        for partner in partners:
            item = self.new_row(partner.id, partner.name)
            self._show(item, partner)
            item.setData(IN_FRONT, partner.id == self._in_front)
        if current in self.ids():
            self.setCurrentRow(self.ids().index(current), self.moving_selects())
        self._fit()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if partners else Qt.FocusPolicy.NoFocus)

    def _fit(self) -> None:
        self.setFixedHeight(self.count() * tall(ROW_HEIGHT))
        self.viewport().update()

    def show_busy(self, row_id: str, text: str) -> None:
        """Show how busy an assistant is, "" for idle."""
        self._busy[row_id] = text
        if row_id in self.ids():
            item = self.item(self.ids().index(row_id))
            self._show(item, item.data(PARTNER))

    def _show(self, item: QListWidgetItem, partner: Partner) -> None:
        busy = self._busy.get(partner.id, "")
        item.setData(PARTNER, replace(partner, busy=busy))
        said = ", ".join(part for part in (partner.said, busy) if part)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
        item.setToolTip(plain_tip("\n".join(part for part in (partner.about, busy) if part)))

    def mark(self, row_id: str) -> None:
        """Mark the row whose page is in front, "" for none."""
        self._in_front = row_id
        for row, found in enumerate(self.ids()):
            self.item(row).setData(IN_FRONT, found == row_id)

    def moving_selects(self) -> QItemSelectionModel.SelectionFlag:
        # Selecting a row starts a chat; the arrow keys only move the focus.
        return QItemSelectionModel.SelectionFlag.NoUpdate

    def menu_of(self, row_id: str) -> QMenu:
        """Return the menu of a row."""
        words, menu = self.language, QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        fixed = row_id in self.fixed
        menu.addAction(words(self._begins), lambda: self.chat_requested.emit(row_id))
        look_or_edit = words("assistant.look" if fixed else "assistant.edit")
        menu.addAction(f"{look_or_edit}\tF2", lambda: self.edit_requested.emit(row_id))
        menu.addAction(words("assistant.duplicate"), lambda: self.duplicate_requested.emit(row_id))
        menu.addAction(words("assistant.share"), lambda: self.share_requested.emit(row_id))
        if row_id in self._busy:
            menu.addAction(words("queue.menu"), lambda: self.queue_requested.emit(row_id))
        menu.addSeparator()
        self.add_moves(menu, row_id)
        if not fixed:
            menu.addSeparator()
            menu.addAction(f"{words('assistant.delete')}\tDel", lambda: self.delete_requested.emit(row_id))
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER and self.current_id():
            self._ask_for_chat()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.clearSelection()

    def _ask_for_chat(self) -> None:
        """Request a chat; for a disabled assistant or an empty group, the editor."""
        partner = self.currentItem().data(PARTNER)
        wanted = self.chat_requested if partner.enabled else self.edit_requested
        wanted.emit(partner.id)

    def _on_clicked(self, _item: QListWidgetItem) -> None:
        # The main area shows the chat now, not the row's page.
        self.clearSelection()
        self._ask_for_chat()
