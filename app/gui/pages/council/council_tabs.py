"""The tabs of a council: its answers, its discussion, the claims made in it, and its verdict."""

from collections.abc import Iterable

from app.core.message import SPOKEN, Message
from app.core.session import DebateSession, Status
from app.engine.council.outcome import CouncilOutcome
from app.engine.council.record import Record
from app.gui.display.i18n import Language
from app.gui.widgets.segmented import Segmented
from app.gui.widgets.wording import say

ANSWERS, DISCUSSION, CLAIMS, VERDICT = TABS = ("answers", "discussion", "claims", "verdict")


class CouncilTabs(Segmented):
    """Says how much is in each tab; one that has nothing yet is grey."""

    def __init__(self, language: Language) -> None:
        super().__init__(TABS)
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


def discussed(message: Message) -> bool:
    """Say whether a message is of a debate: what is said in a round, and what the minority writes after it."""
    return message.round > 0 and message.part in SPOKEN


def first_tab(session: DebateSession, messages: Iterable[Message]) -> str:
    """Return the tab that shows what is new: the verdict of a debate, a debate that goes on, else the answers."""
    council = session.debate.council
    if council is None or not council.rounds or not any(map(discussed, messages)):
        return ANSWERS
    return DISCUSSION if session.status in (Status.RUNNING, Status.PAUSED) else VERDICT
