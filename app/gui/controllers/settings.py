"""The settings: kept, applied to the window, and changed on their page, from the palette or by a command.

Also what is connected beside them: providers are added, the embedded model is downloaded, MCP servers are
asked about, and the viewer of their pages is installed.
"""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QWidget
from shiboken6 import isValid

from app.core.catalog import ProviderConfig
from app.core.errors import MootError
from app.core.provider import FoundServer
from app.core.settings import Settings, rules
from app.core.texts import exact, next_language
from app.core.tool import ServerState, ServerStatus
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.sessions import MainPages
from app.gui.dialogs.connect_dialogs import ConnectDialog, ConsentDialog, log_in
from app.gui.pages.settings.settings_view import PAGES, SettingsView
from app.gui.panels.conversation_view import ConversationView
from app.gui.widgets.approval_card import ViewerOffer, ViewerState
from app.gui.widgets.model_choice import ModelButton
from app.gui.window_frame import WindowFrame

SAVE = "save settings"


class SettingsController(Controller):
    """Shows the page of the settings, applies what is chosen at once, and saves it.

    Signals: applied(Settings) for what is not the window's language or look, saved().
    """

    applied = Signal(object)
    saved = Signal()
    reaches: Callable[[], Awaitable[bool]]
    """What tells whether the desktop shows notifications."""

    def __init__(
        self,
        parts: Parts[WindowFrame],
        data_dir: Path,
        pages: MainPages,
        providers: "ProviderController",
    ) -> None:
        super().__init__(parts)
        self._data_dir, self._pages, self._providers = data_dir, pages, providers
        self._view: SettingsView | None = None
        # That of the panel which made room for the settings.
        self._panel: QAbstractButton | None = None
        self._window.main_area.currentChanged.connect(lambda _place: self._on_page_changed())
        for button in self._window.top_bar.panel_buttons:
            button.toggled.connect(self._on_panel)
        self._language.changed.connect(self._show_head)
        self._unsaved: list[dict[str, Any]] = []
        self._quick_note, self._quick_fails = "", False

    def current(self) -> Settings:
        """Return the settings as they were last chosen, saved or not."""
        settings = self._engine.settings()
        for values in self._unsaved:
            settings = replace(settings, **values)
        return settings

    def shown(self) -> Settings:
        """Return the settings with the language and theme in use, which the command line may have chosen."""
        return replace(self.current(), language=self._language.wanted, theme=self._look.wanted)

    def open(self, page: str = "", provider_id: str = "", row: str = "") -> None:
        """Open the settings at a page, and there at a provider or at a setting; without one where they were
        left.
        """
        left = self._state.text("settings_page")
        view = self._view or self._made_view()
        page = page or (left if left in PAGES else "appearance")
        view.show_page(page, provider_id)
        if self._view is None:
            self._view, self._panel = view, self._window.top_bar.open_panel()
            if self._panel is not None:
                self._panel.setChecked(False)
            self._window.add_page(view)
            self._window.show_page(view, self._show_head)
            view.search.setFocus()
        view.go_to(page, row)
        self._tasks.replace("look for notifications", self._look_for_notifications(view))

    def find(self) -> bool:
        """Take the keyboard to the search of the settings if these are in front."""
        if self._view is not None:
            self._view.search.setFocus()
        return self._view is not None

    def _made_view(self) -> SettingsView:
        """Return a new page, which leads back to what is in front now."""
        window, bridge = self._window, self._bridge
        before, had_focus = window.main_area.currentWidget(), window.focusWidget()
        words, look, engine, toasts = self._language, self._look, self._engine, self._toasts
        view = SettingsView(words, look, engine, self._data_dir, self.shown, toasts)
        view.show_quick_keys(self._quick_note, fails=self._quick_fails)
        bridge.keys_changed.connect(view.show_keys)
        for changed in (bridge.models_changed, bridge.voting_checked):
            changed.connect(view.show_providers)
        bridge.model_fetching.connect(view.show_fetching)
        view.settings_chosen.connect(self.change)
        view.providers_changed.connect(self._providers.changed)
        view.undo_offered.connect(self._offer_undo_in_view)
        view.left.connect(lambda: self._go_back(before, had_focus))
        return view

    def _show_head(self) -> None:
        """Show in the top bar that the settings are in front."""
        if self._view is not None:
            self._window.top_bar.show_title(self._language("settings.title"))
            self._window.top_bar.show_mode(self._language("settings.saved"))

    def _go_back(self, before: QWidget | None, had_focus: QWidget | None) -> None:
        """Show the page again that was in front before, with the keyboard where it was."""
        if isinstance(before, ConversationView):
            self._pages.show(before)
        elif before is not None:
            self._window.show_again(before)
        if had_focus is not None and isValid(had_focus) and had_focus.isVisible():
            had_focus.setFocus()

    def _on_page_changed(self) -> None:
        """End the settings once another page is in front."""
        view = self._view
        if view is not None and self._window.main_area.currentWidget() is not view:
            self._view = None
            self._state.keep("settings_page", view.shown)
            self._window.remove_page(view)
            view.close_down()
            self._show_panel()

    def _on_panel(self, shown: bool) -> None:
        """Go back to what a panel that is opened stands beside."""
        if shown and self._view is not None:
            self._view.left.emit()

    def _show_panel(self) -> None:
        """Bring the panel back that was open beside the page before."""
        if self._panel is not None and self._window.top_bar.open_panel() is None:
            self._panel.setChecked(True)

    def _offer_undo_in_view(self, text: str, undo: Callable[[], Awaitable[bool]]) -> None:
        self._providers.offer_undo(text, partial(self._take_back, undo))

    async def _take_back(self, undo: Callable[[], Awaitable[bool]]) -> bool:
        """Take a removal back, and show that."""
        done = await undo()
        if self._view is not None:
            self._view.show_providers()
        return done

    async def _look_for_notifications(self, view: SettingsView) -> None:
        """Say beside their setting if nothing shows them."""
        if not await self.reaches() and isValid(view):
            view.say_unheard()

    def show_problems(self) -> None:
        """Say that files could not be read, and offer to show them in the settings."""
        problems = self._engine.problems()
        if problems:
            words, first = self._language, self._language.file_problem(problems[0])
            text = words("problems.found", count=len(problems), first=first)
            self._toasts.show_toast(text, words("toast.show"), lambda: self.open("data"), undoes=False)

    def show_quick_keys(self, text: str, *, fails: bool) -> None:
        """Say in the settings where the keys of the quick chat work; `fails`
        if the desktop did not give those chosen.
        """
        self._quick_note, self._quick_fails = text, fails
        if self._view is not None:
            self._view.show_quick_keys(text, fails=fails)

    def change(self, values: dict[str, Any]) -> None:
        """Choose other values for some of the settings, by their names: apply and save them."""
        self._unsaved.append(values)
        settings = self.current()
        self.apply(settings)
        # What the command line chose for this run stays until another is chosen.
        if "language" in values:
            self._language.choose(settings.language)
        if "theme" in values:
            self._look.choose(settings.theme)
        self._tasks.start(SAVE, self._save())

    def keep_favourites(self, *lists: ModelButton) -> None:
        """Let lists of models begin with the user's favourites, and keep those that are chosen there."""
        for models in lists:
            models.favourites = lambda: self.current().favourite_models
            models.favourites_chosen.connect(lambda chosen: self.change({"favourite_models": chosen}))

    async def _save(self) -> None:
        """Save what was chosen, also what is chosen meanwhile."""
        try:
            while self._unsaved:
                values = self._unsaved[0]
                await self._engine.change_settings(partial(replace, **values))
                self._unsaved.remove(values)
                self.saved.emit()
        except MootError:
            self._unsaved.clear()
            raise

    def apply(self, settings: Settings) -> None:
        """Apply the settings that have no option on the command line."""
        self._look.choose_size(settings.text_size)
        self._look.choose_motion(settings.motion)
        self.applied.emit(settings)

    def zoom(self, step: int) -> None:
        """Make all texts larger by a step, or smaller for -1; 0 gives them their usual size."""
        sizes = rules()["text_size"].choices
        place = sizes.index(self.current().text_size) + step if step else sizes.index(Settings().text_size)
        size = sizes[max(0, min(place, len(sizes) - 1))]
        if size != self.current().text_size:
            self.change({"text_size": size})

    def switch_theme(self) -> None:
        """Change between light and dark."""
        self.change({"theme": "light" if self._look.tokens.dark else "dark"})

    def switch_language(self) -> None:
        """Change to the next language."""
        self.change({"language": next_language(self._language.name)})

    async def close(self) -> None:
        """Cancel the tasks of the page, and save what was chosen last."""
        view, self._view = self._view, None
        if view is not None:
            self._state.keep("settings_page", view.shown)
            self._show_panel()
            await view.tasks.close()
        self._tasks.cancel(SAVE)
        with contextlib.suppress(MootError):
            await self._save()


