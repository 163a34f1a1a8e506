"""What stands beside a chat and over its input: workflows, groups at work with the plan, the files of the
session, and what of it is sent: summaries, pinned messages, and the gauge by the composer.
"""

import asyncio
import base64
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication

from app.core.criteria import Plan, PlanItem
from app.core.definitions import StepState, WorkflowDefinition, WorkflowStep
from app.core.errors import BadInput
from app.core.events import Event, FileWritten
from app.core.ids import new_id
from app.core.message import Attachment, Message, Role, tokens_text
from app.core.session import ZIP, Status, WorkflowSession
from app.core.session_files import FileVersion
from app.core.texts import exact, unmarked, visible
from app.engine.export.formats import FILE_FORMATS
from app.engine.history import NOTES
from app.engine.live_session import LiveSession
from app.engine.workflow.director import call_id
from app.gui.bridge import Bridge
from app.gui.controllers.chats import ChatController
from app.gui.controllers.controller import Controller, PageController, Parts
from app.gui.controllers.definitions import DefinitionCommands, Kinds
from app.gui.controllers.sessions import MainPages, SessionController, SessionViews
from app.gui.dialogs.ask_dialogs import SummaryDialog, WindowDialog
from app.gui.dialogs.reading_dialogs import RESTORE, FileDialog, preview_of
from app.gui.display.descriptions import colours_of
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.orchestrator_box import work_of
from app.gui.pages.chat.over_input import COPY, DELETE, FOLDER, OPEN, PREVIEW, SAVE, FilesList
from app.gui.panels.debate.discussion_view import DebateView
from app.gui.panels.right_panel import PlanPanel
from app.gui.panels.workflow.definitions_view import DefinitionsView
from app.gui.panels.workflow.step_list import ACCEPT, ANSWER, GIVE, RETRY, SKIP, any_runs, looks_of
from app.gui.panels.workflow.workflow_panel import WorkflowPanel
from app.gui.tasks import timer
from app.gui.transcript.selection import EDIT, LEAVE_SUMMARY, PIN, REDO_SUMMARY, UNPIN, USE_SUMMARY
from app.gui.transcript.transcript_model import group_id
from app.gui.widgets.controls import passing_menu
from app.gui.window_frame import AppWindow, WindowFrame

TICK_MS = 1_000
SHOWN = "workflow_panel"


