"""The page of the settings: a list of their pages, and a search over all of them.

Also the page of shortcuts, every command with its keys, and those that only inform: Privacy (what leaves this
computer, and when) and About.
"""

import platform
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, qVersion
from PySide6.QtGui import QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QKeySequenceEdit, QLabel, QWidget

from app import __version__
from app.core.errors import MootError
from app.core.events import ModelFetching
from app.core.provider import ProviderStatus
from app.core.settings import Settings
from app.core.texts import exact, fits
from app.core.tool import ServerState, ServerStatus
from app.engine.engine import Engine
from app.engine.providers import stays_here
from app.gui.commands import COMMANDS, PORTABLE, QUICK, Command, chosen_keys, kept_shortcuts, written
from app.gui.display.appearance import Language, Look, tall
from app.gui.display.descriptions import server_line
from app.gui.pages.settings import settings_rows
from app.gui.pages.settings.data_page import DataPage, SavedPromptsPage
from app.gui.pages.settings.models_page import LocalModelsPage, ModelsPage
from app.gui.pages.settings.providers_page import NetworkPage, ProvidersPage
from app.gui.pages.settings.servers_page import PermissionsPage, ServersPage
from app.gui.pages.settings.settings_rows import Ground, Page, SettingsPage
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import (
    STRETCH,
    FontFitting,
    Frame,
    add_page,
    empty,
    frame,
    hbox,
    put_where,
    stack,
    stops_in,
    vbox,
)
from app.gui.widgets.choices import Segmented
from app.gui.widgets.composer import SearchBox
from app.gui.widgets.controls import bring_into_sight, button, icon_button, keep_place, scrolling
from app.gui.widgets.form import Steps
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.notices import LoginLine, Toasts
from app.gui.widgets.text import (
    ElidedLabel,
    Paragraph,
    name_button,
    named,
    plain_label,
    restyle,
    say,
    show_or_hide,
)

KEYS_WIDTH = 150
# Keys a text box needs for itself.
_KEY = QKeySequence.StandardKey
WRITING = (_KEY.Copy, _KEY.Cut, _KEY.Paste, _KEY.SelectAll, _KEY.Undo, _KEY.Redo)
# All other keys write text, or have a meaning for the focused widget.
COMMANDING = re.compile(r"(Ctrl|Alt|Meta)\+|^(Shift\+)?F\d+$")
# Keys that cannot be changed, with the <name> of their text `keys.<name>`.
FIXED = {"Return": "send", "Shift+Return": "line", "Esc": "stop", "Del": "delete"}
FIXED |= {"Alt+Up": "up", "Alt+Down": "down"}


class KeysBox(QKeySequenceEdit):
    """Records one key combination; Escape cancels, Backspace removes the keys."""

    given = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setMaximumSequenceLength(1)
        self.setFixedWidth(KEYS_WIDTH)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if plain and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif plain and event.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            self.given.emit("")
        else:
            super().keyPressEvent(event)
            keys = self.keySequence().toString(PORTABLE)
            if keys:
                self.clear()
                self.given.emit(keys)


class ShortcutRow(QWidget):
    """The row of a command; emits given(name, keys) with new keys."""

    given = Signal(str, str)

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__()
        self._language, self.name = language, name
        self._title, self.problem = ElidedLabel("name"), plain_label("error", wrap=True)
        self._note = plain_label("hint", wrap=True)
        self.keys = button("", f"keys_{name}", self._on_asked)
        self.reset, self._both = icon_button(look, "rotate-ccw", f"reset_{name}"), stack(self.keys)
        for part in (self.keys, self._both):
            part.setFixedWidth(KEYS_WIDTH)
        head = hbox((self._title, 1), self.reset, self._both, spacing=8)
        vbox(head, self._note, self.problem, inside=self, margins=(14, 5, 14, 5), spacing=2)
        self.problem.hide()
        self._note.hide()

    @cached_property
    def box(self) -> KeysBox:
        """What records the keys; made when they are first changed, for there are many rows."""
        made = say(KeysBox(), self._language, name="keys.press")
        self._both.addWidget(made)
        QWidget.setTabOrder(self.keys, made)
        made.left.connect(self.leave)
        made.given.connect(lambda keys: self.given.emit(self.name, keys))
        made.editingFinished.connect(self.leave)
        return made

    def show_keys(self, keys: str, *, first: bool) -> None:
        """Show the keys; `first` if they are the defaults."""
        words = self._language
        title = words(f"palette.{self.name}")
        self._title.setText(title)
        self.keys.setText(written(keys) or words("keys.none"))
        self.keys.setAccessibleName(words("keys.of", command=title, keys=self.keys.text()))
        self.keys.setToolTip(words("keys.change"))
        name_button(self.reset, words("keys.reset", command=title))
        self.reset.setVisible(not first)

    def say(self, text: str) -> None:
        """Show why keys were refused."""
        show_or_hide(self.problem, text)

    def note(self, text: str, *, fails: bool) -> None:
        """Say under the command where its keys work; `fails` if they do not."""
        restyle(self._note, kind="error" if fails else "hint")
        show_or_hide(self._note, text)

    def leave(self) -> None:
        """End recording, and show the keys again."""
        if self._both.currentWidget() is not self.keys:
            had_focus = self.box.hasFocus()
            self._both.setCurrentWidget(self.keys)
            if had_focus:
                self.keys.setFocus()

    def _on_asked(self) -> None:
        self.say("")
        self.box.clear()
        self._both.setCurrentWidget(self.box)
        self.box.setFocus()


