"""The settings dialog: a list of pages, and a search over all of them.

Also the pages that only inform: Privacy (what leaves this computer, and when) and About.
"""

import platform
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal, qVersion
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QStackedWidget, QWidget

from app import __version__
from app.core.errors import MootError
from app.core.events import ModelFetching, Notice
from app.core.provider import ProviderStatus
from app.core.settings import Settings
from app.core.texts import exact, fits
from app.core.tool import ServerState, ServerStatus
from app.engine.engine import Engine
from app.engine.providers import stays_here
from app.gui.commands import COMMANDS
from app.gui.display.appearance import Language, Look, tall
from app.gui.display.descriptions import server_line
from app.gui.pages.settings import settings_rows
from app.gui.pages.settings.data_page import DataPage
from app.gui.pages.settings.models_page import LocalModelsPage, ModelsPage
from app.gui.pages.settings.providers_page import NetworkPage, ProvidersPage
from app.gui.pages.settings.saved_prompts_page import SavedPromptsPage
from app.gui.pages.settings.servers_page import PermissionsPage, ServersPage
from app.gui.pages.settings.shortcuts_page import ShortcutsPage
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import STRETCH, empty, focus_chain, frame, hbox, vbox
from app.gui.widgets.controls import button, keep_place, scrolling
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.notices import Toast, Toasts
from app.gui.widgets.search import SearchBox
from app.gui.widgets.text import ElidedLabel, Paragraph, plain_label, say

# The pages with their icons, in order.
PAGES = {
    "providers": "plug",
    "models": "cpu",
    "local": "download",
    "saved_prompts": "file-text",
    "network": "globe",
    "servers": "wrench",
    "permissions": "shield-question-mark",
    "chats": "message-circle",
    "limits": "gauge",
    "usage": "coins",
    "appearance": "sun",
    "shortcuts": "keyboard",
    "data": "database",
    "privacy": "lock",
    "about": "info",
}
# Pages with rows that can be focused and reset.
RowPage = settings_rows.SettingsPage | settings_rows.SettingsRows | ShortcutsPage
SIDE_WIDTH = 208
SIZE = QSize(940, 660)
FRAME = QSize(40, 40)  # space between dialog and window, in pixels
# Restores what was removed; returns False if a key is restored for this run only.
Undo = Callable[[], Awaitable[bool]]
STYLE = ListStyle(height=32, left=9, space=6)


