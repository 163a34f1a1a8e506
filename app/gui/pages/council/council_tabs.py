"""The tabs of a council (its answers, its discussion, the claims made in it, its verdict), and how its answers are shown."""

from collections.abc import Iterable

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from app.core.message import SPOKEN, Message
from app.core.session import DebateSession, Status
from app.engine.council.outcome import CouncilOutcome
from app.engine.council.record import Record
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import TickBox
from app.gui.widgets.segmented import Segmented
from app.gui.widgets.wording import named, say

ANSWERS, DISCUSSION, CLAIMS, VERDICT = TABS = ("answers", "discussion", "claims", "verdict")


ICONS = ("columns", "message-circle", "spline", "gavel")


class CouncilTabs(Segmented):
    """Says how much is in each tab; one that has nothing yet is grey."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(TABS, tabs=True)
        for segment, icon in zip(self._segments, ICONS, strict=True):
            segment.dress(look, icon, "text_2")
        self.setObjectName("council_tabs")
        self._language = language
        say(self, language, name="council.tab")

    def show_counts(
        self, record: Record, result: CouncilOutcome, messages: Iterable[Message], *, ended: bool
    ) -> None:
        """Show the tabs of a council; its claims and its verdict are there once a debate has `ended`."""
        turns = sum(map(discussed, messages))
        claims = ended and bool(result.claims or result.unsupported)
        counts = {ANSWERS: result.answered, DISCUSSION: turns, CLAIMS: len(result.claims) if claims else 0}
        there = {ANSWERS: True, DISCUSSION: turns > 0, CLAIMS: claims, VERDICT: record.rounds > 0 and ended}
        texts, hints = [], []
        for tab in TABS:
            text, count = self._language(f"council.tab.{tab}"), counts.get(tab)
            texts.append(f"{text}  {count}" if count else text)
            hints.append("" if there[tab] else self._language(f"council.tab.{tab}.none"))
        self.set_texts(tuple(texts), tuple(hints))
        self.set_usable([tab for tab in TABS if there[tab]])


class CouncilHead(QWidget):
    """The tabs, and beside those of the answers what marks their differences and hides the names; under them where it is narrow."""

    def __init__(self, language: Language, look: Look, margin: int) -> None:
        super().__init__()
        self.tabs = CouncilTabs(language, look)
        self.marks = say(named("council_mark", TickBox(look)), language, "council.mark")
        self.marks.setChecked(True)
        self.hide_names = say(named("council_hide_names", TickBox(look)), language, "council.hide_names")
        self._ticks = QWidget()
        hbox(STRETCH, self.marks, self.hide_names, inside=self._ticks, spacing=14)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setContentsMargins(margin, 0, margin, 0)
        self._row.addLayout(hbox(self.tabs, STRETCH))
        self._row.addWidget(self._ticks)
        line = QFrame()
        line.setProperty("kind", "line")
        line.setFixedHeight(1)
        vbox(self._row, line, inside=self, spacing=0)
        self.tabs.chosen.connect(lambda tab: self._ticks.setVisible(tab == ANSWERS))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        edges = self._row.contentsMargins()
        needed = self.tabs.sizeHint().width() + self._ticks.sizeHint().width() + edges.left() + edges.right()
        wide = self.width() >= needed
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)


def discussed(message: Message) -> bool:
    """Say whether a message is of a debate: what is said in a round, and what the minority writes after it."""
    return message.round > 0 and message.part in SPOKEN


def first_tab(session: DebateSession, messages: Iterable[Message]) -> str:
    """Return the tab that shows what is new: the verdict of a debate, a debate that goes on, else the answers."""
    council = session.debate.council
    if council is None or not council.rounds or not any(map(discussed, messages)):
        return ANSWERS
    return DISCUSSION if session.status in (Status.RUNNING, Status.PAUSED) else VERDICT
