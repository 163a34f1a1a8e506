"""The panel of workflows: Work, with the box that starts one, and Workflows as tabs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.core.definitions import STEP_ENDED, Fault, WorkflowDefinition
from app.core.draft import Draft
from app.core.session import Status, WorkflowSession, resumable
from app.core.texts import has_hangul, visible
from app.engine.workflow.commands import by_keyword
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import state_of
from app.gui.files.user_files import LONG_PASTE, pasted_text
from app.gui.pages.chat.message_box import AttachmentStrip
from app.gui.panels.right_panel import RightPanel
from app.gui.panels.workflow.definitions_view import DefinitionsView
from app.gui.panels.workflow.step_list import StepList, StepLook, done_count
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import STRETCH, FlowBox, hbox, vbox
from app.gui.widgets.controls import Choice, TextBox, button, scrolling
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, restyle, say, show_or_hide

WORK, DEFINITIONS = 0, 1


class StartBox(QFrame):
    """Takes a command and shows the workflow recognised in it, which the user can change.

    A long text that is pasted becomes an attachment. Signals: start_requested(command, definition id, attachments),
    classify_requested(command) if no keyword matches, draft_changed(draft), estimate_wanted() when another workflow would
    start, or the box gets the focus.
    """

    start_requested = Signal(str, str, object)
    classify_requested = Signal(str)
    draft_changed = Signal(object)
    estimate_wanted = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "composer")
        self._language = language
        self._definitions: tuple[WorkflowDefinition, ...] = ()
        self._picked = False
        self._hint_key = ""
        self._title = say(plain_label("field"), language, "workflow.command")
        self.box = named("workflow_command", TextBox(lines=2, most=6, longest_paste=LONG_PASTE))
        say(self.box, language, name="workflow.command", hint="workflow.command.hint")
        self.choice = say(named("workflow_choice", Choice(look)), language, name="workflow.which")
        self.start = say(button("primary", "workflow_start", self._on_start), language, "workflow.start")
        self._hint = Paragraph("hint")
        self._estimate = Paragraph("hint")
        self._limit = say(Paragraph("warn"), language, "chat.not_english")
        self.strip = named("workflow_attachments", AttachmentStrip(language, look))
        self._english_only = False
        self._lay_out()
        for changed in (self.box.textChanged, self.strip.changed):
            changed.connect(self._on_text)
        self.box.long_text_given.connect(lambda text: self.strip.add((pasted_text(text, language),)))
        self.box.submitted.connect(self._on_start)
        self.box.focus_changed.connect(lambda focused: restyle(self, focused=focused))
        self.choice.activated.connect(self._on_picked)
        for changed in (
            self.box.textChanged,
            self.strip.changed,
            self.choice.currentIndexChanged,
            self.box.focus_changed,
        ):
            changed.connect(lambda *_: self.estimate_wanted.emit())
        language.changed.connect(self._retranslate)
        self._retranslate()

    def set_definitions(self, definitions: Sequence[WorkflowDefinition]) -> None:
        """Set the workflows to choose from."""
        if tuple(definitions) != self._definitions:
            self._definitions = tuple(definitions)
            self._fill()
            self.estimate_wanted.emit()

    def set_english_only(self, english_only: bool) -> None:
        """Show a note under Korean text, which the model would not understand."""
        self._english_only = english_only
        self._show_limit()

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
        return self.box.text() or next((one.text[:LONG_PASTE] for one in self.strip.attachments()), "")

    def show_recognised(self, command: str, definition: WorkflowDefinition | None) -> None:
        """Show the workflow a model recognised in a command; None lets the user choose."""
        if command != self.words() or self._picked:
            return
        self.set_waiting(False)
        if definition is not None:
            self.choice.choose(definition.id)
        self._say("workflow.by_model" if definition else "workflow.pick")
        if definition is None:
            self.choice.setFocus()

    def show_estimate(self, text: str) -> None:
        """Show the estimate of the work, "" for none."""
        show_or_hide(self._estimate, text)

    def set_waiting(self, waiting: bool) -> None:
        """Disable Start while the workflow is being recognised or started."""
        self.start.setEnabled(not waiting)

    def clear(self) -> None:
        """Clear the box for the next command."""
        self._picked = False
        self.box.clear()
        self.strip.show_attachments(())
        self.set_waiting(False)
        self.choice.choose("")
        self._say("")

    def _lay_out(self) -> None:
        self._limit.hide()
        self._estimate.hide()
        vbox(
            self._title,
            self.strip,
            self.box,
            self._hint,
            self._limit,
            self._estimate,
            hbox(self.choice, STRETCH, self.start, spacing=8),
            inside=self,
            margins=(12, 9, 10, 10),
            spacing=6,
        )
        self._title.setBuddy(self.box)

    def _on_text(self) -> None:
        self.draft_changed.emit(self.draft)
        self._show_limit()
        if self._picked:
            return
        text = self.box.text()
        self.start.setEnabled(True)
        found = by_keyword(text, self._definitions) if text else None
        self.choice.choose(found.id if found else "")
        self._say("workflow.recognised" if found else "")

    def _on_picked(self, _place: int) -> None:
        self._picked = bool(self.chosen())
        # A choice of the user ends the wait for the model.
        self.set_waiting(False)
        self._say("")

    def _on_start(self) -> None:
        words, chosen = self.words(), self.chosen()
        if not words:
            self.box.setFocus()
        elif chosen:
            self.start_requested.emit(self.box.text(), chosen, self.strip.attachments())
        elif self.start.isEnabled():
            self.set_waiting(True)
            self._say("workflow.looking")
            self.classify_requested.emit(words)

    def _say(self, key: str) -> None:
        self._hint_key = key
        show_or_hide(self._hint, self._language(key) if key else "")

    def _show_limit(self) -> None:
        self._limit.setVisible(self._english_only and has_hangul(self.box.text()))

    def _fill(self) -> None:
        offered = [(each.id, visible(each.name)) for each in self._definitions]
        self.choice.offer([("", self._language("workflow.choose")), *offered])

    def _retranslate(self) -> None:
        self._fill()
        self._say(self._hint_key)


class WorkView(QWidget):
    """Shows a workflow at work.

    Signals: pause_requested(), resume_requested(), cancel_requested() of the session shown.
    """

    pause_requested = Signal()
    resume_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._session: WorkflowSession | None = None
        self._read_only = False
        self.start_box = StartBox(language, look)
        self._title = ElidedLabel("card_title")
        self._matched, self._done, self._state = Chip(look), Chip(look), Chip(look)
        self._reason = Paragraph("warn")
        self.pause = say(button("", "workflow_pause", self.pause_requested), language, "discussion.pause")
        self.pause.dress(look, "pause", "text")
        self.resume = say(button("", "workflow_resume", self.resume_requested), language, "discussion.resume")
        self.resume.dress(look, "play", "text")
        self.cancel = say(button("", "workflow_cancel", self.cancel_requested), language, "workflow.cancel")
        self.cancel.dress(look, "square", "text")
        self._buttons = FlowBox()
        self._head = QWidget()
        self._teach = say(Paragraph("hint"), language, "workflow.teach")
        self.steps = StepList(language, look)
        self._lay_out()
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_work(
        self, session: WorkflowSession | None, looks: Sequence[StepLook], *, read_only: bool
    ) -> None:
        """Show a workflow's session, or None."""
        self._session, self._read_only = session, read_only
        self.steps.show_steps(looks)
        self._retranslate()

    def _lay_out(self) -> None:
        body = QWidget()
        hbox(
            (self._title, 1),
            self._matched,
            self._state,
            self._done,
            inside=self._head,
            margins=(0, 6, 0, 0),
            spacing=8,
        )
        for one in (self.pause, self.cancel, self.resume):
            self._buttons.add(one)
        vbox(
            self.start_box,
            self._teach,
            self._head,
            self._reason,
            self._buttons,
            self.steps,
            STRETCH,
            inside=body,
            margins=(18, 14, 14, 18),
            spacing=10,
        )
        vbox(scrolling(body), inside=self)

    def _retranslate(self) -> None:
        words, session = self._language, self._session
        self._teach.setVisible(session is None)
        for part in (self._head, self.steps, self._buttons):
            part.setVisible(session is not None)
        if session is None:
            self._reason.hide()
            return
        work, status, stands = session.workflow, session.status, resumable(session)
        self._title.setText(visible(work.definition.name))
        word = next(
            (
                one
                for one in work.definition.keywords
                if by_keyword(work.command, (replace(work.definition, keywords=(one,)),))
            ),
            "",
        )
        self._matched.set_text(words("workflow.matched", word=word) if word else "")
        text, tone = state_of(session, words)
        self._state.set_text("" if status == Status.RUNNING else text, tone)
        done = words("workflow.done", done=done_count(session), count=len(work.steps))
        self._done.set_text(done, "accent")
        reason = words.reason(session.reason) if session.reason and stands else ""
        show_or_hide(self._reason, reason)
        editable = not self._read_only
        left = any(state.state not in STEP_ENDED for state in work.steps)
        # Resume comes where no button was: a second click on Pause must not undo the first.
        if self.pause.hasFocus() and stands:
            self.resume.show()
            self.resume.setFocus()
        self.pause.setVisible(editable and (status == Status.RUNNING or stands))
        self.pause.setEnabled(status == Status.RUNNING)
        self.resume.setVisible(editable and stands)
        self.cancel.setVisible(editable and (status in (Status.RUNNING, Status.WAITING) or stands) and left)
        self._buttons.setVisible(any(not one.isHidden() for one in (self.pause, self.resume, self.cancel)))


class WorkflowPanel(RightPanel):
    """The panel with the tabs Work and Workflows; `faults` returns what keeps a definition from running."""

    def __init__(
        self, language: Language, look: Look, faults: Callable[[WorkflowDefinition], list[Fault]]
    ) -> None:
        work, definitions = WorkView(language, look), DefinitionsView(language, look, faults)
        super().__init__(
            language,
            look,
            ("work", "definitions"),
            (work, definitions),
            "workflow_tabs",
            words="panel.tabs.workflow",
            command="workflow",
        )
        self.work, self.definitions = work, definitions

    def take_focus(self) -> None:
        """Focus the box that starts a workflow."""
        self.tabs.choose(WORK)
        self.work.start_box.box.setFocus()
