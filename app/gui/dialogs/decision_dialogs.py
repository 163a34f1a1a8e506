"""Dialogs of decisions: what was decided in a session, and on which date to look at it again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from PySide6.QtCore import Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from app.core.council import Decision
from app.engine.decisions.journal import MAX_TEXT, is_date
from app.gui.dialogs.ask_dialogs import AskDialog, ValueDialog
from app.gui.display.appearance import Language, Look
from app.gui.widgets.controls import Choice, TextBox
from app.gui.widgets.form import Field
from app.gui.widgets.text import named

DAYS = 30
"""After how many days a new decision asks what came of it."""


class DecisionDialog(AskDialog):
    """Asks what was decided, why, how sure the user is, how one will know and when; emits `kept` with it.

    `entry` is the decision as it is so far; for a new one the option that leads is filled in.
    """

    kept = Signal(object)

    def __init__(
        self,
        words: Language,
        look: Look,
        entry: Decision,
        options: Sequence[str],
        today: date,
        parent: QWidget,
    ) -> None:
        super().__init__(words, parent, "decision", words("journal.decide"), ("keep", words("journal.keep")))
        self._entry = entry
        if not entry.decided:
            due = (today + timedelta(days=DAYS)).isoformat()
            entry = replace(entry, decided=entry.headline, due=entry.due or due)
        option = named("decision_option", Choice(look))
        option.setEditable(True)
        option.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        option.addItems(list(options))
        sure = named("decision_sure", QLineEdit())
        sure.setValidator(QIntValidator(0, 100, sure))
        self.ask(
            Field("decided", option, fits=bool),
            Field("why", named("decision_why_box", TextBox(lines=2, submits=False, longest=MAX_TEXT))),
            Field(
                "sure",
                sure,
                get=lambda one: str(one.sure) if one.sure >= 0 else "",
                put=lambda text: {"sure": int(text) if text else -1},
                fits=lambda text: not text or int(text) <= 100,
            ),
            Field("sign", named("decision_sign", QLineEdit())),
            Field("due", named("decision_due", QLineEdit()), fits=lambda day: not day or is_date(day)),
            labels="journal",
            width=480,
        )
        self.form.fill(entry)
        option.setCurrentText(entry.decided)
        self._check()

    def _on_go(self) -> None:
        self.accept()
        self.kept.emit(replace(self._entry, **self.form.values()))


class DateDialog(ValueDialog):
    """Asks on which date to look at a decision again; emits `given` with it."""

    def __init__(self, words: Language, due: str, parent: QWidget) -> None:
        title = words("journal.early.title")
        super().__init__(words, parent, "date", title, ("save", words("dialog.save")))
        self.before, line = due, named("date_field", QLineEdit(due))
        self.ask(
            Field("due", line, says="journal.early.title", help="journal.date_form", fits=is_date), width=380
        )
