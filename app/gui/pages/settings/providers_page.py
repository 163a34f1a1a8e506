"""Providers in the settings: a list with their states, and the page of the chosen one."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.errors import BadInput, MootError
from app.core.provider import FoundServer, ProviderConfig, ProviderStatus
from app.engine.engine import Engine
from app.gui.dialogs.agent_dialogs import AgentConsentDialog, AgentDialog
from app.gui.dialogs.connect_dialog import ConnectDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.lists import TwoLineList
from app.gui.pages.settings.provider_page import ProviderPage
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button, put_where
from app.gui.widgets.offers import ServerOffers
from app.gui.widgets.text import Paragraph, say

# How the last test of a provider went: its text and the colour of its dot.
WENT = {None: ("ready", ""), True: ("test.passed", "ok"), False: ("test.not_passed", "error")}


class ProvidersPage(QWidget):
    """Lists the providers and shows one of them.

    Signals: changed() after a change was saved, undo_offered(text, undo) after a removal.
    """

    changed = Signal()
    undo_offered = Signal(str, object)

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        super().__init__()
        self._language, self._look, self._engine, self._tasks = language, look, engine, tasks
        self.offers = ServerOffers(language, look, "settings_offer", dismissable=False)
        self._found: tuple[FoundServer, ...] = ()
        self._outdated = False
        self.list = say(TwoLineList(look, "settings_providers", 200), language, name="settings.providers")
        self._text = Paragraph("card_text")
        self._made: dict[str, ProviderPage] = {}
        self._pages = QStackedWidget()
        self._add = say(
            button("link", "settings_add_provider", lambda: self._connect(None)),
            language,
            "provider.add",
        )
        self._add.dress(look, "plus", "accent")
        self._add_agent = say(
            button("link", "settings_add_agent", lambda: tasks.start("find agents", self._ask_agent())),
            language,
            "agent.add",
        )
        self._add_agent.dress(look, "plus", "accent")
        vbox(
            self._text,
            self.offers,
            (
                hbox(
                    vbox(
                        (self.list, 1),
                        (self._add, 0, Qt.AlignmentFlag.AlignLeft),
                        (self._add_agent, 0, Qt.AlignmentFlag.AlignLeft),
                        spacing=4,
                    ),
                    (self._pages, 1),
                    spacing=18,
                ),
                1,
            ),
            inside=self,
            margins=(22, 14, 22, 14),
            spacing=10,
        )
        self.list.currentRowChanged.connect(self._on_row)
        self.offers.use_requested.connect(self._on_use)
        language.changed.connect(self._mark)
        self.refresh()
        tasks.start("look for servers", self._find())

    def page(self) -> ProviderPage:
        """Return the page of the provider shown; it is made when it is first asked for or shown."""
        provider_id = self.list.chosen()
        if provider_id not in self._made:
            [status] = [one for one in self._engine.providers() if one.config.id == provider_id]
            page = self._made[provider_id] = self._new_page(status)
            self._pages.addWidget(page)
            put_where(self._pages, page.stops)
        return self._made[provider_id]

    def show_provider(self, provider_id: str) -> None:
        """Show a provider, also one that was added or restored a moment ago."""
        if provider_id not in self._listed():
            self._outdated = True
        self._catch_up()
        self.list.choose(provider_id)

    def showEvent(self, event: QShowEvent) -> None:
        self._catch_up()
        self._pages.setCurrentWidget(self.page())
        super().showEvent(event)

    def look_again(self) -> None:
        """Update the list of providers and their states after a change elsewhere; while they are hidden, once they are shown."""
        self._outdated = True
        if self.isVisible():
            self._catch_up()

    def _catch_up(self) -> None:
        if not self._outdated:
            return
        self._outdated = False
        if sorted(self._listed()) != sorted(status.config.id for status in self._engine.providers()):
            shown = self.list.chosen()
            self.refresh()
            self.show_provider(shown)
        else:
            for page in self._made.values():
                page.refresh()
            self._mark()

    def _listed(self) -> list[str]:
        """Return the ids of the providers in the list."""
        return [self.list.id_at(row) for row in range(self.list.count())]

    def show_keys(self) -> None:
        """Show the keyring's late answer."""
        for page in self._made.values():
            page.show_keys()
        self._mark()

    def refresh(self) -> None:
        """Read the providers again."""
        providers = self._engine.providers()
        there = {status.config.id for status in providers}
        for provider_id, page in list(self._made.items()):
            # Keep a page that awaits a result, so that it can show it.
            if provider_id not in there or not page.busy:
                del self._made[provider_id]
                self._pages.removeWidget(page)
                page.deleteLater()
        with QSignalBlocker(self.list):
            self.list.clear()
            for status in providers:
                self.list.add_row(status.config.id, status.label, "")
        self.list.setCurrentRow(0)
        self._mark()

    def _on_row(self, row: int) -> None:
        if row >= 0 and self.isVisible():
            self._pages.setCurrentWidget(self.page())

    def _new_page(self, status: ProviderStatus) -> ProviderPage:
        page = ProviderPage(self._language, self._look, self._engine, status, self._tasks)
        page.changed.connect(self._on_changed)
        page.removed.connect(self._on_removed)
        page.undo_offered.connect(self.undo_offered)
        return page

    def _mark(self) -> None:
        """Show the state of each provider, and where keys go."""
        kept = self._engine.keys.kept
        self._text.setText(self._language.with_keys("settings.providers.text", kept=kept))
        for row, status in enumerate(self._engine.providers()):
            if row < self.list.count():
                went = self._engine.connections.tested(status.config) if status.ready else None
                key, tone = WENT[went]
                state = self._language(f"provider.{status.problem or key}")
                self.list.set_row(row, self._language.provider(status), state, tone)

    async def _find(self) -> None:
        """Offer the servers found on this computer that are no providers yet."""
        self._found = await self._engine.connections.offers()
        self.offers.show_servers(self._found)

    def _on_use(self, server: FoundServer) -> None:
        if server.needs_key:
            self._connect(server)
        else:
            self._tasks.start("use server", self._use(server))

    def _connect(self, server: FoundServer | None) -> None:
        """Open the dialog that adds a provider, filled in with a server that was found if one is given."""
        dialog = ConnectDialog(self._language, self._look, self._engine, self._found, self.window(), server)
        dialog.added.connect(self._on_added)
        dialog.open()

    async def _ask_agent(self) -> None:
        """Ask which external agent to add; nothing is started or saved before the user has agreed to the command line."""
        found = await self._engine.connections.found_agents()
        dialog = AgentDialog(self._language, found, self.window())
        dialog.given.connect(self._on_agent_given)
        dialog.open()

    def _on_agent_given(self, line: str) -> None:
        try:
            shown = self._engine.connections.agent_draft(line)
        except BadInput as error:
            self.page().show_error(error)
            return
        dialog = AgentConsentDialog(self._language, shown, self.window())
        dialog.accepted.connect(lambda: self._tasks.start("add agent", self._add_allowed(shown)))
        dialog.open()

    async def _add_allowed(self, shown: ProviderConfig) -> None:
        try:
            await self._engine.connections.allow_agent(shown)
        except MootError as error:
            self.page().show_error(error)
        else:
            self._on_added(shown.id)

    async def _use(self, server: FoundServer) -> None:
        config = await self._engine.connections.use(server)
        self._on_added(config.id)

    def _on_added(self, provider_id: str) -> None:
        self.refresh()
        self.show_provider(provider_id)
        self.changed.emit()
        self._tasks.start("look for servers", self._find())

    def _on_removed(self) -> None:
        row = self.list.currentRow()
        self.refresh()
        self.list.setCurrentRow(min(row, self.list.count() - 1))
        # The button that had the focus is gone.
        self.list.setFocus()

    def _on_changed(self) -> None:
        self._mark()
        self.changed.emit()
