"""What can be done next with a decision, in one row: the next step with its price, all others in a menu,
and the input.

Above it stands how far the decision is, and what must be said about it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QSizePolicy, QWidget

from app.core.council import ANY_JUDGE, MIN_PARTICIPANTS
from app.core.message import CouncilPart
from app.core.provider import ProviderStatus
from app.core.session import Status, paused_text, resumable
from app.core.texts import unmarked
from app.engine.council.commands import MAX_TEXT
from app.engine.council.director import comparison_due
from app.engine.council.outcome import State, state_text, who_may_join
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import checking
from app.gui.pages.council.blind_pick import BlindStep, step_of
from app.gui.pages.council.council_box import DOING, TONES, Judged
from app.gui.pages.council.council_columns import People
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import hbox, put_in_tab_order, thin_line, vbox
from app.gui.widgets.composer import Composer
from app.gui.widgets.controls import Button, MenuButton, ShorteningButton, TextBox, button, ticked
from app.gui.widgets.text import Paragraph, named, plain_tip, restyle

MORE = {
    "compare": "list-checks",
    "merge": "spline",
    "again": "refresh-cw",
    "stress": "shield-question-mark",
    "check": "search",
    "join": "plus",
    "blind": "eye-off",
}
"""What can be done, in the order of the menu, with its icon."""
ASKED_FOR = {"pause": "pause", "resume": "play", "debate": "scale", "join": "plus", "stress": MORE["stress"]}
"""The next steps that the decision asks for, with their icons; the first one that is offered is the next."""
NEXT = ASKED_FOR | MORE
NOTED = ("skip_check", "allow", "connect")
"""What helps where something is said about it."""
WORDY = 560
KEPT, FIXED, SHORTENED = QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred


def put_into_bar(*ways: QWidget) -> None:
    """Make buttons as high as the input beside them; the last one is the menu of what else can be done."""
    for way in ways:
        way.setProperty("bar", "menu" if way is ways[-1] else "step")
    fit_bar(ways, WORDY)


def fit_bar(ways: Sequence[QWidget], width: int) -> None:
    """Keep the words of the buttons in a bar whole, unless there is hardly room for them."""
    for way in ways:
        way.setSizePolicy(KEPT if width >= WORDY and way is not ways[-1] else SHORTENED, FIXED)


class Target(MenuButton):
    """Whom a message is for: `to` is the id of who alone is asked, "" for all; emits `changed`.

    The focus goes on to the `box` in which it is written.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look, name: str, box: TextBox) -> None:
        super().__init__(look, "users", name, chevron=True)
        self._language, self._names = language, {"": ""}
        self.to = ""
        self.setSizePolicy(SHORTENED, FIXED)
        self.choices.aboutToShow.connect(self._fill)
        self.changed.connect(lambda: box.setFocus())

    def show_people(self, people: People) -> str:
        """Offer all or one of these; return the name of whom it is for."""
        words = self._language
        self._names = {"": words("council.everyone")} | {who: person.name for who, person in people.items()}
        self.to = self.to if self.to in people else ""
        name = self._names[self.to]
        self.show_words(unmarked(name))
        self.setAccessibleName(words("council.target", name=name))
        return name

    def ask_only(self, who: str) -> None:
        """Ask one participant alone, "" for all."""
        self.to = who
        self.changed.emit()

    def _fill(self) -> None:
        self.clear()
        for who, name in self._names.items():
            ticked(self.choices, unmarked(name), who == self.to, partial(self.ask_only, who))


def put_first(target: Target, composer: Composer, before: Sequence[QWidget] = ()) -> QBoxLayout:
    """Put an input in one row, with whom it is for before it; return the row.
    The focus comes there from what stands `before`.
    """
    row = composer.put_in_one_row()
    row.insertWidget(0, target, 0, Qt.AlignmentFlag.AlignBottom)
    put_in_tab_order((*before, target))
    # Qt puts nothing before the box while its frame, which has it as focus proxy, stands between them.
    put_in_tab_order((target, composer.send))
    put_in_tab_order((target, composer.box))
    return row


class FollowUp(Composer):
    """The input in one row, with whom it is for before it."""

    def __init__(self, language: Language, look: Look, box_name: str, button_name: str) -> None:
        self._language = language
        super().__init__(look, box_name=box_name, button_name=button_name, box=TextBox(longest=MAX_TEXT))
        self.setObjectName("decision_input")
        self.target = Target(language, look, "decision_target", self.box)
        row = put_first(self.target, self)
        row.insertWidget(1, thin_line(width=1, height=20), 0, Qt.AlignmentFlag.AlignVCenter)

    def show_for(self, people: People, *, price: str, running: bool) -> None:
        """Offer to ask all or one of these, for a price; while it is `running` nothing can be asked."""
        words, name = self._language, self.target.show_people(people)
        only = words("council.placeholder.only", name=name)
        asks = only if self.target.to else words("council.placeholder")
        said, cost = (words("council.wait"), "") if running else (asks, price)
        self.set_words(said, cost, words("discussion.send"))
        if running or self.box.text():
            self.send.setEnabled(not running)


