"""The page of a debate in the main area: its steps, what the one that is open shows, and one row
of what is next.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QStackedWidget

from app.core.message import Message
from app.core.session import has_ended
from app.core.texts import unmarked
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.decision_bar import WORDY, fit_bar, put_first, put_into_bar
from app.gui.pages.council.decision_steps import DEBATE, DECISION, MARGIN, USED_IN_FRONT, VERDICT, VOTES
from app.gui.panels.debate.debate_controls import add_exports, open_above, turns_menu
from app.gui.panels.debate.discussion_view import DebateView
from app.gui.transcript import row_text
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import MenuButton, ShorteningButton
from app.gui.widgets.text import named

BARE, WIDEST = 46, 16_777_215


class DebatePage(DebateView):
    """Shows a debate as steps."""

    NAMED = (*DebateView.NAMED, *USED_IN_FRONT)
    LAYOUT = row_text.DEBATE
    STEPS = (DEBATE, VOTES, VERDICT, DECISION)
    HEADED = False

    def __init__(self, language: Language, look: Look) -> None:
        self.next = ShorteningButton("primary", "decision_next").dress(look, "scale", "on_accent")
        self.more = MenuButton(look, "ellipsis", "decision_more", chevron=True)
        super().__init__(language, look)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        fit_bar(self._ways, self.width())
        for way in self._ways[:3]:
            # Their icons say enough where the input needs the room.
            way.setMaximumWidth(BARE if self.width() < WORDY else WIDEST)

    def offer_turns(self, turns: Sequence[Message]) -> None:
        open_above(turns_menu(self, turns, self.asking(self.fork_requested), self._language), self.more)

    def _show_step(self, reached: Mapping[str, str | None]) -> None:
        session = self._session
        if session is None:
            return
        self.steps.set_value(self._step)
        self._show_steps(reached, {}, ())
        self._places.setCurrentWidget(self._discussion if self._step == DEBATE else self._ending)
        ended = has_ended(session) and not self._read_only
        self.composer.setVisible(not self._read_only)
        self.next.setVisible(ended and bool(self._judges) and not self._judged(session))
        self.next.show_words(self._language("verdict.ask"))
        self.more.setVisible(ended or (self._step == VERDICT and not self._read_only))
        self.more.show_words(self._language("verdict.more"))

    def _lay_out(self) -> None:
        self._places = QStackedWidget()
        for place in (self._discussion, self._ending):
            self._places.addWidget(place)
        vbox(self.topic, inside=self._about, margins=(MARGIN, 10, MARGIN, 0))
        controls, low = self.controls, Qt.AlignmentFlag.AlignBottom
        self._ways = ways = (controls.pause, controls.resume, controls.stop, self.next, self.more)
        put_into_bar(*ways)
        row = hbox(*((way, 0, low) for way in ways), (self.composer, 1), spacing=8)
        foot = vbox(controls, row, margins=(MARGIN, 6, MARGIN, 12), spacing=6)
        vbox(self.steps, self._about, (self._places, 1), foot, inside=self, spacing=0)
        put_first(self.target, self._composer, ways)

    def _connect(self) -> None:
        super()._connect()
        self.next.clicked.connect(lambda: self._ask(next(iter(self._judges))))
        self.more.choices.aboutToShow.connect(self._fill)

    def _ask(self, judge: str) -> None:
        self._open_step(VERDICT)
        self.verdict_requested.emit(self.session_id, judge)

    def _fill(self) -> None:
        """Fill the menu with what else can be done."""
        words, menu = self._language, self.more.choices
        self.more.clear()
        if self._judges and self._session is not None and has_ended(self._session):
            judges = named("judges_menu", QMenu(words("council.judge.choose"), menu))
            for judge, name in self._judges.items():
                judges.addAction(unmarked(self.verdict.judge_words(judge, name)), partial(self._ask, judge))
            menu.addMenu(judges)
        if self._blind_price:
            text = " · ".join((words("council.blind"), self._blind_price))
            menu.addAction(text, self._on_blind).setObjectName("council_blind")
        for key, asked in (("fork", self.turns_wanted), ("again", self.again_requested)):
            menu.addAction(words(f"verdict.{key}"), self.asking(asked)).setObjectName(f"debate_{key}")
        exports = named("export_menu", QMenu(words("verdict.export"), menu))
        add_exports(exports, self.asking(self.export_requested), words)
        menu.addMenu(exports)
        menu.addAction(words("verdict.new"), self._on_new).setObjectName("debate_new")