class SettingsDialog(QDialog):
    """Shows the settings; `settings` returns the current ones.

    Signals: providers_changed(), settings_chosen({name: value}) as soon as something is chosen,
    undo_left(text, undo) for each undo that is still offered when the dialog closes.
    """

    providers_changed = Signal()
    settings_chosen = Signal(object)
    undo_left = Signal(str, object)

    def __init__(
        self,
        language: Language,
        look: Look,
        engine: Engine,
        data_dir: Path,
        settings: Callable[[], Settings],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("settings_dialog")
        self._language, self._look, self._engine, self._data_dir = language, look, engine, data_dir
        self._settings = settings
        self.tasks = Tasks(self._on_task_failed)
        self._made: dict[str, QWidget] = {}
        self._places: dict[str, int] = {}
        self._shown = ""
        self._quick_keys = ("", False)
        self.search = say(
            SearchBox(look, "settings_search"), language, name="settings.search", hint="settings.search"
        )
        self.pages = say(ItemList(look, "settings_pages", STYLE), language, name="settings.title")
        self._title = ElidedLabel("page_title")
        self._reset = say(button("link", "settings_reset", self._on_reset), language, "settings.reset")
        keep_place(self._reset)
        self._side, self._stack = QFrame(), QStackedWidget()
        self._close = say(button("", "settings_close"), language, "settings.close")
        self._toasts = Toasts(self)
        self._undos: list[tuple[Toast, Undo]] = []
        self._lay_out()
        self.search.textChanged.connect(lambda _text: self._list_pages())
        self.search.returnPressed.connect(self._on_found)
        self.pages.currentItemChanged.connect(lambda item, _before: self._on_item(item))
        self._close.clicked.connect(self.accept)
        self.finished.connect(self._on_finished)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)
        for name, act in (("undo", self._toasts.undo), ("notice", self._toasts.take_focus)):
            keys = QKeySequence(language.keys(name), QKeySequence.SequenceFormat.NativeText)
            QShortcut(keys, self, act)
        language.follow(self._retranslate)
        self.resize(SIZE.boundedTo(parent.size() - FRAME))

    def show_page(self, page: str, provider_id: str = "", row: str = "") -> None:
        """Show a page of `PAGES`, and there a provider or a setting."""
        self.search.clear()
        self.pages.setCurrentRow(list(PAGES).index(page))
        if provider_id and isinstance(made := self.page("providers"), ProvidersPage):
            made.show_provider(provider_id)
        self._go_to(page, row)

    def page(self, page: str) -> QWidget:
        """Return a page of `PAGES`; create it if needed."""
        if page not in self._made:
            self._made[page], holder = self._make(page)
            self._places[page] = self._stack.addWidget(holder)
        return self._made[page]

    def offer_undo(self, text: str, undo: Undo) -> None:
        """Show a toast with an undo for a removal; it stays available after the dialog closes."""

        def act() -> None:
            self.tasks.start(f"undo {id(undo)}", self._undo(undo))

        self._undos.append((self._toasts.show_toast(text, self._language("toast.undo"), act), undo))

    def show_providers(self) -> None:
        """Read the providers and models again on every page."""
        for page in self._made.values():
            if isinstance(page, ProvidersPage):
                page.look_again()
            elif isinstance(page, ModelsPage | LocalModelsPage):
                page.refresh()

    def show_fetching(self, event: ModelFetching) -> None:
        """Show how far the download of a model is."""
        if isinstance(page := self._made.get("local"), LocalModelsPage):
            page.show_fetching(event)

    def show_keys(self) -> None:
        """Show the keyring's late answer."""
        if isinstance(page := self._made.get("providers"), ProvidersPage):
            page.show_keys()

    def show_quick_keys(self, text: str, *, fails: bool) -> None:
        """Say where the keys of the quick chat work."""
        self._quick_keys = text, fails
        if isinstance(page := self._made.get("shortcuts"), ShortcutsPage):
            page.note_quick(text, fails=fails)

    def show_notice(self, notice: Notice) -> None:
        """Show a late answer of the keyring or the end of a download here, since the window is behind the dialog."""
        if notice.code.startswith(("key_", "model_")):
            self._toasts.show_toast(self._language.notice(notice))

    async def _undo(self, undo: Undo) -> None:
        if not await undo():
            self._toasts.show_toast(self._language(f"keyring.{self._engine.keys.problem}"))
        self._on_providers_changed()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter ends editing in a field; a dialog would take it for a click on the default button.
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """Set the width of the list for the text size, within a part of the dialog."""
        self._side.setFixedWidth(min(tall(SIDE_WIDTH), self.width() * 2 // 7))

    def _make(self, page: str) -> tuple[QWidget, QWidget]:
        """Return a new page, and the widget that holds it: pages without a scroll area of their own get one."""
        language, look, engine, tasks = self._language, self._look, self._engine, self.tasks
        makers: dict[str, Callable[[], QWidget]] = {
            "providers": lambda: ProvidersPage(language, look, engine, tasks),
            "models": lambda: ModelsPage(language, look, engine, tasks),
            "local": lambda: LocalModelsPage(language, look, engine, tasks, self._settings),
            "servers": lambda: ServersPage(language, look, engine, tasks),
            "permissions": lambda: PermissionsPage(language, look, engine, tasks),
            "network": lambda: NetworkPage(language, engine, tasks, self._settings),
            "saved_prompts": lambda: SavedPromptsPage(language, look, engine, tasks, self._toasts),
            "usage": lambda: settings_rows.UsagePage(language, look, engine, tasks),
            "data": lambda: DataPage(language, look, engine, tasks, self._data_dir),
            "limits": lambda: settings_rows.LimitsPage(language, look, self._settings),
            "chats": lambda: settings_rows.ChatsPage(language, look, self._settings, engine.providers),
            "appearance": lambda: settings_rows.SettingsRows(language, look, self._settings, page),
            "shortcuts": lambda: ShortcutsPage(language, look, self._settings),
            "privacy": lambda: PrivacyPage(language, look, engine),
            "about": lambda: AboutPage(language, look),
        }
        made = makers[page]()
        if isinstance(made, DataPage):
            made.restored.connect(self._on_providers_changed)
            # The window has to take over the restored settings.
            made.restored.connect(lambda: self.settings_chosen.emit({}))
        elif isinstance(made, ShortcutsPage):
            made.note_quick(self._quick_keys[0], fails=self._quick_keys[1])
        if isinstance(made, ProvidersPage | ModelsPage | LocalModelsPage):
            made.changed.connect(self.providers_changed)
        if isinstance(made, ProvidersPage | ModelsPage | ServersPage | SavedPromptsPage | DataPage):
            made.undo_offered.connect(self.offer_undo)
        if isinstance(made, ServersPage | PermissionsPage | DataPage):
            self.finished.connect(made.leave)
        if isinstance(made, RowPage | settings_rows.UsagePage | NetworkPage | LocalModelsPage):
            made.chosen.connect(self.settings_chosen)
        scrolls = isinstance(made, RowPage | NetworkPage | PrivacyPage | AboutPage)
        return made, scrolling(_with_margins(made), keeps_bar=True) if scrolls else made

    def _lay_out(self) -> None:
        self._side.setProperty("kind", "side")
        vbox(self.search, self.pages, inside=self._side, margins=(10, 14, 10, 8), spacing=8)
        head = hbox((self._title, 1), self._reset, margins=(22, 16, 22, 0))
        foot = hbox(STRETCH, self._close, margins=(22, 0, 22, 14))
        page = vbox(head, (self._stack, 1), 8, foot, spacing=0)
        hbox(self._side, (page, 1), inside=self, spacing=0)

    def _list_pages(self) -> None:
        """List the pages, or the pages and settings that match the search."""
        words, typed = self._language, self.search.text().strip()
        items: list[RowItem] = []
        for page, icon in PAGES.items():
            title = words(f"settings.{page}")
            if fits(f"{title} {words(f'settings.{page}.find')}", typed):
                items.append(RowItem(id=page, title=title, icon=icon))
            rows = self._rows_of(page) if typed else ()
            items += [
                RowItem(id=f"{page} {row}", title=name, icon=icon) for row, name in rows if fits(name, typed)
            ]
        with QSignalBlocker(self.pages):
            self.pages.show_rows(items)
            self.pages.setCurrentRow(-1)
        if not typed and self._shown:
            self.pages.choose(self._shown)

    def _rows_of(self, page: str) -> list[tuple[str, str]]:
        """Return the names and texts of a page's rows."""
        words = self._language
        if page == "shortcuts":
            return [(one.name, words(f"palette.{one.name}")) for one in COMMANDS]
        return [(name, words(f"setting.{name}")) for name in settings_rows.settings_of(page)]

    def _on_found(self) -> None:
        """Show the first result."""
        if self.pages.count():
            self.pages.setCurrentRow(0)
            self._on_item(self.pages.item(0))

    def focusNextPrevChild(self, forward: bool) -> bool:
        # Close comes last; the page, or a part of it, may have been created after it.
        chain = focus_chain(self, back=True)
        last = next(part for part in chain if part.focusPolicy() != Qt.FocusPolicy.NoFocus)
        if last is not self._close:
            QWidget.setTabOrder(last, self._close)
        return super().focusNextPrevChild(forward)

    def _on_item(self, item: RowItem | None) -> None:
        if item is None:
            return
        page, _, row = item.id.partition(" ")
        made = self.page(page)
        self._shown = page
        self._stack.setCurrentIndex(self._places[page])
        self._title.setText(self._language(f"settings.{page}"))
        self._reset.setVisible(isinstance(made, RowPage))
        self._stack.currentWidget().setAccessibleName(self._title.text())
        self._go_to(page, row)

    def _go_to(self, page: str, row: str) -> None:
        made = self.page(page)
        if row and isinstance(made, RowPage):
            made.take_focus(row)

    def _on_reset(self) -> None:
        page = self.page(self._shown)
        assert isinstance(page, RowPage)
        before = page.reset()
        if before:
            words, choose = self._language, page.choose
            self._toasts.show_toast(words("settings.was_reset"), words("toast.undo"), lambda: choose(before))

    def _on_providers_changed(self) -> None:
        self.show_providers()
        self.providers_changed.emit()

    def _on_finished(self) -> None:
        # Delete the dialog only after its tasks have ended.
        self.setObjectName("settings_dialog_away")
        for toast, undo in self._undos:
            if toast.here:
                self.undo_left.emit(toast.text, undo)
        self.tasks.when_done(self.deleteLater)

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._toasts.show_toast(self._language.problem(error.code, **error.details))

    def _retranslate(self) -> None:
        words = self._language
        self.setWindowTitle(words("settings.title"))
        self._list_pages()
        if self._shown:
            self._title.setText(words(f"settings.{self._shown}"))


def _with_margins(page: QWidget) -> QWidget:
    return frame("", vbox(page, STRETCH, margins=(22, 14, 12, 20)))


ICON = 17
MARK = 56
LICENCE = "MIT"
PARTS = (
    ("Qt, PySide6", "LGPL-3.0"),
    ("LiteLLM, pydantic", "MIT"),
    ("msgspec", "BSD"),
    ("keyring, platformdirs, pyromark", "MIT"),
    ("mathra", "MIT, SIL OFL 1.1"),
    ("qasync, striprtf", "BSD"),
    ("MCP SDK, ddgs", "MIT"),
    ("trafilatura", "Apache-2.0"),
    ("PDFium, pypdfium2", "BSD, Apache-2.0"),
    ("office-oxide", "MIT, Apache-2.0"),
    ("python-docx", "MIT"),
    ("llama.cpp, xllamacpp", "MIT"),
    ("SmolLM2 135M (Hugging Face)", "Apache-2.0"),
    ("Pretendard", "SIL OFL 1.1"),
    ("Lucide", "ISC, MIT"),
)


class PrivacyPage(QWidget):
    """Says what is sent to each provider, to the web and to each MCP server, and when."""

    def __init__(self, language: Language, look: Look, engine: Engine) -> None:
        super().__init__()
        self._language, self._look, self._engine = language, look, engine
        self.lead = Paragraph("card_text")
        self._cards = vbox(spacing=8)
        vbox(self.lead, self._cards, inside=self, spacing=12)
        language.changed.connect(self.retranslate)
        look.changed.connect(self.retranslate)
        self.retranslate()

    def showEvent(self, event: QShowEvent) -> None:
        # Another page may have changed the data.
        self.retranslate()
        super().showEvent(event)

    def retranslate(self) -> None:
        """Show the current state."""
        words, engine = self._language, self._engine
        providers = [one for one in engine.providers() if one.ready]
        away = [one for one in providers if not stays_here(one)]
        self.lead.setText(words("privacy.some" if away else "privacy.nothing"))
        empty(self._cards)
        for provider in sorted(providers, key=stays_here):
            self._add_provider(provider)
        search = engine.settings().search_engine
        name = search if search.startswith("http") else words(f"limits.engine.{search}")
        self._add("globe", words("privacy.web"), name, words("privacy.web.text"))
        for server in engine.servers.all():
            self._add_server(server)
        self._add("eye-off", words("privacy.moot"), "", words("privacy.moot.text"))

    def _add_provider(self, status: ProviderStatus) -> None:
        words, name = self._language, self._language.provider(status)
        if stays_here(status) and not status.base_url:
            self._add("lock", name, "", words("privacy.embedded"))
        elif stays_here(status):
            self._add("lock", name, status.base_url, words("privacy.local"))
        else:
            self._add("plug", name, status.base_url, words("privacy.provider", name=name))

    def _add_server(self, status: ServerStatus) -> None:
        server, words = status.server, self._language
        if server.disabled or status.state == ServerState.ASKING:
            return
        text = words("privacy.server.web" if server.url else "privacy.server")
        self._add("wrench", exact(server.name), server_line(server), text)

    def _add(self, icon: str, title: str, where: str, text: str) -> None:
        picture = QLabel()
        picture.setPixmap(self._look.picture(icon, "text_2", ICON, self.devicePixelRatioF()))
        picture.setFixedWidth(ICON + 4)
        place = [ElidedLabel("meta", text=where)] if where else []
        said = Paragraph("card_text", text=text)
        words = vbox(plain_label("card_title", text=title), *place, said, spacing=3)
        card = frame("card", hbox(vbox(picture, STRETCH), (words, 1), margins=(14, 10, 14, 10), spacing=10))
        self._cards.addWidget(card)


class AboutPage(QWidget):
    """Shows version, licence and third-party parts."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        mark = QLabel()
        mark.setPixmap(look.picture("moot", "accent", MARK, self.devicePixelRatioF()))
        self._name = say(plain_label("page_title"), language, "app.name")
        self.version = plain_label("card_text", wrap=True)
        self.version.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text = Paragraph("card_text")
        lines = [
            hbox((plain_label("card_text", text=name), 1), plain_label("hint", text=licence))
            for name, licence in PARTS
        ]
        card = frame("card", vbox(*lines, margins=(14, 8, 14, 8), spacing=6))
        head = hbox(mark, (vbox(STRETCH, self._name, self.version, STRETCH), 1), spacing=16)
        parts = say(plain_label("field"), language, "about.parts")
        vbox(head, self._text, parts, card, inside=self, spacing=12)
        language.follow(self.retranslate)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        words = self._language
        python, system = platform.python_version(), platform.platform(terse=True)
        version = words("about.version", version=__version__, qt=qVersion(), python=python, system=system)
        self.version.setText(version)
        self._text.setText(words("about.text", licence=LICENCE))
