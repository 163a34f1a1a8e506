"""What stands beside the list of decisions: the chosen one, what came of it, how right its models have been."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QWidget

from app.core.council import FAILED, HELD, Decision
from app.core.provider import last_part
from app.core.texts import exact
from app.engine.debate.replies import LETTERS
from app.engine.decisions.journal import MAX_TEXT, DecisionState, made_at, standing
from app.engine.scores import CALIBRATED, FEW, Score, score_texts, usual_text
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.council_columns import Letter
from app.gui.pages.decisions.decision_rows import (
    ICONS,
    day_text,
    decided_text,
    icon_of,
    kind_text,
    state_text,
    verdict_text,
)
from app.gui.pages.list_page import Details
from app.gui.widgets.badge import Chip, HeadingIcon
from app.gui.widgets.boxes import STRETCH, FlowBox, Part, empty, frame, hbox, thin_line, vbox
from app.gui.widgets.controls import (
    Choice,
    MenuButton,
    ShorteningButton,
    TextBox,
    button,
    icon_button,
    scrolling,
)
from app.gui.widgets.form import Field, Form, Steps
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, named, plain_label, say, set_shown

WEEK, MONTH, DATE, NEVER = "week", "month", "date", "never"
CHANGE, DELETE = "change", "delete"


class DecisionDetails(Details):
    """Shows a decision; emits what the user asks for, with its id.

    Signals: settled(id, result, note), right_chosen(id, option), early(id, WEEK, MONTH, DATE or NEVER),
    asked(id, CHANGE or DELETE), session_requested(id), memo_requested(id), left() for Escape.
    """

    settled = Signal(str, str, str)
    right_chosen = Signal(str, str)
    early = Signal(str, str)
    asked = Signal(str, str)
    session_requested = Signal(str)
    memo_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("decision_details")
        self.setProperty("kind", "right")
        self._language, self._look = language, look
        self._decision: Decision | None = None
        self._scores: Mapping[str, Score] = {}
        self._today, self._can_open = date.min, True
        # The decision whose outcome is entered before its day, or again.
        self._entering = ""
        # The form of the outcome, None while nothing is entered.
        self._form: Form | None = None
        self._steps: Steps | None = None
        # How often the parts have been made.
        self._turn = 0
        self._column = vbox(spacing=9)
        self.area = scrolling(frame("", vbox(self._column, STRETCH, margins=(16, 14, 16, 14))))
        self.memo = button("", "decision_memo", self._on_memo)
        self.memo.dress(look, "file-text", "text", room=6)
        self.open = ShorteningButton("", "decision_open")
        self.open.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.open.clicked.connect(self._on_open)
        self.open.dress(look, "external-link", "text", room=6)
        self._back = say(
            icon_button(look, "chevron-left", "decision_back", self.left.emit), language, tip="journal.back"
        )
        self._back.hide()
        foot = hbox(self.memo, self.open, STRETCH, self._back, margins=(18, 12, 18, 12), spacing=8)
        self._foot = frame("", vbox(thin_line(), foot, spacing=0))
        vbox((self.area, 1), self._foot, inside=self, spacing=0)
        language.changed.connect(self._show)

    @property
    def decision_id(self) -> str:
        """The id of the decision that is shown, "" for none."""
        return self._decision.id if self._decision is not None else ""

    def show_decision(
        self, decision: Decision | None, scores: Mapping[str, Score], today: date, *, can_open: bool
    ) -> None:
        """Show a decision, or how right all models have been; `can_open` says whether its session is there."""
        shown = (decision, scores, today, can_open)
        if shown == (self._decision, self._scores, self._today, self._can_open) and self._steps is not None:
            return
        same = decision is not None and decision.id == self.decision_id
        # What is being written stays while another decision changes.
        written = self._form.values() if same and self._form is not None else {}
        if not same:
            self._entering = ""
            self.area.verticalScrollBar().setValue(0)
        self._decision, self._scores, self._today, self._can_open = shown
        self._show()
        if written:
            self.finish()
        if written and self._form is not None:
            self._form.show_field("note", written["note"])

    def _show(self) -> None:
        words, decision = self._language, self._decision
        self._form = None
        if self._steps is not None:
            self._steps.deleteLater()
        empty(self._column)
        set_shown(self._foot, decision is not None)
        self.memo.setText(words("journal.memo"))
        self.open.show_words(words("journal.open" if self._can_open else "journal.gone"))
        self.memo.setEnabled(self._can_open)
        self.open.setEnabled(self._can_open)
        # The first part now, the others in the next turns of the event loop.
        self._turn += 1
        self._steps = Steps(self, self._build(self._turn))

    def _build(self, turn: int) -> Iterator[None]:
        decision, parts = self._decision, list[Callable[[Decision], QWidget]]()
        if decision is not None:
            parts = [self._head, self._outcome]
            parts += [self._decided] if decision.decided else []
            parts += [self._verdict] if decision.headline and decision.decided else []
            for part in parts:
                self._column.addWidget(part(decision))
                yield
                if turn != self._turn:
                    # Something else is shown by now.
                    return
        self._column.addWidget(self._standing(decision))
        yield

    def finish(self) -> None:
        """Make the parts that are not made yet."""
        if self._steps is not None:
            self._steps.finish()

    # Parts

    def _head(self, decision: Decision) -> QWidget:
        words = self._language
        how = kind_text(decision, words)
        who = ", ".join(map(exact, decision.who))
        more = icon_button(self._look, "ellipsis", "decision_menu")
        name_button(more, words("journal.more"))
        menu = QMenu(more)
        for action in (CHANGE, DELETE):
            menu.addAction(words(f"journal.menu.{action}"), partial(self._ask, action))
        more.setMenu(menu)
        title = named("decision_title", Paragraph("card_title", text=exact(decision.name)))
        above = hbox(
            HeadingIcon(self._look, icon_of(decision), "text_2"),
            (ElidedLabel("hint", text=" · ".join(filter(None, (how, who)))), 1),
            plain_label("hint", text=day_text(made_at(decision), self._today, words)),
            spacing=8,
        )
        return _box(above, hbox((title, 1), (more, 0, Qt.AlignmentFlag.AlignTop), spacing=8))

    def _outcome(self, decision: Decision) -> QWidget:
        """Return the card of what came of a decision, or of when that is asked."""
        state = standing(decision, self._today)
        if state == DecisionState.NOT_DECIDED:
            decide = button("primary", "decision_decide", partial(self._ask, CHANGE))
            decide.setText(self._language("journal.keep_decision"))
            return self._card([*self._state_line(decision), hbox(decide, STRETCH)])
        if state == DecisionState.DUE or self._entering == decision.id:
            return self._due_card(decision, late=state == DecisionState.DUE)
        return self._known(decision) if decision.result else self._waiting(decision)

    def _state_line(self, decision: Decision) -> list[Part]:
        icon, colour = ICONS[standing(decision, self._today)]
        text = state_text(decision, self._today, self._language)
        said = decided_text(decision, self._language) if not decision.decided else ""
        return [self._headed(icon, colour, text), *([Paragraph("card_text", text=said)] if said else [])]

    def _headed(self, icon: str, colour: str, text: str, *more: QWidget) -> QHBoxLayout:
        """Return the first line of a card: an icon, a text, and at the right what else is given."""
        said = plain_label("value", text=text)
        return hbox(HeadingIcon(self._look, icon, colour), said, STRETCH, *more, spacing=8)

    def _due_card(self, decision: Decision, *, late: bool) -> QWidget:
        words = self._language
        note = named("decision_note", TextBox(lines=2, submits=False, longest=MAX_TEXT))
        form = self._form = Form(words, Field("note", note, label="journal.came")).lay_out()
        form.fill(decision)
        true, false = (
            button("", f"decision_{name}", partial(self._on_settled, result), text=words(f"journal.{name}"))
            for name, result in (("true", HELD), ("false", FAILED))
        )
        true.dress(self._look, "circle-check", "ok", room=6)
        false.dress(self._look, "circle-x", "text_2", room=6)
        early = MenuButton(self._look, "clock", "decision_early", chevron=True)
        early.show_words(words("journal.early"))
        for when in (WEEK, MONTH, DATE, NEVER):
            early.choices.addAction(words(f"journal.early.{when}"), partial(self._on_early, when))
        sign = (
            [Paragraph("card_text", text=words("journal.know_by", sign=exact(decision.sign)))]
            if decision.sign
            else []
        )
        head = self._state_line(decision) if late else []
        buttons = FlowBox()
        for each in (true, false, *([early] if not decision.result else [])):
            buttons.add(each)
        return self._card([*head, *sign, form, buttons], late=late)

    def _known(self, decision: Decision) -> QWidget:
        """Return the card of an outcome that is known: one line, the note, and what would have been right."""
        words = self._language
        change = button("link", "decision_change_outcome", partial(self._enter, decision.id))
        change.setText(words("journal.change"))
        state = standing(decision, self._today)
        icon, colour = ICONS[state]
        said = words(f"journal.{'true' if decision.result == HELD else 'false'}")
        said = said if decision.result in (HELD, FAILED) else words("journal.result.unknown")
        when = day_text(decision.known_at, self._today, words)
        text = " · ".join(filter(None, (said, when)))
        parts: list[Part] = [self._headed(icon, colour, text, change)]
        parts += [Paragraph("card_text", text=exact(decision.note))] if decision.note else []
        others = [option for option in decision.options if option != decision.decided]
        if decision.result == FAILED and others:
            right = named("decision_right", Choice(self._look))
            offered = [("", words("journal.right.unknown")), *((option, exact(option)) for option in others)]
            right.offer(offered, decision.right)
            right.setAccessibleName(words("journal.right"))
            right.activated.connect(lambda _row: self.right_chosen.emit(decision.id, right.currentData()))
            parts += [plain_label("field", text=words("journal.right")), right]
        return self._card(parts)

    def _waiting(self, decision: Decision) -> QWidget:
        """Return the card of a decision at which the user looks again later."""
        words = self._language
        now = button(
            "link", "decision_look_now", partial(self._enter, decision.id), text=words("journal.look_now")
        )
        due = day_text(decision.due, self._today, words)
        text = words("journal.look_again_on", date=due) if due else words("journal.never")
        head = self._headed("calendar", "text", text, now)
        sign = words("journal.know_by", sign=exact(decision.sign)) if decision.sign else ""
        return self._card([head, *([Paragraph("card_text", text=sign)] if sign else [])])

    def _decided(self, decision: Decision) -> QWidget:
        words, tile = self._language, Letter(self._look)
        if decision.decided in decision.options:
            place = decision.options.index(decision.decided)
            tile.show_letter(LETTERS[place] if place < len(LETTERS) else "", leads=True)
        else:
            tile.hide()
        sure = words("council.sure", percent=decision.sure) if decision.sure >= 0 else ""
        against = bool(decision.headline) and decision.headline != decision.decided
        against = against and decision.headline in decision.options
        notes = [words("journal.against")] if against else []
        notes += [words("journal.because", why=exact(decision.why))] if decision.why else []
        what = named("decision_decided", Paragraph("card_title", text=exact(decision.decided)))
        said = [named("decision_why", Paragraph("card_text", text="\n".join(notes)))] if notes else []
        return _box(self._section("journal.decided_head", sure), hbox(tile, (what, 1), spacing=10), *said)

    def _verdict(self, decision: Decision) -> QWidget:
        words, chip = self._language, Chip(self._look)
        if decision.unstable:
            chip.set_text(words("council.unstable"), "warn")
        elif decision.state:
            chip.set_text(words(f"council.state.{decision.state}"))
        text = Paragraph("card_text", text=verdict_text(decision, words))
        return _box(self._section("journal.verdict_head", ""), hbox((text, 1), chip, spacing=8))

    def _standing(self, decision: Decision | None) -> QWidget:
        """Return how right the models of a decision have been, or all models."""
        words = self._language
        models = (
            {vote.model: None for vote in decision.votes}
            if decision is not None
            else dict.fromkeys(sorted(self._scores))
        )
        shown = {model: self._scores.get(model, Score()) for model in models}
        known = max((score.count for score in shown.values()), default=0)
        count = words("journal.known", count=known) if known else ""
        parts: list[Part] = [self._section("journal.standing", count)]
        if known < FEW:
            text = words("journal.few", count=known, least=FEW)
            return _box(*parts, named("decision_scores", Paragraph("card_text", text=text)))
        for model, score in shown.items():
            right, sure = score_texts(score, words)
            row = QWidget()
            name = ElidedLabel("value", text=exact(last_part(model)))
            hbox(
                (name, 2),
                (ElidedLabel("meta", text=right), 2),
                (ElidedLabel("hint", text=sure), 3),
                inside=row,
                spacing=8,
            )
            row.setAccessibleName(", ".join(filter(None, (name.text(), right, sure))))
            parts.append(row)
        model, score = max(shown.items(), key=lambda item: item[1].usual_count)
        few = words("journal.few_votes") if known < CALIBRATED else ""
        sentence = " ".join(filter(None, (usual_text(exact(last_part(model)), score, words), few)))
        brier = [
            words(
                "journal.brier",
                name=exact(last_part(one)),
                before=f"{each.before:.2f}",
                after=f"{each.after:.2f}",
            )
            for one, each in shown.items()
            if each.count >= FEW
        ]
        what = named(
            "decision_what_text", Paragraph("hint", text="\n".join((words("journal.standing.hint"), *brier)))
        )
        what.hide()
        ask = button(
            "link", "decision_what", lambda: what.setVisible(what.isHidden()), text=words("journal.what")
        )
        return _box(
            *parts, named("decision_scores", Paragraph("hint", text=sentence)), hbox(ask, STRETCH), what
        )

    def _section(self, key: str, note: str) -> Part:
        title = plain_label("section", text=self._language(key).upper())
        return hbox(title, STRETCH, plain_label("hint", text=note), margins=(0, 6, 0, 0))

    def _card(self, parts: Sequence[Part], *, late: bool = False) -> QFrame:
        card = frame("due" if late else "card", vbox(*parts, margins=(11, 11, 11, 11), spacing=8))
        card.setObjectName("decision_outcome")
        return card

    # Requests

    def _enter(self, decision_id: str) -> None:
        """Ask what came of a decision, before its day or again."""
        self._entering = decision_id
        self._show()
        self.finish()
        if self._form is not None:
            self._form.fields["note"].control.setFocus()

    def _on_settled(self, result: str) -> None:
        note = self._form.values()["note"] if self._form is not None else ""
        self._entering, self._form = "", None
        self.settled.emit(self.decision_id, result, note)

    def _on_early(self, when: str) -> None:
        self._entering = ""
        self.early.emit(self.decision_id, when)

    def _ask(self, action: str) -> None:
        self.asked.emit(self.decision_id, action)

    def _on_memo(self) -> None:
        self.memo_requested.emit(self.decision_id)

    def _on_open(self) -> None:
        self.session_requested.emit(self.decision_id)


def _box(*parts: Part) -> QWidget:
    """Return a part of the page: a column without a frame."""
    return frame("", vbox(*parts, spacing=6))
