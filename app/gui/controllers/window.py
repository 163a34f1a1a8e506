"""The window's controller: builds the pages and the other controllers, connects them, and shows the state of the engine."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.core.errors import MootError
from app.core.events import Notice
from app.core.session import DebateMode, SessionSummary, Status
from app.core.settings import WhenClosed
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.beside_chats import FilesController, GroupController, WorkflowController
from app.gui.controllers.chats import ChatController, VersionController
from app.gui.controllers.controller import Parts
from app.gui.controllers.debates import CouncilController, DebateController, PanelCommands
from app.gui.controllers.decisions import DecisionController
from app.gui.controllers.definitions import AssistantCommands, GroupCommands, SharedKinds
from app.gui.controllers.first_page import FirstPageController
from app.gui.controllers.palette import LettersToInput, PaletteController, SavedPromptController
from app.gui.controllers.quick_chat import QuickChatController
from app.gui.controllers.sessions import FolderController, MainPages, SessionController, SessionViews
from app.gui.controllers.settings import ProviderController, ServerConsent, SettingsController
from app.gui.controllers.summaries import SummaryController
from app.gui.controllers.work import WorkController
from app.gui.desktop.notifications import Notifications
from app.gui.dialogs.ask_dialogs import LeaveDialog, open_link
from app.gui.pages.council.council_page import CouncilPage
from app.gui.panels.conversation_view import ConversationView
from app.gui.panels.debate.debate_page import DebatePage
from app.gui.panels.debate.debate_panel import DebatePanel
from app.gui.tasks import Tasks
from app.gui.widgets.choices import CHAT, DECIDE, WORK
from app.gui.window_frame import SIDE_WIDTH, WindowFrame

LIST_REFRESH_MS = 200
SAVED_AGAIN = "saved_again"
TURN_HELD = "turn_held"
AGENT_BEGAN = "agent_began"


class WindowController(QObject):
    """Connects the widgets of the window to the controllers, and the controllers to each other."""

    def __init__(
        self, window: WindowFrame, engine: Engine, data_dir: Path, close_moot: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(window)
        self.engine = engine
        self.window: WindowFrame = window
        self._language, self._look, self._state = window.language, window.look, window.state
        self._close_moot = close_moot
        self._bridge = Bridge(engine.bus, self)
        self.tasks = Tasks(self._on_task_failed)
        self.panel = DebatePanel(self._language, self._look, engine, self.tasks)
        self.session_page = DebatePage(self._language, self._look)
        self.chat_page = window.chat_page
        self.council_page = CouncilPage(self._language, self._look)
        self.pages = MainPages(
            window, debates=self.session_page, councils=self.council_page, chats=self.chat_page
        )
        in_main = (self.session_page, self.council_page, self.chat_page)
        self.views = SessionViews(engine, self._bridge, self._state, (self.panel.discussion, *in_main))
        parts = Parts(window, engine, self._bridge, self.tasks)
        self.sessions = SessionController(parts)
        self.folders = FolderController(parts)
        self.debates = DebateController(parts, self.panel, self.session_page, self.views, self.sessions)
        self.councils = CouncilController(parts, self.council_page, self.sessions)
        debating = (self.panel.discussion, self.session_page)
        self.decisions = DecisionController(parts, self.council_page, debating, self.sessions)
        self.chats = ChatController(parts, self.chat_page)
        self.versions = VersionController(parts, self.chat_page)
        self.summaries = SummaryController(parts, self.chat_page, debating, self.views, self.chats)
        self.groups = GroupController(parts, self.chat_page, self.pages)
        self.files = FilesController(parts, self.chat_page, self.pages, self.sessions)
        shared = SharedKinds()
        self.council_panels = PanelCommands(parts, shared, self.panel.setup)
        self.workflows = WorkflowController(parts, self.chat_page, self.pages, shared)
        self.first_page = FirstPageController(
            parts, self.pages, self.views, self.chats, self.debates, self.panel.setup
        )
        self.providers = ProviderController(parts)
        engine.links = open_link
        self.assistants = AssistantCommands(parts, shared)
        self.group_commands = GroupCommands(parts, shared, self.assistants)
        self.server_consent = ServerConsent(parts)
        self.work = WorkController(
            parts, self.pages, self.sessions, self.groups, self.files, self.server_consent.viewer
        )
        composer = self.chat_page.chat_composer
        self.saved_prompts = SavedPromptController(parts, composer.message_box)
        self.saved_prompts.files_given.connect(self.chats.files.attach)
        composer.allow_requested.connect(self.server_consent.ask)
        composer.folder_left.connect(lambda: self.folders.choose(""))
        self.settings = SettingsController(parts, data_dir)
        self.settings.keep_favourites(composer.model, self.panel.setup.conclusion.judge)
        self.panel.setup.seats.picker.favourites = lambda: self.settings.current().favourite_models
        self.palette = PaletteController(parts, self.actions())
        self.palette.prompts = self.saved_prompts.commands
        LettersToInput(window, self._find_input)
        self.saved_prompts.new_requested.connect(self.show_new)
        self.notifications = Notifications(window, engine, self._bridge, self.tasks)
        self.quick = QuickChatController(parts, self.views, self.chats, self.settings)
        self._list_timer = QTimer(self, singleShot=True, interval=LIST_REFRESH_MS)
        self._list_timer.timeout.connect(self._refresh_sessions)
        self._wire(self._bridge)

    def begin(self) -> None:
        """Apply the settings and show what was open when the program last ended."""
        self.settings.apply(self.engine.settings())
        self._restore()
        self._refresh_sessions()
        self._refresh_providers()
        self.providers.look_for_servers()
        self.settings.show_problems()

    async def close(self) -> None:
        """Save the state of the window, pause what runs, and close the engine."""
        self._remember()
        await self.settings.close()
        made = (self.workflows, self.group_commands, self.council_panels, self.assistants)
        for part in (self.quick, *made):
            await part.close()
        await self.tasks.close()
        await self.notifications.close()
        self._bridge.close()
        self.views.close()
        self._list_timer.stop()
        self.decisions.close()
        self.work.close()
        await self._close_moot()

    # Connections

    def _wire(self, bridge: Bridge) -> None:
        """Connect each request to what answers it."""
        side, top, panel = self.window.side_bar, self.window.top_bar, self.panel
        side.new_requested.connect(self.first_page.show)
        side.import_requested.connect(lambda: self.settings.open("data"))
        self.work.begin_requested.connect(lambda: self.first_page.show(WORK))
        self.work.counted.connect(self.notifications.show_waiting)
        self.notifications.count = self.work.refresh
        self.decisions.begin_requested.connect(lambda: self.first_page.show(DECIDE))
        side.sessions.pin_requested.connect(self._on_pin_requested)
        for follow in (self._refresh_sessions, self.chats.refresh, self.debates.context.show):
            self.folders.changed.connect(follow)
        self.first_page.ready_groups_requested.connect(self.group_commands.show_ready)
        self.chats.proposal_requested.connect(self.group_commands.propose)
        side.search.typed.connect(self.palette.search)
        side.hide_button.clicked.connect(lambda: self.window.show_side(False))
        self.window.first_page.models_requested.connect(lambda: self.settings.open("local"))
        side.providers_button.clicked.connect(lambda: self.settings.open("providers"))
        side.settings_button.clicked.connect(lambda: self.settings.open("appearance"))
        side.sessions.session_requested.connect(self.show_session)
        side.sessions.delete_requested.connect(self.sessions.delete)
        side.sessions.rename_requested.connect(self.sessions.ask_name)
        side.sessions.export_requested.connect(
            lambda session_id, name: self.sessions.export(self.sessions.summary(session_id), name)
        )
        top.side_button.clicked.connect(lambda: self.window.show_side(True))
        top.export_requested.connect(lambda name: self.sessions.export(self.pages.session, name))
        top.rename_requested.connect(lambda title: self.sessions.rename(self.pages.session, title))
        self.settings.applied.connect(lambda settings: self.palette.choose_keys(settings.shortcuts))
        self.settings.applied.connect(self.notifications.choose)
        self.settings.saved.connect(self.council_page.refresh)
        self.settings.undo_left.connect(self.providers.offer_undo)
        providers = (self.settings.providers_changed, self.providers.changed, self.providers.found)
        for known in (*providers, bridge.keys_changed):
            known.connect(self._refresh_providers)
        self.settings.providers_changed.connect(self.providers.look_for_servers)
        bridge.keys_changed.connect(self.providers.show_keyring)
        bridge.models_changed.connect(self.providers.changed)
        for conversation in (panel.discussion, self.session_page, self.council_page, self.chat_page):
            conversation.cards.viewer = self.server_consent.viewer
            conversation.link_requested.connect(self.sessions.open_link)
            conversation.picture_requested.connect(self.sessions.on_picture)
        self.chats.files.picture_requested.connect(self.sessions.on_picture)
        for left in (self.pages.left, self.debates.form_left, self.folders.begin_requested):
            left.connect(self.show_new)
        for wanted in (self.assistants.chat_requested, self.palette.assistant_requested):
            wanted.connect(self.show_new)
        self.chats.session_started.connect(self.show_session)
        self.chats.mode_changed.connect(self.pages.refresh)
        of_sessions = (self.debates, self.councils, self.work, self.workflows, self.decisions)
        for asking in (*of_sessions, self.palette, self.notifications, self.quick, self.first_page):
            asking.session_requested.connect(self.show_session)
        for needing in (self.debates, self.councils, self.chats):
            needing.settings_requested.connect(self.settings.open)
        for lacking in (panel.setup, panel.discussion, self.session_page, self.council_page):
            lacking.connect_requested.connect(self.providers.connect_provider)
        self.quick.new_requested.connect(lambda: self.first_page.show(CHAT))
        self.notifications.command_requested.connect(lambda name: self.actions()[name]())
        bridge.assistants_changed.connect(panel.setup.seats.refresh)
        self.debates.context.settings_chosen.connect(self.settings.change)
        self.debates.opened.connect(self._remember)
        self.views.view_changed.connect(self._on_view_changed)
        self.council_page.people_changed.connect(lambda: self.views.view_changed.emit(self.council_page))
        self.pages.shown.connect(self.chats.on_page_shown)
        self.pages.debate_shown.connect(self.debates.show_beside)
        self.palette.group_requested.connect(lambda group_id: self.show_new("", group_id))
        self.palette.settings_requested.connect(lambda page, row: self.settings.open(page, row=row))
        self.council_panels.chat_requested.connect(
            lambda _panel_id: self.first_page.decide(DebateMode.COUNCIL)
        )
        for asks in (self.palette.panel_requested, panel.setup.seats.picker.panel_chosen):
            asks.connect(self.council_panels.chat)
        self.group_commands.chat_requested.connect(lambda group_id: self.show_new("", group_id))
        sessions = (bridge.session_started, bridge.session_changed, bridge.session_restored)
        for listed in (*sessions, bridge.message_finished, bridge.journal_changed):
            listed.connect(self._on_sessions_changed)
        bridge.session_deleted.connect(lambda _event: self._refresh_sessions())
        bridge.notice.connect(self._on_notice)
        self._language.changed.connect(self._on_language_changed)

    # Requests

    def actions(self) -> dict[str, Callable[[], object]]:
        """Return what each command of the table in `gui.commands` does."""
        top, toasts = self.window.top_bar, self.window.toasts
        return {
            "new": self.show_new,
            "new_chat": lambda: self.first_page.show(CHAT),
            "new_debate": lambda: self.first_page.show(DECIDE),
            "new_work": lambda: self.first_page.show(WORK),
            "quick_chat": lambda: self.quick.show(),
            "new_group": self.group_commands.make_new,
            "ready_groups": self.group_commands.show_ready,
            "new_panel": self.council_panels.make_new,
            "new_folder": self.folders.make_new,
            "new_assistant": self.assistants.make_new,
            "bring_in": self.assistants.bring_in,
            "assistants": self.assistants.show_page,
            "find": self.find_in_session,
            "rename": top.rename,
            "undo": self.undo,
            "notice": toasts.take_focus,
            "panel": top.debate_button.toggle,
            "setup": lambda: self.debates.show_tab(0),
            "discussion": lambda: self.debates.show_tab(1),
            "history": lambda: self.debates.show_tab(2),
            "workflow": top.workflow_button.toggle,
            "plan": top.plan_button.toggle,
            "work": self.work.show,
            "journal": self.decisions.show,
            "pause": self.pause_or_resume,
            "settings_mode": self.chats.switch_settings_mode,
            "summarise": self.summaries.summarise,
            "next_pin": self.summaries.next_pin,
            "queue": self.work.show_assistant,
            "side": self.toggle_side,
            "settings": lambda: self.settings.open("appearance"),
            "shortcuts": lambda: self.settings.open("shortcuts"),
            "theme": self.settings.switch_theme,
            "language": self.settings.switch_language,
            "quit": lambda: self.leave(quits=True),
        }

    def show_session(self, session_id: str) -> None:
        """Show a session in the main area."""
        summary = self.sessions.summary(session_id)
        if summary is not None:
            self.folders.follow(summary.folder)
            page = self.pages.page_of(summary)
            self.tasks.replace("open in the main area", self._show_session(page, summary))

    def show_new(self, assistant_id: str = "", group_id: str = "") -> None:
        """Show where a session begins, one with an assistant or a group if one is given."""
        self.first_page.show(assistant_id=assistant_id, group_id=group_id)

    def pause_or_resume(self) -> None:
        """Pause or resume the session in front."""
        if self.pages.current is not None:
            self.sessions.pause_or_resume(self.pages.current.session)

    def leave(self, *, quits: bool = False) -> None:
        """Hide the window, or end the program; asks what becomes of what runs where that is not settled."""
        running = [one.title for one in self.engine.sessions() if one.status == Status.RUNNING]
        wish: str = WhenClosed.PAUSE
        if self.window.hides_on_close and not quits:
            wish = WhenClosed.KEEP
        elif running:
            wish = self.settings.current().when_closed
        # What was chosen for closing the window keeps nobody from quitting.
        if wish != WhenClosed.ASK and not (quits and wish == WhenClosed.KEEP):
            self._leave(wish)
            return
        self.window.come_forward()
        dialog = LeaveDialog(self._language, self._look, running, self.window)
        dialog.chosen.connect(self._on_leaving)
        dialog.open()

    def _on_leaving(self, wish: str, remembered: bool) -> None:
        if remembered:
            self.settings.change({"when_closed": wish})
        self._leave(wish)

    def _leave(self, wish: str) -> None:
        if wish == WhenClosed.KEEP:
            self.window.hide()
            self.window.hidden.emit()
        else:
            self.window.close_requested.emit()

    def toggle_side(self) -> None:
        """Show the sidebar or hide it."""
        self.window.show_side(self.window.side_bar.isHidden())

    def undo(self) -> None:
        """Undo the last action that still offers it in a toast."""
        if not self.window.toasts.undo():
            self.window.toasts.show_toast(self._language("toast.nothing"))

    def find_in_session(self) -> None:
        """Open the find bar of the panel if that has the focus, else of the page in front."""
        focus = self.window.focusWidget()
        in_panel = focus is not None and self.panel.isAncestorOf(focus)  # type: ignore[redundant-expr]
        page = self.pages.current
        view = self.panel.discussion if (in_panel and not self.panel.shows_summary) or page is None else page
        if view.session is not None and view.isVisible():
            view.open_find()

    def _find_input(self) -> QWidget | None:
        """Return the input that is seen: of the panel if that has the focus, else of the page in front."""
        focus = self.window.focusWidget()
        in_panel = focus is not None and self.panel.isAncestorOf(focus)  # type: ignore[redundant-expr]
        views = (self.panel.discussion if in_panel else None, self.pages.current)
        boxes = (view.composer.box for view in views if view is not None)
        return next((box for box in boxes if box.isVisible() and box.isEnabled()), None)

    async def _show_session(self, page: ConversationView, summary: SessionSummary) -> None:
        await self.views.open(page, summary)
        # Save at once, so that a killed program shows the same session at its next start.
        self._remember()
        if page.session_id == summary.id and self.pages.current is not page:
            # The page may have shown the session already, behind another page.
            self.pages.show(page)
        page.take_focus()

    # Events

    def _on_view_changed(self, view: ConversationView) -> None:
        self.panel.refresh_buttons()
        self.pages.follow(view)

    def _on_pin_requested(self, session_id: str, on: bool) -> None:
        others = tuple(one for one in self.settings.current().pinned_sessions if one != session_id)
        self.settings.change({"pinned_sessions": (session_id, *others) if on else others})
        self._refresh_sessions()

    def _on_sessions_changed(self, _event: object) -> None:
        if not self._list_timer.isActive():
            self._list_timer.start()

    def _on_notice(self, notice: Notice) -> None:
        text = self._language.notice(notice)
        if notice.sticky:
            self.window.banner.show_text(text)
        elif notice.code == SAVED_AGAIN:
            self.window.banner.hide()
        elif notice.code == AGENT_BEGAN:
            show = functools.partial(self.show_session, notice.session_id)
            self.window.toasts.show_toast(text, self._language("toast.show"), show, undoes=False)
        else:
            views = [one for one in (self.panel.discussion, self.session_page) if one.isVisible()]
            at = next(
                (one for one in views if notice.session_id and one.session_id == notice.session_id), None
            )
            if notice.code == TURN_HELD and at is not None:
                at.controls.show_held(text)
            else:
                self.window.toasts.show_toast(text)

    def _on_task_failed(self, name: str, error: MootError) -> None:
        text = self._language.problem(error.code, **error.details)
        if name == "start":
            self.panel.setup.show_problem(text)
        else:
            self.window.toasts.show_toast(text)

    def _on_language_changed(self) -> None:
        self.engine.speak(self._language.name)
        self._refresh_sessions()
        self.pages.refresh()

    # Refreshing

    def _refresh_sessions(self) -> None:
        summaries = self.engine.sessions()
        asking = frozenset(session_id for session_id, _question in self.engine.chats.needs_you())
        pinned = frozenset(self.settings.current().pinned_sessions)
        known = self.engine.journal.all()
        steps = {decision.id: "decided" if decision.decided else "verdict" for decision in known}
        self.window.side_bar.sessions.show_steps(steps)
        self.window.side_bar.sessions.show_sessions(summaries, asking, pinned, self.engine.folders.all())
        self.panel.history.show_sessions(summaries, self.folders.folder)

    def _refresh_providers(self) -> None:
        self.tasks.replace("refresh providers", self._refresh_one_by_one())

    async def _refresh_one_by_one(self) -> None:
        """Refresh what shows providers, each in a callback of its own: together they take longer than a frame."""
        ready = [status for status in self.engine.providers() if status.ready]
        self.window.side_bar.show_providers(len(ready))
        self.window.first_page.show_state(ready)
        pages = (self.assistants, self.chats, self.workflows, self.debates, self.council_page)
        for part in (self.panel.setup.seats, *pages):
            await asyncio.sleep(0)
            part.refresh()

    # State kept between runs

    def _restore(self) -> None:
        state = self._state
        self.window.splitter.set_widths(state.widths("widths") or [SIDE_WIDTH, 0, 470, 360, 470])
        for title in self.window.side_bar.titles:
            title.setChecked(state.flag(f"folded/{title.objectName()}", title.isChecked()))
        main = self.sessions.summary(state.text("main"))
        if main is not None:
            self.tasks.start("restore main", self._show_session(self.pages.page_of(main), main))
        else:
            self.show_new()
        self.debates.restore()

    def _remember(self) -> None:
        state = self._state
        state.keep_widths("widths", self.window.splitter.widths())
        for title in self.window.side_bar.titles:
            state.keep(f"folded/{title.objectName()}", title.isChecked())
        page = self.pages.current
        state.keep("main", page.session_id if page else "")
        self.debates.remember()
        for view in (self.panel.discussion, self.session_page, self.chat_page):
            self.views.keep_place(view)
