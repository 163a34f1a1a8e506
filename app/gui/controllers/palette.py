"""Keyboard shortcuts and the palette, which lists commands, settings, assistants and sessions, and searches.

Also the prompts that the user keeps: offered in the message boxes after a /, and written there; and letters
that are typed where nothing takes them, which go to the input of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QKeySequence, QShortcut, QTextDocument
from shiboken6 import isValid

from app.core.definitions import SavedPrompt, ServerPrompt
from app.core.message import user_name
from app.core.session import Hit, Status
from app.core.texts import fits
from app.gui.commands import COMMANDS, Command, chosen_keys, key_sequences, written_keys
from app.gui.controllers.controller import Controller, PageController, Parts
from app.gui.dialogs.ask_dialogs import VariablesDialog
from app.gui.dialogs.palette import Palette, PaletteEntry
from app.gui.display.descriptions import summary_icon
from app.gui.navigation.session_list import matches
from app.gui.pages.chat.message_box import MessageBox
from app.gui.pages.settings.settings_rows import settings_of
from app.gui.pages.settings.settings_view import PAGES
from app.gui.panels.conversation_view import ConversationView
from app.gui.transcript.transcript_model import shown_name
from app.gui.widgets.boxes import stops_in
from app.gui.widgets.composer import SearchField
from app.gui.widgets.controls import PageScroller
from app.gui.window_frame import AppWindow, WindowFrame

SEARCH = "search everything"
OPEN_HIT = "open a message"
MOST_HITS = 50
MOST_SESSIONS, RECENT = 8, 5
SETTING, PROMPT = "setting", "prompt"


class PaletteController(Controller):
    """Runs `actions`, by the names of the commands, from shortcuts and from the palette.

    Signals: assistant_requested(assistant id) and group_requested(group id) to chat with them,
    panel_requested(panel id) to ask them, settings_requested(page, name of a setting or "").
    """

    assistant_requested = Signal(str)
    group_requested = Signal(str)
    panel_requested = Signal(str)
    settings_requested = Signal(str, str)

    def __init__(self, parts: Parts[WindowFrame], actions: Mapping[str, Callable[[], object]]) -> None:
        super().__init__(parts)
        window, bridge, tasks = parts.window, parts.bridge, parts.tasks
        self._actions = {**actions, "search": self.search}
        self._commands: list[PaletteEntry] = []
        self.prompts: Callable[[], Sequence[PaletteEntry]] = tuple
        self._shortcuts: dict[str, QShortcut] = {}
        UndoKey(self)
        PageScroller(self)
        for command in COMMANDS:
            shortcut = QShortcut(window.main_area if command.in_session else window)
            if command.in_session:
                shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self._actions[command.name])
            self._shortcuts[command.name] = shortcut
        self.palette = Palette(self._language, self._look, self._find, window)
        self.palette.search_requested.connect(lambda typed: tasks.replace(SEARCH, self._search(typed)))
        self.palette.search_dropped.connect(lambda: tasks.cancel(SEARCH))
        for changed in (bridge.session_started, bridge.session_changed, bridge.session_deleted):
            changed.connect(lambda _event: self.palette.refresh())

    def choose_keys(self, shortcuts: Sequence[str]) -> None:
        """Give the commands the keys of `Settings.shortcuts`."""
        for name, keys in chosen_keys(shortcuts).items():
            self._shortcuts[name].setKeys(key_sequences(keys))
        self._language.choose_keys(written_keys(shortcuts))

    def search(self, typed: str = "") -> None:
        """Open the palette, or close it."""
        self._commands = [*self.commands(), *self._settings(), *self.prompts()]
        self.palette.come(typed)

    def commands(self) -> list[PaletteEntry]:
        """Return the commands that the palette lists."""
        return [self._entry_of(command) for command in COMMANDS if command.listed]

    def _entry_of(self, command: Command) -> PaletteEntry:
        words, name, more = self._language, command.name, self._more(command.name)
        title, act, keys = words(f"palette.{name}"), self._actions[name], words.keys(name)
        return PaletteEntry("command", act, title=title, id=name, icon=command.icon, note=keys, more=more)

    def _more(self, name: str) -> str:
        """Return further words by which a command is found."""
        title, key = f"palette.{name}", f"palette.{name}.find"
        more = self._language(key) if key in self._language.texts else ""
        return f"{more} {self._language.others(title, key)}".strip()

    def _settings(self) -> list[PaletteEntry]:
        """Return the pages of the settings and the settings on them."""
        found, words = [], self._language
        for page, (icon, _kind) in PAGES.items():
            show = partial(self.settings_requested.emit, page)
            key, title = f"settings.{page}", words(f"settings.{page}")
            if page != "shortcuts":  # This page is a command already.
                more = f"{words(f'{key}.find')} {words.others(key, f'{key}.find')}"
                found.append(PaletteEntry(SETTING, partial(show, ""), title=title, icon=icon, more=more))
            for name in settings_of(page):
                text, act = words(f"setting.{name}"), partial(show, name)
                more = f"{title} {words.others(f'setting.{name}')}"
                found.append(PaletteEntry(SETTING, act, title=text, icon=icon, note=title, more=more))
        return found

    def _find(self, typed: str) -> list[PaletteEntry]:
        """Return what matches a typed text; settings and prompts only once something is typed."""
        engine, agents = self._engine, self._engine.assistants.all()
        partners, ask = [], self.assistant_requested.emit
        for agent in (agent for agent in agents if agent.enabled):
            act, name, role, colour = partial(ask, agent.id), agent.name, agent.role, agent.colour
            partners.append(PaletteEntry("assistant", act, role, title=name, note=role, colour=colour))
        for group in engine.groups.all():
            act = partial(self.group_requested.emit, group.id)
            partners.append(PaletteEntry("group", act, title=group.name, icon="users"))
        for panel in engine.councils.panels.all():
            act = partial(self.panel_requested.emit, panel.id)
            partners.append(PaletteEntry("panel", act, title=panel.name, icon="scale"))
        listed = [
            entry for entry in self._commands if typed.strip() or entry.section not in (SETTING, PROMPT)
        ]
        matching = [entry for entry in (*listed, *partners) if fits(f"{entry.text} {entry.more}", typed)]
        sessions = self._sessions(typed)
        return [*matching, *sessions] if typed.strip() else [*sessions, *matching]

    def _sessions(self, typed: str) -> list[PaletteEntry]:
        """Return the newest sessions whose title or speakers match; fewer if nothing is typed."""
        matching = (session for session in self._engine.sessions() if matches(session, typed))
        found = []
        for summary in islice(matching, MOST_SESSIONS if typed.strip() else RECENT):
            title = " ".join(summary.title[:200].split())
            icon, age = summary_icon(summary), self._language.age(summary.updated_at)
            act = partial(self._window.session_requested.emit, summary.id)
            found.append(PaletteEntry("session", act, title=title, id=summary.id, icon=icon, note=age))
        return found

    async def _search(self, typed: str) -> None:
        """Show the messages that hold a typed text; titles are already listed as sessions."""
        hits = []
        for hit in (hit for hit in await self._engine.search(typed, MOST_HITS) if hit.message_id):
            title, id_ = " ".join(hit.excerpt.split()), hit.message_id
            note = " · ".join(filter(None, (self._who_said(hit), hit.session.title)))
            act = partial(self.open_hit, hit.session.id, id_)
            hits.append(PaletteEntry("message", act, title=title, id=id_, icon="file-text", note=note))
        self.palette.show_hits(typed, hits)

    def _who_said(self, hit: Hit) -> str:
        if hit.author is None:
            return ""
        return (user_name if hit.by_user else shown_name)(hit.author, self._language.texts)

    def open_hit(self, session_id: str, message_id: str) -> None:
        """Show a message that was found."""
        self._tasks.replace(OPEN_HIT, self._open_hit(session_id, message_id))

    async def _open_hit(self, session_id: str, message_id: str, *, stops: bool = False) -> None:
        """Show a message in its session, in its version; `stops` allows to stop a run for that."""
        live = await self._engine.open(session_id)
        message, chat = live.turns.messages.get(message_id), live.session.chat
        root = live.turns.root(message.turn_id) if message is not None else ""
        if root and chat is not None and root not in live.turns.back_from(chat.head):
            if live.session.status in (Status.RUNNING, Status.WAITING) and not stops:
                words, stop = self._language, partial(self._open_hit, session_id, message_id, stops=True)
                said, act = words("palette.other_version"), words("palette.stop_and_show")
                self._toasts.show_toast(said, act, lambda: self._tasks.replace(OPEN_HIT, stop()))
            else:
                await self._engine.chats.choose_version(session_id, root)
        place, area = f"{message_id}:0", self._window.main_area
        self._state.keep_place(session_id, place)
        for number in range(area.count()):
            page = area.widget(number)
            if isinstance(page, ConversationView) and page.session_id == session_id:
                # A page that holds the session already would keep its scroll position.
                page.go_to(place)
                if page is area.currentWidget():
                    return
        self._window.session_requested.emit(session_id)


class UndoKey(QObject):
    """Leaves the keys of undo and redo to the window while the focused field has nothing of that, in every
    window.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        application = QtWidgets.QApplication.instance()
        assert isinstance(application, QtWidgets.QApplication)
        application.focusChanged.connect(self._on_focus_changed)
        # The window's first field has the keyboard already.
        self._on_focus_changed(None, application.focusWidget())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        keys = QKeySequence.StandardKey
        for key in (keys.Undo, keys.Redo):
            if event.matches(key) and not _can_undo(watched, again=key == keys.Redo):
                # A field claims the key even if it has nothing to undo.
                event.ignore()
                return True
        return False

    def _on_focus_changed(self, before: QtWidgets.QWidget | None, now: QtWidgets.QWidget | None) -> None:
        if before is not None:
            before.removeEventFilter(self)
        if isinstance(now, QtWidgets.QLineEdit | QtWidgets.QPlainTextEdit | QtWidgets.QTextEdit):
            now.installEventFilter(self)


