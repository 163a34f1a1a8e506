"""The panel of workflows: Work, with the box that starts one, and Workflows as tabs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.core.catalog import EMBEDDED
from app.core.definitions import STEP_ENDED, WorkflowDefinition
from app.core.draft import COMMAND, Draft
from app.core.message import Attachment
from app.core.session import Status, WorkflowSession, resumable
from app.core.texts import has_hangul, unmarked, visible
from app.engine.engine import Engine
from app.engine.workflow.commands import by_keyword, with_assistants
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import estimate_text, state_of
from app.gui.files.user_files import LONG_PASTE, pasted_text
from app.gui.pages.chat.message_box import AttachmentStrip
from app.gui.panels.right_panel import RightPanel
from app.gui.panels.workflow.definitions_view import DefinitionsView
from app.gui.panels.workflow.step_list import StepList, StepLook, done_count
from app.gui.tasks import Tasks, Work
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import STRETCH, FlowBox, Frame, frame, hbox, vbox
from app.gui.widgets.controls import Choice, MenuButton, TextBox, button, scrolling, ticked
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, restyle, say, show_or_hide

WORK, DEFINITIONS = 0, 1
Choose = Callable[[str, str], object]


def offer_assistants(
    menu: QMenu, words: Language, engine: Engine, definition: WorkflowDefinition, choose: Choose
) -> None:
    """Offer in a menu who does each step of a workflow; `choose` is told a step and an assistant, ""
    for who fits its role.
    """
    agents = [agent for agent in engine.assistants.all() if agent.enabled]
    for step in definition.steps:
        if step.gate:
            continue
        inside = named(f"who_{step.id}", QMenu(unmarked(visible(step.name)), menu))
        fits = words("workflow.who.role", role=visible(step.role))
        ticked(inside, unmarked(fits), not step.assistant, partial(choose, step.id, ""))
        for agent in agents:
            chosen = step.assistant in (agent.id, agent.name)
            ticked(inside, unmarked(visible(agent.name)), chosen, partial(choose, step.id, agent.id))
        menu.addMenu(inside)


class StartBox(Frame):
    """Takes a command and starts the workflow recognised in it, which the user can change.

    A long text that is pasted becomes an attachment. `folder` returns the id of the folder in which it
    begins. Emits started(session id).
    """

    started = Signal(str)

    def __init__(
        self, language: Language, look: Look, engine: Engine, tasks: Tasks, folder: Callable[[], str]
    ) -> None:
        super().__init__("composer")
        self._language, self._engine, self._tasks, self._folder = language, engine, tasks, folder
        self._definitions: Sequence[WorkflowDefinition] = ()
        self._picked = False
        self._hint_key = ""
        self._title = say(plain_label("field"), language, "workflow.command")
        self.box = named("workflow_command", TextBox(lines=2, most=6, longest_paste=LONG_PASTE))
        say(self.box, language, name="workflow.command", hint="workflow.command.hint")
        self.choice = say(named("workflow_choice", Choice(look)), language, name="workflow.which")
        self.start = say(button("primary", "workflow_start", self._on_start), language, "workflow.start")
        # Who the user chose for steps of the workflow that would start, by the steps' ids.
        self._assistants: dict[str, str] = {}
        self.who = MenuButton(look, "users", "workflow_who", chevron=True)
        self.who.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._who = Paragraph("hint")
        self._hint = Paragraph("hint")
        self._estimate = Paragraph("hint")
        self._limit = say(Paragraph("warn"), language, "chat.not_english")
        self.strip = named("workflow_attachments", AttachmentStrip(language, look))
        self._english_only = False
        self._limit.hide()
        self._estimate.hide()
        foot = hbox(self.choice, self.who, STRETCH, self.start, spacing=8)
        parts = self._title, self.strip, self.box, self._hint, self._limit, self._who, self._estimate, foot
        vbox(*parts, inside=self, margins=(12, 9, 10, 10), spacing=6)
        self._title.setBuddy(self.box)
        self.show_draft(engine.drafts.of(COMMAND))
        for changed in (self.box.textChanged, self.strip.changed):
            changed.connect(self._on_text)
        self.box.long_text_given.connect(lambda text: self.strip.add((pasted_text(text, language),)))
        self.box.submitted.connect(self._on_start)
        self.box.focus_changed.connect(lambda focused: restyle(self, focused=focused))
        self.choice.activated.connect(self._on_picked)
        self.who.choices.aboutToShow.connect(self._fill_who)
        self.choice.currentIndexChanged.connect(lambda _place: self._choose_assistants({}))
        self.box.focus_changed.connect(lambda _value: self._show_estimate())

    def refresh(self) -> None:
        """Show the workflows as they are, and what the models that are ready make of the command."""
        engine = self._engine
        self._definitions = engine.workflows.all()
        self._english_only = {item.config.kind for item in engine.providers() if item.ready} <= {EMBEDDED}
        offered = [(each.id, visible(each.name)) for each in self._definitions]
        self.choice.offer([("", self._language("workflow.choose")), *offered])
        self._say(self._hint_key)
        self._show_limit()
        self._show_who()
        # The start of the program must not wait for prices.
        self._show_estimate(ask=self.isVisible())

    def chosen(self) -> str:
        """Return the id of the workflow that would start, "" for none."""
        return str(self.choice.currentData() or "")

    @property
    def draft(self) -> Draft:
        """The unsent request."""
        return Draft(text=self.box.toPlainText(), attachments=self.strip.attachments())

    def show_draft(self, draft: Draft) -> None:
        """Show an unsent request."""
        self.box.setPlainText(draft.text)
        self.strip.show_attachments(draft.attachments)

    def words(self) -> str:
        """Return what says which workflow is wanted: the text, or the beginning of the first attachment."""
        return self.box.text() or next((item.text[:LONG_PASTE] for item in self.strip.attachments()), "")

    def _on_text(self) -> None:
        self._engine.drafts.keep(COMMAND, self.draft)
        self._show_limit()
        if not self._picked:
            text = self.box.text()
            self.start.setEnabled(True)
            found = by_keyword(text, self._definitions) if text else None
            self.choice.choose(found.id if found else "")
            self._say("workflow.recognised" if found else "")
        self._show_estimate()

    def _on_picked(self, _place: int) -> None:
        self._picked = bool(self.chosen())
        # A choice of the user ends the wait for the model.
        self.start.setEnabled(True)
        self._say("")

    @property
    def _wanted(self) -> WorkflowDefinition | None:
        """The workflow that would start, with whom the user chose."""
        chosen = next((workflow for workflow in self._definitions if workflow.id == self.chosen()), None)
        return with_assistants(chosen, self._assistants) if chosen else None

    def _choose_assistants(self, assistants: dict[str, str]) -> None:
        self._assistants = assistants
        self._show_who()
        self._show_estimate()

    def _fill_who(self) -> None:
        self.who.clear()
        if wanted := self._wanted:
            menu = self.who.choices
            offer_assistants(menu, self._language, self._engine, wanted, self._choose_assistant)

    def _choose_assistant(self, step_id: str, agent_id: str) -> None:
        self._choose_assistants({**self._assistants, step_id: agent_id})

    def _show_who(self) -> None:
        """Show who would do which steps, and the button that changes it."""
        words, wanted = self._language, self._wanted
        who = self._engine.workflows.who_does_what(wanted, words.texts) if wanted else ""
        show_or_hide(self._who, who)
        self.who.setVisible(bool(who))
        self.who.show_words(words("workflow.who.menu"))

    def _on_start(self) -> None:
        words, chosen = self.words(), self.chosen()
        if not words:
            self.box.setFocus()
        elif chosen:
            self._tasks.start("workflow", self._begin(self.box.text(), chosen, self.strip.attachments()))
        elif self.start.isEnabled():
            self.start.setEnabled(False)
            self._say("workflow.looking")
            self._tasks.replace("classify", self._classify(words))

    async def _begin(self, command: str, definition_id: str, attachments: tuple[Attachment, ...]) -> None:
        """Start a workflow, and clear the box for the next command. Raises MootError."""
        self.start.setEnabled(False)
        try:
            wanted, who = (command, definition_id, attachments, self._folder()), self._assistants
            session_id = await self._engine.workflows.start(*wanted, assistants=who)
        finally:
            self.start.setEnabled(True)
        self._picked = False
        self.box.clear()
        self.strip.show_attachments(())
        self.choice.choose("")
        self._say("")
        self.started.emit(session_id)

    async def _classify(self, command: str) -> None:
        """Show the workflow that a model recognises in a command; if it finds none, the user chooses."""
        found = None
        try:
            found = await self._engine.workflows.classify(command)
        finally:
            if command == self.words() and not self._picked:
                self.start.setEnabled(True)
                self._say("workflow.by_model" if found else "workflow.pick")
                if found is not None:
                    self.choice.choose(found.id)
                else:
                    self.choice.setFocus()

    def _show_estimate(self, *, ask: bool = True) -> None:
        """Show what the workflow would cost; `ask` fetches prices that are not known."""
        sent = "\n".join((self.box.text(), *(attachment.text for attachment in self.strip.attachments())))
        wanted = self._wanted
        if not sent.strip() or not wanted:
            self._estimate.hide()
            return
        estimate = self._engine.estimates.workflow(wanted, sent)
        show_or_hide(self._estimate, estimate_text(self._language, estimate, "steps"))
        if ask and estimate.unasked:
            self._tasks.replace("workflow prices", self._ask_prices(estimate.unasked))

    async def _ask_prices(self, pairs: tuple[tuple[str, str], ...]) -> None:
        await self._engine.estimates.ask(pairs)
        self._show_estimate(ask=False)

    def _say(self, key: str) -> None:
        self._hint_key = key
        show_or_hide(self._hint, self._language(key) if key else "")

    def _show_limit(self) -> None:
        """Show a note under Korean text, which none of the models that are ready would understand."""
        self._limit.setVisible(self._english_only and has_hangul(self.box.text()))


class WorkView(QWidget):
    """Shows a workflow at work."""

    def __init__(
        self, language: Language, look: Look, engine: Engine, tasks: Tasks, folder: Callable[[], str]
    ) -> None:
        super().__init__()
        self._language, self._tasks = language, tasks
        self._session: WorkflowSession | None = None
        self.start_box = StartBox(language, look, engine, tasks, folder)
        self._title = ElidedLabel("card_title")
        self._matched, self._done, self._state = Chip(look), Chip(look), Chip(look)
        self._reason = Paragraph("warn")
        acts = engine.pause, engine.resume, engine.stop
        pause, resume, cancel = (partial(self._run, act) for act in acts)
        self.pause = say(button("", "workflow_pause", pause), language, "discussion.pause")
        self.resume = say(button("", "workflow_resume", resume), language, "discussion.resume")
        self.cancel = say(button("", "workflow_cancel", cancel), language, "workflow.cancel")
        for shown, icon in ((self.pause, "pause"), (self.resume, "play"), (self.cancel, "square")):
            shown.dress(look, icon, "text")
        self._buttons = FlowBox()
        self._teach = say(Paragraph("hint"), language, "workflow.teach")
        self.steps = StepList(language, look)
        head = (self._title, 1), self._matched, self._state, self._done
        self._head = frame("", hbox(*head, margins=(0, 6, 0, 0), spacing=8))
        for item in (self.pause, self.cancel, self.resume):
            self._buttons.add(item)
        parts = self.start_box, self._teach, self._head, self._reason, self._buttons, self.steps
        body = frame("", vbox(*parts, STRETCH, margins=(18, 14, 14, 18), spacing=10))
        vbox(scrolling(body), inside=self)

    def show_work(
        self, session: WorkflowSession | None, looks: Sequence[StepLook], *, read_only: bool
    ) -> None:
        """Show a workflow's session, or None."""
        self._session, words = session, self._language
        self.steps.show_steps(looks)
        self._teach.setVisible(session is None)
        for part in (self._head, self.steps, self._buttons):
            part.setVisible(session is not None)
        if session is None:
            self._reason.hide()
            return
        work, status, stands = session.workflow, session.status, resumable(session)
        self._title.setText(visible(work.definition.name))
        each = ((word, replace(work.definition, keywords=(word,))) for word in work.definition.keywords)
        word = next((word for word, definition in each if by_keyword(work.command, (definition,))), "")
        self._matched.set_text(words("workflow.matched", word=word) if word else "")
        text, tone = state_of(session, words)
        self._state.set_text("" if status == Status.RUNNING else text, tone)
        done = words("workflow.done", done=done_count(session), count=len(work.steps))
        self._done.set_text(done, "accent")
        show_or_hide(self._reason, words.reason(session.reason) if session.reason and stands else "")
        editable = not read_only
        left = any(state.state not in STEP_ENDED for state in work.steps)
        # Resume comes where no button was: a second click on Pause must not undo the first.
        if self.pause.hasFocus() and stands:
            self.resume.show()
            self.resume.setFocus()
        self.pause.setVisible(editable and (status == Status.RUNNING or stands))
        self.pause.setEnabled(status == Status.RUNNING)
        self.resume.setVisible(editable and stands)
        self.cancel.setVisible(editable and (status in (Status.RUNNING, Status.WAITING) or stands) and left)
        self._buttons.setVisible(any(not item.isHidden() for item in (self.pause, self.resume, self.cancel)))

    def _run(self, command: Callable[[str], Work], _checked: bool = False) -> None:
        """Run a command of the engine with the session that is shown."""
        if self._session is not None:
            self._tasks.add("workflow", command(self._session.id))


class WorkflowPanel(RightPanel):
    """The panel with the tabs Work and Workflows; `folder` returns the id of the folder where one begins."""

    COMMAND = "workflow"
    WORDS = "panel.tabs.workflow"

    def __init__(
        self, language: Language, look: Look, engine: Engine, tasks: Tasks, folder: Callable[[], str]
    ) -> None:
        work = WorkView(language, look, engine, tasks, folder)
        definitions = DefinitionsView(language, look, engine.workflows.faults, engine.assistants.all)
        pages = {"work": work, "definitions": definitions}
        super().__init__(language, look, "workflow_tabs", pages)
        self.work, self.definitions = work, definitions

    def take_focus(self) -> None:
        """Focus the box that starts a workflow."""
        self.tabs.choose(WORK)
        self.work.start_box.box.setFocus()
