"""What Moot is connected to: providers and servers found on this computer, and whether an MCP server may run.

Also downloads the embedded model, and installs the viewer of the pages of MCP servers.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.core.catalog import ProviderConfig
from app.core.errors import MootError
from app.core.provider import FoundServer
from app.core.texts import exact
from app.core.tool import ServerState, ServerStatus
from app.gui.controllers.controller import Controller, Parts
from app.gui.dialogs.connect_dialogs import ConnectDialog, ConsentDialog, log_in
from app.gui.widgets.page_card import ViewerOffer, ViewerState
from app.gui.window_frame import WindowFrame

DISMISSED = "dismissed_servers"
FETCHING = "fetch the embedded model"


class ProviderController(Controller):
    """Adds providers; emits `changed` when one was added or became ready, `found` when local servers have come or gone."""

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
        self._page.offers.show_servers([one for one in self._servers if one.address not in waved_off])
        if not self._tasks.running(FETCHING):
            self._page.offer_model(self._engine.connections.can_fetch_embedded())

    def show_keyring(self) -> None:
        """Say why keys cannot be read if that has changed, and offer to unlock the keyring."""
        before, self._unread = self._unread, self._engine.keys.unread
        if self._unread in ("", before):
            return
        words, text = self._language, self._language(f"keyring.unread_{self._unread}")
        if self._unread == "locked":
            self._toasts.show_toast(
                text,
                words("keyring.unlock"),
                lambda: self._tasks.start("unlock the keyring", self._engine.keys.unlock()),
                undoes=False,
            )
        else:
            self._toasts.show_toast(text)

    def connect_provider(self, server: FoundServer | None = None) -> None:
        """Open the dialog that adds a provider, filled in with a server that was found if one is given."""
        window = self._window
        dialog = ConnectDialog(self._language, window.look, self._engine, self._servers, window, server)
        dialog.added.connect(lambda _provider: self.changed.emit())
        dialog.open()

    def use(self, server: FoundServer) -> None:
        """Add a server that was found; open the dialog if it needs a key."""
        if server.needs_key:
            self.connect_provider(server)
        else:
            self._tasks.start("use server", self._use(server))

    def offer_undo(self, text: str, undo: Callable[[], Awaitable[bool]]) -> None:
        """Offer an undo again that the settings offered when they were closed."""
        self._offer_undo(text, lambda: self._tasks.add("undo", self._take_back(undo)))

    async def _take_back(self, undo: Callable[[], Awaitable[bool]]) -> None:
        if not await undo():
            self._toasts.show_toast(self._language(f"keyring.{self._engine.keys.problem}"))
        self.changed.emit()

    async def _use(self, server: FoundServer) -> None:
        before = {status.config.id: status.config for status in self._engine.providers()}
        config = await self._engine.connections.use(server)
        self.changed.emit()
        words = self._language
        text = words("offer.used", name=words.server(server), model=server.models[0])
        self._offer_undo(text, lambda: self._tasks.add("undo", self._undo(config.id, before.get(config.id))))

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
        self._window.side_bar.show_servers(len(servers))

    def _on_servers_changed(self) -> None:
        asking = self._asking_now()
        # An open dialog is the settings, which show the request.
        if QApplication.activeModalWidget() is None:
            for name in sorted(asking.keys() - self._asking):
                self._tell(asking[name])
        self._asking = asking.keys()
        self._show_count()

    def ask(self, name: str) -> None:
        """Ask whether a server may run, or log in to it, if there still is one of this name."""
        status = next((one for one in self._engine.servers.all() if one.server.name == name), None)
        if status is not None and status.needs_login:
            self._tasks.start(
                f"log in to server {name}", log_in(self._engine, self._language, status, self._window)
            )
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
        name, allow = status.server.name, self._engine.servers.allow
        dialog.accepted.connect(lambda: self._tasks.start(f"allow {name}", allow(status)))
        dialog.open()

    def _tell(self, status: ServerStatus) -> None:
        text = self._language("server.asks", name=exact(status.server.name))
        self._toasts.show_toast(
            text, self._language("server.review"), partial(self._ask, status), undoes=False
        )
