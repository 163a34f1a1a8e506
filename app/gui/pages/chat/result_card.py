"""What came of work: what was asked, how its criteria stand, what shows it, what it cost, and what can be done next."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.core.criteria import Criterion, CriterionState, shown_by
from app.core.session import ChatSession, Status
from app.gui.display.appearance import Language, Look
from app.gui.widgets.badge import HeadingIcon
from app.gui.widgets.boxes import STRETCH, empty, hbox, vbox
from app.gui.widgets.controls import ShorteningButton, button, scrolling
from app.gui.widgets.text import ElidedLabel, Paragraph, plain_label, plain_tip, say, show_as

LEAST_ROOM, ROOM = 40, 160
# What stands beside the rows: the margins and the scroll bar.
SIDES = 44
_MARKS: dict[str, tuple[str, str]] = {
    CriterionState.MET: ("circle-check", "ok"),
    CriterionState.UNMET: ("circle-x", "warn"),
    CriterionState.UNKNOWN: ("circle-question-mark", "warn"),
    CriterionState.ACCEPTED: ("check", "text_2"),
    CriterionState.OPEN: ("circle-dashed", "text_2"),
}


class ResultCard(QFrame):
    """Shown while work with criteria rests; hidden otherwise.

    Signals: message_wanted(message id) for what shows a criterion, rest_requested(), accept_requested(),
    changes_requested(), left() when the button goes that had the focus.
    """

    message_wanted = Signal(str)
    rest_requested = Signal()
    accept_requested = Signal()
    changes_requested = Signal()
    left = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("result_card")
        self.setProperty("kind", "card")
        self._language, self._look = language, look
        self._session: ChatSession | None = None
        self._asked = self._spent = ""
        self._room = ROOM
        self._title = say(plain_label("card_title"), language, "result.title")
        self.state = plain_label("ok")
        self._cost = plain_label("hint")
        self._question = ElidedLabel("meta")
        self._rows = QWidget()
        self._column = vbox(inside=self._rows, spacing=8)
        self._list = scrolling(self._rows)
        self.rest = say(button("primary", "result_rest", self.rest_requested), language, "result.rest")
        self.accept = say(button("", "result_accept", self.accept_requested), language, "result.accept")
        self.changes = say(button("", "result_changes", self.changes_requested), language, "result.changes")
        head = hbox(self._title, self.state, STRETCH, self._cost, spacing=10)
        foot = hbox(self.rest, self.accept, self.changes, STRETCH, spacing=8)
        vbox(head, self._question, self._list, foot, inside=self, margins=(14, 10, 14, 10), spacing=8)
        language.changed.connect(self._refresh)
        self.hide()

    def show_result(self, session: ChatSession | None, asked: str, spent: str) -> None:
        """Show how the criteria of a session stand, what was asked and what that took; None hides the card."""
        shown = (session and (session.status, session.criteria), asked, spent)
        before = (self._session and (self._session.status, self._session.criteria), self._asked, self._spent)
        self._session, self._asked, self._spent = session, asked, spent
        if shown != before:
            self._refresh()

    def set_room(self, height: int) -> None:
        """Set how high the list of criteria may be, in pixels."""
        self._room = height
        wanted = self._column.totalHeightForWidth(max(1, self.width() - SIDES))
        self._list.setFixedHeight(max(LEAST_ROOM, min(height, wanted)))

    def _refresh(self) -> None:
        words, session = self._language, self._session
        criteria = session.criteria if session is not None else ()
        rests = session is not None and session.status not in (Status.RUNNING, Status.WAITING)
        met = sum(one.state == CriterionState.MET for one in criteria)
        done = session is not None and session.status == Status.COMPLETED
        shown = bool(criteria) and rests and any(one.round for one in criteria)
        going = (self.rest, self.accept, *([] if shown else [self.changes])) if done or not shown else ()
        if any(one.hasFocus() for one in going):
            self.left.emit()
        self.setVisible(shown)
        if not shown:
            return
        said = words("result.met", met=met, all=len(criteria))
        show_as(self.state, "ok" if done and met == len(criteria) else "warn", said)
        self._cost.setText(self._spent)
        self._question.setText(words("result.asked", text=" ".join(self._asked.split())))
        self.rest.setVisible(not done)
        self.accept.setVisible(not done)
        empty(self._column)
        for criterion in criteria:
            self._column.addLayout(self._row(criterion))
        self.setAccessibleName(", ".join(filter(None, (words("result.title"), said, self._spent))))
        self.set_room(self._room)

    def _row(self, criterion: Criterion) -> QHBoxLayout:
        words, by = self._language, criterion.checked_by
        text = shown_by(criterion, lambda doubt: words.texts.named("criterion", doubt))
        parts: list[QWidget] = [Paragraph("value", text=criterion.text)]
        if criterion.evidence is not None:
            quote = ShorteningButton("link", "result_evidence")
            quote.show_words(text.replace("&", "&&"), plain_tip(text))
            quote.clicked.connect(partial(self.message_wanted.emit, criterion.evidence.message_id))
            parts.append(quote)
        elif text:
            parts.append(Paragraph("hint", text=text))
        mark = HeadingIcon(self._look, *_MARKS.get(criterion.state, _MARKS[CriterionState.OPEN]))
        mark.setAccessibleName(words.texts.named("criterion", criterion.state))
        who = plain_label("hint" if by is None or by.other_family else "warn")
        if by is not None:
            family = words("result.other_family" if by.other_family else "result.same_family")
            who.setText(f"{by.name} · {family}")
        return hbox(mark, (vbox(*parts, spacing=2), 1), who, spacing=10)