DISMISSED = "dismissed_servers"
FETCHING = "fetch the embedded model"


class ProviderController(Controller):
    """Adds providers; emits `changed` when one was added or became ready, `found`
    when local servers have come or gone.
    """

    changed = Signal()
    found = Signal()

    def __init__(self, parts: Parts[WindowFrame]) -> None:
        super().__init__(parts)
        self._page = parts.window.first_page
        self._servers: tuple[FoundServer, ...] = ()
        self._unread = ""
        page = self._page
        page.providers_requested.connect(self.connect_provider)
        page.offers.use_requested.connect(self.use)
        page.offers.dismissed.connect(self._on_dismissed)
        page.model_requested.connect(lambda: self._tasks.start(FETCHING, self._fetch_model()))
        page.model_cancelled.connect(lambda: self._tasks.cancel(FETCHING))
        self.changed.connect(self.look_for_servers)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.applicationStateChanged.connect(self._on_application_state)

    def look_for_servers(self) -> None:
        """Look again for servers on this computer."""
        self._tasks.replace("look for servers", self._find_servers())

    def _on_application_state(self, state: Qt.ApplicationState) -> None:
        """Look for servers when the window becomes active: the user may have started one."""
        if state == Qt.ApplicationState.ApplicationActive:
            self.look_for_servers()

    async def _find_servers(self) -> None:
        if await self._engine.look_for_servers():
            self.found.emit()
        await self.look()

    async def look(self) -> None:
        """Look for servers on this computer, and offer those that are not providers yet."""
        self._servers = await self._engine.connections.offers()
        waved_off = self._state.text(DISMISSED).split()
        self._page.offers.show_servers([item for item in self._servers if item.address not in waved_off])
        if not self._tasks.running(FETCHING):
            self._page.offer_model(self._engine.connections.can_fetch_embedded())

    def show_keyring(self) -> None:
        """Say why keys cannot be read if that has changed, and offer to unlock the keyring."""
        before, self._unread = self._unread, self._engine.keys.unread
        if self._unread in ("", before):
            return
        words, text = self._language, self._language(f"keyring.unread_{self._unread}")
        if self._unread == "locked":
            key, unlock = "keyring.unlock", self._engine.keys.unlock
            start = partial(self._tasks.start, "unlock the keyring")
            self._toasts.show_toast(text, words(key), lambda: start(unlock()), undoes=False)
        else:
            self._toasts.show_toast(text)

    def connect_provider(self, server: FoundServer | None = None) -> None:
        """Open the dialog that adds a provider, filled in with a server that was found if one is given."""
        window = self._window
        dialog = ConnectDialog(self._language, window.look, self._engine, self._servers, window, server)
        dialog.open_for(lambda _provider: self.changed.emit())

    def use(self, server: FoundServer) -> None:
        """Add a server that was found; open the dialog if it needs a key."""
        if server.needs_key:
            self.connect_provider(server)
        else:
            self._tasks.start("use server", self._use(server))

    def offer_undo(self, text: str, undo: Callable[[], Awaitable[bool]]) -> None:
        """Offer an undo of what was removed in the settings."""
        take_back = self._starts(partial(self._take_back, undo))
        self._toasts.show_toast(text, self._language("toast.undo"), take_back, lasts=True)

    async def _take_back(self, undo: Callable[[], Awaitable[bool]]) -> None:
        if not await undo():
            self._toasts.show_toast(self._language(f"keyring.{self._engine.keys.problem}"))
        self.changed.emit()

    async def _use(self, server: FoundServer) -> None:
        before = {status.config.id: status.config for status in self._engine.providers()}
        config = await self._engine.connections.use(server)
        self.changed.emit()
        undo = partial(self._undo, config.id, before.get(config.id))
        self._offer_undo("offer.used", undo, name=self._language.server(server), model=server.models[0])

    async def _undo(self, provider_id: str, before: ProviderConfig | None) -> None:
        if before is not None:
            await self._engine.save_provider(before)
        else:
            await self._engine.remove_provider(provider_id)
        self.changed.emit()

    def _on_dismissed(self, server: FoundServer) -> None:
        waved_off = {*self._state.text(DISMISSED).split(), server.address}
        self._state.keep(DISMISSED, " ".join(sorted(waved_off)))
        self._tasks.start("look again", self.look())

    async def _fetch_model(self) -> None:
        page, words = self._page, self._language
        page.show_model_progress(0, 0)
        try:
            await self._engine.connections.fetch_embedded(page.show_model_progress)
            said = words("embedded.fetched")
        except MootError as error:
            said = words.problem(error.code, **error.details)
        finally:
            page.offer_model(self._engine.connections.can_fetch_embedded())
        self._toasts.show_toast(said)
        self.changed.emit()


