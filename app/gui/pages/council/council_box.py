"""The box under the columns: how far a council is, and what can be done next, each with its price."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame

from app.core.message import CouncilPart, Message
from app.core.reasons import paused_text
from app.core.session import MIN_PARTICIPANTS, DebateSession, Status
from app.engine.council.outcome import CouncilOutcome, State
from app.gui.display.amounts import Spending
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.badge import Chip
from app.gui.widgets.boxes import STRETCH, hbox
from app.gui.widgets.controls import Button, button
from app.gui.widgets.label import Paragraph, plain_tip

WITH_WORDS = 760
_TONES = {State.SETTLED: "ok", State.AGREED_ONE_FAMILY: "warn", State.LEANING: "accent"}


class CouncilBox(QFrame):
    """Shows the state in words; each button is a request of that name."""

    pause_requested = Signal()
    resume_requested = Signal()
    again_requested = Signal()
    compare_requested = Signal()
    merge_requested = Signal()

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
        ):
            made = button("", f"council_{name}", signal.emit)
            made.dress(look, icon)
            self._buttons[name] = made
        hbox(
            self._chip,
            (self._words, 1, Qt.AlignmentFlag.AlignVCenter),
            STRETCH,
            *self._buttons.values(),
            inside=self,
            margins=(14, 9, 12, 9),
            spacing=10,
        )

    def fit(self, width: int) -> None:
        """Leave the sentence out where only the state and the buttons have room."""
        self._words.setVisible(width >= WITH_WORDS or not self._chip.text())

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
            if paused:
                said = f"{paused_text(session.reason, words.texts)} {said}"
            elif running and enough and result.answered == result.asked:
                said = words("council.comparing")
            self._words.setText(said)
        else:
            self._chip.set_text(state_text(result, words), _TONES.get(State(result.state), "warn"))
            self._words.setText(words(f"council.state.{result.state}.hint"))
        helper = council is not None and bool(council.helper)
        compared = any(one.part == CouncilPart.DIFFERENCES and one.data for one in messages)
        late = "differences" in result.degraded or result.answered < result.asked or not compared
        shown = {
            "pause": running,
            "resume": paused,
            "compare": not running and not paused and enough and helper and late,
            "merge": not running and not paused and enough and helper,
            "again": not running and not paused,
        }
        prices = {
            "compare": _price([one for one in messages if one.part == CouncilPart.DIFFERENCES][-1:], words),
            "merge": _price([one for one in messages if one.part == CouncilPart.DIFFERENCES][-1:], words),
            "again": _price(_last_asked(messages), words),
        }
        calls = {"compare": 1, "merge": 1, "again": len(session.debate.participants) + 1}
        self._chip.setToolTip(plain_tip(self._words.text()))
        self.fit(self.width())
        for name, made in self._buttons.items():
            text = words(f"council.{name}")
            if name in prices:
                text += "  " + (prices[name] or words("council.calls", count=calls[name]))
            made.setText(text)
            made.setVisible(shown[name] and not read_only)


def state_text(result: CouncilOutcome, words: Language) -> str:
    """Return the state in a few words, with the votes where they differ."""
    votes = sorted((count for count in result.after.votes.values() if count), reverse=True)
    if len(votes) < MIN_PARTICIPANTS:
        return words(f"council.state.{result.state}")
    return f"{words(f'council.state.{result.state}')} · {words('council.votes', first=votes[0], second=sum(votes[1:]))}"


def _last_asked(messages: Sequence[Message]) -> list[Message]:
    """Return the calls that the last question to all led to, without merged answers."""
    asked = [
        n
        for n, one in enumerate(messages)
        if one.part == CouncilPart.QUESTION and not (one.data or {}).get("to")
    ]
    since = messages[asked[-1] :] if asked else messages
    return [one for one in since if one.part in (CouncilPart.ANSWER, CouncilPart.DIFFERENCES)]


def _price(messages: Sequence[Message], words: Language) -> str:
    """Return what calls cost the last time they were made, "" where that is not known."""
    if not messages or any(one.usage is None or one.usage.cost_usd is None for one in messages):
        return ""
    spent = Spending()
    spent.add(messages)
    return words("council.about", cost=spent.short_text(words))
