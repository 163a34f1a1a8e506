"""Who does not vote in a debate or a council, and why; each can be checked again where that may change it."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.reasons import main_code
from app.core.session import Debate
from app.core.verdict import NoVoteReason
from app.engine.voting import no_vote_text
from app.gui.display.appearance import Language
from app.gui.widgets.boxes import empty, hbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named, plain_tip

CHECKED = (NoVoteReason.FOLLOWS_ORDER, NoVoteReason.SKIPPED)
"""The reasons that another check may change."""


class NoVotes(QWidget):
    """Lists who does not vote, and why; emits again_requested(participant id)."""

    again_requested = Signal(str)

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(4)

    def show_debate(self, debate: Debate, *, may_check: bool) -> None:
        """Show those of a debate; `may_check` says whether it can be changed."""
        words = self._language
        empty(self._rows)
        for one in debate.participants:
            if not (text := no_vote_text(debate, one, words)):
                continue
            row = QWidget(self)
            again = button(
                "link", f"check_again_{one.id}", partial(self._ask, one.id), text=words("voting.again")
            )
            again.setAccessibleName(f"{words('voting.again')}: {one.name}")
            again.setToolTip(plain_tip(words("voting.again.hint")))
            again.setVisible(may_check and main_code(debate.no_vote_of(one)) in CHECKED)
            said = named(f"no_vote_{one.id}", Paragraph("hint", text=text))
            hbox((said, 1, Qt.AlignmentFlag.AlignVCenter), again, inside=row, spacing=8)
            self._rows.addWidget(row)
        self.setVisible(self._rows.count() > 0)

    def _ask(self, participant_id: str, _checked: bool = False) -> None:
        self.again_requested.emit(participant_id)
