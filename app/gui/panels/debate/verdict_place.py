"""Where a verdict is read: the verdict with a tab for each so far, or the blind pick in its place.

Also the base of the views of debates and councils, which have such a place.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.core.message import Message
from app.core.session import Debate, DebateSession
from app.engine.council.outcome import reliability
from app.engine.council.verdicts import Given, changed, current, outcomes
from app.engine.names import find_names
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.blind_pick import BlindPickView
from app.gui.pages.council.council_box import Judged, announcement
from app.gui.pages.council.decision_bar import Target
from app.gui.pages.council.decision_steps import DEBATE, DECISION, MARGIN, VERDICT, DecisionSteps
from app.gui.pages.council.verdict_page import VerdictPage
from app.gui.pages.decisions.your_decision import YourDecision
from app.gui.panels.conversation_view import ConversationView, mark_names
from app.gui.transcript.row_text import COMPACT
from app.gui.widgets.boxes import FlowBox, empty, focused_in, frame, hbox, hold_width, vbox
from app.gui.widgets.composer import Composer
from app.gui.widgets.controls import button, scrolling
from app.gui.widgets.notices import announce
from app.gui.widgets.text import Paragraph, named

READ = {"ok": "council.stable", "warn": "council.unstable", "neutral": "council.once"}
"""What a tab says of each tone of how reliable a verdict is that a judge has read."""


class VerdictTabs(QWidget):
    """Shows nothing until there are two verdicts; emits chosen() when another one is wanted."""

    chosen = Signal()

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.setObjectName("verdict_tabs")
        self._language = language
        self._given: Sequence[Given] = ()
        # The number of the verdict that is shown, 0 for the newest.
        self._number = 0
        self._shown: object = None
        self._tabs = vbox(spacing=0)
        self._changes = named("verdict_changes", Paragraph("hint"))
        vbox(self._tabs, self._changes, inside=self, margins=(MARGIN, 8, MARGIN, 0), spacing=6)
        self.hide()

    def show_given(self, given: Sequence[Given]) -> Given | None:
        """Show the verdicts so far, and return the one that is chosen: the newest until the user chooses;
        None for none.
        """
        if len(given) != len(self._given) or [item.debate.topic for item in given[:1]] != self._topics():
            self._number = 0
        self._given = given
        chosen = given[(self._number or len(given)) - 1] if given else None
        number = chosen.number if chosen else 0
        shown = (self._language.texts.language, number, [(item.debate, len(item.messages)) for item in given])
        if shown != self._shown:
            self._shown = shown
            self._draw([self._title(item) for item in given] if len(given) > 1 else [], number)
        return chosen

    def _title(self, given: Given) -> str:
        """Return what a verdict came after, and how reliable it is."""
        words, result = self._language, given.result
        _said, tone = reliability(result, given.record, words)
        return " · ".join((given.title(words), *([words(READ[tone])] if result.judge else [])))

    def _topics(self) -> list[str]:
        return [given.debate.topic for given in self._given[:1]]

    def _draw(self, titles: Sequence[str], number: int) -> None:
        words, given = self._language, self._given
        focused = next((item.objectName() for item in self.findChildren(QWidget) if item.hasFocus()), "")
        self.setVisible(len(given) > 1)
        empty(self._tabs)
        row = FlowBox(gap=8)
        for place, title in enumerate(titles, 1):
            kind = "" if place == number else "plain"
            tab = button(kind, f"verdict_tab_{place}", partial(self._choose, place), text=title)
            tab.setCheckable(True)
            tab.setChecked(place == number)
            row.add(tab)
            if tab.objectName() == focused:
                tab.setFocus()
        self._tabs.addWidget(row)
        lines = changed(given, words) if number == len(given) else []
        heading = words("verdict.changed", number=len(given) - 1)
        self._changes.setText(f"{heading}: {' · '.join(lines)}" if lines else "")
        self._changes.setVisible(bool(lines))

    def _choose(self, number: int) -> None:
        self._number = number
        self.chosen.emit()


ROOMY, BESIDE, WIDEST, PART = 1000, 360, 460, 0.38
"""From what width of the page on the votes and the form of a decision stand beside the verdict, and how wide
they are: at least, at most, and in proportion to the page.
"""


class VerdictPlace(QWidget):
    """Holds the verdict, its tabs and the blind pick; `is_blind` says whether the pick is what is shown."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.verdict = VerdictPage(language, look)
        self.verdicts = VerdictTabs(language)
        self.blind = BlindPickView(language, look)
        self.is_blind = False
        self._read = QWidget()
        vbox(self.verdicts, (self.verdict, 1), inside=self._read, spacing=0)
        vbox((self.blind, 1), (self._read, 1), inside=self, spacing=0)

    def choose(self, judged: Judged, *, may_pick: bool) -> None:
        """Choose the blind pick where it may be made and stands in the place of the verdict,
        else the verdict.
        """
        self.is_blind = may_pick and self.blind.stands(judged, stood=self.is_blind)

    def show_judged(self, judged: Judged, step: str) -> None:
        """Show what was chosen, of a verdict what belongs to the step."""
        if self.is_blind:
            self.blind.show_pick(judged)
        else:
            self.verdict.show_verdict(judged, step)
        self._read.setHidden(self.is_blind)
        self.blind.setVisible(self.is_blind)


