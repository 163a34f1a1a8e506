"""Dialogs for prompts that the user keeps: one edits a prompt, one asks for the values of its variables."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.saved_prompt import SavedPrompt
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language
from app.gui.widgets.boxes import STRETCH, vbox
from app.gui.widgets.controls import TextBox
from app.gui.widgets.text import Paragraph, named, plain_label

LONG_LINES = 5


class SavedPromptDialog(AskDialog):
    """Shows a prompt for editing; emits `changed` with the prompt if it differs."""

    changed = Signal(object)

    def __init__(self, words: Language, prompt: SavedPrompt, parent: QWidget) -> None:
        title = words("saved_prompt.edit" if prompt.id else "settings.saved_prompts.new")
        super().__init__(words, parent, "saved_prompt", title, ("save", words("dialog.save")))
        self._prompt = prompt
        self.name = named("saved_prompt_name", QLineEdit(prompt.name))
        self.name.setAccessibleName(words("saved_prompt.name"))
        self.name.setPlaceholderText(words("saved_prompt.name"))
        self.box = named("saved_prompt_text", TextBox(lines=10, most=10, submits=False))
        self.box.setPlainText(prompt.text)
        self.box.setAccessibleName(words("saved_prompt.text"))
        for edited in (self.name, self.box):
            edited.textChanged.connect(self._check)
        hint = Paragraph("hint", text=words("saved_prompt.hint", example=example(words)))
        self.arrange(self.heading, self.name, hint, self.box, STRETCH)
        self.resize(600, 420)
        self._check()

    def _check(self) -> None:
        self.go.setEnabled(bool(self.name.text().strip() and self.box.text().strip()))

    def _on_go(self) -> None:
        wanted = replace(self._prompt, name=self.name.text().strip(), text=self.box.text())
        self.accept()
        if wanted != self._prompt:
            self.changed.emit(wanted)


def example(words: Language) -> str:
    """Return a variable as it is written in a prompt."""
    return "{" + words("saved_prompt.example") + "}"


class VariablesDialog(AskDialog):
    """Asks for the variables of a prompt; emits `given` with their values. Enter inserts it, Shift+Enter breaks a line."""

    given = Signal(object)

    def __init__(self, words: Language, prompt: SavedPrompt, parent: QWidget) -> None:
        super().__init__(words, parent, "variables", prompt.name, ("insert", words("saved_prompt.insert")))
        self.fields: dict[str, TextBox] = {}
        column = vbox(spacing=6)
        for number, variable in enumerate(prompt.variables):
            lines = LONG_LINES if variable in prompt.long_variables else 1
            field = self.fields[variable] = named(f"variable_{number}", TextBox(lines=lines, most=LONG_LINES))
            field.submitted.connect(self._on_go)
            field.setAccessibleName(prompt.titled(variable))
            column.addWidget(plain_label("field", text=prompt.titled(variable)))
            column.addWidget(field)
        self.arrange(
            self.heading,
            Paragraph("card_text", text=words("saved_prompt.fill" if prompt.text else "server_prompt.fill")),
            column,
            6,
        )
        self.resize(460, self.sizeHint().height())

    def _on_go(self) -> None:
        self.accept()
        self.given.emit({name: one.text() for name, one in self.fields.items()})
