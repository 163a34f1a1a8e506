"""A debate or council beside its transcript: its state with Pause and Stop, and each participant with its last vote and turn."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core.message import SPOKEN, Message
from app.core.session import DebateSession, Status
from app.engine.council.record import Record
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import Spending
from app.gui.pages.council.council_glance import Shown
from app.gui.panels.debate.debate_controls import DISCUSSION, DebateControls, facts_of
from app.gui.widgets.badge import Avatar, Chip
from app.gui.widgets.boxes import STRETCH, empty, hbox, vbox
from app.gui.widgets.controls import Button, button, scrolling
from app.gui.widgets.text import ElidedLabel, plain_label, say

MARGIN = 18


class Standing(NamedTuple):
    """How a participant stands: how it is shown, its role, its last vote in words, and its last turn's id.

    `now` is the key of a text that says that it writes or was left out, "" for neither.
    """

    shown: Shown
    role: str
    vote: str
    now: str
    turn: str


class DebateSummary(QWidget):
    """What the panel shows of the session in the main area, in place of a second transcript; emits turn_requested(message id)."""

    turn_requested = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self._session: DebateSession | None = None
        self._standings: tuple[Standing, ...] = ()
        self.controls = DebateControls(language, look, prefix="beside_", headed=True)
        self._title = say(plain_label("field"), language, "setup.participants")
        self._rows = vbox(spacing=10)
        body = QWidget()
        vbox(self._title, self._rows, STRETCH, inside=body, margins=(MARGIN, 10, MARGIN, 12), spacing=10)
        vbox(self.controls, (scrolling(body), 1), inside=self, spacing=0)
        language.changed.connect(self._draw)

    @property
    def session_id(self) -> str:
        """The id of the session shown, empty when there is none."""
        return self._session.id if self._session else ""

    def show_debate(
        self,
        session: DebateSession,
        spending: Spending,
        messages: Sequence[Message],
        people: Mapping[str, Shown],
        writing: Collection[str],
    ) -> None:
        """Show a debate or council as it is now; `people` says how the participants are shown, and in which order."""
        words, said = self._language, [one for one in messages if session.debate.council is None]
        before, self._session = self._session, session
        # The page of a council counts its calls itself.
        self.controls.show_facts(
            facts_of(session, said, spending, words) if said else spending.known_text(words)
        )
        if before is None or before.id != session.id:
            self.controls.show_session(session, spending, read_only=False, damaged=0)
            self.controls.show_side(DISCUSSION, offered=False)
        else:
            self.controls.show_change(session)
        if session.debate.council is not None:
            of = session.debate.council.rounds
            since = Record(session.debate, messages).since
            self.controls.show_round(min(of, max((one.round for one in since), default=0) or 1), of)
        standings = self._standings_of(session, messages, people, writing)
        if standings != self._standings:
            self._standings = standings
            self._draw()

    def _standings_of(
        self,
        session: DebateSession,
        messages: Sequence[Message],
        people: Mapping[str, Shown],
        writing: Collection[str],
    ) -> tuple[Standing, ...]:
        """Return how all participants stand, in the order of `people`."""
        debate, words = session.debate, self._language
        votes: dict[str, str] = {}
        if debate.council is None:
            for ballot in debate.ballots:
                stance = "none" if ballot.stance is None else ballot.stance
                votes[ballot.participant] = words(f"verdict.stance.{stance}")
        else:
            record = Record(debate, messages)
            # Until all have answered nobody reads what the others hold.
            known = session.status != Status.RUNNING or not record.grouped
            options = {one.id: place for place, one in enumerate(record.options())} if known else {}
            texts = {one.id: one.text for one in record.options()}
            for one in record.voters():
                choice = record.vote(one, record.rounds).choice
                if choice in options:
                    letter = chr(ord("A") + options[choice])
                    votes[one] = words("council.holds", letter=letter, option=texts[choice])
        turns = {one.author.id: one.id for one in messages if one.part in SPOKEN and not one.is_interim}
        roles = {one.id: words.role(one.role) if one.role else "" for one in debate.participants}
        now = dict.fromkeys(writing, "beside.writing") if session.status == Status.RUNNING else {}
        now |= dict.fromkeys(debate.left, "beside.left_out")
        return tuple(
            Standing(shown, roles.get(who, ""), votes.get(who, ""), now.get(who, ""), turns.get(who, ""))
            for who, shown in people.items()
        )

    def _draw(self) -> None:
        """Show the participants again; the focus stays on the button where it is."""
        focused = next((one.objectName() for one in self.findChildren(Button) if one.hasFocus()), "")
        for old in self.findChildren(Button):
            if old.objectName().startswith("beside_turn_"):
                old.setObjectName("")
        empty(self._rows)
        words = self._language
        for place, one in enumerate(self._standings):
            row = QWidget(self)
            # With a parent from the start: a chip that is given a text is shown, and would be a window.
            avatar, role, state = Avatar(self._look), Chip(self._look, row), Chip(self._look, row)
            now = words(one.now) if one.now else ""
            avatar.set_speaker(one.shown.name, one.shown.colour, letters=one.shown.letters)
            role.set_text(one.role)
            state.set_text(now, "accent" if one.now == "beside.writing" else "neutral")
            go = button(
                "link",
                f"beside_turn_{place + 1}",
                partial(self.turn_requested.emit, one.turn),
                text=words("beside.go"),
            )
            go.setAccessibleName(words("beside.go.to", name=one.shown.name))
            if not one.turn:
                go.hide()
            name = ElidedLabel("value", text=one.shown.name)
            head = hbox((name, 1), role, state, go, spacing=8)
            lines = [ElidedLabel("hint", text=text) for text in (one.shown.model, one.vote) if text]
            hbox(avatar, (vbox(head, *lines, spacing=0), 1), inside=row, spacing=10)
            said = (one.shown.name, one.role, now, one.vote)
            row.setAccessibleName(", ".join(filter(None, said)))
            self._rows.addWidget(row)
            if focused and go.objectName() == focused:
                go.setFocus()
