"""Dialogs of decisions: what was decided in a session, and on which date to look at it again."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.engine.decisions.journal import is_date
from app.gui.dialogs.ask_dialogs import AskDialog, ValueDialog
from app.gui.display.appearance import Language
from app.gui.pages.decisions.your_decision import DecisionForm
from app.gui.widgets.form import Field
from app.gui.widgets.text import named


class DecisionDialog(AskDialog):
    """Asks what was decided; emits `kept` with it."""

    kept = Signal(object)

    def __init__(self, words: Language, form: DecisionForm, parent: QWidget) -> None:
        super().__init__(words, parent, "decision", words("journal.decide"), ("keep", words("journal.keep")))
        self._form = form
        self.arrange(self.heading, form, 6)
        self.resize(480, self.sizeHint().height())
        form.changed.connect(lambda _name: self.go.setEnabled(form.complete))
        self.go.setEnabled(form.complete)

    def _on_go(self) -> None:
        self.accept()
        self.kept.emit(self._form.entry())


class DateDialog(ValueDialog):
    """Asks on which date to look at a decision again; emits `given` with it."""

    def __init__(self, words: Language, due: str, parent: QWidget) -> None:
        title = words("journal.early.title")
        super().__init__(words, parent, "date", title, ("save", words("dialog.save")))
        self.before, line = due, named("date_field", QLineEdit(due))
        self.ask(
            Field("due", line, says="journal.early.title", help="journal.date_form", fits=is_date), width=380
        )
