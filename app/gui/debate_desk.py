"""What the window does with debates: the panel's and the debate page's requests wired to the engine.

Made by the desk; the views of the sessions show what comes of it.
"""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.engine.engine import DebateSetup, Engine
from app.gui.context_files import read_context
from app.gui.main_window import MainWindow
from app.gui.panels.debate.debate_panel import DebatePanel
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.session_commands import SessionCommands
from app.gui.session_views import SessionViews
from app.gui.tasks import Tasks

TABS = ("0", "1", "2")
SHOWN, TAB, TOPIC, POLLS = "panel", "tab", "", "polls"


class DebateDesk(QObject):
    """Turns what the panel and the page of debates ask for into tasks on the engine.

    Signals: session_requested(session id) for one that is to be shown wide, delete_requested(session id),
    settings_requested(page, provider id), settings_chosen({name: value}), opened() when the panel shows another session.
    """

    session_requested = Signal(str)
    delete_requested = Signal(str)
    settings_requested = Signal(str, str)
    settings_chosen = Signal(object)
    opened = Signal()

    def __init__(
        self,
        window: MainWindow,
        engine: Engine,
        panel: DebatePanel,
        page: DiscussionView,
        views: SessionViews,
        commands: SessionCommands,
        tasks: Tasks,
    ) -> None:
        super().__init__(window)
        self._window, self._engine, self._panel, self._page = window, engine, panel, page
        self._views, self._commands, self._tasks = views, commands, tasks
        self._state = window.state
        self._wire()

    def show_setup(self, topic: str = "") -> None:
        """Open the panel at Setup, with a topic when one is given."""
        self._window.top_bar.debate_button.setChecked(True)
        self._panel.show_setup(topic)

    def show_tab(self, place: int) -> None:
        """Open the panel at Setup (0), Discussion (1) or History (2)."""
        self._window.top_bar.debate_button.setChecked(True)
        self._panel.tabs.choose(place)

    async def show_discussion(self, session_id: str) -> None:
        """Show a session in the panel. Raises NotFound, StorageError."""
        summary = self._views.summary(session_id)
        if summary is None:
            return
        self._panel.show_discussion()
        await self._views.open(self._panel.discussion, summary)
        self.opened.emit()
        self._panel.discussion.take_focus()

    def restore(self) -> None:
        """Show the panel as it was left."""
        shown = self._state.flag(SHOWN, False)
        self._window.top_bar.debate_button.setChecked(shown)
        self._panel.setVisible(shown)
        draft = self._state.draft(TOPIC)
        if draft:
            self._panel.setup.set_topic(draft)
        self._panel.setup.polls.setChecked(self._state.flag(POLLS, False))
        tab = self._state.text(TAB, "0")
        self._panel.tabs.choose(int(tab) if tab in TABS else 0)
        summary = self._views.summary(self._state.text("panel_session"))
        if summary is not None:
            self._tasks.start("restore panel", self._views.open(self._panel.discussion, summary))

    def remember(self) -> None:
        """Keep how the panel is left."""
        # Not isVisible: the window itself may be hidden already.
        self._state.keep(SHOWN, not self._panel.isHidden())
        self._state.keep(TAB, str(self._panel.tabs.current()))
        self._state.keep("panel_session", self._panel.discussion.session_id)
        self._state.keep(POLLS, self._panel.setup.polls.isChecked())

    def _wire(self) -> None:
        panel, top, commands = self._panel, self._window.top_bar, self._commands
        self._window.welcome.debate_requested.connect(self.show_setup)
        top.panel_toggled.connect(panel.setVisible)
        panel.close_requested.connect(lambda: top.debate_button.setChecked(False))
        panel.widen_requested.connect(self.session_requested)
        panel.setup.start_requested.connect(self._on_start)
        panel.setup.provider_requested.connect(self._on_provider_requested)
        panel.setup.context_chosen.connect(self._on_context_chosen)
        panel.setup.prices_wanted.connect(lambda pairs: self._tasks.start("prices", self._ask_prices(pairs)))
        panel.setup.draft_changed.connect(lambda text: self._state.keep_draft(TOPIC, text))
        panel.history.open_requested.connect(self._on_history_open)
        panel.history.continue_requested.connect(self._on_history_continue)
        panel.history.delete_requested.connect(self.delete_requested)
        for view in (panel.discussion, self._page):
            view.pause_requested.connect(commands.pause)
            view.resume_requested.connect(commands.resume)
            view.stop_requested.connect(commands.stop)
            view.say_requested.connect(self._on_say)
            view.setup_requested.connect(self.show_setup)
            view.provider_requested.connect(self._on_provider_requested)
            view.draft_changed.connect(self._on_draft_changed)

    def _on_start(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        self._panel.setup.set_starting(True)
        self._tasks.start("start", self._start(setup, paths))

    async def _start(self, setup: DebateSetup, paths: tuple[str, ...]) -> None:
        try:
            context = await read_context(paths)
            session_id = await self._engine.debates.start(replace(setup, context=context))
        finally:
            self._panel.setup.set_starting(False)
        self._panel.setup.set_topic("")
        await self.show_discussion(session_id)

    async def _ask_prices(self, pairs: tuple[tuple[str, str], ...]) -> None:
        await self._engine.estimates.ask(pairs)
        self._panel.setup.refresh_estimate()

    def _on_history_open(self, session_id: str) -> None:
        self._tasks.replace("open in the panel", self.show_discussion(session_id))

    def _on_history_continue(self, session_id: str) -> None:
        self._on_history_open(session_id)
        self._commands.resume(session_id)

    def _on_say(self, session_id: str, text: str) -> None:
        self._state.keep_draft(session_id, "")
        self._commands.say(session_id, text)

    def _on_draft_changed(self, session_id: str, text: str) -> None:
        if session_id:
            self._state.keep_draft(session_id, text)

    def _on_provider_requested(self, provider_id: str) -> None:
        self.settings_requested.emit("providers", provider_id)

    def _on_context_chosen(self, paths: tuple[str, ...]) -> None:
        self._panel.setup.set_context_paths(paths)
        self.settings_chosen.emit({"project_context": paths})
