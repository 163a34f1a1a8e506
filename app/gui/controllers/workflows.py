"""Workflows: connects the workflow panel to the engine and to the session in front."""

from PySide6.QtCore import QTimer, Signal

from app.core.definitions import Agent, StepState, WorkflowDefinition, WorkflowStep
from app.core.events import Event
from app.core.ids import new_id
from app.core.session import WorkflowSession
from app.engine.live_session import LiveSession
from app.engine.workflow.director import call_id
from app.gui.bridge import Bridge
from app.gui.controllers.controller import Controller, Parts
from app.gui.controllers.definitions import DefinitionCommands, DefinitionTexts, SharedKinds
from app.gui.controllers.sessions import MainPages
from app.gui.display.descriptions import colours_of
from app.gui.pages.chat.chat_page import ChatPage
from app.gui.pages.chat.session_files import OPEN
from app.gui.panels.workflow.definitions_view import DefinitionsView
from app.gui.panels.workflow.step_list import ACCEPT, ANSWER, RETRY, SKIP, any_runs, looks_of
from app.gui.panels.workflow.workflow_panel import DEFINITIONS, WorkflowPanel
from app.gui.transcript.transcript_model import group_id
from app.gui.window_frame import WindowFrame

TICK_MS = 1_000
SHOWN = "workflow_panel"
TEXTS = DefinitionTexts(new="workflow.new", bring_in="assistant.bring_in")


class WorkflowCommands(DefinitionCommands[WorkflowDefinition]):
    """Makes, edits, copies, shares and deletes definitions of workflows."""

    def __init__(self, parts: Parts[WindowFrame], view: DefinitionsView, shared: SharedKinds) -> None:
        super().__init__(parts, parts.engine.workflows, TEXTS, shared)
        self._view = view
        shared.add("steps", self)
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
        self._offer_undo(
            self._language("step.removed", name=gone.name),
            lambda: self._tasks.start(f"put back {gone.id}", self._put_back(before, gone)),
        )

    async def _put_back(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        await self.settle()
        self.refresh()
        self._view.put_back(before, gone)


class WorkflowController(Controller):
    """Shows the workflow in front, and answers what the user asks in its panel.

    Emits session_requested(session id) for one that has begun.
    """

    session_requested = Signal(str)

    def __init__(
        self, parts: Parts[WindowFrame], page: ChatPage, pages: MainPages, shared: SharedKinds
    ) -> None:
        super().__init__(parts)
        self._page, self._pages = page, pages
        begins = parts.engine, parts.tasks, lambda: self.folder_id
        self.panel = WorkflowPanel(self._language, self._look, *begins)
        self._definitions = WorkflowCommands(parts, self.panel.definitions, shared)
        self._add_panel(self.panel, parts.window.top_bar.workflow_button, SHOWN)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._show_work)
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

    def show_definition(self, definition_id: str = "") -> None:
        """Show a definition in its editor, a new one without an id."""
        self._window.top_bar.workflow_button.setChecked(True)
        self.panel.tabs.choose(DEFINITIONS)
        if definition_id:
            self._definitions.show_page(definition_id)
        else:
            self._definitions.make_new()

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
        bridge.workflows_changed.connect(self.refresh)
        bridge.assistants_changed.connect(self.refresh)
        self._pages.shown.connect(lambda _page: self._show_work())
        self._window.main_area.currentChanged.connect(lambda _place: self._show_work())
        self._language.changed.connect(self.refresh)
        self._window.top_bar.workflow_button.toggled.connect(self._on_toggled)
        start_box = work.start_box
        start_box.started.connect(self.session_requested)
        start_box.strip.removed.connect(
            lambda gone, place: self._offer_undo(
                self._language("chat.attachment.removed", name=gone.name),
                lambda: start_box.show_draft(start_box.draft.with_file(gone, place)),
            )
        )
        work.steps.opened.connect(self._go_to)
        work.steps.linked.connect(self._on_linked)
        self._page.files.rows.modelReset.connect(self._show_work)
        work.steps.acted.connect(self._on_acted)

    # Steps

    def _on_acted(self, step_id: str, action: str) -> None:
        session_id, workflows = self._page.session_id, self._engine.workflows
        if session_id and action == ANSWER:
            self._answer(step_id)
        elif session_id:
            commands = {ACCEPT: workflows.accept, RETRY: workflows.retry, SKIP: workflows.skip}
            self._start(commands.get(action, workflows.stop_step)(session_id, step_id))

    def _on_linked(self, address: str, text: str) -> None:
        if address in self._page.files.ids():
            self._page.files.asked.emit(address, OPEN)
        else:
            self._page.link_requested.emit(address, text)

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
            self._page.transcript.go_to(said[0].id, 0)
            self._page.transcript.go_to(group_id(turn_id), 0)

    def _turn_of(self, step_id: str) -> str:
        """Return the turn of a step's last attempt, "" if there is none."""
        live, session = self._live, self.session
        if live is None or session is None:
            return ""
        state = next((one for one in session.workflow.steps if one.id == step_id), StepState(id=step_id))
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

    def _agents(self) -> dict[str, Agent]:
        return {agent.id: agent for agent in self._engine.assistants.all()}

    def _show_work(self) -> None:
        session, live = self.session, self._live
        agents = self._agents()
        looks = (
            looks_of(
                session, agents, colours_of(tuple(agents.values())), self._language, self._page.files.ids()
            )
            if session
            else []
        )
        self.panel.work.show_work(session, looks, read_only=live is None or live.read_only)
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
