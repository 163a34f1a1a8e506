"""The page of decisions: the list of all, due ones first, chips and a field that filter it, and the details.

The rows, their columns, and what a screen reader says of them; and beside the list the chosen one, what came
of it, how right its models have been.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, partial
from itertools import groupby

from PySide6.QtCore import QObject, QRect, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QBoxLayout, QFrame, QMenu, QSizePolicy, QWidget

from app.core.council import FAILED, HELD, Decision
from app.core.provider import last_part
from app.core.session import CLASSIC_MODES, DebateMode
from app.core.texts import exact, finder, fold
from app.engine.debate.replies import LETTERS
from app.engine.decisions import MAX_TEXT, DecisionState, day_of, listed, made_at, standing
from app.engine.scores import CALIBRATED, FEW, Score, score_texts, usual_text
from app.gui.display.appearance import Language, Look, sized
from app.gui.display.descriptions import KINDS
from app.gui.pages.council.council_columns import Letter
from app.gui.pages.list_page import ALL, WIDE, ActingList, Details, FilterChips, ListPage
from app.gui.widgets import controls
from app.gui.widgets.badge import AVATAR, Chip, HeadingIcon, fill_box, initials, paint_avatar
from app.gui.widgets.boxes import STRETCH, FlowBox, Part, empty, frame, hbox, thin_line, vbox
from app.gui.widgets.composer import SearchBox
from app.gui.widgets.form import Field, Form, Steps
from app.gui.widgets.item_list import ItemDelegate, ItemModel, RowItem
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, named, plain_label, say, set_shown

STYLE = replace(WIDE, right=10)
MOST_AVATARS = 4
STATE, SURE, WHO = 158, 96, 112
"""The widths of the columns in pixels."""
FOR_SURE, FOR_WHO = 470, 640
"""How wide the list must be for the column of how sure, and for that of who took part."""
ICONS = {
    DecisionState.DUE: ("clock", "warn"),
    DecisionState.KEPT: ("calendar", "text"),
    DecisionState.CAME_TRUE: ("circle-check", "ok"),
    DecisionState.FAILED: ("circle-x", "text_2"),
    DecisionState.NOT_DECIDED: ("circle-dashed", "accent"),
}
"""Icon and colour of each state: to have been wrong is no fault, so it is never red."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionItem(RowItem):
    """What the row of a decision shows beside its two lines."""

    who: tuple[str, ...] = ()
    # In percent, -1 where that was not said.
    sure: int = -1
    state: DecisionState = DecisionState.KEPT
    state_text: str = ""
    # Under the state.
    when: str = ""


def icon_of(decision: Decision) -> str:
    """Return the icon of the kind of session in which something was decided."""
    kind = decision.kind if decision.kind in KINDS else "debate"
    return KINDS[kind].icon


def kind_text(decision: Decision, words: Language) -> str:
    """Return in what kind of session something was decided; for a debate, how it was held."""
    if decision.kind == DebateMode.COUNCIL:
        return words("first.answers")
    if decision.kind in CLASSIC_MODES:
        return words.mode(decision.kind)
    return words(f"kind.{decision.kind}") if decision.kind in KINDS else ""


def day_text(iso: str, today: date, words: Language) -> str:
    """Return the day of an ISO 8601 date or time, with its year where it is another one; "" for none."""
    if (day := day_of(iso)) is None:
        return ""
    month = words(f"month.{day.month}")
    key = "day.date" if day.year == today.year else "day.date_year"
    return words(key, day=day.day, month=month, year=day.year)


def when_text(decision: Decision, today: date, words: Language) -> str:
    """Return the date that belongs to the state of a decision, in words."""
    match standing(decision, today):
        case DecisionState.DUE:
            return words("journal.decided_on", date=day_text(made_at(decision), today, words))
        case DecisionState.KEPT:
            return words("journal.look_on", date=day_text(decision.due, today, words)) if decision.due else ""
        case DecisionState.NOT_DECIDED:
            return words("journal.verdict_of", date=day_text(made_at(decision), today, words))
        case _:
            return day_text(decision.known_at, today, words)


def state_text(decision: Decision, today: date, words: Language) -> str:
    """Return how a decision stands, in words."""
    state = standing(decision, today)
    if state == DecisionState.DUE:
        late = (today - date.fromisoformat(decision.due)).days
        key = "journal.look_since" if late else "journal.look_today"
        return words(key, date=day_text(decision.due, today, words))
    return words(f"journal.state.{state}")


