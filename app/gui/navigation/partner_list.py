"""The sidebar's lists of panels, groups and assistants.

A row has a mark (an initial in the assistant's colour, or an icon), the name, and a short note at the right;
that of an assistant that is off, or of a group of nobody, is faint.
"""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QMenu

from app.core.council import Panel
from app.core.definitions import Agent, Group
from app.core.provider import ProviderStatus
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import colours_of, short_model
from app.gui.widgets.badge import initials
from app.gui.widgets.item_list import ROW, ItemList, ItemModel, ListStyle, RowItem

STYLE = ListStyle(height=34, left=8, mark=22, note=11, selected_weight=520, fill="surface", tile=True)
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


def assistant_partners(
    agents: Sequence[Agent], providers: Sequence[ProviderStatus], words: Language
) -> list[RowItem]:
    """Return the rows of assistants, each with its model."""
    colours = colours_of(agents)
    rows = []
    for agent, letters in zip(agents, initials([one.name for one in agents]), strict=True):
        meta = short_model(agent, providers, words)
        rows.append(
            RowItem(
                id=agent.id,
                title=agent.name,
                note=meta,
                tip=agent.description or agent.role,
                colour=colours[agent.id],
                letters=letters,
                faint=not agent.enabled,
            )
        )
    return rows


def group_partners(groups: Sequence[Group], agents: Sequence[Agent], words: Language) -> list[RowItem]:
    """Return the rows of groups, each with the number of its members that exist."""
    known = {agent.id: agent.name for agent in agents}
    rows = []
    for group in groups:
        names = [known[member] for member in group.members if member in known]
        said = words("group.members_count", count=len(names))
        rows.append(
            RowItem(
                id=group.id,
                title=group.name,
                note=str(len(names)),
                spoken=f"{group.name}, {said}",
                tip=", ".join(names),
                icon="users",
                faint=not names,
            )
        )
    return rows


def panel_partners(panels: Sequence[Panel], words: Language) -> list[RowItem]:
    """Return the rows of panels, each with the number of those who are asked."""
    rows = []
    for panel in panels:
        count = len(panel.participants)
        rows.append(
            RowItem(
                id=panel.id,
                title=panel.name,
                note=str(count),
                spoken=f"{panel.name}, {words('panel.count', count=count)}",
                tip=", ".join(one.name for one in panel.participants),
                icon="scale",
            )
        )
    return rows


class PartnerRows(ItemModel):
    """Partners; `in_front` is the one whose page is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.in_front = ""

    def item_of(self, row: RowItem) -> RowItem:
        return replace(row, title_first=True, front=row.id == self.in_front)


class PartnerList(ItemList):
    """Panels, groups or assistants in the user's order; emits the action the user chose for one. A click starts a session.

    `begins` is the key of the text that says so.
    """

    chat_requested = Signal(str)
    duplicate_requested = Signal(str)
    share_requested = Signal(str)
    # Selecting a row starts a chat; the arrow keys only move the focus.
    SELECTS = QItemSelectionModel.SelectionFlag.NoUpdate

    def __init__(self, language: Language, look: Look, name: str, begins: str = "assistant.chat") -> None:
        rows = PartnerRows()
        super().__init__(look, name, STYLE, rows, ordered=True)
        self._language, self._partners, self._begins = language, rows, begins
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._on_clicked)
        look.changed.connect(self._fit)
        self.show_partners(())

    def show_partners(self, partners: Sequence[RowItem]) -> None:
        """Show these rows in this order; the current row stays the same."""
        self.show_rows(partners)
        self._fit()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if partners else Qt.FocusPolicy.NoFocus)

    def _fit(self) -> None:
        self.setFixedHeight(self.rows_height())
        self.viewport().update()

    def mark(self, row_id: str) -> None:
        """Mark the row whose page is in front, "" for none."""
        self._partners.in_front = row_id
        self.viewport().update()

    def menu_of(self, row_id: str) -> QMenu:
        words, menu = self._language, self.new_menu()
        fixed = row_id in self.fixed
        menu.addAction(words(self._begins), lambda: self.chat_requested.emit(row_id))
        look_or_edit = words("assistant.look" if fixed else "assistant.edit")
        menu.addAction(f"{look_or_edit}\tF2", lambda: self.edit_requested.emit(row_id))
        menu.addAction(words("assistant.duplicate"), lambda: self.duplicate_requested.emit(row_id))
        menu.addAction(words("assistant.share"), lambda: self.share_requested.emit(row_id))
        menu.addSeparator()
        self.add_moves(menu, words, row_id)
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
        partner: RowItem = self.currentIndex().data(ROW)
        wanted = self.edit_requested if partner.faint else self.chat_requested
        wanted.emit(partner.id)

    def _on_clicked(self) -> None:
        # The main area shows the chat now, not the row's page.
        self.clearSelection()
        self._ask_for_chat()
