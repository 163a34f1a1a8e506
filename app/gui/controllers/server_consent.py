"""Asks the user whether an MCP server may run, and shows in the sidebar how many are enabled.

It also installs the viewer of their pages.
"""

from functools import partial

from PySide6.QtWidgets import QApplication

from app.core.errors import MootError
from app.core.text import exact
from app.core.tool import ServerState, ServerStatus
from app.gui.controllers.controller import Controller, Parts
from app.gui.web_view.viewer_offer import ViewerOffer, ViewerState
from app.gui.window_frame import WindowFrame

INSTALL = "install the viewer"


class ServerConsent(Controller):
    """Offers to review each MCP server that asks, before it runs."""

    def __init__(self, parts: Parts[WindowFrame]) -> None:
        super().__init__(parts)
        self._asking = self._asking_now().keys()
        self.viewer = ViewerOffer(parts.window)
        self.viewer.show(ViewerState(offered=parts.engine.servers.can_fetch_viewer()))
        self.viewer.install_requested.connect(self._on_install)
        self.viewer.cancel_requested.connect(self._on_cancel)
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
            self._tasks.start(f"log in to server {name}", self._log_in(status))
        elif status is not None:
            self._ask(status)

    def _on_install(self) -> None:
        self._tasks.start(INSTALL, self._install())

    def _on_cancel(self) -> None:
        self._tasks.cancel(INSTALL)

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

    async def _log_in(self, status: ServerStatus) -> None:
        from app.gui.dialogs.server_dialogs import log_in

        await log_in(self._engine, self._language, status, self._window)

    def _ask(self, status: ServerStatus) -> None:
        from app.gui.dialogs.server_dialogs import ConsentDialog

        dialog = ConsentDialog(self._language, status, self._window)
        name, allow = status.server.name, self._engine.servers.allow
        dialog.accepted.connect(lambda: self._tasks.start(f"allow {name}", allow(status)))
        dialog.open()

    def _tell(self, status: ServerStatus) -> None:
        text = self._language("server.asks", name=exact(status.server.name))
        self._toasts.show_toast(
            text, self._language("server.review"), partial(self._ask, status), undoes=False
        )
