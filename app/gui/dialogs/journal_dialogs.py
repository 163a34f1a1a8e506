"""The dialogs of the journal: what the user decided after a council, and later what came of it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.council import HELD, RESULTS, Decision
from app.core.text import exact
from app.engine.council.journal import ENOUGH, Score, is_date, today
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import vbox
from app.gui.widgets.controls import Choice
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import named

DAYS = 30


class DecisionDialog(AskDialog):
    """Asks what was decided, how that will be known and when; emits `kept` with these three."""

    kept = Signal(str, str, str)

    def __init__(
        self, words: Language, look: Look, options: Sequence[str], chosen: str, parent: QWidget
    ) -> None:
        super().__init__(words, parent, "decision", words("journal.decide"), ("keep", words("journal.keep")))
        self.decided = named("decision_option", Choice(look))
        self.decided.setEditable(True)
        self.decided.addItems(list(options))
        self.decided.setCurrentText(chosen)
        self.sign = named("decision_sign", QLineEdit())
        self.due = named("decision_due", QLineEdit((today() + timedelta(days=DAYS)).isoformat()))
        parts = []
        for field, key in ((self.decided, "decided"), (self.sign, "sign"), (self.due, "due")):
            text = words(f"journal.{key}")
            field.setAccessibleName(text)
            parts.append(vbox(plain_label("field", text=text), field, spacing=5))
        self.decided.editTextChanged.connect(lambda _text: self._check())
        self.due.textChanged.connect(lambda _text: self._check())
        self.arrange(self.heading, *parts, 6)
        self.resize(480, self.sizeHint().height())
        self._check()

    def _check(self) -> None:
        due = self.due.text().strip()
        self.go.setEnabled(bool(self.decided.currentText().strip()) and (not due or is_date(due)))

    def _on_go(self) -> None:
        self.accept()
        self.kept.emit(self.decided.currentText().strip(), self.sign.text().strip(), self.due.text().strip())


class ResultDialog(AskDialog):
    """Asks what came of a decision, and shows how right the models have been; emits `settled(result, right option)`."""

    settled = Signal(str, str)

    def __init__(
        self,
        words: Language,
        look: Look,
        decision: Decision,
        scores: Mapping[str, Score],
        held_up: tuple[int, int],
        parent: QWidget,
    ) -> None:
        super().__init__(words, parent, "result", exact(decision.name), ("keep", words("journal.keep")))
        lines = [words("journal.was", option=exact(decision.decided))]
        lines += [words("journal.sign_was", sign=exact(decision.sign))] if decision.sign else []
        if held_up[1]:
            lines.append(words("journal.held_up", held=held_up[0], count=held_up[1]))
        for model in dict.fromkeys(one.model for one in decision.votes):
            score = scores.get(model, Score())
            if score.count >= ENOUGH:
                before, after = f"{score.before:.2f}", f"{score.after:.2f}"
                lines.append(words("journal.score", model=exact(model), before=before, after=after))
        self.result_box = named("result_choice", Choice(look))
        self.result_box.setAccessibleName(words("journal.result"))
        for one in RESULTS:
            self.result_box.addItem(words(f"journal.result.{one}"), one)
        self.right = named("result_right", Choice(look))
        self.right.setAccessibleName(words("journal.right"))
        self.right.addItem(words("journal.right.unknown"), "")
        for option in decision.options:
            if option != decision.decided:
                self.right.addItem(exact(option), option)
        self._right = QWidget()
        vbox(plain_label("field", text=words("journal.right")), self.right, inside=self._right, spacing=5)
        self.result_box.currentIndexChanged.connect(lambda _place: self._show_right())
        self.arrange(
            self.heading,
            Paragraph("card_text", text="\n".join(lines)),
            vbox(plain_label("field", text=words("journal.result")), self.result_box, spacing=5),
            self._right,
            6,
        )
        self.resize(480, self.sizeHint().height())
        self._show_right()

    def _show_right(self) -> None:
        self._right.setVisible(self.result_box.currentData() != HELD)

    def _on_go(self) -> None:
        self.accept()
        self.settled.emit(self.result_box.currentData(), self.right.currentData())
