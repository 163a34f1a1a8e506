"""The sidebar's lists of panels, groups and assistants.

A row has a mark (an initial in the assistant's colour, or an icon), the name, and a short note at the right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """A row: `meta` is the note at the right, `said` the text for screen readers.

    `colour` is the assistant's, None for a group or a panel, which has an `icon`. A row that is not `enabled` is faint; a `fixed` one
    can be neither edited nor deleted. `letters` stand on an assistant's badge.
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
    return [
        Partner(
            id=panel.id,
            name=panel.name,
            meta=str(len(panel.participants)),
            said=f"{panel.name}, {words('panel.count', count=len(panel.participants))}",
            about=", ".join(one.name for one in panel.participants),
            icon="scale",
        )
        for panel in panels
    ]


class PartnerRows(ItemModel):
    """Partners; `busy` is the load of an assistant, shown instead of the note, `in_front` whose page is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.busy: dict[str, str] = {}
        self.in_front = ""

    def item_of(self, row: Partner) -> RowItem:
        busy = self.busy.get(row.id, "")
        return RowItem(
            id=row.id,
            title=row.name,
            note=busy or row.meta,
            note_colour="accent" if busy else "text_2",
            title_first=not busy,
            icon=row.icon,
            colour=row.colour,
            letters=row.letters,
            spoken=", ".join(filter(None, (row.said, busy))),
            tip="\n".join(filter(None, (row.about, busy))),
            faint=not row.enabled,
            front=row.id == self.in_front,
        )


class PartnerList(ItemList):
    """Panels, groups or assistants in the user's order; emits the action the user chose for one. A click starts a session.

    `begins` is the key of the text that says so.
    """

    chat_requested = Signal(str)
    duplicate_requested = Signal(str)
    share_requested = Signal(str)
    queue_requested = Signal(str)
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

    def show_partners(self, partners: Sequence[Partner]) -> None:
        """Show these rows in this order; the current row stays the same."""
        self.fixed = frozenset(partner.id for partner in partners if partner.fixed)
        self.show_rows(partners)
        self._fit()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if partners else Qt.FocusPolicy.NoFocus)

    def _fit(self) -> None:
        self.setFixedHeight(self.rows_height())
        self.viewport().update()

    def show_busy(self, row_id: str, text: str) -> None:
        """Show how busy an assistant is, "" for idle."""
        self._partners.busy[row_id] = text
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
        if row_id in self._partners.busy:
            menu.addAction(words("queue.menu"), lambda: self.queue_requested.emit(row_id))
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
        partner: Partner = self.currentIndex().data(ROW)
        wanted = self.chat_requested if partner.enabled else self.edit_requested
        wanted.emit(partner.id)

    def _on_clicked(self) -> None:
        # The main area shows the chat now, not the row's page.
        self.clearSelection()
        self._ask_for_chat()
