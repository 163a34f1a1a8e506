"""Where a verdict is read: the verdict with a tab for each so far, or the blind pick in its place."""

from PySide6.QtWidgets import QWidget

from app.gui.display.appearance import Language, Look
from app.gui.pages.council.blind_pick import BlindPickView
from app.gui.pages.council.council_box import Judged
from app.gui.pages.council.verdict_page import VerdictPage
from app.gui.panels.debate.verdict_tabs import VerdictTabs
from app.gui.widgets.boxes import vbox


class VerdictPlace(QWidget):
    """Holds the verdict, its tabs and the blind pick; `is_blind` says whether the pick is what is shown."""

    def __init__(self, language: Language, look: Look, margin: int) -> None:
        super().__init__()
        self.verdict = VerdictPage(language, look, margin=margin)
        self.verdicts = VerdictTabs(language, margin)
        self.blind = BlindPickView(language, look, margin)
        self.is_blind = False
        self._read = QWidget()
        vbox(self.verdicts, (self.verdict, 1), inside=self._read, spacing=0)
        vbox((self.blind, 1), (self._read, 1), inside=self, spacing=0)

    def choose(self, judged: Judged, *, may_pick: bool) -> None:
        """Choose the blind pick where it may be made and stands in the place of the verdict, else the verdict."""
        self.is_blind = may_pick and self.blind.stands(judged, stood=self.is_blind)

    def show_judged(self, judged: Judged) -> None:
        """Show what was chosen."""
        if self.is_blind:
            self.blind.show_pick(judged)
        else:
            self.verdict.show_verdict(judged)
        self._read.setHidden(self.is_blind)
        self.blind.setVisible(self.is_blind)