class DecisionBar(QWidget):
    """Shows how a decision stands, and what can be done.

    Emits asked(what) with a name of NEXT or NOTED, judge_chosen("provider/model", ANY_JUDGE or NO_JUDGE),
    fork_requested(round, verdict): 0 for the answers, and the number of a verdict or 0.
    """

    asked = Signal(str)
    judge_chosen = Signal(str)
    fork_requested = Signal(int, int)

    def __init__(self, language: Language, look: Look, follow_up: FollowUp) -> None:
        super().__init__()
        self._language, self._look, self._follow_up = language, look, follow_up
        self._chip = Chip(look, self)
        self._words = Paragraph("hint")
        self._notes: dict[str, Button] = {}
        for name in NOTED:
            self._notes[name] = button("link", f"council_{name}", partial(self.asked.emit, name))
        self._offers: dict[str, str] = {}
        self._judges: Mapping[str, str] = {}
        self._judge, self._rounds, self._what = ANY_JUDGE, -1, ""
        self._verdicts: Sequence[int] = ()
        self.next = ShorteningButton("primary", "decision_next")
        self.next.clicked.connect(lambda: self.asked.emit(self._what))
        self.more = MenuButton(look, "ellipsis", "decision_more", chevron=True)
        put_into_bar(self.next, self.more)
        self.more.choices.aboutToShow.connect(self._fill)
        self.hide_names = QAction(self, checkable=True)
        self.hide_names.setObjectName("council_hide_names")
        self._doing: frozenset[str] = frozenset()
        self._said: Callable[[], None] | None = None
        self._line = QWidget()
        low, middle = Qt.AlignmentFlag.AlignBottom, Qt.AlignmentFlag.AlignVCenter
        hbox(self._chip, (self._words, 1, middle), *self._notes.values(), inside=self._line, spacing=10)
        row = hbox((self.next, 0, low), (self.more, 0, low), (follow_up, 1), spacing=8)
        vbox(self._line, row, inside=self, spacing=6)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        fit_bar((self.next, self.more), self.width())

    def show_state(
        self,
        shown: Judged,
        judges: Mapping[str, str],
        judge: str,
        *,
        helper: str,
        could: ProviderStatus | None,
        lacks: str,
        verdicts: Sequence[int],
        read_only: bool,
        plain: bool,
    ) -> None:
        """Show how far a decision is, and what can be done, each with its price.

        `judges` are those who could judge with their names, and `judge` the one that is chosen. Where there
        is no `helper` to compare answers, which `lacks` says, a provider can be added. `could` is one that
        could compare them if it might read any session. `verdicts` are the numbers of those before the last
        question. On a `plain` page something else is the next step.
        """
        session, result, words = shown.session, shown.result, self._language
        council = session.debate.council
        running, paused = session.status == Status.RUNNING, resumable(session)
        idle, enough = not running and not paused, result.answered >= MIN_PARTICIPANTS
        agreed = result.state in (State.SETTLED, State.AGREED_ONE_FAMILY) and not result.stop
        compared = any(item.part == CouncilPart.DIFFERENCES and item.data for item in shown.messages.values())
        late = "differences" in result.degraded or result.answered < result.asked or not compared
        helped = idle and enough and bool(helper)
        offered = {
            "pause": running,
            "resume": paused,
            "debate": helped and result.is_open,
            "join": idle and enough and who_may_join(shown.record, result) is not None,
            "stress": helped,
            "compare": helped and late,
            "merge": helped,
            "again": idle,
            "check": helped and bool(shown.outsider),
            "blind": helped and "blind" in shown.prices,
            "skip_check": checking(session),
            "connect": idle and (not (helper or could) or (helped and agreed and not shown.outsider)),
            "allow": idle and enough and could is not None and not helper,
        }
        named_so = {"stress": "council.counter"} if agreed else {}
        self._offers = {}
        for name in (*NEXT, *NOTED):
            if offered[name] and not read_only:
                text = words(named_so.get(name, f"council.{name}"))
                if name == "debate" and council is not None and shown.record.rounds:
                    text = words("council.debate_more", count=council.offered_rounds)
                self._offers[name] = " · ".join(filter(None, (text, shown.prices.get(name, ""))))
        possible = (name for name in NEXT if name in self._offers and (agreed or name != "stress"))
        self._what = what = next(possible, "")
        self._judges, self._judge, self._verdicts = judges, judge, verdicts
        self._rounds = shown.record.rounds if idle and not read_only and result.answered else -1
        self.more.show_words(words("verdict.more"))
        self.hide_names.setText(words("council.hide_names"))
        self.next.setVisible(bool(what))
        if what:
            coloured = what in ASKED_FOR and not plain
            restyle(self.next, kind="primary" if coloured else "")
            self.next.dress(self._look, NEXT[what], "on_accent" if coloured else "text_2")
            rounds = words("verdict.rounds", count=council.offered_rounds) if council is not None else ""
            tip = rounds if what == "debate" else self._hint(what)
            self.next.show_words(self._offers[what], plain_tip(tip), short=shown.prices.get(what, ""))
            self.next.setAccessibleDescription(tip)
        self._said = partial(self._show_said, shown, "" if helper else lacks, whole=idle and enough)
        self._said()
        for name, note in self._notes.items():
            note.setText(self._offers.get(name, ""))
            note.setVisible(name in self._offers)
        # A plain page says itself how the decision stands.
        self._line.setVisible(not (plain and idle and enough) or any(name in self._offers for name in NOTED))

    def show_doing(self, parts: Iterable[str]) -> None:
        """Say that all vote, that a model judges and so on, where these parts are being written."""
        if (now := frozenset(parts)) != self._doing:
            self._doing = now
            if self._said is not None:
                self._said()

    def _hint(self, what: str) -> str:
        """Return what a step does, "" where its name says it."""
        key = f"council.{what}.hint"
        return self._language(key) if key in self._language.texts else ""

    def _show_said(self, shown: Judged, lacks: str, *, whole: bool) -> None:
        """Say how a decision stands; it is `whole` once all calls have ended and there is something
        to compare.
        """
        session, result, words = shown.session, shown.result, self._language
        if whole:
            self._chip.set_text(state_text(result, words), TONES.get(State(result.state), "warn"))
            key = f"council.state.{result.state}.{result.against or 'hint'}"
            self._words.setText(lacks or words(key))
            return
        council, running = session.debate.council, session.status == Status.RUNNING
        said = words("council.answered", count=result.answered, asked=result.asked)
        if resumable(session):
            said = " · ".join(filter(None, (paused_text(session, words.texts), said)))
        elif running and step_of(shown) == BlindStep.WRITING:
            said = words("blind.writing")
        elif running and result.answered == result.asked >= MIN_PARTICIPANTS:
            debates = council is not None and council.rounds > council.debated
            debates = debates and not comparison_due(shown.record)
            said = words("council.debating" if debates else "council.comparing")
        if running and (doing := next((DOING[part] for part in DOING if part in self._doing), "")):
            said = words(doing)
        if checking(session):
            said = " · ".join((words.reason(session.reason), said))
        self._chip.set_text("")
        self._words.setText(said)

    def _fill(self) -> None:
        """Fill the menu with what else can be done."""
        words, menu = self._language, self.more.choices
        self.more.clear()
        menu.setToolTipsVisible(True)
        for name, icon in MORE.items():
            if name in self._offers and name != self._what:
                picture, text = self._look.icon(icon), unmarked(self._offers[name])
                action = menu.addAction(picture, text, partial(self.asked.emit, name))
                action.setObjectName(f"council_{name}")
                action.setToolTip(plain_tip(self._hint(name)))
        menu.addSeparator()
        if "debate" in self._offers:
            group = QActionGroup(menu)
            inside = named("council_judge", QMenu(words("council.judge.choose"), menu))
            for judge, text in self._judges.items():
                act = partial(self.judge_chosen.emit, judge)
                group.addAction(ticked(inside, unmarked(text), judge == self._judge, act))
            menu.addMenu(inside)
        menu.addAction(self.hide_names)
        if self._rounds >= 0:
            forks = named("council_fork", QMenu(words("council.fork"), menu))
            for number in range(self._rounds + 1):
                key = "council.fork.round" if number else "council.fork.answers"
                forks.addAction(words(key, round=number), partial(self.fork_requested.emit, number, 0))
            # After a further question the rounds before it are reached by their verdict.
            for number in self._verdicts:
                text = words("council.fork.verdict", number=number)
                forks.addAction(text, partial(self.fork_requested.emit, 0, number))
            menu.addMenu(forks)
