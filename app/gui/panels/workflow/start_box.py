"""Where work in steps begins: what is to be done, the workflow that was recognised, and Start."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.core.text import visible
from app.core.texts import has_hangul
from app.core.workflow import WorkflowDefinition
from app.engine.chat.input import MAX_TEXT
from app.engine.workflow.commands import by_keyword
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.composer import TextBox
from app.gui.widgets.controls import Choice, button
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import named, say


class StartBox(QFrame):
    """Takes a command and says which workflow it calls for, which can be changed.

    Signals: start_requested(command, definition id), classify_requested(command) where no keyword tells,
    estimate_wanted() where something else would start, or the user turns to it.
    """

    start_requested = Signal(str, str)
    classify_requested = Signal(str)
    estimate_wanted = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "composer")
        self._language = language
        self._definitions: tuple[WorkflowDefinition, ...] = ()
        self._picked = False
        self._hint_key = ""
        self._title = say(plain_label("field"), language, "workflow.command")
        self.box = say(
            named("workflow_command", TextBox(lines=2, most=6, longest=MAX_TEXT)),
            language,
            name="workflow.command",
            hint="workflow.command.hint",
        )
        self.choice = say(named("workflow_choice", Choice(look)), language, name="workflow.which")
        self.start = say(button("primary", "workflow_start", self._on_start), language, "workflow.start")
        self._hint = Paragraph("hint")
        self._estimate = Paragraph("hint")
        self._limit = say(Paragraph("warn"), language, "chat.not_english")
        self._refused = Paragraph("warn")
        self._english_only = False
        self._lay_out()
        self.box.textChanged.connect(self._on_text)
        self.box.textChanged.connect(self._refused.hide)
        self.box.paste_refused.connect(self._on_paste_refused)
        self.box.submitted.connect(self._on_start)
        self.box.focus_changed.connect(self._on_focus)
        self.choice.activated.connect(self._on_picked)
        for changed in (self.box.textChanged, self.choice.currentIndexChanged, self.box.focus_changed):
            changed.connect(lambda *_: self.estimate_wanted.emit())
        language.changed.connect(self._retranslate)
        self._retranslate()

    def set_definitions(self, definitions: Sequence[WorkflowDefinition]) -> None:
        """Say which workflows there are."""
        if tuple(definitions) != self._definitions:
            kept = self.chosen()
            self._definitions = tuple(definitions)
            self._fill()
            self._choose(kept)

    def set_english_only(self, english_only: bool) -> None:
        """Say so under a command in Korean: whoever works would not understand it."""
        self._english_only = english_only
        self._show_limit()

    def chosen(self) -> str:
        """Return the id of the workflow that would start, "" for none."""
        return str(self.choice.currentData() or "")

    def show_recognised(self, command: str, definition: WorkflowDefinition | None) -> None:
        """Show what a model made of a command; where it made nothing of it the user picks."""
        if command != self.box.text() or self._picked:
            return
        self.set_waiting(False)
        if definition is not None:
            self._choose(definition.id)
        self._say("workflow.by_model" if definition else "workflow.pick")
        if definition is None:
            self.choice.setFocus()

    def show_estimate(self, text: str) -> None:
        """Say what the work will roughly use, "" while nothing would start."""
        self._estimate.setText(text)
        self._estimate.setVisible(bool(text))

    def set_waiting(self, waiting: bool) -> None:
        """Take no second start while the workflow is being looked for, or begun."""
        self.start.setEnabled(not waiting)

    def clear(self) -> None:
        """Be empty again, for the next command."""
        self._picked = False
        self.box.clear()
        self.set_waiting(False)
        self._choose("")
        self._say("")

    def _lay_out(self) -> None:
        self._refused.hide()
        self._limit.hide()
        self._estimate.hide()
        vbox(
            self._title,
            self.box,
            self._hint,
            self._limit,
            self._refused,
            self._estimate,
            hbox(self.choice, STRETCH, self.start, spacing=8),
            inside=self,
            margins=(12, 9, 10, 10),
            spacing=6,
        )
        self._title.setBuddy(self.box)

    def _on_focus(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().polish(self)

    def _on_paste_refused(self, length: int) -> None:
        self._refused.setText(self._language("paste.refused", characters=length, most=MAX_TEXT))
        self._refused.show()

    def _on_text(self) -> None:
        self._show_limit()
        if self._picked:
            return
        text = self.box.text()
        self.start.setEnabled(True)
        found = by_keyword(text, self._definitions) if text else None
        self._choose(found.id if found else "")
        self._say("workflow.recognised" if found else "")

    def _on_picked(self, _place: int) -> None:
        self._picked = bool(self.chosen())
        # Who picks while it is being looked for need not wait for the end of that.
        self.set_waiting(False)
        self._say("")

    def _on_start(self) -> None:
        text, chosen = self.box.text(), self.chosen()
        if not text:
            self.box.setFocus()
        elif chosen:
            self.start_requested.emit(text, chosen)
        elif self.start.isEnabled():
            self.set_waiting(True)
            self._say("workflow.looking")
            self.classify_requested.emit(text)

    def _choose(self, definition_id: str) -> None:
        self.choice.setCurrentIndex(max(0, self.choice.findData(definition_id)))

    def _say(self, key: str) -> None:
        self._hint_key = key
        self._hint.setText(self._language(key) if key else "")
        self._hint.setVisible(bool(key))

    def _show_limit(self) -> None:
        self._limit.setVisible(self._english_only and has_hangul(self.box.text()))

    def _fill(self) -> None:
        self.choice.clear()
        self.choice.addItem(self._language("workflow.choose"), "")
        for one in self._definitions:
            self.choice.addItem(visible(one.name), one.id)

    def _retranslate(self) -> None:
        kept = self.chosen()
        self._fill()
        self._choose(kept)
        self._say(self._hint_key)
