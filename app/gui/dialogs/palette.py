"""The palette (Ctrl+K): a search over commands, assistants, sessions and messages, and its entries.

It lies over the window and is not modal. Results from memory are shown at once, messages found on disk
a moment later.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QWidget

from app.core.agent import Agent, Group
from app.core.council import Panel
from app.core.matching import fits
from app.core.store import Hit
from app.core.summary import SessionSummary
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import colours_of, icon_of
from app.gui.widgets.boxes import vbox
from app.gui.widgets.item_list import ROW, ItemList, ItemModel, ListStyle, RowItem
from app.gui.widgets.text import plain_label, say, show_or_hide

MOST_SESSIONS = 8
RECENT = 5
SETTING = "setting"
PROMPT = "prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaletteCommand:
    """A command of the palette; `key` is the key of its text, or `text` is that itself.

    Commands of the sections `setting` and `prompt` are listed only once something was typed, and are found by the text
    of `more` as well; `page` is the key of their page's title.
    """

    key: str = ""
    text: str = ""
    icon: str
    act: Callable[[], object]
    shortcut: str = ""
    section: str = "command"
    page: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaletteEntry:
    """An entry of the palette.

    `section` is command, setting, prompt, assistant, panel, group, session or message; `detail` is shown at the right.
    """

    section: str
    text: str
    detail: str = ""
    icon: str = ""
    colour: int | None = None
    act: Callable[[], object] | None = None
    session_id: str = ""
    message_id: str = ""
    agent_id: str = ""


def command_entries(
    commands: Sequence[PaletteCommand], words: Callable[[str], str], typed: str
) -> list[PaletteEntry]:
    """Return the commands and settings that match."""
    return [
        PaletteEntry(
            section=command.section,
            text=command.text or words(command.key),
            detail=command.shortcut or (words(command.page) if command.page else ""),
            icon=command.icon,
            act=command.act,
        )
        for command in commands
        if (command.section not in (SETTING, PROMPT) or typed.strip())
        and fits(
            " ".join(
                [command.text, *(words(key) for key in (command.key, command.page, command.more) if key)]
            ),
            typed,
        )
    ]


def session_entries(
    summaries: Sequence[SessionSummary], typed: str, age: Callable[[str], str]
) -> list[PaletteEntry]:
    """Return the sessions whose title or speakers match; the newest few if nothing is typed."""
    found: list[PaletteEntry] = []
    for summary in summaries:
        if len(found) == (MOST_SESSIONS if typed.strip() else RECENT):
            break
        if fits(" ".join((summary.title, *summary.speakers)), typed):
            icon = icon_of(summary.kind)
            text = " ".join(summary.title[:200].split())
            found.append(
                PaletteEntry(
                    section="session",
                    text=text,
                    detail=age(summary.updated_at),
                    icon=icon,
                    session_id=summary.id,
                )
            )
    return found


def assistant_entries(agents: Sequence[Agent], colours: dict[str, int], typed: str) -> list[PaletteEntry]:
    """Return the enabled assistants whose name or role matches."""
    return [
        PaletteEntry(
            section="assistant",
            text=agent.name,
            detail=agent.role,
            colour=colours[agent.id],
            agent_id=agent.id,
        )
        for agent in agents
        if agent.enabled and fits(f"{agent.name} {agent.role}", typed)
    ]


def partner_entries(
    partners: Sequence[Group | Panel], section: str, icon: str, typed: str, begin: Callable[[str], object]
) -> list[PaletteEntry]:
    """Return the groups or panels whose name matches; `begin` begins a session with one by its id."""
    return [
        PaletteEntry(section=section, text=one.name, icon=icon, act=partial(begin, one.id))
        for one in partners
        if fits(one.name, typed)
    ]


def hit_entries(hits: Sequence[Hit]) -> list[PaletteEntry]:
    """Return the messages that were found; titles are already listed as sessions."""
    return [
        PaletteEntry(
            section="message",
            text=" ".join(hit.excerpt.split()),
            detail=hit.title,
            icon="file-text",
            session_id=hit.session_id,
            message_id=hit.message_id,
        )
        for hit in hits
        if hit.message_id
    ]


WIDTH = 620
TOP = 70
SEARCH_AFTER_MS = 200
LEAST_SEARCHED = 2
HIGHEST = 480
FRAME = 90  # height of the box and of the line under the list, in pixels
STYLE = ListStyle(height=34, heading=28, left=11, right=14, mark=20, space=11, inset=4, share=3, hovers=False)


class PaletteRows(ItemModel):
    """The entries found, each section under its title."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language

    def show(self, entries: Sequence[PaletteEntry]) -> None:
        """Replace the lines."""
        rows: list[str | PaletteEntry] = []
        section = ""
        for entry in entries:
            if entry.section != section:
                section = entry.section
                rows.append(self._language(f"palette.section.{section}"))
            rows.append(entry)
        self.set_rows(rows)

    def item_of(self, row: PaletteEntry) -> RowItem:
        return RowItem(title=row.text, note=row.detail, icon=row.icon, colour=row.colour)


