"""A debate beside its transcript: its state with Pause and Stop, and each participant with role, model and last vote."""

from PySide6.QtWidgets import QWidget

from app.core.session import DebateSession
from app.gui.display.amounts import Spending
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.panels.debate.debate_controls import DISCUSSION, DebateControls
from app.gui.widgets.badge import Avatar, Chip
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import scrolling
from app.gui.widgets.label import ElidedLabel, plain_label
from app.gui.widgets.wording import say

MARGIN = 18


class DebateSummary(QWidget):
    """What the panel shows of the debate in the main area, in place of a second transcript."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self._session: DebateSession | None = None
        self.controls = DebateControls(language, look, prefix="beside_", headed=True)
        self._title = say(plain_label("field"), language, "setup.participants")
        self._rows = vbox(spacing=10)
        body = QWidget()
        vbox(self._title, self._rows, STRETCH, inside=body, margins=(MARGIN, 10, MARGIN, 12), spacing=10)
        vbox(self.controls, (scrolling(body), 1), inside=self, spacing=0)
        language.changed.connect(self._draw)

    def show_debate(self, session: DebateSession, spending: Spending) -> None:
        """Show a debate as it is now."""
        before, self._session = self._session, session
        if before is None or before.id != session.id:
            self.controls.show_session(session, spending, read_only=False, damaged=0)
            self.controls.show_side(DISCUSSION, offered=False)
        else:
            self.controls.show_change(session)
        if before is None or before.debate != session.debate:
            self._draw()

    def _draw(self) -> None:
        """Show the participants again."""
        while (item := self._rows.takeAt(0)) is not None:
            item.widget().hide()
            item.widget().deleteLater()
        debate, words = (self._session.debate if self._session else None), self._language
        for place, one in enumerate(debate.participants if debate else ()):
            row = QWidget(self)
            # With a parent from the start: a chip that is given a text is shown, and would be a window.
            avatar, role, name = (
                Avatar(self._look),
                Chip(self._look, row),
                ElidedLabel("value", text=one.name),
            )
            avatar.set_speaker(one.name, place)
            role.set_text(words.role(one.role) if one.role else "")
            ballots = debate.ballots if debate else ()
            votes = [ballot.stance for ballot in ballots if ballot.participant == one.id]
            last = "none" if not votes or votes[-1] is None else votes[-1]
            vote = plain_label("hint", text=words(f"verdict.stance.{last}") if votes else "")
            said = vbox(
                hbox((name, 1), role, vote, spacing=8), ElidedLabel("hint", text=one.model), spacing=0
            )
            hbox(avatar, (said, 1), inside=row, spacing=10)
            self._rows.addWidget(row)