class DecisionView(ConversationView):
    """Shows a debate or a council; every request carries the session's id.

    What is open is a step. The pages show all `steps`, one of which is the form of the decision.
    """

    KIND = DebateSession
    # The layout of the transcript, the names of transcript, box and send button, and the steps that a page
    # shows.
    LAYOUT = COMPACT
    PARTS: ClassVar[tuple[str, str, str]]
    STEPS: ClassVar[tuple[str, ...]] = ()
    # How the names of its parts begin that another view has as well: the one in front uses them.
    NAMED: ClassVar[tuple[str, ...]] = ()

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    check_skip_requested = Signal(str)
    decision_requested = Signal(str)

    steps: DecisionSteps
    decision: YourDecision
    target: Target

    def __init__(self, language: Language, look: Look, composer: Composer) -> None:
        super().__init__(language, look, composer, layout=self.LAYOUT, names=self.PARTS)
        self._session: DebateSession | None = None
        self._messages: dict[str, Message] = {}
        # All that was said and voted, and the verdicts so far, the newest last.
        self._now = Given(debate=Debate(topic=""), messages=())
        self._given: Sequence[Given] = ()
        self._step = next(iter(self.STEPS), DEBATE)
        if self.STEPS:
            self.setObjectName("decision_page")
            self.steps = DecisionSteps(language, look, self.STEPS)
            self.steps.chosen.connect(self._on_step)
        self._judged_side = VerdictPlace(language, look)
        if self.STEPS:
            self.decision = YourDecision(language, look)
            self.decision.opened.connect(self.asking(self.decision_requested.emit))
            # What the last three steps show.
            self._ending = QWidget()
            self._tabs = frame("", vbox(self._judged_side.verdicts))
            over, margins = self._judged_side.verdict.over_form, (0, 12, MARGIN - 10, 12)
            column = vbox(over, (self.decision, 1), margins=margins, spacing=12)
            self._beside = scrolling(frame("", column), keeps_bar=True)
            sides = hbox((self._judged_side, 1), self._beside, spacing=0)
            vbox(self._tabs, (sides, 1), inside=self._ending, spacing=0)
        verdict, blind = self._judged_side.verdict, self._judged_side.blind
        self.verdict, self.verdicts, self.blind = verdict, self._judged_side.verdicts, blind
        verdict.cite_requested.connect(self.show_cited)
        verdict.decision_requested.connect(self._on_decide)
        verdict.blind_requested.connect(self._on_blind)
        blind.closed.connect(self._on_blind_closed)

    @property
    def session(self) -> DebateSession | None:
        """The session shown."""
        return self._session

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the session, without the one that is being written."""
        return list(self._messages.values())

    def use_names(self, used: bool) -> None:
        super().use_names(used)
        mark_names(self, used, self.NAMED)

    def show_cited(self, message_id: str) -> None:
        """Show what a sentence of a verdict cites, or the summary beside it."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Show the step that is open, and all that follows from what was said by now."""
        raise NotImplementedError

    def _open_step(self, step: str) -> None:
        focus, self._step = focused_in(self), step
        self.refresh()
        self._show_parts()
        if focus is not None and self.isVisible() and not focus.isVisible():
            # Qt leaves it to what comes next, which may be a button that costs something.
            self.take_focus()

    def _show_parts(self) -> None:
        """Show what belongs to the step that is open, after all of it is up to date."""

    def _on_step(self, step: str) -> None:
        """Open the step that the user chose."""
        if step != self._step:
            self._open_step(step)
            if step == DECISION and not self.steps.holds_focus():
                self.decision.take_focus()

    def _show_steps(
        self, reached: Mapping[str, str | None], prices: Mapping[str, str], marked: Collection[str]
    ) -> None:
        """Show how much each step has, None where it is not reached yet, and what was decided."""
        decided = self.verdict.decision(self.session_id)
        self.decision.show_decision(self.session_id, decided, read_only=self._read_only)
        self.steps.show_steps(reached, prices, marked, decided=decided is not None)
        self._fit_decision()

    def _fit_decision(self) -> None:
        """Show what was decided, or the form of it, by itself, and beside the verdict where there is room."""
        alone, room = self._step == DECISION, self.width() >= ROOMY
        beside = self._step == VERDICT and room and not self._judged_side.is_blind
        hold_width(self._beside, max(BESIDE, min(round(self.width() * PART), WIDEST)) if beside else 0)
        self._judged_side.setHidden(alone)
        self._tabs.setHidden(alone or self._judged_side.is_blind)
        self._beside.setVisible(alone or beside)
        self.verdict.over_form.setVisible(beside)
        self.verdict.show_form(beside=room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.STEPS:
            self._fit_decision()

    @property
    def now(self) -> Given:
        """What follows from what was said by now; worked out once for each change of that."""
        messages, debate = self.messages, self._session.debate if self._session else self._now.debate
        if (debate, messages) != (self._now.debate, self._now.messages):
            self._given = outcomes(debate, messages)
            self._now = current(debate, messages, self._given)
        return self._now

    def _asked_alone(self, text: str) -> tuple[str, ...]:
        """Return who alone is asked: those whom a text names with @, else whom the input is for."""
        participants = self._session.debate.participants if self._session else ()
        found = (name for name in find_names(text, participants) if text[max(0, name.start - 1)] == "@")
        named_ones = {hit.participant_id for hit in found}
        return tuple(sorted(named_ones or filter(None, (self.target.to,))))

    def _provider_of(self, who: str) -> str:
        participants = self._session.debate.participants if self._session else ()
        return next((participant.provider for participant in participants if participant.id == who), "")

    def _verdict_words(self) -> str:
        """Return what a screen reader says of the verdict: not what it is before a blind pick."""
        words = self._language
        return words("blind.step.offered") if self._judged_side.is_blind else announcement(self.now, words)

    def _on_blind(self) -> None:
        """Show the blind pick in place of the verdict."""
        self.blind.open()
        self._open_step(VERDICT)
        self.blind.setFocus()

    def _on_blind_closed(self) -> None:
        """Show the verdict in place of the blind pick."""
        self._open_step(VERDICT)
        self.take_focus()
        announce(self, self._verdict_words())

    def _on_decide(self) -> None:
        """Open the form of a decision, or ask what came of the one that is kept."""
        if self.verdict.decision(self.session_id) is not None:
            self.decision_requested.emit(self.session_id)
            return
        self._open_step(DECISION)
        self.decision.take_focus()
