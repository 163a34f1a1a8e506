"""Questions that wait for the user: a badge in the top bar with their number, and the list it opens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMoveEvent
from PySide6.QtWidgets import QFrame, QWidget
from shiboken6 import isValid

from app.core.message import Message, PromptType
from app.core.texts import exact, visible
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import called
from app.gui.widgets.approval_card import arguments_of, is_hand_over
from app.gui.widgets.boxes import vbox
from app.gui.widgets.controls import ENTER, Button
from app.gui.widgets.item_list import TWO_LINES, ItemList, RowItem
from app.gui.widgets.text import name_button, plain_label

WIDTH = 380
MOST_ROWS = 7
MOST_QUESTION = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A question that waits: its place, and as texts who asks, in which session, and what."""

    session_id: str
    message_id: str
    who: str
    session: str
    question: str


class Questions(ItemList):
    """The list; emits picked(row) on Enter or a click, left() on Escape or when it loses the focus."""

    picked = Signal(int)
    left = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__(look, "needs_you_list", TWO_LINES)
        self.clicked.connect(lambda index: self.picked.emit(index.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER and self.currentIndex().isValid():
            self.picked.emit(self.currentIndex().row())
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


class NeedsYou(Button):
    """The badge, hidden while no question waits. Emits question_requested(session id, message id)."""

    question_requested = Signal(str, str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("chip", "needs_you")
        self.setProperty("tone", "warn")
        self.dress(look, "circle-question-mark", "warn", side=14)
        self._language = language
        self._waiting: tuple[Waiting, ...] = ()
        self._before: QWidget | None = None
        self._popup = QFrame(self)
        self._popup.hide()
        self._popup.setProperty("kind", "popup")
        self._popup.setObjectName("needs_you_popup")
        self._title = plain_label("section")
        self._list = Questions(look)
        vbox(self._title, self._list, inside=self._popup, margins=(10, 10, 10, 10))
        self.clicked.connect(self.open)
        self._list.picked.connect(self._on_picked)
        self._list.left.connect(self._on_left)
        language.changed.connect(self._refresh)
        look.changed.connect(self._refresh)
        self.hide()

    def show_waiting(self, waiting: Sequence[Waiting]) -> None:
        """Show the questions that wait, the oldest first."""
        if tuple(waiting) != self._waiting:
            self._waiting = tuple(waiting)
            self._refresh()

    def asks_in(self, session_id: str) -> bool:
        """Return whether a question of this session waits; a decision that is due is none."""
        return any(one.message_id and one.session_id == session_id for one in self._waiting)

    def open(self) -> None:
        """Open the list if a question waits."""
        if not self._waiting:
            return
        self._before = self.window().focusWidget()
        self._list.setCurrentRow(0)
        # As a child of the window it lies over everything in it.
        self._popup.setParent(self.window())
        self._place()
        self._popup.show()
        self._popup.raise_()
        self._list.setFocus()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        if self._popup.isVisible():
            self._place()

    def _place(self) -> None:
        """Move the list under the badge, right-aligned with it."""
        corner = self.mapTo(self.window(), QPoint(self.width() - self._popup.width(), self.height() + 6))
        self._popup.move(max(8, corner.x()), corner.y())

    def _refresh(self) -> None:
        words, count = self._language, len(self._waiting)
        self.setText(str(count))
        name = words("needs_you.count", count=count)
        name_button(self, name, words.keys("needs_you"))
        self._title.setText(words("needs_you.title"))
        self._list.setAccessibleName(words("needs_you.title"))
        row = self._list.currentIndex().row()
        self._list.show_rows([self._item(one) for one in self._waiting])
        self._list.setCurrentRow(min(max(0, row), count - 1))
        each = self._list.rows_height() // max(1, count)
        self._list.setFixedHeight(min(MOST_ROWS, max(1, count)) * each + 4)
        self._popup.setFixedWidth(WIDTH)
        self._popup.adjustSize()
        self.setVisible(bool(count))
        if not count and self._popup.isVisible():
            self._on_left()

    def _item(self, waiting: Waiting) -> RowItem:
        spoken = self._language(
            "needs_you.row", name=waiting.who, title=waiting.session, question=waiting.question
        )
        return RowItem(
            title=" ".join(waiting.question.split()),
            second=" ".join(f"{waiting.who} · {waiting.session}".split()),
            spoken=spoken,
        )

    def _on_left(self) -> None:
        """Close; the focus goes back unless it has already moved elsewhere."""
        focused = self._list.hasFocus()
        self._popup.hide()
        if focused and self._before is not None and isValid(self._before) and self._before.isVisible():
            self._before.setFocus()

    def _on_picked(self, place: int) -> None:
        self._popup.hide()
        one = self._waiting[place]
        self.question_requested.emit(one.session_id, one.message_id)


def question_text(message: Message, words: Language, names: Mapping[str, str]) -> str:
    """Return a question on one line; for an approval, the tool or the hand-over to allow.

    `names` are those of the assistants by id.
    """
    prompt = message.prompt
    assert prompt is not None
    if is_hand_over(message):
        member = str(arguments_of(prompt.arguments)["assistant"])
        text = words("hand_over.question", name=exact(names.get(member, member)))
    elif prompt.type == PromptType.APPROVAL:
        text = words("approval.question", tool=called(prompt, words.texts))
    else:
        text = visible(prompt.question)
    return " ".join(text[:MOST_QUESTION].split())