class WorkflowCommands(DefinitionCommands[WorkflowDefinition]):
    """Makes, edits, copies, shares and deletes definitions of workflows."""

    NEW, MARK = "workflow.new", "steps"

    def __init__(self, parts: Parts[WindowFrame], view: DefinitionsView, kinds: Kinds) -> None:
        super().__init__(parts, parts.engine.workflows, kinds)
        self._view = view
        self.adopt(view)
        view.new_requested.connect(self.make_new)
        view.duplicate_requested.connect(self.duplicate)
        view.bring_in_requested.connect(self.bring_in)
        view.delete_requested.connect(self.delete)
        view.step_removed.connect(self._on_step_removed)

    def refresh(self) -> None:
        """Show the definitions as they are now."""
        self._view.show_definitions(self.definitions.all(), self.built_in())

    def show_page(self, definition_id: str) -> None:
        """Show a definition in the panel."""
        self._view.show_definition(definition_id)

    def _made(self, name: str) -> WorkflowDefinition:
        step = WorkflowStep(id="step-1", name=self._language("step.new", number=1), role="PM", prompt="")
        return WorkflowDefinition(id=new_id(), name=name, steps=(step,))

    def _name_it(self) -> None:
        self._view.name_it()

    def _on_step_removed(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        self._offer_undo("step.removed", partial(self._put_back, before, gone), name=gone.name)

    async def _put_back(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        await self.settle()
        self.refresh()
        self._view.put_back(before, gone)


class WorkflowController(Controller):
    """Shows the workflow in front, and answers what the user asks in its panel."""

    def __init__(self, parts: Parts[WindowFrame], page: ChatPage, pages: MainPages, kinds: Kinds) -> None:
        super().__init__(parts)
        self._page, self._pages = page, pages
        begins = parts.engine, parts.tasks, lambda: self.folder_id
        self.panel = WorkflowPanel(self._language, self._look, *begins)
        self._definitions = WorkflowCommands(parts, self.panel.definitions, kinds)
        self._add_panel(self.panel, parts.window.top_bar.workflow_button, SHOWN)
        self._clock = timer(self, TICK_MS, self._show_work)
        self._wire(parts.bridge)
        self.refresh()

    @property
    def session(self) -> WorkflowSession | None:
        """The workflow in front, None if another kind of session is."""
        live = self._live
        return live.workflow_session if live is not None and live.session.workflow is not None else None

    def refresh(self) -> None:
        """Show the definitions and the workflow in front as they are now."""
        self.panel.work.start_box.refresh()
        self._definitions.refresh()
        self._show_work()

    def show_definitions(self) -> None:
        """Open the panel where workflows are edited."""
        self._window.top_bar.workflow_button.setChecked(True)
        self.panel.tabs.choose(1)

    async def close(self) -> None:
        """Save unsaved definitions and cancel tasks."""
        self._clock.stop()
        await self._definitions.close()

    # Connections

    def _wire(self, bridge: Bridge) -> None:
        work = self.panel.work
        for changed in (bridge.step_changed, bridge.session_changed, bridge.prompt_asked):
            changed.connect(self._on_changed)
        bridge.availability_changed.connect(lambda _event: self._show_held())
        self._page.state_line.let_go_requested.connect(self._on_let_go)
        self._keep_fresh(bridge.workflows_changed, bridge.assistants_changed)
        self._pages.shown.connect(lambda _page: self._show_work())
        self._window.main_area.currentChanged.connect(lambda _place: self._show_work())
        self._window.top_bar.workflow_button.toggled.connect(self._on_toggled)
        start_box = work.start_box
        start_box.started.connect(self._window.session_requested)
        start_box.strip.removed.connect(self._on_attachment_removed)
        work.steps.opened.connect(self._go_to)
        work.steps.linked.connect(self._on_linked)
        self._page.files.rows.modelReset.connect(self._show_work)
        work.steps.acted.connect(self._on_acted)

    def _on_attachment_removed(self, gone: Attachment, place: int) -> None:
        box, key = self.panel.work.start_box, "chat.attachment.removed"
        self._offer_undo(key, lambda: box.show_draft(box.draft.with_file(gone, place)), name=gone.name)

    # Steps

    def _on_acted(self, step_id: str, action: str) -> None:
        session_id, workflows = self._page.session_id, self._engine.workflows
        if session_id and action == ANSWER:
            self._answer(step_id)
        elif session_id and action == GIVE:
            self._offer_takers(session_id, step_id)
        elif session_id:
            commands = {ACCEPT: workflows.accept, RETRY: workflows.retry, SKIP: workflows.skip}
            self._start(commands.get(action, workflows.stop_step)(session_id, step_id))

    def _offer_takers(self, session_id: str, step_id: str) -> None:
        """Open the menu of those whom a step can be given to."""
        workflows, below = self._engine.workflows, self.panel.work.steps.rows[step_id].more
        menu = passing_menu(below, "step_takers")
        for agent in workflows.takers(session_id, step_id):
            given = menu.addAction(unmarked(visible(agent.name))).triggered
            self._run(given, lambda *_on, one=agent.id: workflows.give(session_id, step_id, one))
        menu.popup(below.mapToGlobal(below.rect().bottomLeft()))

    def _on_linked(self, address: str, text: str) -> None:
        of_file = address in self._page.files.ids()
        asked = self._page.files.asked if of_file else self._page.link_requested
        asked.emit(address, OPEN if of_file else text)

    def _answer(self, step_id: str) -> None:
        """Go to the question that a step waits for."""
        self._go_to(step_id)
        live, turn_id = self._live, self._turn_of(step_id)
        if live is None:
            return
        for session_id, message in self._engine.chats.needs_you():
            if session_id == self._page.session_id and turn_id in live.turns.above(message.turn_id):
                self._page.go_to(f"{message.id}:0")
                self._page.take_focus()
                return

    def _go_to(self, step_id: str) -> None:
        """Scroll the transcript to the messages of a step."""
        live, turn_id = self._live, self._turn_of(step_id)
        said = live.turns.said(turn_id) if live is not None and turn_id else ()
        if said:
            # The first call loads messages far above; the second finds the step's head even if it is folded.
            self._page.go_to(f"{said[0].id}:0")
            self._page.transcript.go_to(group_id(turn_id), 0)

    def _turn_of(self, step_id: str) -> str:
        """Return the turn of a step's last attempt, "" if there is none."""
        live, session = self._live, self.session
        if live is None or session is None:
            return ""
        state = next((step for step in session.workflow.steps if step.id == step_id), StepState(id=step_id))
        return live.turns.child_turn(live.turns.work_turn, call_id(state)) or ""

    # Events

    def _on_changed(self, event: Event) -> None:
        if event.session_id == self._page.session_id:
            self._show_work()

    def _on_toggled(self, shown: bool) -> None:
        if shown and self.session is None:
            self.panel.take_focus()

    def _on_let_go(self) -> None:
        session = self._page.session
        if session is not None:
            self._start(self._engine.queues.hold(session.chat.assistant_id, False))

    # Refreshing

    @property
    def _live(self) -> LiveSession | None:
        return self._engine.live(self._page.session_id) if self._pages.current is self._page else None

    def _show_work(self) -> None:
        session, live = self.session, self._live
        known, files = self._engine.assistants.all(), self._page.files.ids()
        agents, colours = {agent.id: agent for agent in known}, colours_of(known)
        looks = looks_of(session, agents, colours, self._language, files) if session else []
        self.panel.work.show_work(session, looks, read_only=live is None or live.read_only)
        top = self._window.top_bar
        top.offer_panel(top.workflow_button, useful=session is not None)
        # The clock only runs while a step does.
        if session is not None and any_runs(session) and not self.panel.isHidden():
            self._clock.start()
        else:
            self._clock.stop()
        self._show_held()

    def _show_held(self) -> None:
        """Show whether the assistant of the chat in front is held."""
        shown = self._page.session
        chat = shown.chat if shown is not None else None
        self._page.state_line.show_held(chat is not None and self._engine.queues.is_held(chat.assistant_id))


UNFOLDED = "orchestrator_unfolded"
PLAN_SHOWN = "plan_panel"


class GroupController(Controller):
    """Shows the group and the plan of the session in front, and changes them as the user asks."""

    def __init__(self, parts: Parts[WindowFrame], page: ChatPage, pages: MainPages) -> None:
        super().__init__(parts)
        self._page, self._pages = page, pages
        self.panel = PlanPanel(self._language, self._look)
        self._add_panel(self.panel, parts.window.top_bar.plan_button, PLAN_SHOWN)
        self._silence = timer(self, TICK_MS, self._show_silent)
        self._wire(parts.bridge)
        page.box.unfold(self._state.flag(UNFOLDED, False))
        self.refresh()

    def refresh(self) -> None:
        """Show the session in front as it is now."""
        page, session = self._page, self._page.session
        live = self._engine.live(session.id) if session else None
        leads = live is not None and live.session.group is not None
        page.box.setVisible(leads)
        if live is not None and leads:
            group, agents = live.group_session, self._engine.assistants.all()
            work = work_of(live, group, agents)
            page.box.show_work(group, work, colours_of(agents), editable=not live.read_only)
            # Where no price is known, the top bar says so once.
            words = self._language
            page.box.show_spent(page.spending.text(words) if page.spending.known_text(words) else "")
            if not (work.hands_on and self._silence.isActive()):
                (self._silence.start if work.hands_on else self._silence.stop)()
        else:
            self._silence.stop()
        self._show_plan()

    def _wire(self, bridge: Bridge) -> None:
        box = self._page.box
        # After these something is drawn again.
        turns = (bridge.turn_started, bridge.turn_finished, bridge.message_started, bridge.message_finished)
        for changed in (bridge.session_changed, bridge.plan_changed, bridge.prompt_asked, *turns):
            changed.connect(self._on_changed)
        self._keep_fresh(bridge.session_deleted, bridge.assistants_changed, self._pages.shown)
        self._window.main_area.currentChanged.connect(lambda _place: self._show_plan())
        box.unfolded.connect(lambda on: self._state.keep(UNFOLDED, on))
        box.plan_requested.connect(lambda plan: self.change(self._page.session_id, plan))
        box.item_removed.connect(lambda item, place: self.offer_back(self._page.session_id, item, place))
        groups = self._engine.groups
        self._run(box.asking_chosen, lambda on: groups.ask_before_hand_over(self._page.session_id, on))
        self._run(box.given_up, lambda member: groups.go_on_without(self._page.session_id, member))
        self.panel.plan_requested.connect(lambda plan: self.change(self._planned_id, plan))
        self.panel.item_removed.connect(lambda item, place: self.offer_back(self._planned_id, item, place))

    # Events

    def _on_changed(self, event: Event) -> None:
        if event.session_id in (self._page.session_id, self._planned_id):
            self.refresh()

    def _show_silent(self) -> None:
        """Tell of members that have said nothing for long, while their answers are awaited."""
        live = self._engine.live(self._page.session_id)
        if live is not None:
            self._page.box.show_silent(self._engine.groups.silent(live))

    # The plan

    @property
    def _planned_id(self) -> str:
        """The id of the session whose plan the panel shows, the one in the main area; "" for none."""
        return self._pages.session.id if self._pages.session else ""

    def _show_plan(self) -> None:
        session = self._pages.session
        live = self._engine.live(session.id) if session else None
        session = live.session if live else session
        chat = session if session is not None and session.chat is not None else None
        self.panel.show_session(chat, read_only=live is None or live.read_only)
        planned = chat is not None and (chat.group is not None or (chat.plan or Plan()).items)
        top = self._window.top_bar
        top.offer_panel(top.plan_button, useful=bool(planned))

    def change(self, session_id: str, plan: Plan) -> None:
        """Change the plan of a session."""
        if session_id:
            self._start(self._engine.groups.change_plan(session_id, plan))

    def offer_back(self, session_id: str, item: PlanItem, place: int) -> None:
        """Offer to put an item back that was removed from a plan."""
        self._offer_undo("plan.removed", partial(self._put_back, session_id, item, place))

    def _put_back(self, session_id: str, item: PlanItem, place: int) -> None:
        """Put an item back at its place in the current plan."""
        live = self._engine.live(session_id)
        if live is not None:
            plan = live.session.plan or Plan()
            items = (*plan.items[:place], item, *plan.items[place:])
            self.change(session_id, Plan(goal=plan.goal, items=items))


Shown = tuple[FileVersion, Message | str | None]


class FilesController(Controller):
    """Shows the files of the session in front, and does with them what the user asks."""

    def __init__(self, parts: Parts[WindowFrame], pages: MainPages, sessions: SessionController) -> None:
        super().__init__(parts)
        self._sessions, self._page = sessions, parts.window.chat_page
        page = self._page
        self._files = parts.engine.session_files
        # The lists that are kept, each with what gives the id of its session.
        self._lists: list[tuple[FilesList, Callable[[], str]]] = []
        self.keep(page.files, lambda: page.session_id)
        page.result.save.clicked.connect(lambda: sessions.export(page.session, ZIP))
        parts.bridge.file_written.connect(self._on_written)
        pages.shown.connect(lambda _page: self.refresh())

    def keep(self, shown: FilesList, session_id: Callable[[], str]) -> None:
        """Keep a list as the files of a session are, and do with them what the user asks."""
        self._lists.append((shown, session_id))
        shown.asked.connect(lambda path, what: self._start(self._do(session_id(), path, what)))

    def refresh(self) -> None:
        """Show the files as they are now."""
        for place, (shown, session_id) in enumerate(self._lists):
            self._tasks.replace(f"session files {place}", self._show(shown, session_id))

    def _on_written(self, event: FileWritten) -> None:
        if event.session_id in [session_id() for _, session_id in self._lists]:
            self.refresh()

    async def _show(self, shown: FilesList, session_id: Callable[[], str]) -> None:
        wanted = session_id()
        files = await self._files.list(wanted) if wanted else ()
        if wanted == session_id():
            shown.show_files(files)

    async def _do(self, session_id: str, path: str, what: str, version: int | None = None) -> None:
        """Do what the user asks of a file, or of a version of it."""
        if what == OPEN:
            if session_id == self._page.session_id:
                self._tasks.cancel("file preview")
                self._page.result.show_preview(None)
            (await self._dialog(session_id, path)).open()
        elif what == PREVIEW:
            self._tasks.replace("file preview", self._preview(session_id, path))
        elif what == FOLDER:
            QDesktopServices.openUrl(QUrl.fromLocalFile(self._files.folder(session_id)))
        elif what == DELETE:
            gone = await self._files.delete(session_id, path)
            restore = partial(self._restore, session_id, path, gone.version)
            self._offer_undo("files.deleted", restore, lasts=True, name=exact(path))
        elif what == RESTORE and version is not None:
            await self._restore(session_id, path, version)
        elif what in FILE_FORMATS:
            self._sessions.save_as(session_id, path, what, version)
        else:
            _, data = await self._files.read(session_id, path, version)
            if what == SAVE:
                saved = base64.b64encode(data).decode()
                self._sessions.ask_to_save(Attachment(name=PurePath(path).name, data=saved))
            elif what == COPY:
                QGuiApplication.clipboard().setText(data.decode(errors="replace"))

    async def _restore(self, session_id: str, path: str, version: int) -> None:
        _, data = await self._files.read(session_id, path, version)
        made = await self._files.write(session_id, path, lambda _before, _held: data)
        text = self._language("files.restored", name=exact(path), version=version, now=made.version)
        self._toasts.show_toast(text)

    async def _preview(self, session_id: str, path: str) -> None:
        """Show a file in the card of the result, if it is the one that is chosen there."""
        page = self._page
        if path and session_id == page.session_id:
            dialog = await self._dialog(session_id, path)
            if (session_id, path) == (page.session_id, page.files.current_id()):
                dialog.be_part()
                page.result.show_preview(dialog)
            else:
                dialog.close()

    async def _dialog(self, session_id: str, path: str) -> FileDialog:
        found = [old for old in await self._files.versions(session_id) if old.path == path and not old.gone]
        shown = await self._read(session_id, path)
        dialog = FileDialog(self._language, self._look, found, self._window)
        dialog.show_version(*shown)

        async def choose(version: int) -> None:
            dialog.show_version(*await self._read(session_id, path, version))

        async def compare(older: int, newer: int) -> None:
            held = [(await self._files.read(session_id, path, number))[1] for number in (older, newer)]
            try:
                found = await self._engine.files.difference(*held)
                dialog.show_text(found, "" if found else self._language("files.compare.same"))
            except BadInput as error:
                dialog.show_text("", self._language.problem(error.code))

        def do(what: str) -> None:
            self._start(self._do(session_id, path, what, dialog.versions.value()))
            if what == RESTORE:
                dialog.accept()

        dialog.version_chosen.connect(lambda version: self._tasks.replace("file version", choose(version)))
        dialog.compared.connect(lambda *two: self._tasks.replace("file version", compare(*two)))
        dialog.view.link_requested.connect(self._sessions.open_link)
        dialog.view.picture_requested.connect(self._sessions.on_picture)
        dialog.asked.connect(do)
        dialog.finished.connect(lambda _result: self._tasks.cancel("file version"))
        return dialog

    async def _read(self, session_id: str, path: str, version: int | None = None) -> Shown:
        found, data = await self._files.read(session_id, path, version)
        return found, await asyncio.to_thread(preview_of, found, data)


SETTLED_MS = 150


class SummaryController(PageController):
    """Answers what the user asks about the summaries of the chat in front, and shows how long it is."""

    def __init__(
        self,
        parts: Parts[AppWindow],
        debates: Sequence[DebateView],
        views: SessionViews,
        chats: ChatController,
    ) -> None:
        super().__init__(parts)
        page = self._page = chats.page
        self._views = (page, *debates)
        self._pin_shown = ""
        # The request is counted once what happened has been painted.
        self._timer = timer(self, SETTLED_MS, self.show_use, once=True)
        summaries = parts.engine.summaries
        page.transcript.summary_writer = lambda: summaries.writer_of(page.session_id)
        for debate in debates:
            debate.transcript.summary_writer = partial(self._notes_writer, debate)
        for view in self._views:
            view.summary_action_requested.connect(self._on_action)
        page.chat_composer.gauge.choices.aboutToShow.connect(self._fill_menu)
        for signal in (views.view_changed, chats.refreshed):
            signal.connect(self._count_later)
        self._language.changed.connect(self.show_use)

    def _notes_writer(self, debate: DebateView) -> str:
        return self._engine.debates.notes_writer(debate.session_id)

    def summarise(self) -> None:
        """Summarise the chat in front now."""
        session = self._page.session
        if session is not None and self._page.isVisible():
            self._start(self._engine.summaries.make(session.id))

    def next_pin(self) -> None:
        """Show the next pinned message of the session in front, after the last one the first."""
        pins = ((item, item.session.pinned) for item in self._views if item.session and item.isVisible())
        view, pinned = next((each for each in pins if each[1]), (self._page, ()))
        if not pinned:
            self._toasts.show_toast(self._language("toast.no_pins"))
            return
        order = sorted(pinned)
        self._pin_shown = next((item for item in order if item > self._pin_shown), order[0])
        view.transcript.point_out(self._pin_shown)
        view.transcript.setFocus()

    async def _pin(self, session_id: str, message_id: str, *, pinned: bool) -> None:
        """Pin a message or no longer, and offer to take that back."""
        await self._engine.summaries.pin(session_id, message_id, pinned=pinned)
        undo = partial(self._engine.summaries.pin, session_id, message_id, pinned=not pinned)
        self._offer_undo("toast.pinned" if pinned else "toast.unpinned", undo)

    def show_use(self) -> None:
        """Show how much of its model's window the chat in front uses."""
        gauge, session = self._page.chat_composer.gauge, self._page.session
        use = self._engine.summaries.use_of(session.id) if session is not None else None
        gauge.setVisible(use is not None)
        if use is None:
            return
        sent, window = tokens_text(use.tokens), tokens_text(use.window)
        above = use.tokens > use.limit
        key = "gauge.above" if above else "gauge.below"
        tip = self._language(key, sent=f"{use.tokens:,}", window=f"{use.window:,}", limit=f"{use.limit:,}")
        shown = self._language("gauge", sent=sent, window=window)
        self._page.chat_composer.show_gauge(shown, tip, above=above)

    def _count_later(self) -> None:
        # Not a lambda: as the slot of signals of several objects, it kept a closed window in memory.
        self._timer.start()

    def _fill_menu(self) -> None:
        menu, session = self._page.chat_composer.gauge.choices, self._page.session
        menu.clear()
        words = self._language("palette.summarise")
        writer = self._engine.summaries.writer_of(session.id) if session is not None else ""
        if writer:
            words = unmarked(self._language("gauge.summarise", words=words, model=exact(writer)))
        action = menu.addAction(words, self.summarise)
        action.setEnabled(session is not None and session.status == Status.IDLE)
        menu.addAction(self._language("gauge.set_window"), self._ask_window)

    def _ask_window(self) -> None:
        """Ask how many tokens the model of the chat in front can read."""
        session = self._page.session
        use = self._engine.summaries.use_of(session.id) if session is not None else None
        if use is not None:
            dialog = WindowDialog(self._language, use.model, use.own_window, use.window, self._window)
            choose = partial(self._engine.connections.choose_window, use.provider, use.model)
            dialog.open_for(self._starts(lambda tokens: self._then(partial(choose, tokens), self.show_use)))

    def _on_action(self, session_id: str, message: Message, action: str) -> None:
        summaries, notes = self._engine.summaries, message.author.kind == NOTES
        if action in (PIN, UNPIN):
            self._start(self._pin(session_id, message.id, pinned=action == PIN))
        elif message.role != Role.SUMMARY:
            return
        elif action == EDIT:
            key = "summary.notes.text" if notes else "summary.edit.text"
            dialog = SummaryDialog(self._language, message.content, self._window, key=key)
            dialog.open_for(self._starts(partial(summaries.edit, session_id, message.id)))
        elif action == REDO_SUMMARY:
            redo = self._engine.debates.redo_notes if notes else summaries.redo
            self._start(redo(session_id, message.id))
        elif action in (USE_SUMMARY, LEAVE_SUMMARY):
            self._start(summaries.use(session_id, message.id, used=action == USE_SUMMARY))