INSTALL = "install the viewer"


class ServerConsent(Controller):
    """Offers to review each MCP server that asks, before it runs."""

    def __init__(self, parts: Parts[WindowFrame]) -> None:
        super().__init__(parts)
        self._asking = self._asking_now().keys()
        self.viewer = ViewerOffer(parts.window)
        self.viewer.show(ViewerState(offered=parts.engine.servers.can_fetch_viewer()))
        self.viewer.install_requested.connect(lambda: self._tasks.start(INSTALL, self._install()))
        self.viewer.cancel_requested.connect(lambda: self._tasks.cancel(INSTALL))
        parts.bridge.servers_changed.connect(self._on_servers_changed)
        self._show_count()

    def _asking_now(self) -> dict[str, ServerStatus]:
        return {one.server.name: one for one in self._engine.servers.all() if one.state == ServerState.ASKING}

    def _show_count(self) -> None:
        servers = [status for status in self._engine.servers.all() if not status.server.disabled]
        self._window.side_bar.show_counts(servers=len(servers))

    def _on_servers_changed(self) -> None:
        asking = self._asking_now()
        # The settings show the request themselves.
        if self._window.main_area.currentWidget().objectName() != "settings_page":
            for name in sorted(asking.keys() - self._asking):
                self._tell(asking[name])
        self._asking = asking.keys()
        self._show_count()

    def ask(self, name: str) -> None:
        """Ask whether a server may run, or log in to it, if there still is one of this name."""
        status = next((item for item in self._engine.servers.all() if item.server.name == name), None)
        if status is not None and status.needs_login:
            work = log_in(self._engine, self._language, status, self._window)
            self._tasks.start(f"log in to server {name}", work)
        elif status is not None:
            self._ask(status)

    async def _install(self) -> None:
        """Install the viewer of pages, and show how far that is."""
        show, state = self.viewer.show, ViewerState(offered=True)
        show(ViewerState(done=0))
        try:
            await self._engine.servers.fetch_viewer(lambda done, _all: show(ViewerState(done=done)))
            state = ViewerState(installed=True)
        except MootError as error:
            state = ViewerState(offered=True, problem=self._language.problem(error.code, **error.details))
        finally:
            show(state)
        if state.installed:
            self._toasts.show_toast(self._language("page.viewer.installed"))

    def _ask(self, status: ServerStatus) -> None:
        dialog = ConsentDialog(self._language, status, self._window)
        dialog.open_for(self._starts(partial(self._engine.servers.allow, status)))

    def _tell(self, status: ServerStatus) -> None:
        text = self._language("server.asks", name=exact(status.server.name))
        act, review = partial(self._ask, status), self._language("server.review")
        self._toasts.show_toast(text, review, act, undoes=False)