def _can_undo(field: QObject, *, again: bool) -> bool:
    """Say whether a field has something to undo, or to do `again`."""
    held = field.document() if isinstance(field, QtWidgets.QPlainTextEdit | QtWidgets.QTextEdit) else field
    if not isinstance(held, QTextDocument | QtWidgets.QLineEdit):
        return False
    return held.isRedoAvailable() if again else held.isUndoAvailable()


class Areas:
    """Takes the keyboard from one part of the window to the next: page, notices, right panel, sidebar.

    A part that was left in this way has the keyboard where it was.
    """

    def __init__(self, window: WindowFrame) -> None:
        self._window = window
        self._left: dict[QtWidgets.QWidget, QtWidgets.QWidget] = {}

    def go(self, step: int) -> None:
        """Go to the next part that is shown, or to the one before for -1."""
        window, page = self._window, self._window.main_area.currentWidget()
        areas = [area for area in window.areas() if stops_in(area)]
        now = window.focusWidget()
        at = 0
        if now is not None:
            # Notices lie in the first part.
            at = max((place for place, area in enumerate(areas) if area.isAncestorOf(now)), default=0)
            self._left[areas[at]] = now
        area = areas[(at + step) % len(areas)]
        before = self._left.get(area)
        if area is window.toasts:
            window.toasts.take_focus()
        elif before is not None and isValid(before) and before.isVisible() and before.isEnabled():
            before.setFocus(KEYED)
        elif area is areas[0] and isinstance(page, ConversationView):
            page.take_focus()
        else:
            next((stop for stop in stops_in(area) if stop.isVisible()), area).setFocus(KEYED)


