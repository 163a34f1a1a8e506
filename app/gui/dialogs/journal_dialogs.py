"""The dialogs of the journal: all decisions, what the user decided after a council, and later what came of it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.council import FAILED, HELD, RESULTS, Decision
from app.core.text import exact
from app.engine.council.journal import ENOUGH, Score, is_date, is_late, listed, standing_lines, stands
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.lists import TwoLineList
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import Choice, button, scrolling
from app.gui.widgets.text import Paragraph, named, plain_label
from app.gui.widgets.toast import Toasts

DAYS = 30
TONES = {HELD: "ok", FAILED: "error"}


class JournalDialog(AskDialog):
    """Lists all decisions, and how right models and panels have been.

    Emits result_requested(decision id) to enter what came of one, session_requested(session id) to open its council, and
    delete_requested(decision id).
    """

    result_requested = Signal(str)
    session_requested = Signal(str)
    delete_requested = Signal(str)

    def __init__(self, words: Language, look: Look, parent: QWidget) -> None:
        title = words("journal.title")
        super().__init__(
            words, parent, "journal", title, ("result", words("journal.enter")), ("close", "dialog.close")
        )
        self.list = TwoLineList(look, "journal_list")
        self.list.setAccessibleName(title)
        self._none = named("journal_none", Paragraph("hint", text=words("journal.none")))
        self.council = button("link", "journal_open", self._on_open, text=words("journal.open"))
        self.delete = button("link", "journal_delete", self._on_delete, text=words("assistant.delete"))
        self._standing = named("journal_standing", Paragraph("card_text"))
        self._scores = QWidget()
        vbox(
            plain_label("card_title", text=words("journal.standing")),
            Paragraph("hint", text=words("journal.standing.hint")),
            (scrolling(self._standing), 1),
            inside=self._scores,
            spacing=4,
        )
        self.list.currentRowChanged.connect(lambda _row: self._show_buttons())
        self.list.itemActivated.connect(lambda _item: self._on_go())
        self._sessions: Collection[str] = ()
        links = hbox(self.council, self.delete, spacing=14)
        self.arrange(self.heading, (self._none, 1), (self.list, 3), (self._scores, 2), before=links)
        self.toasts = Toasts(self)
        self.resize(620, 520)
        self.list.setFocus()

    def show_decisions(self, decisions: Sequence[Decision], sessions: Collection[str], today: date) -> None:
        """Show the decisions as they are now; `sessions` are the ids of those that can be opened."""
        words = self._words
        self._sessions = sessions
        rows = []
        for one in listed(decisions):
            said = stands(one, today, words)
            tone = "warn" if is_late(one, today) else TONES.get(one.result, "")
            rows.append((one.id, exact(one.decided), " · ".join(filter(None, (said, exact(one.name)))), tone))
        self.list.show_rows(rows)
        self.list.setVisible(bool(rows))
        self._none.setVisible(not rows)
        lines = standing_lines(decisions, words)
        self._standing.setText(
            "\n".join(exact(line) for line in lines) or words("journal.too_few", count=ENOUGH)
        )
        self._scores.setVisible(bool(rows))
        self._show_buttons()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self._on_delete()
        else:
            super().keyPressEvent(event)

    def _show_buttons(self) -> None:
        chosen = self.list.chosen()
        self.go.setEnabled(bool(chosen))
        self.delete.setEnabled(bool(chosen))
        self.council.setEnabled(chosen in self._sessions)

    def _on_go(self) -> None:
        if chosen := self.list.chosen():
            self.result_requested.emit(chosen)

    def _on_delete(self) -> None:
        if chosen := self.list.chosen():
            self.delete_requested.emit(chosen)

    def _on_open(self) -> None:
        self.accept()
        self.session_requested.emit(self.list.chosen())


class DecisionDialog(AskDialog):
    """Asks what was decided, how that will be known and when; emits `kept` with these three."""

    kept = Signal(str, str, str)

    def __init__(
        self, words: Language, look: Look, options: Sequence[str], chosen: str, today: date, parent: QWidget
    ) -> None:
        super().__init__(words, parent, "decision", words("journal.decide"), ("keep", words("journal.keep")))
        self.decided = named("decision_option", Choice(look))
        self.decided.setEditable(True)
        self.decided.addItems(list(options))
        self.decided.setCurrentText(chosen)
        self.sign = named("decision_sign", QLineEdit())
        self.due = named("decision_due", QLineEdit((today + timedelta(days=DAYS)).isoformat()))
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
                lines.append(words("journal.score", name=exact(model), before=before, after=after))
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
