"""The tabs of a council (its answers, its discussion, the claims made in it, its verdict), and what is beside them."""

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QMenu, QWidget

from app.core.message import SPOKEN, Message
from app.core.reasons import resumable
from app.core.session import DebateSession, Status
from app.engine.council.outcome import CouncilOutcome
from app.engine.council.record import Record
from app.gui.display.appearance import Language, Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.choices import Segmented
from app.gui.widgets.controls import ShorteningButton, TickBox
from app.gui.widgets.text import named, say

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
        every = result.claim_count if claims else 0
        counts = {ANSWERS: result.answered, DISCUSSION: turns, CLAIMS: every}
        there = {ANSWERS: True, DISCUSSION: turns > 0, CLAIMS: claims, VERDICT: record.rounds > 0 and ended}
        texts, hints = [], []
        for tab in TABS:
            text, count = self._language(f"council.tab.{tab}"), counts.get(tab)
            texts.append(f"{text}  {count}" if count else text)
            hints.append("" if there[tab] else self._language(f"council.tab.{tab}.none"))
        self.set_texts(tuple(texts), tuple(hints))
        self.set_usable([tab for tab in TABS if there[tab]])


class CouncilHead(QWidget):
    """The tabs, what marks the differences of the answers and hides the names, and a button with the rounds to fork after.

    The marks are under the tabs where it is narrow. Emits fork_requested(round), 0 for the answers.
    """

    fork_requested = Signal(int)

    def __init__(self, language: Language, look: Look, margin: int) -> None:
        super().__init__()
        self._language = language
        self.tabs = CouncilTabs(language, look)
        self.marks = say(named("council_mark", TickBox(look)), language, "council.mark")
        self.marks.setChecked(True)
        self.hide_names = say(named("council_hide_names", TickBox(look)), language, "council.hide_names")
        self._ticks = QWidget()
        hbox(STRETCH, self.marks, self.hide_names, inside=self._ticks, spacing=14)
        self._fork = ShorteningButton("plain", "council_fork")
        self._fork.dress(look, "git-branch")
        self._fork.clicked.connect(self._open_menu)
        self._fork.hide()
        self._rounds = 0
        self._grid = QGridLayout()
        self._grid.setContentsMargins(margin, 0, margin, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self.tabs, 0, 0)
        self._grid.addWidget(self._ticks, 0, 1)
        self._grid.addWidget(self._fork, 0, 2)
        line = QFrame()
        line.setProperty("kind", "line")
        line.setFixedHeight(1)
        vbox(self._grid, line, inside=self, spacing=0)
        self.tabs.chosen.connect(lambda tab: self._ticks.setVisible(tab == ANSWERS))
        language.changed.connect(self._retranslate)
        self._retranslate()

    def offer_fork(self, rounds: int | None) -> None:
        """Offer to fork after the answers and after each of so many rounds, or not at all."""
        self._fork.setVisible(rounds is not None)
        self._rounds = rounds or 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        edges = self._grid.contentsMargins()
        parts = (self.tabs, self._ticks, self._fork)
        needed = sum(one.sizeHint().width() for one in parts) + 2 * self._grid.horizontalSpacing()
        wide = self.width() >= needed + edges.left() + edges.right()
        self._grid.removeWidget(self._ticks)
        if wide:
            self._grid.addWidget(self._ticks, 0, 1)
        else:
            self._grid.addWidget(self._ticks, 1, 0, 1, 3)

    def _retranslate(self) -> None:
        self._fork.show_words(self._language("council.fork"), self._language("council.fork.hint"))

    def _open_menu(self) -> None:
        menu = named("council_fork_menu", QMenu(self))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for number in range(self._rounds + 1):
            key = "council.fork.round" if number else "council.fork.answers"
            action = menu.addAction(self._language(key, round=number))
            action.triggered.connect(partial(self.fork_requested.emit, number))
        menu.popup(self._fork.mapToGlobal(QPoint(0, self._fork.height() + 4)))


def discussed(message: Message) -> bool:
    """Say whether a message is of a debate: what is said in a round, and what the minority writes after it."""
    return message.round > 0 and message.part in SPOKEN


def first_tab(session: DebateSession, messages: Iterable[Message]) -> str:
    """Return the tab that shows what is new: the verdict of a debate, a debate that goes on, else the answers."""
    council = session.debate.council
    if council is None or not council.rounds or not any(map(discussed, messages)):
        return ANSWERS
    return DISCUSSION if session.status == Status.RUNNING or resumable(session) else VERDICT
