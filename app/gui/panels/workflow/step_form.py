"""The form of a workflow's step: name, role, prompt, dependencies, and what a skip means."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.core.workflow import WhenSkipped, WorkflowStep
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.choices import ChipList, ChipOption
from app.gui.widgets.controls import Choice, TextBox, icon_button
from app.gui.widgets.text import name_button, named, plain_label, show_or_hide

MOST_NAME = 60


class StepForm(QFrame):
    """Shows a step for editing. Signals: changed(), moved(step), removed()."""

    changed = Signal()
    moved = Signal(int)
    removed = Signal()

    def __init__(self, language: Language, look: Look, place: int) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._language = language
        self._step = WorkflowStep(id="", name="", role="", prompt="")
        self._place = place
        self.name = named(f"step_name_{place}", QLineEdit())
        self.role = named(f"step_role_{place}", QLineEdit())
        for line in (self.name, self.role):
            line.setMaxLength(MOST_NAME)
        self.prompt = TextBox(lines=2, most=8, submits=False)
        self.prompt.setObjectName(f"step_prompt_{place}")
        self._after_label = plain_label("hint")
        self.after = ChipList(language, look, f"step_after_{place}")
        self.skipped = Choice(look)
        self.skipped.setObjectName(f"step_skipped_{place}")
        self.up = icon_button(look, "chevron-up", f"step_up_{place}", lambda: self.moved.emit(-1))
        self.down = icon_button(look, "chevron-down", f"step_down_{place}", lambda: self.moved.emit(1))
        self.remove = icon_button(look, "x", f"step_remove_{place}", self.removed)
        self.error = named(f"step_error_{place}", plain_label("error", wrap=True))
        self.error.hide()
        self._lay_out()
        for line in (self.name, self.role):
            line.textEdited.connect(lambda _text: self.changed.emit())
        self.prompt.textChanged.connect(self.changed)
        self.after.changed.connect(self.changed)
        self.skipped.activated.connect(lambda _place: self.changed.emit())

    def show_step(
        self, step: WorkflowStep, others: Sequence[WorkflowStep], count: int, *, fixed: bool
    ) -> None:
        """Show a step out of `count`; `others` are those it can depend on, `fixed` makes it read-only."""
        self._step = step
        with QSignalBlocker(self):
            self.name.setText(step.name)
            self.role.setText(step.role)
            self.prompt.setPlainText(step.prompt)
            for box in (self.name, self.role, self.prompt):
                box.setReadOnly(fixed)
            self.retranslate()
            self.skipped.setCurrentIndex(self.skipped.findData(step.when_skipped))
            self.skipped.setEnabled(not fixed)
            self.offer(others)
            self.after.show_chosen(step.depends_on, fixed=fixed)
            self.up.setEnabled(self._place > 0)
            self.down.setEnabled(self._place < count - 1)
            for tool in (self.up, self.down, self.remove):
                tool.setVisible(not fixed)

    def offer(self, others: Sequence[WorkflowStep]) -> None:
        """Set the steps it can depend on."""
        self.after.set_offers([ChipOption(one.id, one.name or one.id) for one in others])

    def step(self) -> WorkflowStep:
        """Return the step as edited."""
        return replace(
            self._step,
            name=self.name.text().strip(),
            role=self.role.text().strip(),
            prompt=self.prompt.text(),
            depends_on=self.after.chosen(),
            when_skipped=str(self.skipped.currentData() or WhenSkipped.SATISFIES),
        )

    def show_error(self, text: str) -> None:
        """Show what is wrong with the step; "" for nothing."""
        show_or_hide(self.error, text)

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        words, number = self._language, self._place + 1
        kept = self.skipped.currentData() or self._step.when_skipped
        self.skipped.clear()
        for one in (WhenSkipped.SATISFIES, WhenSkipped.BLOCKS):
            self.skipped.addItem(words(f"step.skip.{one}"), one)
        self.skipped.setCurrentIndex(self.skipped.findData(kept))
        self._after_label.setText(words("step.after"))
        self.after.set_words(words("step.after"), words("step.after.none"))
        self.name.setPlaceholderText(words("step.field.name"))
        self.role.setPlaceholderText(words("step.field.role"))
        self.prompt.setPlaceholderText(words("step.field.prompt"))
        named: tuple[tuple[QWidget, str], ...] = (
            (self.name, "step.field.name"),
            (self.role, "step.field.role"),
            (self.prompt, "step.field.prompt"),
            (self.skipped, "step.field.skipped"),
        )
        for widget, key in named:
            widget.setAccessibleName(words("step.of", number=number, field=words(key)))
        for tool, key in ((self.up, "queue.up"), (self.down, "queue.down"), (self.remove, "step.remove")):
            name_button(tool, words("step.of", number=number, field=words(key)))

    def _lay_out(self) -> None:
        head = hbox((self.name, 3), (self.role, 2), spacing=6)
        for tool in (self.up, self.down, self.remove):
            tool.setFixedSize(24, 26)
            head.addWidget(tool)
        vbox(
            head,
            self.prompt,
            hbox(self._after_label, (self.after, 1), spacing=8),
            self.skipped,
            self.error,
            inside=self,
            margins=(10, 9, 10, 9),
            spacing=7,
        )
