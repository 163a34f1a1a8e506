"""The sidebar: new session, search, work, decisions, sessions, the team, and the settings;
and the splitter beside it.

In the lists of the team, panels, groups and assistants, a row has a mark (an initial in the assistant's
colour, or an icon), the name, and a short note at the right; that of an assistant that is off, or of a group
of nobody, is faint.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QItemSelectionModel, QMargins, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QMenu, QScrollArea, QSizePolicy, QSplitter, QWidget

from app.core.council import Panel
from app.core.definitions import Agent, Group
from app.core.provider import ProviderStatus
from app.core.texts import unmarked, visible
from app.gui.display.appearance import Language, Look, sized
from app.gui.display.descriptions import short_model
from app.gui.navigation.session_list import SessionList
from app.gui.widgets.badge import chip_colours, initials, paint_avatar, paint_chip
from app.gui.widgets.boxes import STRETCH, Frame, frame, hbox, thin_line, vbox
from app.gui.widgets.choices import BEGINS
from app.gui.widgets.composer import SearchField
from app.gui.widgets.controls import Button, ShorteningButton, button, icon_button, paint_shortcut, scrolling
from app.gui.widgets.item_list import ROW, ItemList, ItemModel, ListStyle, RowItem
from app.gui.widgets.text import name_button, plain_label, say

STYLE = ListStyle(height=34, left=8, mark=22, note=11, selected_weight=520, fill="surface", tile=True)
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


def assistant_partners(
    agents: Sequence[Agent], providers: Sequence[ProviderStatus], words: Language
) -> list[RowItem]:
    """Return the rows of assistants, each with its model."""
    rows = []
    for agent, letters in zip(agents, initials([item.name for item in agents]), strict=True):
        note, tip = short_model(agent, providers, words), agent.description or agent.role
        row = RowItem(id=agent.id, title=agent.name, note=note, tip=tip, faint=not agent.enabled)
        rows.append(replace(row, colour=agent.colour, letters=letters))
    return rows


def group_partners(groups: Sequence[Group], agents: Sequence[Agent], words: Language) -> list[RowItem]:
    """Return the rows of groups, each with the number of its members that exist."""
    known = {agent.id: agent.name for agent in agents}
    rows = []
    for group in groups:
        names = [known[member] for member in group.members if member in known]
        said = f"{group.name}, {words('group.members_count', count=len(names))}"
        row = RowItem(id=group.id, title=group.name, note=str(len(names)), spoken=said, icon="users")
        rows.append(replace(row, tip=", ".join(names), faint=not names))
    return rows


def panel_partners(panels: Sequence[Panel], words: Language) -> list[RowItem]:
    """Return the rows of panels, each with the number of those who are asked."""
    rows = []
    for panel in panels:
        names = [participant.name for participant in panel.participants]
        said = f"{panel.name}, {words('panel.count', count=len(names))}"
        row = RowItem(id=panel.id, title=panel.name, note=str(len(names)), spoken=said, icon="scale")
        rows.append(replace(row, tip=", ".join(names)))
    return rows


class PartnerRows(ItemModel):
    """Partners; `in_front` is the one whose page is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.in_front = ""

    def item_of(self, row: RowItem) -> RowItem:
        return replace(row, title_first=True, front=row.id == self.in_front)


