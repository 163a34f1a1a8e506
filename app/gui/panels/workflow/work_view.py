"""The panel's Work: where a workflow begins, and the one shown with its steps and who is busy."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.session import Status, WorkflowSession
from app.core.text import visible
from app.core.workflow import STEP_ENDED
from app.engine.workflow.commands import by_keyword
from app.gui.display.i18n import Language
from app.gui.display.session_kinds import state_of
from app.gui.display.style import Look
from app.gui.panels.workflow.busy_list import BusyList
from app.gui.panels.workflow.start_box import StartBox
from app.gui.panels.workflow.step_display import StepLook, done_count
from app.gui.panels.workflow.step_list import StepList
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import STRETCH, FlowBox, hbox, vbox
from app.gui.widgets.controls import button, scrolling
from app.gui.widgets.label import ElidedLabel, Paragraph
from app.gui.widgets.wording import say


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
        self.pause = button("", "workflow_pause", self.pause_requested)
        self.pause.dress(look, "pause", "text")
        self.resume = button("", "workflow_resume", self.resume_requested)
        self.resume.dress(look, "play", "text")
        self.cancel = say(button("", "workflow_cancel", self.cancel_requested), language, "workflow.cancel")
        self.cancel.dress(look, "square", "text")
        self._buttons = FlowBox()
        self._head = QWidget()
        self._teach = say(Paragraph("hint"), language, "workflow.teach")
        self.steps = StepList(language, look)
        self.busy = BusyList(language, look)
        self._lay_out()
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_work(
        self, session: WorkflowSession | None, looks: Sequence[StepLook], *, read_only: bool
    ) -> None:
        """Show a workflow's session as it is, None where none is open."""
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
        for one in (self.pause, self.resume, self.cancel):
            self._buttons.add(one)
        vbox(
            self.start_box,
            self._teach,
            self._head,
            self._reason,
            self._buttons,
            self.steps,
            4,
            self.busy,
            STRETCH,
            inside=body,
            margins=(18, 14, 14, 18),
            spacing=10,
        )
        vbox(scrolling(body), inside=self)

    def _retranslate(self) -> None:
        words, session = self._language, self._session
        for one, key in ((self.pause, "pause"), (self.resume, "resume")):
            one.setText(words(f"discussion.{key}"))
        self._teach.setVisible(session is None)
        for part in (self._head, self.steps, self.busy, self._buttons):
            part.setVisible(session is not None)
        if session is None:
            self._reason.hide()
            return
        work, status = session.workflow, session.status
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
        reason = words.reason(session.reason) if session.reason and status == Status.PAUSED else ""
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        editable = not self._read_only
        left = any(state.state not in STEP_ENDED for state in work.steps)
        self.pause.setVisible(editable and status == Status.RUNNING)
        self.resume.setVisible(editable and status == Status.PAUSED)
        self.cancel.setVisible(
            editable and status in (Status.RUNNING, Status.WAITING, Status.PAUSED) and left
        )
        self._buttons.setVisible(any(not one.isHidden() for one in (self.pause, self.resume, self.cancel)))
