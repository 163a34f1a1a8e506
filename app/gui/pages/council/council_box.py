"""The box under the columns: how far a council is, and what can be done next, each with its price."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QFrame

from app.core.message import CouncilPart, Message
from app.core.reasons import paused_text
from app.core.session import DEFAULT_COUNCIL_ROUNDS, MIN_PARTICIPANTS, DebateSession, Status
from app.engine.council.outcome import CouncilOutcome, State
from app.engine.council.record import Record
from app.gui.display.amounts import Spending
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import FlowBox, hbox
from app.gui.widgets.controls import Button, button
from app.gui.widgets.label import Paragraph, plain_tip

SIDE_BY_SIDE = 980
_TONES = {State.SETTLED: "ok", State.AGREED_ONE_FAMILY: "warn", State.LEANING: "accent"}


class CouncilBox(QFrame):
    """Shows the state in words; each button is a request of that name."""

    pause_requested = Signal()
    resume_requested = Signal()
    again_requested = Signal()
    compare_requested = Signal()
    merge_requested = Signal()
    debate_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "composer")
        self._language = language
        self._chip = Chip(look)
        self._words = Paragraph("hint")
        self._buttons: dict[str, Button] = {}
        for name, signal, icon in (
            ("pause", self.pause_requested, "pause"),
            ("resume", self.resume_requested, "play"),
            ("compare", self.compare_requested, "list-checks"),
            ("merge", self.merge_requested, "spline"),
            ("again", self.again_requested, "refresh-cw"),
            ("debate", self.debate_requested, "scale"),
        ):
            first = name == "debate"
            made = button("primary" if first else "", f"council_{name}", signal.emit)
            made.dress(look, icon, "on_accent" if first else "text_2")
            self._buttons[name] = made
        self._flow = FlowBox()
        for made in self._buttons.values():
            self._flow.add(made)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(14, 9, 12, 9)
        self._row.setSpacing(10)
        self._row.addLayout(hbox(self._chip, (self._words, 1), spacing=10), 1)
        self._row.addWidget(self._flow)

    def fit(self, width: int) -> None:
        """Put the buttons beside the state where there is room, else under it."""
        wide = width >= SIDE_BY_SIDE
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        self._row.setDirection(way)
        shown = [made.sizeHint().width() + 6 for made in self._buttons.values() if not made.isHidden()]
        self._flow.setMinimumWidth(sum(shown) if wide else 0)

    def show_state(
        self, session: DebateSession, messages: Sequence[Message], result: CouncilOutcome, *, read_only: bool
    ) -> None:
        """Show how far a council is, and what can be done."""
        words, council = self._language, session.debate.council
        running, paused = session.status == Status.RUNNING, session.status == Status.PAUSED
        enough = result.answered >= MIN_PARTICIPANTS
        if running or paused or not enough:
            self._chip.set_text("")
            said = words("council.answered", count=result.answered, asked=result.asked)
            debates = council is not None and council.rounds > council.debated
            if paused:
                said = f"{paused_text(session.reason, words.texts)} {said}"
            elif running and enough and result.answered == result.asked:
                said = words("council.debating" if debates else "council.comparing")
            self._words.setText(said)
        else:
            self._chip.set_text(state_text(result, words), _TONES.get(State(result.state), "warn"))
            self._words.setText(words(f"council.state.{result.state}.{result.against or 'hint'}"))
        helper = council is not None and bool(council.helper)
        compared = any(one.part == CouncilPart.DIFFERENCES and one.data for one in messages)
        late = "differences" in result.degraded or result.answered < result.asked or not compared
        open_ = [one for one, count in result.after.votes.items() if count]
        shown = {
            "pause": running,
            "resume": paused,
            "compare": not running and not paused and enough and helper and late,
            "merge": not running and not paused and enough and helper,
            "again": not running and not paused,
            "debate": not running and not paused and enough and helper and len(open_) > 1,
        }
        # What the last question to all led to, without merged answers.
        since = Record(session.debate, messages).since
        asked = [one for one in since if one.part in (CouncilPart.ANSWER, CouncilPart.DIFFERENCES)]
        prices = {
            "compare": _price([one for one in messages if one.part == CouncilPart.DIFFERENCES][-1:], words),
            "merge": _price([one for one in messages if one.part == CouncilPart.DIFFERENCES][-1:], words),
            "again": _price(asked, words),
            "debate": "",
        }
        calls = {"compare": 1, "merge": 1, "again": len(session.debate.participants) + 1}
        # Two rounds, the ballots at their end, two readings and what two of the others hold.
        calls["debate"] = (DEFAULT_COUNCIL_ROUNDS + 1) * result.answered + 4
        self._chip.setToolTip(plain_tip(self._words.text()))
        for name, made in self._buttons.items():
            text = words(f"council.{name}")
            if name in prices:
                key = "council.calls_most" if name == "debate" else "council.calls"
                text += "  " + (prices[name] or words(key, count=calls[name]))
            made.setText(text)
            made.setVisible(shown[name] and not read_only)
        self.fit(self.width())


def state_text(result: CouncilOutcome, words: Language) -> str:
    """Return the state in a few words, with the votes where they differ."""
    votes = sorted((count for count in result.after.votes.values() if count), reverse=True)
    if len(votes) < MIN_PARTICIPANTS:
        return words(f"council.state.{result.state}")
    return f"{words(f'council.state.{result.state}')} · {words('council.votes', first=votes[0], second=sum(votes[1:]))}"


def _price(messages: Sequence[Message], words: Language) -> str:
    """Return what calls cost the last time they were made, "" where that is not known."""
    if not messages or any(one.usage is None or one.usage.cost_usd is None for one in messages):
        return ""
    spent = Spending()
    spent.add(messages)
    return words("council.about", cost=spent.short_text(words))
