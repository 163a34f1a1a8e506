"""The buttons for a debate that a turn holds up: retry it, skip it, or continue without its participant."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.display.i18n import Language
from app.gui.widgets.boxes import FlowBox
from app.gui.widgets.controls import Button, button
from app.gui.widgets.label import plain_tip
from app.gui.widgets.wording import say

LONGEST_NAME = 14


class HeldTurnBar(FlowBox):
    """Buttons below the text that says what holds a debate up; `left_out` carries a participant's id."""

    retried = Signal()
    skipped = Signal()
    left_out = Signal(str)

    def __init__(self, language: Language, *, prefix: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._prefix = prefix
        self.retry = say(button("", f"{prefix}retry_now", self.retried), language, "discussion.retry_now")
        self.skip = say(button("", f"{prefix}skip_turn", self.skipped), language, "discussion.skip_turn")
        self.without: list[Button] = []
        self._offered: tuple[tuple[str, str], ...] = ()
        self.add(self.retry)
        self.add(self.skip)
        language.changed.connect(self._retranslate)
        self._retranslate()

    def offer(self, participants: Sequence[tuple[str, str]]) -> None:
        """Offer to go on without these participants, by id and name."""
        if tuple(participants) == self._offered:
            return
        self._offered = tuple(participants)
        for old in self.without:
            self.remove(old)
            old.hide()
            old.deleteLater()
        self.without = []
        for number, (participant_id, _) in enumerate(self._offered, 1):
            made = button("", f"{self._prefix}without_{number}")
            made.clicked.connect(partial(self.left_out.emit, participant_id))
            self.without.append(made)
            self.add(made)
            made.show()
        self._retranslate()

    def _retranslate(self) -> None:
        words = self._language
        for made, (_, name) in zip(self.without, self._offered, strict=True):
            short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"
            made.setText(words("discussion.without", name=short).replace("&", "&&"))
            made.setAccessibleName(words("discussion.without", name=name))
            made.setToolTip(plain_tip(words("discussion.without", name=name)) if short != name else "")