class PartnerList(ItemList):
    """Panels, groups or assistants in the user's order; emits the action the user chose for one.
    A click starts a session.

    `begins` is the key of the text that says so.
    """

    chat_requested = Signal(str)
    duplicate_requested = Signal(str)
    share_requested = Signal(str)
    # A row, "" for a new one, is to get rows of the list that it takes from.
    given = Signal(str, object)
    # Selecting a row starts a chat; the arrow keys only move the focus.
    SELECTS = QItemSelectionModel.SelectionFlag.NoUpdate

    def __init__(self, language: Language, look: Look, name: str, begins: str = "assistant.chat") -> None:
        rows = PartnerRows()
        super().__init__(look, name, STYLE, rows, ordered=True)
        self.language, self.look, self._partners, self._begins = language, look, rows, begins
        self._takes: PartnerList | None = None
        self.taker: PartnerList | None = None
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

    def take_from(self, other: "PartnerList") -> None:
        """Let rows of another list, of which several can be selected, be given to a row of this one."""
        self._takes, other.taker = other, self
        other.setSelectionMode(self.SelectionMode.ExtendedSelection)

    def mark(self, row_id: str) -> None:
        """Mark the row whose page is in front, "" for none."""
        self._partners.in_front = row_id
        self.viewport().update()

    def menu_of(self, row_id: str) -> QMenu:
        words, menu = self.language, self.new_menu()
        fixed = row_id in self.fixed
        menu.addAction(words(self._begins), lambda: self.chat_requested.emit(row_id))
        look_or_edit = words("assistant.look" if fixed else "assistant.edit")
        menu.addAction(f"{look_or_edit}\tF2", lambda: self.edit_requested.emit(row_id))
        menu.addAction(words("assistant.duplicate"), lambda: self.duplicate_requested.emit(row_id))
        menu.addAction(words("assistant.share"), lambda: self.share_requested.emit(row_id))
        if self.taker is not None:
            self._offer_takers(menu, self.taker, row_id)
        menu.addSeparator()
        self.add_moves(menu, words, row_id)
        if not fixed:
            menu.addSeparator()
            self.add_delete(menu, words("assistant.delete"), row_id)
        return menu

    def _offer_takers(self, menu: QMenu, taker: "PartnerList", row_id: str) -> None:
        """Offer to give a row, or the selected ones if it is among them, to a row of another list."""
        chosen = self.selected_ids()
        ids = chosen if row_id in chosen else (row_id,)
        offers = menu.addMenu(self.language("assistant.add_to_group"))
        for row in taker.rows.rows:
            offers.addAction(unmarked(visible(row.title)), partial(taker.given.emit, row.id, ids))
        offers.addAction(self.language("group.new"), partial(taker.given.emit, "", ids))

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        if self._is_given(event):
            event.accept()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QtGui.QDragMoveEvent) -> None:
        if not self._is_given(event):
            super().dragMoveEvent(event)
            return
        index = self.indexAt(event.position().toPoint())
        self.selectionModel().select(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        event.setAccepted(index.isValid())

    def dragLeaveEvent(self, event: QtGui.QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        if self._takes is not None:
            self.clearSelection()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        if self._takes is None or not self._is_given(event):
            super().dropEvent(event)
            return
        self.clearSelection()
        if (row := self._item_at(self.indexAt(event.position().toPoint()))) is not None:
            event.acceptProposedAction()
            self.given.emit(row.id, self._takes.selected_ids())

    def _is_given(self, event: QtGui.QDropEvent) -> bool:
        return self._takes is not None and event.source() is self._takes

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        picks = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in ENTER and self.current_id() and not picks:
            self._ask_for_chat()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QtGui.QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.clearSelection()

    def _ask_for_chat(self) -> None:
        """Request a chat; for a disabled assistant or an empty group, the editor."""
        partner: RowItem = self.currentIndex().data(ROW)
        wanted = self.edit_requested if partner.faint else self.chat_requested
        wanted.emit(partner.id)

    def _on_clicked(self) -> None:
        picks = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if self.taker is None or not QtGui.QGuiApplication.keyboardModifiers() & picks:
            # The main area shows the chat now, not the row's page.
            self.clearSelection()
            self._ask_for_chat()


EDGE = 8
FACE, MOST_FACES = 17, 3


class SideSection(QWidget):
    """A list of groups, assistants or panels under its title, which folds it; a hint and a button
    while it is empty.

    Emits `changed` when another part of it is shown.
    """

    changed = Signal()

    def __init__(self, rows: PartnerList, name: str, add: str, none: str = "", first: str = "") -> None:
        """`add`, `none` and `first` are keys of texts: of the menu, the hint, and the entry
        that the button under it is.
        """
        super().__init__()
        self.partners, language, look = rows, rows.language, rows.look
        self._language, self._look, self._name, self._first = language, look, name, first
        self._actions: dict[str, Callable[[], object]] = {}
        self.title = button("section", f"{name}_title")
        self.title.setCheckable(True)
        self.title.toggled.connect(self._show_parts)
        self._add = say(icon_button(look, "plus", f"{name}_add"), language, tip=add)
        self._add.setFixedSize(26, 24)
        self._menu = QMenu(self._add)
        self._add.setMenu(self._menu)
        self._has_hint = bool(none)
        self._hint = say(plain_label("hint", wrap=True), language, none)
        self._hint.setContentsMargins(8, 2, 4, 0)
        self.first = ShorteningButton("link", f"{name}_first")
        self.first.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.first.clicked.connect(lambda: self._actions[first]())
        beside = hbox(self.first, STRETCH, margins=(4, 0, 0, 0))
        self._empty = frame("", vbox(self._hint, beside, spacing=2))
        head = hbox(self.title, STRETCH, self._add, margins=(4, 2, 3, 0))
        vbox(head, rows, self._empty, inside=self, spacing=2)
        self.first.setVisible(bool(first))
        self.shown: tuple[RowItem, ...] = ()
        self.show_partners(())
        language.follow(self._retranslate)

    def show_partners(self, partners: Sequence[RowItem]) -> None:
        """Show these rows in this order."""
        self.shown = tuple(partners)
        self.partners.show_partners(partners)
        self._show_parts()

    def offer(self, *actions: tuple[str, Callable[[], object]]) -> None:
        """Set the entries of the menu: the keys of their texts, and what they do."""
        self._actions = dict(actions)
        self._retranslate()

    def _show_parts(self) -> None:
        """Show the list, or only its title where it is folded."""
        folded = self.title.isChecked()
        self.partners.setVisible(not folded)
        self._empty.setVisible(self._has_hint and not folded and not self.partners.count())
        self.title.dress(self._look, "chevron-right" if folded else "chevron-down", "text_2", side=11, room=3)
        name = self._language(f"side.{self._name}s")
        self.title.setAccessibleName(self._language("side.unfold" if folded else "side.fold", name=name))
        self.changed.emit()

    def _retranslate(self) -> None:
        words = self._language
        title = words(f"side.{self._name}s")
        self.title.setText(title.upper())
        self.partners.setAccessibleName(title)
        self._menu.clear()
        for key, act in self._actions.items():
            self._menu.addAction(words(key), act)
        if self._first:
            self.first.show_words(words(self._first))
        self._show_parts()


class FootButton(ShorteningButton):
    """A flat button of the sidebar: icon, text, and at the right the shortcut,
    or a note on a rounded background.

    Before the note stand the marks of those who are its `faces`.
    """

    def __init__(self, look: Look, icon: str, name: str) -> None:
        super().__init__("foot", name)
        self._look = look
        self._note = self._tone = ""
        self.faces: Sequence[RowItem] = ()
        self.dress(look, icon)

    def show_words(
        self, words: str, tip: str = "", *, short: str = "", taken: int = 0, tone: str = ""
    ) -> None:
        """Show a text; `tip` is the shortcut, or with a tone of `chip_colours` a note,
        which a screen reader says too.
        """
        self._note, self._tone = tip, tone
        keys = QtGui.QFontMetrics(sized(self.font(), 11)).horizontalAdvance(tip) + 2 * EDGE if tip else 0
        keys += len(self.faces) * (FACE + 4)
        super().show_words(words, "" if tone else tip, short=short, taken=keys)
        if tone and tip:
            self.setAccessibleName(f"{words}, {tip}")
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        painter, room = QtGui.QPainter(self), self.rect().adjusted(0, 0, -EDGE, 0)
        if self._note and self._tone:
            painter.setFont(sized(self.font(), 11, 520))
            size = painter.fontMetrics().size(0, self._note).grownBy(QMargins(EDGE, 3, EDGE, 3))
            room = QRect(room.right() - size.width(), 0, size.width(), size.height())
            room.moveTop((self.height() - size.height()) // 2)
            paint_chip(painter, room, self._note, chip_colours(self._look.tokens, self._tone))
        elif self._note:
            paint_shortcut(painter, self._look, room, self._note)
        right = room.right() - painter.fontMetrics().horizontalAdvance(self._note)
        for place, face in enumerate(reversed(self.faces), 1):
            tile = QRect(right - place * (FACE + 4), (self.height() - FACE) // 2, FACE, FACE)
            paint_avatar(painter, tile, face.title, self._look.tokens.speaker(face.colour or 0), face.letters)


class Team(QWidget):
    """The title *Team* with its number, which folds the lists of assistants, groups and panels; they
    scroll.
    """

    def __init__(self, language: Language, look: Look, sections: Sequence[SideSection]) -> None:
        super().__init__()
        self.setObjectName("team_section")
        self._language, self._look, self._sections = language, look, sections
        self.title = FootButton(look, "chevron-right", "team_title")
        self.title.setCheckable(True)
        self.title.setChecked(True)
        self.title.toggled.connect(self._show_parts)
        self._body = frame("", vbox(*sections, margins=(0, 0, 0, 6), spacing=6))
        self.area = scrolling(self._body)
        vbox(self.title, (self.area, 1), inside=self, spacing=2)
        for section in sections:
            section.changed.connect(self._show_parts)
        language.follow(self._show_parts)

    def _show_parts(self) -> None:
        title, shown = self._language("side.team"), not self.title.isChecked()
        count = sum(section.partners.count() for section in self._sections)
        self.title.dress(self._look, "chevron-down" if shown else "chevron-right")
        self.title.faces = self._sections[0].shown[:MOST_FACES]
        self.title.show_words(title, str(count) if count else "")
        self.title.setAccessibleName(self._language("side.fold" if shown else "side.unfold", name=title))
        self.area.setVisible(shown)
        # No higher than what is in it.
        self._body.layout().activate()
        self.area.setMaximumHeight(self._body.sizeHint().height())


WIDTH = 248


class SideBar(Frame):
    """Shows sessions in a scrolling column, and above and below it what else there is;
    emits the user's requests.

    `new_requested` carries what is to begin, "" for what was begun last.
    """

    new_requested = Signal(str)
    import_requested = Signal()
    new_folder_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("side")
        self.setMinimumWidth(200)
        self._language = language
        # -1 until the number of providers is known.
        self._counts = {"providers": -1, "servers": 0, "due": 0, "waiting": 0}
        self._brand = say(plain_label("brand"), language, "app.name")
        self.hide_button = icon_button(look, "panel-left", "side_toggle")
        self.new_button = button("", "new_button")
        self.new_button.dress(look, "plus", "text")
        self.new_menu = say(icon_button(look, "chevron-down", "new_menu"), language, tip="side.new_menu")
        self.new_menu.setFixedSize(22, 28)
        self.new_menu.setMenu(QMenu(self.new_menu))
        self.search = SearchField(look, "search_everything")
        self.panels = PartnerList(language, look, "panel_list", begins="panel.ask")
        self.groups = PartnerList(language, look, "group_list")
        self.assistants = PartnerList(language, look, "assistant_list")
        self.groups.take_from(self.assistants)
        self.panel_section = SideSection(self.panels, "panel", "panel.add", "panel.none")
        self.group_section = SideSection(self.groups, "group", "group.add", "group.none", "group.ready")
        self.assistant_section = SideSection(self.assistants, "assistant", "assistant.add")
        self.sessions = say(SessionList(language, look), language, name="side.sessions")
        self._empty = say(plain_label("hint", wrap=True), language, "side.empty")
        self._empty.setContentsMargins(8, 10, 4, 0)
        self.work_button = FootButton(look, "list-checks", "work_button")
        self.decisions_button = FootButton(look, "gavel", "decisions_button")
        self.team = Team(language, look, (self.assistant_section, self.group_section, self.panel_section))
        self.providers_button = FootButton(look, "plug", "providers_button")
        self.settings_button = FootButton(look, "settings", "settings_button")
        self.help_button = icon_button(look, "circle-question-mark", "help_button")
        self._lay_out()
        self.new_button.clicked.connect(lambda: self.new_requested.emit(""))
        shown = self.sessions.rows.modelReset
        shown.connect(lambda: self._empty.setVisible(not self.sessions.summaries))
        self.sessions.row_reached.connect(lambda rect: self._keep_in_sight(self._area, self.sessions, rect))
        for partners in (self.groups, self.assistants, self.panels):
            partners.currentItemChanged.connect(lambda *_, shown=partners: self._show_current(shown))
        language.changed.connect(self._retranslate)
        look.changed.connect(self._fit_head)
        self._retranslate()

    @property
    def titles(self) -> tuple[Button, ...]:
        """The titles that fold something while they are checked."""
        sections = (self.group_section, self.assistant_section, self.panel_section)
        return (*(section.title for section in sections), self.team.title)

    def show_counts(self, **counts: int) -> None:
        """Show how many providers are ready, servers enabled, decisions due, and questions waiting."""
        self._counts |= counts
        self._show_foot()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, 600)

    def _lay_out(self) -> None:
        begin = hbox(self.new_button, self.new_menu, spacing=1)
        head = hbox(self._brand, STRETCH, self.hide_button, begin, margins=(5, 0, 0, 0))
        self._area = scrolling(frame("", vbox(self._empty, self.sessions, STRETCH, spacing=2)))
        for page_button in (self.work_button, self.decisions_button):
            page_button.setProperty("tone", "strong")
        pages = vbox(self.work_button, self.decisions_button, spacing=1)
        last = hbox((self.settings_button, 1), self.help_button, spacing=1)
        foot = vbox(thin_line(), 4, (self.team, 1), self.providers_button, last, spacing=1)
        parts = head, self.search, pages, (self._area, 1), foot
        vbox(*parts, inside=self, margins=(10, 12, 10, 10), spacing=9)

    def _show_current(self, partners: PartnerList) -> None:
        if partners.hasFocus() and partners.current_id():
            row = partners.visualItemRect(partners.currentItem())
            self._keep_in_sight(self.team.area, partners, row)

    def _keep_in_sight(self, area: QScrollArea, holder: QWidget, rect: QRect) -> None:
        """Scroll to a row; the lists themselves do not scroll."""
        if (inside := area.widget()) is not None:
            area.ensureVisible(0, holder.mapTo(inside, rect.center()).y(), 0, rect.height())

    def _show_foot(self) -> None:
        words, (providers, servers, due, waiting) = self._language, self._counts.values()
        said = words("journal.due_count", count=due) if due else ""
        self.decisions_button.show_words(words("journal.title"), said, tone="neutral")
        said = words("side.need_you", count=waiting) if waiting else ""
        self.work_button.show_words(words("side.work"), said, tone="warn")
        parts = [words("side.providers", count=providers)] if providers >= 0 else []
        parts += [words("side.servers", count=servers)] if servers else []
        self.providers_button.show_words(" · ".join(parts), short=parts[0] if parts else "")

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()
        # In this frame: the button is not painted where it was.
        self.layout().activate()

    def _fit_head(self) -> None:
        """Show only the icon of the New button if its text does not fit."""
        self.new_button.setText(self._language("side.new"))
        texts, buttons = (self._brand, self.new_button), (self.hide_button, self.new_menu)
        wanted = sum(text.sizeHint().width() for text in texts) + sum(item.width() for item in buttons)
        if wanted + 40 > self.width():
            self.new_button.setText("")

    def _retranslate(self) -> None:
        words = self._language
        self._fit_head()
        name_button(self.new_button, words("side.new_session"), words.keys("new"))
        menu = self.new_menu.menu()
        menu.clear()
        for mode in BEGINS:
            menu.addAction(words(f"first.mode.{mode}"), partial(self.new_requested.emit, mode))
        menu.addSeparator()
        menu.addAction(words("side.import"), self.import_requested.emit)
        menu.addAction(words("folder.new"), self.new_folder_requested.emit)
        name_button(self.hide_button, words("side.toggle"), words.keys("side"))
        self.search.set_keys(words.keys("search"))
        name_button(self.search, words("side.search"), words.keys("search"))
        self.search.show_words(words("side.search"), self.search.toolTip())
        self.settings_button.show_words(words("side.settings"), words.keys("settings"))
        name_button(self.help_button, words("palette.guide"), words.keys("guide"))
        self._show_foot()


MAIN = 1


class SideSplitter(QSplitter):
    """Gives the middle part the remaining width, and the sides back their widths when the window grows."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._widths: dict[int, int] = {}
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(self._on_moved)

    def widths(self) -> list[int]:
        """Return the wanted width of each part in pixels, 0 for the middle one."""
        sizes = enumerate(self.sizes())
        return [0 if place == MAIN else self._widths.get(place, size) for place, size in sizes]

    def set_widths(self, widths: Sequence[int]) -> None:
        """Set the widths of the parts in pixels; the middle one takes the rest, whatever its value."""
        self._widths = {place: width for place, width in enumerate(widths) if place != MAIN and width > 0}
        shown = [place for place in self._widths if (part := self.widget(place)) and not part.isHidden()]
        taken = sum(self._widths[place] + self.handleWidth() for place in shown)
        rest = max(1, self.width() - taken)
        self.setSizes([self._widths.get(place, rest) for place in range(self.count())])

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._give_back()
        return done

    def _give_back(self) -> None:
        sizes, middle = self.sizes(), self.widget(MAIN)
        if middle is None:
            return
        spare = sizes[MAIN] - max(middle.minimumWidth(), middle.minimumSizeHint().width())
        given = 0
        for place, width in self._widths.items():
            if (part := self.widget(place)) is not None and part.isVisibleTo(self):
                more = max(0, min(width - sizes[place], spare - given))
                sizes[place] += more
                given += more
        if given:
            sizes[MAIN] -= given
            self.setSizes(sizes)

    def _on_moved(self, _position: int, handle: int) -> None:
        moved = 0 if handle == MAIN else handle
        self._widths[moved] = self.sizes()[moved]
