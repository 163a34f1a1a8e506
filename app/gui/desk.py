"""What the window does once the engine is there: every request wired to what answers it.

Made by the main window after its first paint; holds the debate panel and the page of a session.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut

from app.core.catalog import EMBEDDED
from app.core.errors import MootError
from app.core.events import Notice
from app.core.session import SessionSummary
from app.core.settings import Settings
from app.engine.engine import DebateSetup, Engine
from app.gui.attention import Attention
from app.gui.bridge import Bridge
from app.gui.context_files import read_context
from app.gui.dialogs.settings_dialog import SettingsDialog
from app.gui.main_window import SIDE_WIDTH, MainWindow
from app.gui.panels.debate.debate_panel import DebatePanel
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.session_commands import SessionCommands
from app.gui.session_views import SessionViews
from app.gui.tasks import Tasks

LIST_REFRESH_MS = 200
SAVED_AGAIN = "saved_again"


class Desk(QObject):
    """The working window: its panel, its session page, and the engine behind them."""

    def __init__(
        self,
        window: MainWindow,
        engine: Engine,
        data_dir: Path,
        close_moot: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(window)
        self.engine = engine
        self._window = window
        self._language, self._look, self._state = window.language, window.look, window.state
        self._data_dir = data_dir
        self._close_moot = close_moot
        self._saved = True
        self._bridge = Bridge(engine.bus, self)
        self.tasks = Tasks(self._on_task_failed)
        self.panel = DebatePanel(self._language, self._look, engine)
        self.session_page = DiscussionView(
            self._language,
            self._look,
            compact=False,
            names=("transcript", "composer", "send_button"),
            prefix="session_",
        )
        window.main_area.addWidget(self.session_page)
        window.splitter.addWidget(self.panel)
        window.splitter.setStretchFactor(1, 1)
        window.splitter.setCollapsible(2, False)
        self.views = SessionViews(
            engine, self._bridge, self._state, (self.panel.discussion, self.session_page)
        )
        self.commands = SessionCommands(window, self._language, engine, self.tasks, window.toasts)
        self._attention = Attention(window, self._bridge)
        self._list_timer = QTimer(self)
        self._list_timer.setSingleShot(True)
        self._list_timer.setInterval(LIST_REFRESH_MS)
        self._list_timer.timeout.connect(self._refresh_sessions)
        self._wire(self._bridge)
        self._restore()
        self._refresh_sessions()
        self._refresh_providers()
        self._look_for_servers()
        self._show_problems()

    async def close(self) -> None:
        """Keep what the window remembers, pause what runs, and let go of the engine."""
        self._remember()
        await self.tasks.close()
        self._bridge.close()
        self._list_timer.stop()
        await self._close_moot()

    # Wiring

    def _wire(self, bridge: Bridge) -> None:
        """Connect every request to what answers it."""
        side, top, panel, page = self._window.side_bar, self._window.top_bar, self.panel, self.session_page
        side.new_requested.connect(self._on_new)
        side.hide_requested.connect(lambda: self._window.show_side(False))
        side.providers_requested.connect(lambda: self.open_settings("providers"))
        side.settings_requested.connect(lambda: self.open_settings("appearance"))
        side.sessions.session_requested.connect(self.show_session)
        side.sessions.delete_requested.connect(self._on_delete)
        top.side_requested.connect(lambda: self._window.show_side(True))
        top.panel_toggled.connect(self._on_panel_toggled)
        top.export_requested.connect(lambda name: self.commands.export(page.session, name))
        self._window.welcome.debate_requested.connect(self.show_setup)
        self._window.welcome.providers_requested.connect(lambda: self.open_settings("providers"))
        panel.close_requested.connect(lambda: top.debate_button.setChecked(False))
        panel.widen_requested.connect(self.show_session)
        panel.setup.start_requested.connect(self._on_start)
        panel.setup.provider_requested.connect(lambda provider: self.open_settings("providers", provider))
        panel.setup.context_chosen.connect(self._on_context_chosen)
        panel.setup.draft_changed.connect(lambda text: self._state.keep_draft("", text))
        panel.history.open_requested.connect(self._on_history_open)
        panel.history.continue_requested.connect(self._on_history_continue)
        panel.history.delete_requested.connect(self._on_delete)
        for view in (panel.discussion, page):
            view.pause_requested.connect(self.commands.pause)
            view.resume_requested.connect(self.commands.resume)
            view.stop_requested.connect(self.commands.stop)
            view.say_requested.connect(self._on_say)
            view.setup_requested.connect(self.show_setup)
            view.link_requested.connect(self.commands.open_link)
            view.provider_requested.connect(lambda provider: self.open_settings("providers", provider))
            view.draft_changed.connect(self._on_draft_changed)
        self.views.view_changed.connect(self._on_view_changed)
        for listed in (bridge.session_started, bridge.session_changed, bridge.session_restored):
            listed.connect(self._on_sessions_changed)
        bridge.message_finished.connect(self._on_sessions_changed)
        bridge.session_deleted.connect(self._on_session_deleted)
        bridge.notice_given.connect(self._on_notice)
        self._language.changed.connect(self._on_language_changed)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.applicationStateChanged.connect(self._on_application_state)
        for keys, act in (
            ("Ctrl+N", self._on_new),
            ("Ctrl+D", top.debate_button.toggle),
            ("Ctrl+,", lambda: self.open_settings("appearance")),
            ("Ctrl+B", lambda: self._window.show_side(not side.isVisible())),
            ("Ctrl+F", self._on_find),
            ("Ctrl+K", self._on_search),
            ("Ctrl+1", lambda: self._show_tab(0)),
            ("Ctrl+2", lambda: self._show_tab(1)),
            ("Ctrl+3", lambda: self._show_tab(2)),
        ):
            QShortcut(QKeySequence(keys), self._window, act)

    # What the user asks for

    def show_session(self, session_id: str) -> None:
        """Show a session in the main area."""
        summary = self._summary(session_id)
        if summary is not None:
            self.session_page.set_draft("")
            self.tasks.replace("open in the main area", self._open(self.session_page, summary))

    def show_setup(self, topic: str = "") -> None:
        """Open the panel at Setup, with a topic when one is given."""
        self._window.top_bar.debate_button.setChecked(True)
        self.panel.show_setup(topic)

    def open_settings(self, page: str, provider_id: str = "") -> None:
        """Open the settings at a page, and there at a provider."""
        dialog = SettingsDialog(self._language, self._look, self.engine, self._data_dir, self._window)
        dialog.show_page(page, provider_id)
        dialog.providers_changed.connect(self._refresh_providers)
        dialog.providers_changed.connect(self._look_for_servers)
        dialog.settings_chosen.connect(self._on_settings_chosen)
        dialog.open()

    def _on_new(self) -> None:
        self._window.show_welcome()
        self.show_setup()

    def _on_search(self) -> None:
        self._window.show_side(True)
        self._window.side_bar.search.setFocus()
        self._window.side_bar.search.selectAll()

    def _on_find(self) -> None:
        """Find in the debate the user is at: the panel's while the focus is there, else the main one."""
        focus = self._window.focusWidget()
        in_panel = focus is not None and self.panel.isAncestorOf(focus)  # type: ignore[redundant-expr]
        main = self._window.main_area.currentWidget() is self.session_page
        view = self.panel.discussion if in_panel or not main else self.session_page
        if view.session is not None and view.isVisible():
            view.find_bar.come()

    def _show_tab(self, place: int) -> None:
        self._window.top_bar.debate_button.setChecked(True)
        self.panel.tabs.choose(place)

    def _on_start(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        self.panel.setup.set_starting(True)
        self.tasks.start("start", self._start(setup, paths))

    async def _start(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        try:
            context = await read_context(paths)
            session_id = await self.engine.start_debate(replace(setup, context=context))
        finally:
            self.panel.setup.set_starting(False)
        self.panel.setup.set_topic("")
        await self._show_discussion(session_id)

    async def _show_discussion(self, session_id: str) -> None:
        summary = self._summary(session_id)
        if summary is None:
            return
        self.panel.show_discussion()
        await self._open(self.panel.discussion, summary)
        self.panel.discussion.take_focus()

    async def _open(self, view: DiscussionView, summary: SessionSummary) -> None:
        await self.views.open(view, summary)
        view.set_draft(self._state.draft(summary.id))
        # At once: when Moot is killed, what was watched is still what is shown next.
        self._remember()

    def _on_history_open(self, session_id: str) -> None:
        self.tasks.replace("open in the panel", self._show_discussion(session_id))

    def _on_history_continue(self, session_id: str) -> None:
        self._on_history_open(session_id)
        self.commands.resume(session_id)

    def _on_say(self, session_id: str, text: str) -> None:
        self._state.keep_draft(session_id, "")
        self.commands.say(session_id, text)

    def _on_delete(self, session_id: str) -> None:
        summary = self._summary(session_id)
        if summary is not None:
            self.commands.delete(summary)

    def _on_context_chosen(self, paths: tuple[str, ...]) -> None:
        self.panel.setup.set_context_paths(paths)
        settings = replace(self.engine.settings(), project_context=paths)
        self.tasks.replace("save settings", self.engine.save_settings(settings))

    def _on_settings_chosen(self, settings: Settings) -> None:
        self._language.choose(settings.language)
        self._look.choose(settings.theme)
        self.tasks.replace("save settings", self.engine.save_settings(settings))

    def _on_draft_changed(self, session_id: str, text: str) -> None:
        if session_id:
            self._state.keep_draft(session_id, text)

    # What has happened

    def _on_view_changed(self, view: DiscussionView) -> None:
        self.panel.refresh_buttons()
        if view is not self.session_page:
            return
        session = view.session
        if session is None:
            self._window.show_welcome()
            return
        words = self._language
        self._window.main_area.setCurrentWidget(view)
        self._window.side_bar.sessions.select(session.id)
        top = self._window.top_bar
        top.show_title(session.title)
        top.show_session_tools(True)
        top.show_state(session)
        top.cost.set_text(view.spending.text(words), short=view.spending.short_text(words))
        top.cost.setToolTip(view.spending.lines(words))
        top.fit()

    def _on_sessions_changed(self, _event: object) -> None:
        if not self._list_timer.isActive():
            self._list_timer.start()

    def _on_session_deleted(self, _event: object) -> None:
        self._refresh_sessions()

    def _on_notice(self, notice: Notice) -> None:
        text = self._language.problem(notice.code, **notice.details)
        if notice.sticky:
            self._saved = False
            self._window.banner.show_text(text)
            self._refresh_providers()
        elif notice.code == SAVED_AGAIN:
            self._saved = True
            self._window.banner.hide()
            self._refresh_providers()
        else:
            self._window.toasts.show_toast(text)

    def _on_task_failed(self, name: str, error: MootError) -> None:
        text = self._language.problem(error.code, **error.details)
        if name == "start":
            self.panel.setup.show_problem(text)
        else:
            self._window.toasts.show_toast(text)

    def _on_panel_toggled(self, shown: bool) -> None:
        self.panel.setVisible(shown)

    def _on_language_changed(self) -> None:
        self._refresh_sessions()
        if self._window.main_area.currentWidget() is self._window.welcome:
            self._window.show_welcome()
        else:
            self._on_view_changed(self.session_page)

    # Showing

    def _refresh_sessions(self) -> None:
        summaries = self.engine.sessions()
        self._window.side_bar.show_sessions(summaries)
        self.panel.history.show_sessions(summaries)

    def _refresh_providers(self) -> None:
        statuses = self.engine.providers()
        ready = [status for status in statuses if status.ready]
        embedded = any(status.config.kind == EMBEDDED for status in ready)
        self._window.side_bar.show_providers(len(ready))
        remote = any(status.config.kind != EMBEDDED and status.needs_key for status in ready)
        self._window.welcome.show_state(embedded_ready=embedded, local_only=not remote, saved=self._saved)
        self.panel.setup.refresh_seats()

    def _on_application_state(self, state: Qt.ApplicationState) -> None:
        """Look again when the user comes back: perhaps from starting a server."""
        if state == Qt.ApplicationState.ApplicationActive:
            self._look_for_servers()

    def _look_for_servers(self) -> None:
        self.tasks.replace("look for servers", self._find_servers())

    async def _find_servers(self) -> None:
        """See which local servers run, and show it where that has changed."""
        if await self.engine.look_for_servers():
            self._refresh_providers()

    def _summary(self, session_id: str) -> SessionSummary | None:
        return next((one for one in self.engine.sessions() if one.id == session_id), None)

    def _show_problems(self) -> None:
        for problem in self.engine.problems():
            self._window.toasts.show_toast(self._language.file_problem(problem))

    # Memory

    def _restore(self) -> None:
        state = self._state
        splitter = state.bytes_of("splitter")
        if splitter.isEmpty() or not self._window.splitter.restoreState(splitter):
            self._window.splitter.setSizes([SIDE_WIDTH, 722, 470])
        shown = state.flag("panel", False)
        self._window.top_bar.debate_button.setChecked(shown)
        self.panel.setVisible(shown)
        self._window.show_side(state.flag("side", True))
        draft = state.draft("")
        if draft:
            self.panel.setup.set_topic(draft)
        tab = state.text("tab", "0")
        self.panel.tabs.choose(int(tab) if tab in ("0", "1", "2") else 0)
        for name, view in (("main", self.session_page), ("panel_session", self.panel.discussion)):
            summary = self._summary(state.text(name))
            if summary is not None:
                self.tasks.start(f"restore {name}", self._open(view, summary))

    def _remember(self) -> None:
        state = self._state
        state.keep("splitter", QByteArray(self._window.splitter.saveState()))
        # Not isVisible: the window itself may be hidden already.
        state.keep("panel", not self.panel.isHidden())
        state.keep("side", not self._window.side_bar.isHidden())
        state.keep("tab", str(self.panel.tabs.current()))
        shown = self._window.main_area.currentWidget() is self.session_page
        state.keep("main", self.session_page.session_id if shown else "")
        state.keep("panel_session", self.panel.discussion.session_id)
        for view in (self.panel.discussion, self.session_page):
            self.views.keep_place(view)