def decided_text(decision: Decision, words: Language) -> str:
    """Return what was decided; where nobody decided, what the verdict says."""
    return exact(decision.decided) or words("journal.verdict", text=verdict_text(decision, words))


def verdict_text(decision: Decision, words: Language) -> str:
    """Return what a verdict says, and how many held that."""
    held = sum(vote.after == decision.headline for vote in decision.votes)
    share = words("journal.held_by", count=held, all=len(decision.votes)) if held else ""
    return " · ".join(filter(None, (exact(decision.headline), share)))


class DecisionRows(ItemModel):
    """The decisions under their headings."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self.today = date.min

    def item_of(self, row: Decision) -> DecisionItem:
        words = self._language
        return DecisionItem(
            id=row.id,
            title=exact(row.name),
            second=decided_text(row, words),
            icon=icon_of(row),
            tip=", ".join(map(exact, row.who)),
            who=row.who,
            sure=row.sure,
            state=standing(row, self.today),
            state_text=state_text(row, self.today, words),
            when=when_text(row, self.today, words),
        )

    def text_of(self, row: Decision) -> str:
        return row.name

    def said_of(self, row: Decision) -> str:
        item, words = self.item_of(row), self._language
        sure = words("council.sure", percent=row.sure) if row.sure >= 0 else ""
        said = (item.title, item.second, sure, item.state_text, item.when, ", ".join(map(exact, row.who)))
        return ", ".join(filter(None, said))


class DecisionDelegate(ItemDelegate):
    """Paints a decision in columns: title and decision, who took part, how sure, and how it stands."""

    def __init__(self, language: Language, look: Look, parent: QObject) -> None:
        super().__init__(look, STYLE, parent)
        self._language = language

    def _paint_note(self, painter: QPainter, rect: QRect, item: RowItem, left: int) -> int:
        if not isinstance(item, DecisionItem):
            return super()._paint_note(painter, rect, item, left)
        right = rect.right() - self._style.right
        column = QRect(right - STATE, rect.top(), STATE, rect.height())
        self._paint_state(painter, column, item)
        right = column.left()
        if rect.width() >= FOR_SURE:
            column = QRect(right - SURE, rect.top(), SURE, rect.height())
            if item.sure >= 0:
                self._paint_sure(painter, column, item.sure)
            right = column.left()
        if rect.width() >= FOR_WHO:
            right -= WHO
            shown = zip(item.who[:MOST_AVATARS], initials(item.who), strict=False)
            for place, (name, letters) in enumerate(shown):
                tile = QRect(right + place * (AVATAR + 4), rect.center().y() - AVATAR // 2, AVATAR, AVATAR)
                paint_avatar(painter, tile, name, self._look.tokens.speaker(place), letters)
        return right - 10

    def _paint_state(self, painter: QPainter, column: QRect, item: DecisionItem) -> None:
        icon, colour = ICONS[item.state]
        picture = self._look.picture(icon, colour, 15, painter.device().devicePixelRatioF())
        lines = column.adjusted(22, 8, 0, -8)
        painter.drawPixmap(column.left(), lines.top() + 2, picture)
        top, bottom = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        self._write(painter, lines, item.state_text, sized(painter.font(), 13), colour, top)
        self._write(painter, lines, item.when, sized(painter.font(), 12), "text_2", bottom)

    def _paint_sure(self, painter: QPainter, column: QRect, sure: int) -> None:
        """Paint how sure the user was, as a number over a bar."""
        tokens, text = self._look.tokens, self._language("council.sure", percent=sure)
        lines = column.adjusted(0, 10, -24, -14)
        self._write(painter, lines, text, sized(painter.font(), 12), "text", Qt.AlignmentFlag.AlignTop)
        bar = QRectF(lines.left(), lines.bottom(), lines.width(), 3)
        for width, colour in ((bar.width(), tokens.line), (bar.width() * sure / 100, tokens.text_2)):
            fill_box(painter, QRectF(bar.left(), bar.top(), width, 3), colour, 1.5)


Rates = Mapping[str, Score]
"""How right each model has been, by its "provider/model"."""
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
        self._scores: Rates = {}
        self._today, self._can_open = date.min, True
        # The decision whose outcome is entered before its day, or again.
        self._entering = ""
        # The form of the outcome, None while nothing is entered.
        self._form: Form | None = None
        self._steps: Steps | None = None
        # How often the parts have been made.
        self._turn = 0
        self._column = vbox(spacing=9)
        self.area = controls.scrolling(frame("", vbox(self._column, STRETCH, margins=(16, 14, 16, 14))))
        self.memo = controls.button("", "decision_memo", self._asking(self.memo_requested))
        self.memo.dress(look, "file-text", "text", room=6)
        self.open = controls.ShorteningButton("", "decision_open")
        self.open.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.open.clicked.connect(self._asking(self.session_requested))
        self.open.dress(look, "external-link", "text", room=6)
        self._back = controls.icon_button(look, "chevron-left", "decision_back", self.left)
        say(self._back, language, tip="journal.back").hide()
        foot = hbox(self.memo, self.open, STRETCH, self._back, margins=(18, 12, 18, 12), spacing=8)
        self._foot = frame("", vbox(thin_line(), foot, spacing=0))
        vbox((self.area, 1), self._foot, inside=self, spacing=0)
        language.changed.connect(self._show)

    @property
    def decision_id(self) -> str:
        """The id of the decision that is shown, "" for none."""
        return self._decision.id if self._decision is not None else ""

    def show_decision(self, decision: Decision | None, scores: Rates, today: date, *, can_open: bool) -> None:
        """Show a decision, or how right all models have been; `can_open` says whether its session is
        there.
        """
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

    def _asking(self, signal: SignalInstance, *said: str) -> Callable[[], None]:
        """Return what emits a signal with the id of the decision shown and what else is `said`."""
        return lambda: signal.emit(self.decision_id, *said)

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
        more = controls.icon_button(self._look, "ellipsis", "decision_menu")
        name_button(more, words("journal.more"))
        menu = QMenu(more)
        for action in (CHANGE, DELETE):
            menu.addAction(words(f"journal.menu.{action}"), self._asking(self.asked, action))
        more.setMenu(menu)
        title = named("decision_title", Paragraph("card_title", text=exact(decision.name)))
        icon = HeadingIcon(self._look, icon_of(decision), "text_2")
        said = ElidedLabel("hint", text=" · ".join(filter(None, (how, who))))
        day = plain_label("hint", text=day_text(made_at(decision), self._today, words))
        above = hbox(icon, (said, 1), day, spacing=8)
        return _box(above, hbox((title, 1), (more, 0, Qt.AlignmentFlag.AlignTop), spacing=8))

    def _outcome(self, decision: Decision) -> QWidget:
        """Return the card of what came of a decision, or of when that is asked."""
        state = standing(decision, self._today)
        if state == DecisionState.NOT_DECIDED:
            text, asks = self._language("journal.keep_decision"), self._asking(self.asked, CHANGE)
            decide = controls.button("primary", "decision_decide", asks, text=text)
            return self._card([*self._state_line(decision), hbox(decide, STRETCH)])
        if state == DecisionState.DUE or self._entering == decision.id:
            return self._due_card(decision, late=state == DecisionState.DUE)
        return self._known(decision) if decision.result else self._waiting(decision)

    def _state_line(self, decision: Decision) -> list[Part]:
        icon, colour = ICONS[standing(decision, self._today)]
        text = state_text(decision, self._today, self._language)
        said = decided_text(decision, self._language) if not decision.decided else ""
        return [self._headed(icon, colour, text), *_text(said)]

    def _headed(self, icon: str, colour: str, text: str, *more: QWidget) -> QBoxLayout:
        """Return the first line of a card: an icon, a text, and at the right what else is given."""
        said = plain_label("value", text=text)
        return hbox(HeadingIcon(self._look, icon, colour), said, STRETCH, *more, spacing=8)

    def _due_card(self, decision: Decision, *, late: bool) -> QWidget:
        words = self._language
        note = named("decision_note", controls.TextBox(lines=2, submits=False, longest=MAX_TEXT))
        form = self._form = Form(words, Field("note", note, label="journal.came")).lay_out()
        form.fill(decision)
        buttons = FlowBox()
        known = {HELD: ("true", DecisionState.CAME_TRUE), FAILED: ("false", DecisionState.FAILED)}
        for result, (name, state) in known.items():
            settle = partial(self._on_settled, result)
            came = controls.button("", f"decision_{name}", settle, text=words(f"journal.{name}"))
            came.dress(self._look, *ICONS[state], room=6)
            buttons.add(came)
        early = controls.MenuButton(self._look, "clock", "decision_early", chevron=True)
        early.show_words(words("journal.early"))
        for when in (WEEK, MONTH, DATE, NEVER):
            early.choices.addAction(words(f"journal.early.{when}"), partial(self._on_early, when))
        if not decision.result:
            buttons.add(early)
        head = self._state_line(decision) if late else []
        return self._card([*head, *self._sign(decision), form, buttons], late=late)

    def _sign(self, decision: Decision) -> list[Part]:
        """Return by what one will know whether a decision was right, nothing where that was not said."""
        return _text(self._language("journal.know_by", sign=exact(decision.sign)) if decision.sign else "")

    def _known(self, decision: Decision) -> QWidget:
        """Return the card of an outcome that is known: one line, the note, and what would have been right."""
        words = self._language
        enter = partial(self._enter, decision.id)
        change = controls.button("link", "decision_change_outcome", enter, text=words("journal.change"))
        state = standing(decision, self._today)
        icon, colour = ICONS[state]
        said = words(f"journal.{'true' if decision.result == HELD else 'false'}")
        said = said if decision.result in (HELD, FAILED) else words("journal.result.unknown")
        when = day_text(decision.known_at, self._today, words)
        text = " · ".join(filter(None, (said, when)))
        parts: list[Part] = [self._headed(icon, colour, text, change), *_text(exact(decision.note))]
        others = [option for option in decision.options if option != decision.decided]
        if decision.result == FAILED and others:
            right = named("decision_right", controls.Choice(self._look))
            offered = [("", words("journal.right.unknown")), *((option, exact(option)) for option in others)]
            right.offer(offered, decision.right)
            right.setAccessibleName(words("journal.right"))
            right.activated.connect(lambda _row: self.right_chosen.emit(decision.id, right.currentData()))
            parts += [plain_label("field", text=words("journal.right")), right]
        return self._card(parts)

    def _waiting(self, decision: Decision) -> QWidget:
        """Return the card of a decision at which the user looks again later."""
        words = self._language
        enter = partial(self._enter, decision.id)
        now = controls.button("link", "decision_look_now", enter, text=words("journal.look_now"))
        due = day_text(decision.due, self._today, words)
        text = words("journal.look_again_on", date=due) if due else words("journal.never")
        return self._card([self._headed("calendar", "text", text, now), *self._sign(decision)])

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
        models = sorted(self._scores) if decision is None else [vote.model for vote in decision.votes]
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
            facts = (ElidedLabel("meta", text=right), 2), (ElidedLabel("hint", text=sure), 3)
            hbox((name, 2), *facts, inside=row, spacing=8)
            row.setAccessibleName(", ".join(filter(None, (name.text(), right, sure))))
            parts.append(row)
        model, score = max(shown.items(), key=lambda item: item[1].usual_count)
        few = words("journal.few_votes") if known < CALIBRATED else ""
        sentence = " ".join(filter(None, (usual_text(exact(last_part(model)), score, words), few)))
        told = [words("journal.standing.hint")]
        for entry, each in shown.items():
            if each.count >= FEW:
                before, after = f"{each.before:.2f}", f"{each.after:.2f}"
                told.append(words("journal.brier", name=exact(last_part(entry)), before=before, after=after))
        what = named("decision_what_text", Paragraph("hint", text="\n".join(told)))
        what.hide()
        ask = controls.button("link", "decision_what", text=words("journal.what"))
        ask.clicked.connect(lambda: what.setVisible(what.isHidden()))
        said = named("decision_scores", Paragraph("hint", text=sentence))
        return _box(*parts, said, hbox(ask, STRETCH), what)

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


def _box(*parts: Part) -> QWidget:
    """Return a part of the page: a column without a frame."""
    return frame("", vbox(*parts, spacing=6))


def _text(text: str) -> list[Part]:
    """Return the paragraph of a text, nothing for none."""
    return [Paragraph("card_text", text=text)] if text else []


DUE = "due"
SEARCH = 190


class DecisionList(ActingList):
    """The list of decisions; acting on one opens its session."""

    def __init__(self, language: Language, look: Look) -> None:
        self.decisions = DecisionRows(language)
        super().__init__(look, "decisions_list", STYLE, self.decisions)
        self.setItemDelegate(DecisionDelegate(language, look, self))
        self.doubleClicked.connect(lambda _index: self.act(self.current_id()))


class DecisionsPage(ListPage):
    """Lists all decisions; the details of the chosen one emit what the user asks for.

    Signals: delete_requested(id) and change_requested(id) from the list.
    """

    def __init__(self, language: Language, look: Look) -> None:
        self.list = say(DecisionList(language, look), language, name="journal.title")
        self.details = DecisionDetails(language, look)
        super().__init__(self.list, self.details)
        self.setObjectName("decisions_page")
        self._language = language
        self._decisions: Sequence[Decision] = ()
        self._states: Mapping[str, DecisionState] = {}
        # What the search looks through, by id.
        self._folded: Mapping[str, str] = {}
        self._scores: Rates = {}
        self._sessions: Collection[str] = ()
        self._today = date.min
        self.search = SearchBox(look, "decisions_search")
        say(self.search, language, name="journal.filter", hint="journal.filter")
        self._nothing = say(named("decisions_nothing", plain_label("hint")), language, "side.nothing_found")
        self._chips = FilterChips("decisions", DecisionState)
        self.search.setFixedWidth(SEARCH)
        head = hbox((self._chips, 1), (self.search, 0, Qt.AlignmentFlag.AlignTop), spacing=10)
        self._lay_out_list(language, "decisions", "journal.none", "journal.begin", head, self._nothing)
        self._chips.chosen.connect(self._show_rows)
        self.list.currentItemChanged.connect(lambda _now, _before: self._show_details())
        self.delete_requested, self.change_requested = self.list.delete_requested, self.list.edit_requested
        self.search.textChanged.connect(lambda _text: self._show_rows())
        language.changed.connect(self._show)

    def show_decisions(
        self, decisions: Sequence[Decision], scores: Rates, sessions: Collection[str], today: date
    ) -> None:
        """Show the decisions as they are now; `sessions` are the ids of those that can be opened.

        A verdict on which nobody decided goes with its session.
        """
        found = [each for each in decisions if each.decided or each.id in sessions]
        self._decisions = listed(found, today)
        self._states = {each.id: standing(each, today) for each in found}
        texts = ((each, each.decided or each.headline) for each in found)
        self._folded = {each.id: _folded(each.name, text, each.why, each.note) for each, text in texts}
        self._scores, self._sessions, self._today = scores, sessions, today
        self._show()

    def choose(self, decision_id: str) -> None:
        """Show a decision, whatever the filter; without an id the first that is due."""
        if decision_id and self.list.rows.row_of(decision_id) < 0:
            self.search.clear()
            self._chips.show_all()
            self._show_rows()
        first = self._decisions[0].id if self._decisions else ""
        if not self.list.choose(decision_id or first):
            self._show_details()
        self._cover(bool(decision_id))

    def summary(self) -> str:
        """Return how many are due, and how many came true, in words."""
        words, count = self._language, Counter(self._states.values())
        known = count[DecisionState.CAME_TRUE] + count[DecisionState.FAILED]
        due = words("journal.due_count", count=count[DecisionState.DUE]) if count[DecisionState.DUE] else ""
        true = words("journal.came_true", count=count[DecisionState.CAME_TRUE], all=known) if known else ""
        return " · ".join(filter(None, (due, true)))

    # Display

    def _show(self) -> None:
        words = self._language
        counts = Counter(self._states.values())
        key = "journal.state."
        self._chips.show_counts(counts, lambda name: words(f"{key}{name}" if name else "journal.all"))
        self._show_some(bool(self._decisions))
        self._show_rows(anew=True)

    def _show_rows(self, *, anew: bool = False) -> None:
        """Show those that fit chips and field, due ones first, then by month; `anew`
        if their texts may have changed.
        """
        fits, rows = finder(self.search.text()), list[Decision | str]()
        found = (each for each in self._decisions if fits(self._folded[each.id]))
        shown = [each for each in found if self._chips.value in (ALL, self._states[each.id])]
        for month, group in groupby(shown, self._month_of):
            decisions = list(group)
            rows += [f"{self._heading(month)}  {len(decisions)}", *decisions]
        self.list.decisions.today = self._today
        if anew or rows != self.list.rows.rows:
            self.list.show_rows(rows)
            set_shown(self._nothing, not rows)
        if self.isVisible():
            self._show_details()

    def _month_of(self, decision: Decision) -> str:
        """Return the month in which something was decided, DUE for what is due, "" for none known."""
        return DUE if self._states[decision.id] == DecisionState.DUE else made_at(decision)[:7]

    def _heading(self, month: str) -> str:
        words = self._language
        if month == DUE:
            return words("journal.state.due")
        if not month:
            return words("journal.before")
        return words("day.month", month=words(f"month.{int(month[5:])}"), year=month[:4])

    def _show_details(self) -> None:
        chosen = self.list.current_id()
        decision = next((each for each in self._decisions if each.id == chosen), None)
        there = decision is not None and decision.id in self._sessions
        self.details.show_decision(decision, self._scores, self._today, can_open=there)


@lru_cache(maxsize=2_000)
def _folded(*texts: str) -> str:
    # Kept, because most decisions stay as they are when one changes.
    return fold("\n".join(texts))