KEYED = Qt.FocusReason.ShortcutFocusReason
COMPOSES = Qt.WidgetAttribute.WA_InputMethodEnabled
SHIFTED = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
FINDS_BY_LETTERS = (QtWidgets.QAbstractItemView, QtWidgets.QComboBox, SearchField)


class LettersToInput(QObject):
    """Gives the input of the page in front what is typed while nothing in the window takes letters.

    A key reaches the window only if no widget has used it. An input method composes only where that is
    allowed, so it is allowed for whatever has the focus, and what it begins to compose goes on in the input.
    """

    def __init__(self, window: WindowFrame, find_input: Callable[[], QtWidgets.QWidget | None]) -> None:
        super().__init__(window)
        self._window, self._find_input = window, find_input
        self._watched: QtWidgets.QWidget | None = None
        self._moves = False
        window.installEventFilter(self)
        application = QtWidgets.QApplication.instance()
        assert isinstance(application, QtWidgets.QApplication)
        application.focusChanged.connect(self._on_focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is self._window:
            letters = event.text() if not event.modifiers() & ~SHIFTED else ""
            return bool(letters.strip()) and letters.isprintable() and self._pass_on(event)
        if isinstance(event, QInputMethodEvent) and (event.preeditString() or event.commitString()):
            return self._pass_on(event)
        # Qt would end the composition, and with it the syllable that has just begun.
        return self._moves and event.type() == QEvent.Type.FocusAboutToChange

    def _pass_on(self, event: QEvent) -> bool:
        box, application = self._find_input(), QtWidgets.QApplication
        over = application.activePopupWidget() or application.activeModalWidget()
        if box is None or box.hasFocus() or over:
            return False
        self._moves = True
        box.setFocus()
        self._moves = False
        QtWidgets.QApplication.sendEvent(box, event)
        return True

    def _on_focus_changed(self, before: QtWidgets.QWidget | None, now: QtWidgets.QWidget | None) -> None:
        if before is not None and before is self._watched:
            before.removeEventFilter(self)
            before.setAttribute(COMPOSES, False)
        self._watched = None
        if now is None or now.window() is not self._window or isinstance(now, FINDS_BY_LETTERS):
            return
        if not now.testAttribute(COMPOSES):
            self._watched = now
            now.setAttribute(COMPOSES)
            now.installEventFilter(self)


class SavedPromptController(PageController):
    """Answers a / in a message box; emits files_given(attachments) that came with a prompt."""

    files_given = Signal(object)

    def __init__(self, parts: Parts[AppWindow], box: MessageBox) -> None:
        super().__init__(parts)
        self._box = box
        box.prompt_chosen.connect(self._on_chosen)
        self._prompts: dict[str, SavedPrompt] = {}
        parts.bridge.saved_prompts_changed.connect(lambda _event: self.refresh())
        parts.bridge.servers_changed.connect(lambda _event: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Offer the prompts there are now, those of the connected MCP servers last."""
        prompts = (*self._engine.saved_prompts.all(), *self._engine.servers.prompts())
        self._prompts = {}
        for prompt in prompts:
            self._prompts.setdefault(prompt.name, prompt)
        self._box.set_prompts(tuple(self._prompts))

    def commands(self) -> list[PaletteEntry]:
        """Return the prompts as entries of the palette; each is written into the message box."""
        acts = {name: partial(self._call, name) for name in self._prompts}
        return [PaletteEntry(PROMPT, act, title=name, icon="file-text") for name, act in acts.items()]

    def _call(self, name: str) -> None:
        if not self._box.isVisible():
            self._window.begin_requested.emit("")
        if self._box.isVisible():
            self._on_chosen(name)

    def _on_chosen(self, name: str) -> None:
        prompt = self._prompts.get(name)
        if prompt is None or not prompt.variables:
            self._start(self._take(name, prompt, {}))
            return
        dialog = VariablesDialog(self._language, prompt, self._window)
        dialog.open_for(self._starts(partial(self._take, name, prompt)))

    async def _take(self, name: str, prompt: SavedPrompt | None, values: Mapping[str, str]) -> None:
        if isinstance(prompt, ServerPrompt):
            text, files = await self._engine.servers.prompt(prompt, values)
        else:
            text, files = self._engine.saved_prompts.find(name).filled(values), ()
        # In the place of what called it.
        self._box.selectAll()
        self._box.insertPlainText(text)
        self._box.setFocus()
        if files:
            self.files_given.emit(files)
