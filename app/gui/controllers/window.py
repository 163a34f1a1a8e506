"""The window's controller: builds and connects the pages and the other controllers,
and shows the engine's state.

Also the quick chat: a small window with a chat of its own, by keys that work while another program is in
front. It is made when it is first needed.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.core.errors import MootError
from app.core.events import Notice
from app.core.session import DebateMode, SessionSummary, Status
from app.core.settings import Settings, WhenClosed
from app.engine.engine import Engine
from app.engine.providers import is_taken
from app.gui.bridge import Bridge
from app.gui.commands import QUICK, chosen_keys, written
from app.gui.controllers import beside_chats
from app.gui.controllers.chats import ChatController, VersionController
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.debates import CouncilController, DebateController, PanelCommands
from app.gui.controllers.decisions import DecisionController
from app.gui.controllers.definitions import AssistantCommands, GroupCommands, Kinds
from app.gui.controllers.first_page import FirstPageController, NewVersionController
from app.gui.controllers.palette import Areas, LettersToInput, PaletteController, SavedPromptController
from app.gui.controllers.sessions import FolderController, MainPages, SessionController, SessionViews
from app.gui.controllers.settings import ProviderController, ServerConsent, SettingsController
from app.gui.controllers.work import WorkController
from app.gui.desktop.key_grab import NOWHERE, Held, KeyGrab
from app.gui.desktop.notifications import Notifications
from app.gui.dialogs.ask_dialogs import LeaveDialog, open_link
from app.gui.dialogs.reading_dialogs import GuideDialog, read_guide
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.council.council_page import CouncilPage
from app.gui.panels.conversation_view import ConversationView
from app.gui.panels.debate.debate_panel import DebatePanel
from app.gui.panels.debate.discussion_view import DebatePage
from app.gui.quick_window import QuickWindow
from app.gui.tasks import Tasks, timer
from app.gui.widgets.boxes import focused_in
from app.gui.widgets.choices import CHAT, DECIDE, WORK
from app.gui.window_frame import SIDE_WIDTH, WindowFrame

HOLD = "hold keys"


@dataclass(frozen=True, slots=True)
class Serving:
    """The window of the quick chat and what serves it."""

    window: QuickWindow
    tasks: Tasks
    chats: ChatController


class QuickChatController(Controller):
    """Opens the quick chat, and holds its keys."""

    def __init__(
        self,
        parts: Parts[WindowFrame],
        views: SessionViews,
        chats: ChatController,
        settings: SettingsController,
    ) -> None:
        super().__init__(parts)
        self._views, self._main_chats, self._settings = views, chats, settings
        self._serving: Serving | None = None
        self._keys: str | None = None
        self._held: Held | None = None
        self._holding = asyncio.Lock()
        self.grab: KeyGrab | None = _key_grab(self)
        if self.grab is not None:
            self.grab.pressed.connect(lambda _token: self.show())
        settings.applied.connect(self._choose)
        self._language.changed.connect(self._show_held)

    async def close(self) -> None:
        """Leave the keys to other programs, and close the window."""
        self._tasks.cancel(HOLD)
        if self.grab is not None:
            async with self._holding:
                await self.grab.release()
        if self._serving is not None:
            self._views.keep_place(self._serving.window.page)
            await self._serving.tasks.close()
            self._serving.window.hide()
            self._serving.window.deleteLater()
            self._serving = None

    def show(self) -> None:
        """Show the quick chat in front, as it was left."""
        if self._serving is None:
            self._serving = self._serve()
            self._serving.chats.show_new()
        window = self._serving.window
        if self.grab is not None:
            self.grab.bring_forward(window)
        else:
            window.come_forward()
        window.page.take_focus()

    # The keys

    def _choose(self, settings: Settings) -> None:
        """Hold the keys of the settings."""
        keys = chosen_keys(settings.shortcuts)[QUICK]
        if keys != self._keys:
            self._keys, self._held = keys, None
            self._tasks.replace(HOLD, self._hold(keys))

    async def _hold(self, keys: str) -> None:
        async with self._holding:
            if self.grab is None:
                self._held = Held(NOWHERE)
            elif keys:
                self._held = await self.grab.hold(keys, self._language("palette.quick_chat"))
            else:
                await self.grab.release()
        self._show_held()

    def _show_held(self) -> None:
        """Say in the settings where the keys work."""
        words, held, keys = self._language, self._held, written(self._keys or "")
        text, fails = words("keys.quick.held"), False
        if held is None:
            text = "" if keys else words("keys.quick")
        elif held.problem:
            text, fails = words(f"keys.quick.{held.problem}", keys=keys), bool(keys)
        elif held.shown:
            text = words("keys.quick.desktop", keys=held.shown)
        self._settings.show_quick_keys(text, fails=fails)

    # The window

    def _serve(self) -> Serving:
        """Make the window, and what answers the user there."""
        window = QuickWindow(self._language, self._look, self._state)
        page, tasks = window.page, Tasks(self._on_task_failed)
        parts = Parts(window, self._engine, self._bridge, tasks)
        self._views.add(page)
        chats, sessions = ChatController(parts, page), SessionController(parts)
        prompts = SavedPromptController(parts, page.chat_composer.message_box)
        prompts.files_given.connect(chats.files.attach)
        VersionController(parts, page)
        beside_chats.SummaryController(parts, (), self._views, chats)
        page.link_requested.connect(sessions.open_link)
        for pictures in (page.picture_requested, chats.files.picture_requested):
            pictures.connect(sessions.on_picture)
        composer, main = page.chat_composer, self._main_chats
        self._settings.keep_favourites(composer.model)
        page.cards.viewer = main.page.cards.viewer
        opens = partial(self._open, page)
        chats.session_started.connect(lambda id_: tasks.replace("open", opens(sessions.summary(id_))))
        for signal, answered in (
            (chats.several_requested, main.several_requested),
            (chats.proposal_requested, main.proposal_requested),
            (window.settings_requested, self._window.settings_requested),
            (composer.allow_requested, main.page.chat_composer.allow_requested),
        ):
            # These ask or show more than the small window has room for.
            signal.connect(self._leave)
            signal.connect(answered)
        composer.folder_left.connect(main.page.chat_composer.folder_left)
        composer.folder_left.connect(chats.refresh)
        window.new_requested.connect(partial(self._on_new, page, chats))
        window.main_requested.connect(partial(self._on_main, page))
        for show in (chats.show_new_draft, chats.refresh):
            window.came.connect(show)
        window.left.connect(self._main_chats.show_new_draft)
        return Serving(window, tasks, chats)

    async def _open(self, page: ChatPage, summary: SessionSummary | None) -> None:
        if summary is not None:
            await self._views.open(page, summary)
            page.take_focus()

    def _on_new(self, page: ChatPage, chats: ChatController) -> None:
        self._views.keep_place(page)
        chats.show_new()
        page.take_focus()

    def _on_main(self, page: ChatPage) -> None:
        """Go on with the chat in the main window; one that has not begun has its draft there too."""
        session_id = page.session_id
        self._leave()
        if session_id:
            self._window.session_requested.emit(session_id)
        else:
            self._window.begin_requested.emit(CHAT)

    def _leave(self) -> None:
        if self._serving is not None:
            self._serving.window.hide()
        self._window.come_forward()

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        if self._serving is not None:
            text = self._language.problem(error.code, **error.details)
            self._serving.window.toasts.show_toast(text)


def _key_grab(parent: QObject) -> KeyGrab | None:
    """Return what holds keys on this desktop, None where nothing can; only that is imported,
    for a quick start.
    """
    platform = QGuiApplication.platformName()
    # X11 programs under Wayland get keys only from each other.
    if platform in ("wayland", "xcb") and os.environ.get("WAYLAND_DISPLAY"):
        from app.gui.desktop.portal_keys import PortalGrab

        return PortalGrab(parent)
    if platform == "windows":
        from app.gui.desktop.windows_keys import WindowsGrab

        return WindowsGrab(parent)
    return None


LIST_REFRESH_MS = 200
SAVED_AGAIN = "saved_again"
TURN_HELD = "turn_held"
PLAN_OPEN = "plan_open"
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
        in_main = (self.session_page, self.council_page, self.chat_page)
        self.pages = MainPages(window, *in_main)
        parts = Parts(window, engine, self._bridge, self.tasks)
        self.views = SessionViews(parts, (self.panel.discussion, *in_main))
        self.sessions = SessionController(parts)
        self.folders = FolderController(parts)
        self.debates = DebateController(parts, self.panel, self.session_page, self.views, self.sessions)
        self.councils = CouncilController(parts, self.council_page, self.sessions)
        debating = (self.panel.discussion, self.session_page)
        self.decisions = DecisionController(parts, self.council_page, debating, self.sessions)
        self.chats = ChatController(parts, self.chat_page)
        self.versions = VersionController(parts, self.chat_page)
        self.summaries = beside_chats.SummaryController(parts, debating, self.views, self.chats)
        self.groups = beside_chats.GroupController(parts, self.chat_page, self.pages)
        self.files = beside_chats.FilesController(parts, self.pages, self.sessions)
        kinds: Kinds = {}
        self.council_panels = PanelCommands(parts, kinds, self.panel.setup)
        self.workflows = beside_chats.WorkflowController(parts, self.chat_page, self.pages, kinds)
        begins = (self.chats, self.debates, self.panel.setup)
        self.first_page = FirstPageController(parts, self.pages, self.views, *begins)
        self.providers = ProviderController(parts)
        engine.links = open_link
        self.assistants = AssistantCommands(parts, kinds)
        self.group_commands = GroupCommands(parts, kinds, self.assistants)
        self.server_consent = ServerConsent(parts)
        shown, viewer = (self.sessions, self.groups, self.files), self.server_consent.viewer
        self.work = WorkController(parts, self.pages, *shown, viewer)
        composer = self.chat_page.chat_composer
        self.saved_prompts = SavedPromptController(parts, composer.message_box)
        self.saved_prompts.files_given.connect(self.chats.files.attach)
        composer.allow_requested.connect(self.server_consent.ask)
        composer.folder_left.connect(lambda: self.folders.choose(""))
        self.settings = SettingsController(parts, data_dir, self.pages, self.providers)
        self.new_versions = NewVersionController(parts, self.settings, self.sessions)
        self.settings.keep_favourites(composer.model, self.panel.setup.conclusion.judge)
        self.panel.setup.seats.picker.favourites = lambda: self.settings.current().favourite_models
        self.palette = PaletteController(parts, self.actions())
        self.palette.prompts = self.saved_prompts.commands
        LettersToInput(window, self._find_input)
        self.areas = Areas(window)
        self.notifications = Notifications(window, engine, self._bridge, self.tasks)
        self.settings.reaches = self.notifications.reaches
        self.quick = QuickChatController(parts, self.views, self.chats, self.settings)
        self._list_timer = timer(self, LIST_REFRESH_MS, self._refresh_sessions, once=True)
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
        self.work.counted.connect(self.notifications.show_waiting)
        self.notifications.count = self.work.refresh
        side.sessions.pin_requested.connect(self._on_pin_requested)
        for follow in (self._refresh_sessions, self.chats.refresh, self.debates.context.show):
            self.folders.changed.connect(follow)
        self.first_page.ready_groups_requested.connect(self.group_commands.show_ready)
        self.first_page.workflows_requested.connect(self.workflows.show_definitions)
        self.chats.proposal_requested.connect(self.group_commands.propose)
        side.search.typed.connect(self.palette.search)
        side.hide_button.clicked.connect(lambda: self.window.show_side(False))
        self.window.first_page.models_requested.connect(lambda: self.settings.open("local"))
        side.providers_button.clicked.connect(lambda: self.settings.open("providers"))
        side.settings_button.clicked.connect(lambda: self.settings.open())
        side.help_button.clicked.connect(self.show_guide)
        side.sessions.session_requested.connect(self.show_session)
        side.sessions.delete_requested.connect(self.sessions.delete)
        side.sessions.several_deleted.connect(self.sessions.delete_several)
        side.sessions.rename_requested.connect(self.sessions.ask_name)
        export, summary = self.sessions.export, self.sessions.summary
        side.sessions.export_requested.connect(lambda id_, name: export(summary(id_), name))
        top.side_button.clicked.connect(lambda: self.window.show_side(True))
        top.export_requested.connect(lambda name: self.sessions.export(self.pages.session, name))
        top.rename_requested.connect(lambda title: self.sessions.rename(self.pages.session, title))
        self.settings.applied.connect(lambda settings: self.palette.choose_keys(settings.shortcuts))
        self.settings.applied.connect(self.notifications.choose)
        self.settings.saved.connect(self.council_page.refresh)
        for known in (self.providers.changed, self.providers.found, bridge.keys_changed):
            known.connect(self._refresh_providers)
        bridge.keys_changed.connect(self.providers.show_keyring)
        bridge.models_changed.connect(self.providers.changed)
        for conversation in (panel.discussion, self.session_page, self.council_page, self.chat_page):
            conversation.cards.viewer = self.server_consent.viewer
            conversation.link_requested.connect(self.sessions.open_link)
            conversation.picture_requested.connect(self.sessions.on_picture)
        self.chats.files.picture_requested.connect(self.sessions.on_picture)
        for wanted in (self.assistants.chat_requested, self.palette.assistant_requested):
            wanted.connect(self.show_new)
        self.chats.session_started.connect(self.show_session)
        self.chats.mode_changed.connect(self.pages.refresh)
        self.window.session_requested.connect(self.show_session)
        self.window.begin_requested.connect(self.first_page.show)
        self.window.settings_requested.connect(self.settings.open)
        for lacking in (panel.setup, panel.discussion, self.session_page, self.council_page):
            lacking.connect_requested.connect(self.providers.connect_provider)
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
        decide = partial(self.first_page.decide, DebateMode.COUNCIL)
        self.council_panels.chat_requested.connect(lambda _panel_id: decide())
        for asks in (self.palette.panel_requested, panel.setup.seats.picker.panel_chosen):
            asks.connect(self.council_panels.chat)
        self.group_commands.chat_requested.connect(lambda group_id: self.show_new("", group_id))
        sessions = (bridge.session_started, bridge.session_changed, bridge.session_restored)
        for listed in (*sessions, bridge.message_finished, bridge.journal_changed):
            listed.connect(self._on_sessions_changed)
        bridge.session_deleted.connect(lambda _event: self._refresh_sessions())
        bridge.notice.connect(self._on_notice)
        self._language.changed.connect(self._on_language_changed)
        self._look.ring.zoomed.connect(self.settings.zoom)

    # Requests

    def actions(self) -> dict[str, Callable[[], object]]:
        """Return what each command of the table in `gui.commands` does."""
        top = self.window.top_bar
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
            "redo": lambda: self.undo(again=True),
            "area": lambda: self.areas.go(1),
            "area_before": lambda: self.areas.go(-1),
            "session_after": lambda: self._show_beside(1),
            "session_before": lambda: self._show_beside(-1),
            "close": self.show_new,
            "larger": lambda: self.settings.zoom(1),
            "smaller": lambda: self.settings.zoom(-1),
            "usual_size": lambda: self.settings.zoom(0),
            "full_screen": self._toggle_full_screen,
            "panel": top.debate_button.toggle,
            "setup": self.debates.show_setup,
            "discussion": lambda: self.debates.show_tab(1),
            "history": lambda: self.debates.show_tab(2),
            "workflow": top.workflow_button.toggle,
            "plan": top.plan_button.toggle,
            "work": self.work.show,
            "journal": self.decisions.show,
            "pause": lambda: self.sessions.pause_or_resume(self.pages.session),
            "settings_mode": self.chats.switch_settings_mode,
            "summarise": self.summaries.summarise,
            "next_pin": self.summaries.next_pin,
            "queue": self.work.show_assistant,
            "side": self.toggle_side,
            "settings": lambda: self.settings.open(),
            "guide": self.show_guide,
            "shortcuts": lambda: self.settings.open("shortcuts"),
            "theme": self.settings.switch_theme,
            "language": self.settings.switch_language,
            "quit": lambda: self.leave(quits=True),
        }

    def show_guide(self) -> None:
        """Show the guide, or bring it to the front."""
        self.tasks.start("open the guide", self._show_guide())

    async def _show_guide(self) -> None:
        dialog = self.window.findChild(GuideDialog)
        if dialog is None:
            pages = await asyncio.to_thread(read_guide, self._look.resources, self._language.name)
            dialog = GuideDialog(self._language, self._look, pages, self.window)
            dialog.settings_requested.connect(self.settings.open)
            dialog.view.picture_requested.connect(self.sessions.on_picture)
        dialog.show()
        dialog.activateWindow()

    def show_session(self, session_id: str) -> None:
        """Show a session in the main area."""
        summary = self.sessions.summary(session_id)
        if summary is not None:
            if summary.folder != self.folders.folder_id:
                # New sessions begin outside the chosen folder once another session is shown.
                self.folders.choose("")
            page = self.pages.page_of(summary)
            self.tasks.replace("open in the main area", self._show_session(page, summary))

    def show_new(self, assistant_id: str = "", group_id: str = "") -> None:
        """Show where a session begins, one with an assistant or a group if one is given."""
        self.first_page.show(assistant_id=assistant_id, group_id=group_id)

    def leave(self, *, quits: bool = False) -> None:
        """Hide the window, or end the program; asks what becomes of what runs where that is not settled."""
        running = [session.title for session in self.engine.sessions() if session.status == Status.RUNNING]
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
        dialog.open_for(self._on_leaving)

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

    def _show_beside(self, step: int) -> None:
        """Show the session that is listed after the one in front, or before it for -1."""
        if beside := self.window.side_bar.sessions.beside(step):
            self.show_session(beside)

    def _toggle_full_screen(self) -> None:
        self.window.setWindowState(self.window.windowState() ^ Qt.WindowState.WindowFullScreen)

    def undo(self, *, again: bool = False) -> None:
        """Undo the last change of the workflow that has the focus, else the last action that still offers
        it in a toast, else the last deletion; with `again`, redo a change of that workflow.
        """
        edited = self.workflows.panel.definitions
        in_editor = focused_in(edited) is not None
        if (in_editor and edited.undo(again=again)) or (not again and self.window.toasts.undo()):
            return
        words, gone = self._language, "" if again else self.window.toasts.undo_gone()
        nothing = words("toast.nothing_again" if again else "toast.nothing")
        self.window.toasts.show_toast(words("toast.undone", text=gone) if gone else nothing)

    def find_in_session(self) -> None:
        """Open the find bar of the panel if that has the focus, else of the page in front; the settings
        have their search.
        """
        in_panel = focused_in(self.panel) is not None
        if not in_panel and self.settings.find():
            return
        page = self.pages.current
        view = self.panel.discussion if (in_panel and not self.panel.shows_summary) or page is None else page
        if view.session is not None and view.isVisible():
            view.open_find()

    def _find_input(self) -> QWidget | None:
        """Return the input that is seen: of the panel if that has the focus, else of the page in front."""
        views = (self.panel.discussion if focused_in(self.panel) else None, self.pages.current)
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
        others = tuple(item for item in self.settings.current().pinned_sessions if item != session_id)
        self.settings.change({"pinned_sessions": (session_id, *others) if on else others})
        self._refresh_sessions()

    def _on_sessions_changed(self, _event: object) -> None:
        if not self._list_timer.isActive():
            self._list_timer.start()

    def _on_notice(self, notice: Notice) -> None:
        text, page = self._language.notice(notice), self.chat_page
        # Its row in the list of work says so, or the card of its result.
        named = page.session_id == notice.session_id and not page.result.still_open.isHidden()
        shown = self.window.main_area.currentWidget()
        said = shown.objectName() == "work_page" or (shown is page and named)
        if notice.code in (PLAN_OPEN, TURN_HELD) and said:
            return
        if notice.sticky:
            self.window.banner.show_text(text)
        elif notice.code == SAVED_AGAIN:
            self.window.banner.hide()
        elif notice.code == AGENT_BEGAN:
            show = partial(self.show_session, notice.session_id)
            self.window.toasts.show_toast(text, self._language("toast.show"), show, undoes=False)
        else:
            views = [item for item in (self.panel.discussion, self.session_page) if item.isVisible()]
            at = [view for view in views if notice.session_id and view.session_id == notice.session_id]
            if notice.code == TURN_HELD and at:
                at[0].controls.show_held(text)
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
        """Refresh what shows providers, each in a callback of its own: together they take longer
        than a frame.
        """
        ready = [status for status in self.engine.providers() if status.ready and is_taken(status)]
        self.window.side_bar.show_counts(providers=len(ready))
        self.window.first_page.show_state(ready)
        pages = (self.assistants, self.chats, self.workflows, self.debates, self.council_page)
        for part in (self.panel.setup.seats, *pages):
            await asyncio.sleep(0)
            part.refresh()
        _built_in, *known = await asyncio.to_thread(self.engine.local_models.all)
        able = [model.size for model in known if self.window.language.name in model.languages]
        self.window.first_page.show_smallest(min(able, default=0))

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