class PaletteBox(QLineEdit):
    """The search box; passes on the keys for the list, unless an input method is composing."""

    step_requested = Signal(int)
    chosen = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("palette_box")
        self._composing = False

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        key = Qt.Key(event.key())
        if self._composing:
            super().keyPressEvent(event)
        elif key in steps:
            self.step_requested.emit(steps[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class Palette(QFrame):
    """The search box and its results; emits what was chosen. Closes on Escape, or when it loses the focus."""

    search_requested = Signal(str)
    search_dropped = Signal()
    session_requested = Signal(str)
    hit_requested = Signal(str, str)
    assistant_requested = Signal(str)
    group_requested = Signal(str)
    panel_requested = Signal(str)

    def __init__(self, language: Language, look: Look, over: QWidget) -> None:
        super().__init__(over)
        self.setObjectName("palette")
        self.setProperty("kind", "popup")
        self._language = language
        self._over = over
        self._commands: Sequence[PaletteCommand] = ()
        self._agents: Sequence[Agent] = ()
        self._groups: Sequence[Group] = ()
        self._panels: Sequence[Panel] = ()
        self._sessions: Sequence[SessionSummary] = ()
        self._hits: list[PaletteEntry] = []
        self._before: QWidget | None = None
        self.box = say(PaletteBox(), language, name="palette.placeholder", hint="palette.placeholder")
        self.box.setProperty("kind", "palette")
        self.rows = PaletteRows(language)
        self.list = say(ItemList(look, "palette_list", STYLE, self.rows), language, name="palette.found")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._note = plain_label("hint")
        vbox(
            self.box,
            (self.list, 1),
            vbox(self._note, margins=(14, 2, 14, 2)),
            inside=self,
            margins=(1, 1, 1, 8),
            spacing=4,
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SEARCH_AFTER_MS)
        self._timer.timeout.connect(self._on_pause)
        self.box.textChanged.connect(self._on_typed)
        self.box.step_requested.connect(self._step)
        self.box.chosen.connect(lambda: self._choose(self.list.currentIndex()))
        self.box.left.connect(self.leave)
        self.list.clicked.connect(self._choose)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)
        self.hide()

    def come(
        self,
        commands: Sequence[PaletteCommand],
        agents: Sequence[Agent],
        groups: Sequence[Group],
        panels: Sequence[Panel],
        sessions: Sequence[SessionSummary],
        typed: str = "",
    ) -> None:
        """Open over the window with these to choose from; close if it is open already."""
        if self.isVisible():
            self.leave()
            return
        self._before = QApplication.focusWidget()
        self._commands, self._sessions = commands, sessions
        self._agents, self._groups, self._panels = agents, groups, panels
        self._hits = []
        width = min(WIDTH, self._over.width() - 60)
        self.move((self._over.width() - width) // 2, TOP)
        self.setFixedWidth(width)
        self.box.setText(typed)
        self._on_typed()
        self.show()
        self.raise_()
        self.box.setFocus()

    def show_sessions(self, sessions: Sequence[SessionSummary]) -> None:
        """Show the sessions as they are now, while it is open."""
        if self.isVisible():
            self._sessions = sessions
            self._fill(keep=True)

    def leave(self) -> None:
        """Close, and return the focus to where it was."""
        self._timer.stop()
        self.search_dropped.emit()
        had_focus = self.box.hasFocus()
        self.hide()
        if had_focus and self._before is not None:
            self._before.setFocus()
        self._before = None

    def show_hits(self, typed: str, hits: Sequence[Hit]) -> None:
        """Show the messages found for a typed text, unless another was typed since."""
        if typed != self.box.text().strip() or not self.isVisible():
            return
        self._hits = hit_entries(hits)
        self._fill(keep=True)
        show_or_hide(self._note, "" if self.rows.rows else self._language("palette.nothing"))

    def _on_typed(self) -> None:
        self._hits = []
        self._timer.stop()
        self.search_dropped.emit()
        self._fill(keep=False)
        if len(self.box.text().strip()) >= LEAST_SEARCHED:
            self._timer.start()
            show_or_hide(self._note, self._language("palette.searching"))
        else:
            show_or_hide(self._note, "" if self.rows.rows else self._language("palette.nothing"))

    def _on_pause(self) -> None:
        self.search_requested.emit(self.box.text().strip())

    def _fill(self, *, keep: bool) -> None:
        typed = self.box.text()
        chosen = self.list.currentIndex().data(ROW) if keep and self.list.currentIndex().isValid() else None
        commands = command_entries(self._commands, self._language, typed)
        sessions = session_entries(self._sessions, typed, self._language.age)
        assistants = assistant_entries(self._agents, colours_of(self._agents), typed)
        groups = partner_entries(self._groups, "group", "users", typed, self.group_requested.emit)
        panels = partner_entries(self._panels, "panel", "scale", typed, self.panel_requested.emit)
        partners = [*assistants, *groups, *panels]
        first = [*commands, *partners, *sessions] if typed.strip() else [*sessions, *commands, *partners]
        self.rows.show([*first, *self._hits])
        places = [place for place, row in enumerate(self.rows.rows) if isinstance(row, PaletteEntry)]
        place = next((place for place in places if self.rows.rows[place] == chosen), None)
        self._fit()
        if places:
            self._go_to(places[0] if place is None else place)

    def _fit(self) -> None:
        """Set the height to that of the results, within the window."""
        rows = self.list.rows_height()
        self.setFixedHeight(min(HIGHEST, self._over.height() - TOP - 60, rows + FRAME))

    def _step(self, step: int) -> None:
        places = [place for place, row in enumerate(self.rows.rows) if isinstance(row, PaletteEntry)]
        if places:
            now = self.list.currentIndex().row()
            at = places.index(now) if now in places else 0
            self._go_to(places[max(0, min(len(places) - 1, at + step))])

    def _go_to(self, place: int) -> None:
        index = self.rows.index(place)
        self.list.setCurrentIndex(index)
        # Scroll to the first entry together with its section's title.
        self.list.scrollTo(self.rows.index(0) if place == 1 else index)
        self.box.setAccessibleDescription(str(index.data(Qt.ItemDataRole.AccessibleTextRole)))

    def _choose(self, index: QModelIndex) -> None:
        entry = index.data(ROW) if index.isValid() else None
        if not isinstance(entry, PaletteEntry):
            return
        self.leave()
        act: Callable[[], object] | None = entry.act
        if act is not None:
            act()
        elif entry.message_id:
            self.hit_requested.emit(entry.session_id, entry.message_id)
        elif entry.session_id:
            self.session_requested.emit(entry.session_id)
        else:
            self.assistant_requested.emit(entry.agent_id)

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and now is not None and now is not self.box:
            self.leave()
