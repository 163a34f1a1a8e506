"""Dialogs of councils: a panel, and the journal.

A panel: its name, who is asked, for how long they debate what is open, and who judges that. The journal: all decisions,
what the user decided after a council, and later what came of it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.catalog import ProviderStatus
from app.core.council import (
    ANY_JUDGE,
    FAILED,
    HELD,
    MAX_COUNCIL_ROUNDS,
    NO_JUDGE,
    RESULTS,
    Decision,
    Panel,
    Participant,
)
from app.core.ids import new_id
from app.core.session import MIN_PARTICIPANTS
from app.core.summary import MIN_ROUNDS
from app.core.texts import exact
from app.engine.council.journal import ENOUGH, Score, is_date, is_late, listed, standing_lines, stands
from app.engine.council.panels import named_apart
from app.engine.debate.setup import MAX_PARTICIPANTS, voice_of
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.settings.lists import TwoLineList
from app.gui.widgets.boxes import STRETCH, empty, frame, hbox, vbox
from app.gui.widgets.controls import Choice, RoundsSlider, TickBox, button, icon_button, scrolling
from app.gui.widgets.form import Field
from app.gui.widgets.model_choice import Facts, ModelButton, ModelMenu, model_text
from app.gui.widgets.notices import Toasts
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, named, plain_label

INDENT = 28


class PanelDialog(AskDialog):
    """Edits a panel; emits `saved` with it. Its name is selected, to be typed over.

    `set_up` are the participants that are chosen in Setup now, who can take the place of the panel's.
    """

    saved = Signal(object)

    def __init__(
        self,
        words: Language,
        look: Look,
        panel: Panel,
        set_up: Sequence[Participant],
        providers: Callable[[], Sequence[ProviderStatus]],
        facts: Facts,
        parent: QWidget,
    ) -> None:
        title = words("panel.edit" if panel.id else "panel.new")
        super().__init__(words, parent, "panel", title, ("save", words("dialog.save")))
        self._panel, self._participants, self._set_up = panel, panel.participants, tuple(set_up)
        name, rounds = named("panel_name", QLineEdit()), plain_label("value", text=str(panel.rounds))
        self._look, self._providers, self._facts = look, providers, facts
        self._who = named("panel_participants", QWidget())
        self._rows = vbox(inside=self._who, spacing=2)
        self.add = button("link", "panel_add_participant", self._on_add, text=words("panel.add_participant"))
        self.take = button("link", "panel_take", self._on_take, text=words("panel.take"))
        compare, judged, debates = (
            named(f"panel_{name}", TickBox(look)) for name in ("compare", "judged", "debates")
        )
        slider = named("panel_rounds", RoundsSlider(Qt.Orientation.Horizontal))
        slider.setRange(MIN_ROUNDS, MAX_COUNCIL_ROUNDS)
        slider.setPageStep(1)
        slider.valueChanged.connect(lambda value: rounds.setText(str(value)))
        self.judge = ModelButton(
            words, look, "panel_judge", providers, facts, automatic="panel.judge.automatic"
        )
        self.judge.chosen.connect(self._on_judge)
        provider, _slash, model = panel.judge.partition("/")
        self._on_judge(provider if model else "", model)
        judged.toggled.connect(self.judge.setEnabled)
        open_ = plain_label("hint", wrap=True, text=words("panel.debates.hint"))
        open_.setIndent(INDENT)
        participants = hbox(plain_label("field", text=words("setup.participants")), STRETCH, self.take)
        self.ask(
            Field("name", name, label="panel.name", fits=bool),
            frame("", vbox(participants, self._who, hbox(self.add, STRETCH), spacing=5)),
            frame(
                "", hbox(plain_label("field", text=words("setup.rounds")), (slider, 1), rounds, spacing=10)
            ),
            Field("compare", compare, text="council.compare.tick"),
            frame("", hbox(judged, self.judge, STRETCH, spacing=4)),
            frame("", vbox(debates, open_, spacing=2)),
            inner=(
                Field("rounds", slider, says="setup.rounds"),
                Field(
                    "judge",
                    judged,
                    text="panel.judged",
                    get=lambda panel: panel.judge != NO_JUDGE,
                    put=lambda on: {"judge": self._judge if on else NO_JUDGE},
                ),
                Field("debates", debates, text="panel.debates"),
            ),
            width=480,
        )
        self.form.fill(panel)
        self.judge.setEnabled(judged.isChecked())
        self._show_participants()
        self.resize(480, self.sizeHint().height())
        name.selectAll()
        name.setFocus()

    def _check(self) -> None:
        self.go.setEnabled(len(self._participants) >= MIN_PARTICIPANTS and self.form.complete)
        self.add.setEnabled(len(self._participants) < MAX_PARTICIPANTS)

    def _show_participants(self) -> None:
        empty(self._rows)
        for place, one in enumerate(self._participants):
            model = model_text(self._words, self._providers(), one.provider, one.model)
            text = f"{exact(one.name)} · {exact(model)}"
            gone = icon_button(self._look, "x", f"panel_remove_{place + 1}", partial(self._on_remove, place))
            name_button(gone, self._words("chat.attachment.remove", name=exact(one.name)))
            row = QWidget()
            hbox((ElidedLabel("card_text", text=text), 1), gone, inside=row, spacing=6)
            self._rows.addWidget(row)
        self._check()
        others = len(self._set_up) >= MIN_PARTICIPANTS and self._set_up != self._participants
        self.take.setVisible(others)

    def _on_add(self) -> None:
        """Open the list of all models to choose one more."""
        menu = ModelMenu(self._words, self._look, self._providers(), self._facts, ("", ""), self.add)
        menu.chosen.connect(self._on_model_chosen)
        menu.open(self.add)

    def _on_model_chosen(self, provider: str, model: str) -> None:
        status = next((one for one in self._providers() if one.config.id == provider), None)
        if status is None:
            return
        seat = Participant(id=new_id(), name=voice_of(status, model), provider=provider, model=model)
        self._participants = (*self._participants, named_apart(seat, self._participants))
        self._show_participants()

    def _on_remove(self, place: int) -> None:
        self._participants = (*self._participants[:place], *self._participants[place + 1 :])
        self._show_participants()
        self.add.setFocus()

    def _on_take(self) -> None:
        self._participants = self._set_up
        self._show_participants()
        self.form.fields["name"].control.setFocus()

    def _on_judge(self, provider: str, model: str) -> None:
        self._judge = f"{provider}/{model}" if provider else ANY_JUDGE
        self.judge.show_model(provider, model)

    def _on_go(self) -> None:
        self.accept()
        self.saved.emit(replace(self._panel, participants=self._participants, **self.form.values()))


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
        option = named("decision_option", Choice(look))
        option.setEditable(True)
        option.addItems(list(options))
        option.setCurrentText(chosen)
        due = named("decision_due", QLineEdit((today + timedelta(days=DAYS)).isoformat()))
        self.ask(
            Field("decided", option, fits=bool),
            Field("sign", named("decision_sign", QLineEdit())),
            Field("due", due, fits=lambda day: not day or is_date(day)),
            labels="journal",
            width=480,
        )

    def _on_go(self) -> None:
        self.accept()
        self.kept.emit(*self.form.values().values())


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
        result, right = named("result_choice", Choice(look)), named("result_right", Choice(look))
        others = [option for option in decision.options if option != decision.decided]
        right.offer([("", words("journal.right.unknown")), *((option, exact(option)) for option in others)])
        self.ask(
            Paragraph("card_text", text="\n".join(lines)),
            Field("result", result, options=[(name, f"journal.result.{name}") for name in RESULTS]),
            Field("right", right, shown_when=lambda: result.currentData() != HELD),
            labels="journal",
            width=480,
        )

    def _on_go(self) -> None:
        self.accept()
        self.settled.emit(*self.form.values().values())