class ShortcutsPage(Page):
    """Lists the commands with their keys; chooses {"shortcuts": …} with every change."""

    SCROLLS = True

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language = self._language
        self._keys = chosen_keys(self._settings().shortcuts)
        self._quick_note = ("", False)
        self._rows: dict[str, ShortcutRow] = {}
        self._fixed: dict[str, QLabel] = {}
        self._column = vbox(say(Paragraph("card_text"), language, "keys.text"), inside=self, spacing=10)
        self._steps = Steps(self, self._build())
        language.changed.connect(self.retranslate)

    @property
    def rows(self) -> dict[str, ShortcutRow]:
        """The rows by the names of their commands."""
        self._steps.finish()
        return self._rows

    def note_quick(self, text: str, *, fails: bool) -> None:
        """Say where the keys of the quick chat work; `fails` if they do not."""
        self._quick_note = text, fails
        if QUICK in self._rows:
            self._rows[QUICK].note(text, fails=fails)

    def _build(self) -> Iterator[None]:
        lines = self._add_card()
        for command in COMMANDS:
            row = self._rows[command.name] = ShortcutRow(self._language, self._look, command.name)
            row.given.connect(self._on_given)
            row.reset.clicked.connect(lambda _on=False, of=command: self._on_reset(of))
            self._show_keys(command)
            if command.name == QUICK:
                row.note(self._quick_note[0], fails=self._quick_note[1])
            lines.addWidget(row)
            row.show()
            yield
        self._column.addSpacing(6)
        self._column.addWidget(say(plain_label("field"), self._language, "keys.fixed"))
        lines = self._add_card()
        for keys, name in FIXED.items():
            label = say(plain_label("hint"), self._language, f"keys.{name}")
            shown = self._fixed[keys] = plain_label("hint", text=written(keys))
            lines.addLayout(hbox((label, 1), shown, margins=(14, 4, 14, 4)))
            yield

    def _add_card(self) -> QBoxLayout:
        """Add an empty card; return the layout of its lines."""
        lines = vbox(margins=(0, 6, 0, 6), spacing=0)
        self._column.addWidget(frame("card", lines))
        return lines

    def refresh(self) -> None:
        """Show the current keys."""
        self._keys = chosen_keys(self._settings().shortcuts)
        self.retranslate()

    def reset(self) -> dict[str, object]:
        """Reset all keys to the defaults; return the previous choice."""
        before = self._settings().shortcuts
        if before:
            self.choose({"shortcuts": ()})
        return {"shortcuts": before} if before else {}

    def choose(self, values: dict[str, object]) -> None:
        """Set and show the shortcuts."""
        lines = values["shortcuts"]
        assert isinstance(lines, tuple)
        self._keys = chosen_keys(lines)
        for row in self._rows.values():
            row.say("")
        self.retranslate()
        self.chosen.emit(values)

    def take_focus(self, name: str) -> None:
        """Focus a command."""
        self.rows[name].keys.setFocus(Qt.FocusReason.OtherFocusReason)
        bring_into_sight(self.rows[name])

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        for command in COMMANDS:
            if command.name in self._rows:
                self._show_keys(command)
        for keys, shown in self._fixed.items():
            shown.setText(written(keys))

    def _show_keys(self, command: Command) -> None:
        keys = self._keys[command.name]
        self._rows[command.name].show_keys(keys, first=keys == command.keys)

    def _on_given(self, name: str, keys: str) -> None:
        row = self.rows[name]
        problem = self._problem(name, keys)
        row.say(problem)
        row.leave()
        if not problem:
            self._keys[name] = keys
            self.choose({"shortcuts": kept_shortcuts(self._keys)})

    def _on_reset(self, command: Command) -> None:
        self._on_given(command.name, command.keys)
        self.rows[command.name].keys.setFocus()

    def _problem(self, name: str, keys: str) -> str:
        """Return why a command cannot have these keys, "" if it can."""
        words, wanted = self._language, QKeySequence(keys, PORTABLE)
        if not keys:
            return ""
        other = next((key for key, taken in self._keys.items() if taken == keys and key != name), "")
        if other:
            return words("keys.taken", keys=written(keys), command=words(f"palette.{other}"))
        if any(command.name == name and command.keys == keys for command in COMMANDS):
            return ""
        own = {written(fixed) for fixed in FIXED}
        standard = any(wanted in QKeySequence.keyBindings(key) for key in WRITING)
        if not COMMANDING.search(keys) or standard or written(keys) in own:
            return words("keys.writing", keys=written(keys))
        return ""


