"""The main window: side bar, top bar, main area and the right panel, and all the wiring between them.

Shown before the engine is there; `connect_engine` brings it to life. Used by main.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QByteArray, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.catalog import EMBEDDED
from app.core.errors import MootError
from app.core.events import Notice
from app.core.session import SessionSummary
from app.core.settings import Settings
from app.engine.engine import DebateSetup, Engine
from app.gui.bridge import Bridge
from app.gui.context_files import read_context
from app.gui.dialogs.settings_dialog import SettingsDialog
from app.gui.i18n import Language
from app.gui.panels.debate.debate_controls import STATUS_TONES
from app.gui.panels.debate.debate_panel import DebatePanel
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.session_commands import SessionCommands
from app.gui.session_views import SessionViews
from app.gui.side_bar import SideBar
from app.gui.style import Look
from app.gui.tasks import Tasks
from app.gui.top_bar import TopBar
from app.gui.welcome_page import WelcomePage
from app.gui.widgets.toast import Banner, Toasts
from app.gui.window_state import WindowState

SMALLEST = (900, 600)
FIRST_SIZE = (1440, 900)
LIST_REFRESH_MS = 200


class MainWindow(QMainWindow):
    """The window of a running Moot."""

    def __init__(self, language: Language, look: Look, state: WindowState) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setWindowTitle(language("app.name"))
        self.setMinimumSize(*SMALLEST)
        self.resize(*FIRST_SIZE)
        self._language = language
        self._look = look
        self._state = state
        self._engine: Engine | None = None
        self._bridge: Bridge | None = None
        self._close_moot: Callable[[], Awaitable[None]] | None = None
        self._data_dir = Path()
        self._saved = True
        self.closed = asyncio.Event()
        self.painted = asyncio.Event()
        self.tasks = Tasks(self._on_task_failed)
        self.side_bar = SideBar(language, look)
        self.top_bar = TopBar(language, look)
        self.banner = Banner(language, look)
        self.welcome = WelcomePage(language, look)
        self.main_area = QStackedWidget()
        self.main_area.addWidget(self.welcome)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._lay_out()
        self.toasts = Toasts(self._middle)
        self._list_timer = QTimer(self)
        self._list_timer.setSingleShot(True)
        self._list_timer.setInterval(LIST_REFRESH_MS)
        self._list_timer.timeout.connect(self._refresh_sessions)
        self._show_welcome()
        geometry = state.bytes_of("geometry")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)

    # Life

    def connect_engine(
        self, engine: Engine, data_dir: Path, close_moot: Callable[[], Awaitable[None]]
    ) -> None:
        """Bring the window to life; `close_moot` returns the awaitable that ends the engine."""
        self._engine, self._data_dir, self._close_moot = engine, data_dir, close_moot
        self._bridge = Bridge(engine.bus, self)
        self.panel = DebatePanel(self._language, self._look, engine)
        self.session_page = DiscussionView(
            self._language,
            self._look,
            compact=False,
            names=("transcript", "composer", "send_button"),
            prefix="session_",
        )
        self.main_area.addWidget(self.session_page)
        self._splitter.addWidget(self.panel)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setCollapsible(2, False)
        self.views = SessionViews(engine, self._bridge, (self.panel.discussion, self.session_page))
        self.commands = SessionCommands(self, self._language, engine, self.tasks, self.toasts)
        self._wire(self._bridge)
        self._restore()
        self._refresh_sessions()
        self._refresh_providers()
        for problem in engine.problems():
            where = f"{Path(problem.path).name}:{problem.line}" if problem.line else Path(problem.path).name
            self.toasts.show_toast(f"{where}: {self._language.problem(problem.code, detail=problem.detail)}")

    async def shutdown(self) -> None:
        """Save what the window remembers, pause what runs, and close."""
        self._remember()
        await self.tasks.close()
        if self._bridge is not None:
            self._bridge.close()
        self._list_timer.stop()
        if self._close_moot is not None:
            await self._close_moot()
        self._engine = None
        self.close()
        self.deleteLater()

    def come_forward(self) -> None:
        """Show the window to a user who tried to open a second one."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._engine is None:
            event.accept()
            return
        event.ignore()
        self.closed.set()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.painted.set()

    # Wiring

    def _wire(self, bridge: Bridge) -> None:
        """Connect every request to what answers it."""
        side, top, panel, page = self.side_bar, self.top_bar, self.panel, self.session_page
        side.new_requested.connect(self._on_new)
        side.hide_requested.connect(lambda: self._show_side(False))
        side.providers_requested.connect(lambda: self.open_settings("providers"))
        side.settings_requested.connect(lambda: self.open_settings("appearance"))
        side.sessions.session_requested.connect(self.show_session)
        side.sessions.delete_requested.connect(self._on_delete)
        top.side_requested.connect(lambda: self._show_side(True))
        top.panel_toggled.connect(self._on_panel_toggled)
        top.export_requested.connect(lambda name: self.commands.export(page.session, name))
        self.welcome.debate_requested.connect(self.show_setup)
        self.welcome.providers_requested.connect(lambda: self.open_settings("providers"))
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
            view.draft_changed.connect(self._on_draft_changed)
        self.views.view_changed.connect(self._on_view_changed)
        for listed in (bridge.session_started, bridge.session_changed, bridge.session_restored):
            listed.connect(self._on_sessions_changed)
        bridge.message_finished.connect(self._on_sessions_changed)
        bridge.session_deleted.connect(self._on_session_deleted)
        bridge.notice_given.connect(self._on_notice)
        self._language.changed.connect(self._on_language_changed)
        for keys, act in (
            ("Ctrl+N", self._on_new),
            ("Ctrl+D", top.debate_button.toggle),
            ("Ctrl+,", lambda: self.open_settings("appearance")),
            ("Ctrl+B", lambda: self._show_side(not side.isVisible())),
            ("Ctrl+F", self._on_find),
            ("Ctrl+K", self._on_search),
            ("Ctrl+1", lambda: self._show_tab(0)),
            ("Ctrl+2", lambda: self._show_tab(1)),
            ("Ctrl+3", lambda: self._show_tab(2)),
        ):
            QShortcut(QKeySequence(keys), self, act)

    # What the user asks for

    def show_session(self, session_id: str) -> None:
        """Show a session in the main area."""
        summary = self._summary(session_id)
        if summary is not None:
            self.session_page.set_draft("")
            self.tasks.replace("open in the main area", self._open(self.session_page, summary))

    def show_setup(self, topic: str = "") -> None:
        """Open the panel at Setup, with a topic when one is given."""
        self.top_bar.debate_button.setChecked(True)
        self.panel.show_setup(topic)

    def open_settings(self, page: str, provider_id: str = "") -> None:
        """Open the settings at a page, and there at a provider."""
        if self._engine is None:
            return
        dialog = SettingsDialog(self._language, self._look, self._engine, self._data_dir, self)
        dialog.show_page(page, provider_id)
        dialog.providers_changed.connect(self._refresh_providers)
        dialog.settings_chosen.connect(self._on_settings_chosen)
        dialog.open()

    def _on_new(self) -> None:
        self._show_welcome()
        self.show_setup()

    def _on_search(self) -> None:
        self._show_side(True)
        self.side_bar.search.setFocus()
        self.side_bar.search.selectAll()

    def _on_find(self) -> None:
        """Find in the debate the user is at: the panel's while the focus is there, else the main one."""
        focus = self.focusWidget()
        in_panel = focus is not None and self.panel.isAncestorOf(focus)  # type: ignore[redundant-expr]
        main = self.main_area.currentWidget() is self.session_page
        view = self.panel.discussion if in_panel or not main else self.session_page
        if view.session is not None and view.isVisible():
            view.find_bar.come()

    def _show_tab(self, place: int) -> None:
        self.top_bar.debate_button.setChecked(True)
        self.panel.tabs.choose(place)

    def _on_start(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        self.panel.setup.set_starting(True)
        self.tasks.start("start", self._start(setup, paths))

    async def _start(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        engine = self._running_engine()
        try:
            context = await read_context(paths)
            session_id = await engine.start_debate(replace(setup, context=context))
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

    async def _open(self, view: DiscussionView, summary: SessionSummary) -> None:
        await self.views.open(view, summary)
        view.set_draft(self._state.draft(summary.id))

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
        settings = replace(self._running_engine().settings(), project_context=paths)
        self.tasks.replace("save settings", self._running_engine().save_settings(settings))

    def _on_settings_chosen(self, settings: Settings) -> None:
        self._language.choose(settings.language)
        self._look.choose(settings.theme)
        self.tasks.replace("save settings", self._running_engine().save_settings(settings))

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
            self._show_welcome()
            return
        words = self._language
        self.main_area.setCurrentWidget(view)
        self.side_bar.sessions.select(session.id)
        self.top_bar.show_title(session.title)
        self.top_bar.show_session_tools(True)
        self.top_bar.mode.set_text(words.mode(session.debate.mode), "accent")
        self.top_bar.status.set_text(
            words.status(session.status), STATUS_TONES.get(session.status, "neutral")
        )
        self.top_bar.cost.set_text(view.spending.text(words))
        self.top_bar.cost.setToolTip(view.spending.lines(words))
        self.top_bar.fit()

    def _on_sessions_changed(self, _event: object) -> None:
        if not self._list_timer.isActive():
            self._list_timer.start()

    def _on_session_deleted(self, _event: object) -> None:
        self._refresh_sessions()

    def _on_notice(self, notice: Notice) -> None:
        text = self._language.problem(notice.code, **notice.details)
        if notice.sticky:
            self._saved = False
            self.banner.show_text(text)
            self._refresh_providers()
        else:
            self.toasts.show_toast(text)

    def _on_task_failed(self, name: str, error: MootError) -> None:
        text = self._language.problem(error.code, **error.details)
        if name == "start":
            self.panel.setup.show_problem(text)
        else:
            self.toasts.show_toast(text)

    def _on_panel_toggled(self, shown: bool) -> None:
        self.panel.setVisible(shown)

    def _on_language_changed(self) -> None:
        self._refresh_sessions()
        if self.main_area.currentWidget() is self.welcome:
            self._show_welcome()
        else:
            self._on_view_changed(self.session_page)

    # Showing

    def _show_welcome(self) -> None:
        self.main_area.setCurrentWidget(self.welcome)
        self.top_bar.show_title(self._language("top.welcome"))
        self.top_bar.show_session_tools(False)
        self.side_bar.sessions.select("")
        self.welcome.setFocus()

    def _show_side(self, shown: bool) -> None:
        self.side_bar.setVisible(shown)
        self.top_bar.side_button.setVisible(not shown)

    def show_summaries(self, summaries: list[SessionSummary]) -> None:
        """List these sessions in side bar and History."""
        self.side_bar.show_sessions(summaries)
        if self._engine is not None:
            self.panel.history.show_sessions(summaries)

    def _refresh_sessions(self) -> None:
        self.show_summaries(self._running_engine().sessions())

    def _refresh_providers(self) -> None:
        statuses = self._running_engine().providers()
        ready = [status for status in statuses if status.ready]
        embedded = any(status.config.kind == EMBEDDED for status in ready)
        self.side_bar.show_providers(len(ready))
        remote = any(status.config.kind != EMBEDDED and status.needs_key for status in ready)
        self.welcome.show_state(embedded_ready=embedded, local_only=not remote, saved=self._saved)
        self.panel.setup.refresh_seats()

    def _summary(self, session_id: str) -> SessionSummary | None:
        return next((one for one in self._running_engine().sessions() if one.id == session_id), None)

    def _running_engine(self) -> Engine:
        if self._engine is None:
            raise RuntimeError("the window has no engine yet")
        return self._engine

    # Memory

    def _restore(self) -> None:
        state = self._state
        splitter = state.bytes_of("splitter")
        if splitter.isEmpty() or not self._splitter.restoreState(splitter):
            self._splitter.setSizes([248, 722, 470])
        shown = state.flag("panel", False)
        self.top_bar.debate_button.setChecked(shown)
        self.panel.setVisible(shown)
        self._show_side(state.flag("side", True))
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
        state.keep("geometry", self.saveGeometry())
        if self._engine is not None:
            state.keep("splitter", QByteArray(self._splitter.saveState()))
            state.keep("panel", self.panel.isVisible())
            state.keep("side", self.side_bar.isVisible())
            state.keep("tab", str(self.panel.tabs.current()))
            shown = self.main_area.currentWidget() is self.session_page
            state.keep("main", self.session_page.session_id if shown else "")
            state.keep("panel_session", self.panel.discussion.session_id)
        state.save()

    def _lay_out(self) -> None:
        self._middle = QWidget()
        column = QVBoxLayout(self._middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        column.addWidget(self.banner)
        column.addWidget(self.main_area, 1)
        self._middle.setMinimumWidth(320)
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.side_bar)
        self._splitter.addWidget(self._middle)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._splitter)
        self.setCentralWidget(body)