# Pages with rows that can be focused and reset.
RowPage = SettingsPage | ShortcutsPage
SIDE_WIDTH = 208
STYLE = ListStyle(height=32, left=9, space=6)


class SettingsView(FontFitting, QWidget):
    """Shows the settings; `settings` returns the current ones.

    Signals: providers_changed(), settings_chosen({name: value}) as soon as something is chosen,
    undo_offered(text, undo) after a removal; `undo` returns False if a key is restored for this run only.
    left() when the user goes back to the page before, gone() when this is done with.
    """

    providers_changed = Signal()
    settings_chosen = Signal(object)
    undo_offered = Signal(str, object)
    left = Signal()
    gone = Signal()

    def __init__(
        self,
        language: Language,
        look: Look,
        engine: Engine,
        data_dir: Path,
        settings: Callable[[], Settings],
        toasts: Toasts,
    ) -> None:
        super().__init__()
        self.setObjectName("settings_page")
        self._language = language
        self.tasks = Tasks(self._on_task_failed)
        self._made: dict[str, Page] = {}
        self._places: dict[str, int] = {}
        self.shown = ""
        """The page in front."""
        self._quick_keys = ("", False)
        self.search = SearchBox(look, "settings_search")
        say(self.search, language, name="settings.search", hint="settings.search")
        self.pages = say(ItemList(look, "settings_pages", STYLE), language, name="settings.title")
        self._title = ElidedLabel("page_title")
        self._reset = say(button("link", "settings_reset", self._on_reset), language, "settings.reset")
        keep_place(self._reset)
        self._side, self._stack = Frame("side"), stack()
        rows = {first: Segmented(pages) for first, pages in GROUPS.items()}
        self._tabs = {first: named(f"settings_tabs_{first}", row) for first, row in rows.items()}
        close = icon_button(look, "x", "settings_close", self.left)
        self._close = say(close, language, tip="settings.close")
        self._toasts = toasts
        self._ground = Ground(language, look, engine, self.tasks, settings, data_dir, toasts)
        self._lay_out()
        self.search.textChanged.connect(lambda _text: self._list_pages())
        self.search.returnPressed.connect(self._on_found)
        self.pages.currentItemChanged.connect(lambda item, _before: self._on_item(item))
        language.follow(self._retranslate)

    def show_page(self, page: str, provider_id: str = "") -> None:
        """Show a page of `PAGES`, and there a provider."""
        self.search.clear()
        self._show(page)
        if provider_id and isinstance(made := self.page("providers"), ProvidersPage):
            made.show_provider(provider_id)

    def page(self, page: str) -> Page:
        """Return a page of `PAGES`; create it if needed."""
        if page not in self._made:
            self._made[page] = made = self._make(page)
            holder: QWidget = made
            if made.SCROLLS:
                body = frame("", vbox(made, STRETCH, margins=(22, 14, 12, 20)))
                holder = scrolling(body, keeps_bar=True)
            add_page(self._stack, holder)
            self._places[page] = self._stack.indexOf(holder)
        return self._made[page]

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

    def say_unheard(self) -> None:
        """Say that nothing on this desktop shows notifications."""
        page = self.page("appearance")
        assert isinstance(page, settings_rows.AppearancePage)
        say(page.rows.rows["notifications"].error, self._language, "setting.notifications.unheard").show()

    def close_down(self) -> None:
        """Stop updating, and be deleted once the tasks of the pages have ended."""
        self.setObjectName("settings_page_away")
        self.gone.emit()
        self.tasks.when_done(self.deleteLater)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        """Set the width of the list for the text size, within a part of the page."""
        self._side.setFixedWidth(min(tall(SIDE_WIDTH), self.width() * 2 // 7))

    def _make(self, page: str) -> Page:
        """Return a new page."""
        _icon, kind = PAGES[page]
        made = kind(self._ground)
        made.changed.connect(self.providers_changed)
        made.undo_offered.connect(self.undo_offered)
        made.chosen.connect(self.settings_chosen)
        self.gone.connect(made.leave)
        if isinstance(made, DataPage):
            made.restored.connect(self._on_providers_changed)
            # The window has to take over the restored settings.
            made.restored.connect(lambda: self.settings_chosen.emit({}))
        elif isinstance(made, ShortcutsPage):
            made.note_quick(self._quick_keys[0], fails=self._quick_keys[1])
        return made

    def _lay_out(self) -> None:
        vbox(self.search, self.pages, inside=self._side, margins=(10, 14, 10, 8), spacing=8)
        for tabs in self._tabs.values():
            tabs.hide()
            tabs.chosen.connect(self._on_tab)
        top = hbox((self._title, 1), self._reset, self._close, margins=(22, 16, 22, 0))
        head = vbox(top, hbox(*self._tabs.values(), STRETCH, margins=(22, 8, 22, 0)), spacing=0)
        page = vbox(head, (self._stack, 1), 8, spacing=0)
        hbox(self._side, (page, 1), inside=self, spacing=0)

    def _list_pages(self) -> None:
        """List the groups of pages, or the pages and settings that match the search."""
        words, typed = self._language, self.search.text().strip()
        items: list[RowItem] = []
        for page, (icon, _kind) in PAGES.items():
            if not typed:
                if FIRST.get(page, page) == page:
                    items.append(RowItem(id=page, title=self._group_title(page), icon=icon))
                continue
            title = words(f"settings.{page}")
            if fits(f"{title} {words(f'settings.{page}.find')}", typed):
                items.append(RowItem(id=page, title=title, icon=icon))
            fitting = [(row, name) for row, name in self._rows_of(page) if fits(name, typed)]
            items += [RowItem(id=f"{page} {row}", title=name, icon=icon) for row, name in fitting]
        with QSignalBlocker(self.pages):
            self.pages.show_rows(items)
            self.pages.setCurrentRow(-1)
        if not typed and self.shown:
            self._mark_group()

    def _group_title(self, page: str) -> str:
        """Return the title of the entry that a page belongs to."""
        first = FIRST.get(page, "")
        return self._language(f"settings.group.{first}" if first else f"settings.{page}")

    def _mark_group(self) -> None:
        with QSignalBlocker(self.pages):
            self.pages.choose(FIRST.get(self.shown, self.shown))

    def _rows_of(self, page: str) -> list[tuple[str, str]]:
        """Return the names and texts of a page's rows."""
        words = self._language
        if page == "shortcuts":
            return [(command.name, words(f"palette.{command.name}")) for command in COMMANDS]
        return [(name, words(f"setting.{name}")) for name in settings_rows.settings_of(page)]

    def _on_found(self) -> None:
        """Show the first result."""
        if self.pages.count():
            self.pages.setCurrentRow(0)
            self._on_item(self.pages.item(0))

    def focusNextPrevChild(self, forward: bool) -> bool:
        # Parts of a page may have been made after what follows it in the window.
        page = self._stack.currentWidget()
        put_where(self._stack, [stop for stop in stops_in(self) if page.isAncestorOf(stop)])
        return super().focusNextPrevChild(forward)

    def _on_item(self, item: RowItem | None) -> None:
        if item is None:
            return
        page, _, row = item.id.partition(" ")
        # An entry of several pages shows the one that was shown last.
        self._show(
            self._tabs[page].value() if page in self._tabs and not self.search.text().strip() else page
        )
        self.go_to(page, row)

    def _on_tab(self, page: str) -> None:
        if FIRST[page] == FIRST.get(self.shown):
            self._show(page)

    def _show(self, page: str) -> None:
        made, first = self.page(page), FIRST.get(page, page)
        self.shown = page
        for group, tabs in self._tabs.items():
            tabs.setVisible(group == first)
        if first in self._tabs:
            self._tabs[first].set_value(page)
        self._stack.setCurrentIndex(self._places[page])
        self._title.setText(self._group_title(page))
        self._reset.setVisible(isinstance(made, RowPage))
        self._stack.currentWidget().setAccessibleName(self._language(f"settings.{page}"))
        if not self.search.text().strip():
            self._mark_group()

    def go_to(self, page: str, row: str) -> None:
        """Take the keyboard to a row of a page that is shown, "" for none."""
        made = self.page(page)
        if row and isinstance(made, RowPage):
            made.take_focus(row)

    def _on_reset(self) -> None:
        page = self.page(self.shown)
        assert isinstance(page, RowPage)
        before = page.reset()
        if before:
            words, choose = self._language, page.choose
            self._toasts.show_toast(words("settings.was_reset"), words("toast.undo"), lambda: choose(before))

    def _on_providers_changed(self) -> None:
        self.show_providers()
        self.providers_changed.emit()

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._toasts.show_toast(self._language.problem(error.code, **error.details))

    def _retranslate(self) -> None:
        words = self._language
        self._list_pages()
        for first, tabs in self._tabs.items():
            texts = tuple(words(f"settings.{page}") for page in GROUPS[first])
            tabs.set_texts(texts, ("",) * len(texts))
            tabs.setAccessibleName(self._group_title(first))
        if self.shown:
            self._title.setText(self._group_title(self.shown))
            self._stack.currentWidget().setAccessibleName(words(f"settings.{self.shown}"))


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


class PrivacyPage(SettingsPage):
    """Says what is sent to each provider, to the web and to each MCP server, and when; also whether a
    newer version is looked for.
    """

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground, "privacy")
        self.lead, self.asked = Paragraph("card_text"), Paragraph("hint")
        self._cards = vbox(spacing=8)
        self._starts = LoginLine(
            self._language, self._look, "privacy_login", self._engine.login_start, ends=True
        )
        vbox(self.lead, self._cards, 6, self._starts, self.rows, self.asked, inside=self, spacing=12)
        self.rows.fields["new_versions"].control.setEnabled(bool(self._engine.new_versions.address))
        self._look.changed.connect(self.retranslate)
        self._language.follow(self.retranslate)

    def showEvent(self, event: QShowEvent) -> None:
        # Another page may have changed the data.
        self.retranslate()
        super().showEvent(event)

    def retranslate(self) -> None:
        """Show the current state."""
        words, engine = self._language, self._engine
        self._starts.show_state()
        providers = [status for status in engine.providers() if status.ready]
        away = [status for status in providers if not stays_here(status)]
        self.lead.setText(words("privacy.some" if away else "privacy.nothing"))
        address = engine.new_versions.address
        self.asked.setText(words("privacy.asked" if address else "privacy.asked.nobody", address=address))
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
        words, name, here = self._language, self._language.provider(status), stays_here(status)
        key = "provider" if not here else "local" if status.base_url else "embedded"
        self._add("lock" if here else "plug", name, status.base_url, words(f"privacy.{key}", name=name))

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


class AboutPage(Page):
    """Shows version, licence and third-party parts."""

    SCROLLS = True

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language, mark = self._language, QLabel()
        mark.setPixmap(self._look.picture("moot", "accent", MARK, self.devicePixelRatioF()))
        self._name = say(plain_label("page_title"), language, "app.name")
        self.version = plain_label("card_text", wrap=True)
        self.version.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text = Paragraph("card_text")
        names = {plain_label("card_text", text=name): licence for name, licence in PARTS}
        lines = [hbox((name, 1), plain_label("hint", text=licence)) for name, licence in names.items()]
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


# The pages in order, each with its icon.
PAGES: dict[str, tuple[str, Callable[[Ground], Page]]] = {
    "providers": ("plug", ProvidersPage),
    "models": ("cpu", ModelsPage),
    "local": ("download", LocalModelsPage),
    "chats": ("message-circle", settings_rows.ChatsPage),
    "limits": ("gauge", settings_rows.LimitsPage),
    "saved_prompts": ("file-text", SavedPromptsPage),
    "servers": ("wrench", ServersPage),
    "permissions": ("shield-question-mark", PermissionsPage),
    "appearance": ("sun", settings_rows.AppearancePage),
    "shortcuts": ("keyboard", ShortcutsPage),
    "privacy": ("lock", PrivacyPage),
    "network": ("globe", NetworkPage),
    "data": ("database", DataPage),
    "usage": ("coins", settings_rows.UsagePage),
    "about": ("info", AboutPage),
}
# The entries of the list that stand for several pages, by the first of them.
GROUPS = {
    "providers": ("providers", "models", "local"),
    "chats": ("chats", "limits", "saved_prompts"),
    "servers": ("servers", "permissions"),
    "privacy": ("privacy", "network"),
}
FIRST = {page: first for first, pages in GROUPS.items() for page in pages}
