"""What can be done with a message: the actions, and the bar and the menu that offer them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.core.message import Message, MessageState, Role, SummaryNote
from app.core.texts import Texts, exact, unmarked
from app.gui.transcript.canvas import Canvas
from app.gui.transcript.message_rows import COMPARE, CONTINUE, RETRY, SETTINGS, MessageRow
from app.gui.transcript.pictures import COPY_PICTURE, SAVE_PICTURE, shown_pictures
from app.gui.transcript.row_words import is_cut
from app.gui.transcript.transcript_model import TranscriptModel
from app.gui.widgets.badge import paint_box
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import passing_menu

COPY = "copy"
EDIT = "edit"
CONTINUE_FROM = "continue_from"
FORK = "fork"
RETRY_WITH = "retry_with"
REDO_SUMMARY = "redo_summary"
USE_SUMMARY = "use_summary"
LEAVE_SUMMARY = "leave_summary"
PIN = "pin"
UNPIN = "unpin"
DECIDE = "decide"
SUMMARY_ACTIONS = (EDIT, REDO_SUMMARY, USE_SUMMARY, LEAVE_SUMMARY, PIN, UNPIN)

# The key of the words of each action, and its icon, "" for those that are only in menus.
ACTIONS = {
    COPY: ("transcript.copy_message", "copy"),
    RETRY: ("transcript.retry", "refresh-cw"),
    RETRY_WITH: ("transcript.retry_with", "chevron-down"),
    EDIT: ("transcript.edit", "pencil"),
    CONTINUE: ("transcript.continue", "play"),
    CONTINUE_FROM: ("transcript.continue_from", "workflow"),
    FORK: ("transcript.fork", "git-branch"),
    SAVE_PICTURE: ("transcript.save_picture", "download"),
    COPY_PICTURE: ("transcript.copy_picture", "image"),
    REDO_SUMMARY: ("summary.redo", ""),
    USE_SUMMARY: ("summary.use", ""),
    LEAVE_SUMMARY: ("summary.leave", ""),
    PIN: ("transcript.pin", "pin"),
    UNPIN: ("transcript.unpin", "pin-off"),
    DECIDE: ("journal.keep_decision", "gavel"),
    SETTINGS: ("transcript.open_settings", ""),
    COMPARE: ("transcript.compare_versions", ""),
}
SIDE = 26


def offered(message: Message, model: TranscriptModel) -> tuple[str, ...]:
    """Return the actions of a message of a chat or debate; a sub-agent's message can only be copied.

    Of several pictures each has its own words under it.
    """
    chat, writable = model.chat, model.can_retry and not model.book.is_past(message)
    pictures = (SAVE_PICTURE, COPY_PICTURE) if len(shown_pictures(message)) == 1 else ()
    of_kind = _of_message if chat else _of_turn
    actions = of_kind(message, writable=writable, unused=message.id in model.unused)
    sent = message.ended and not message.parent_turn_id and message.role in (Role.USER, Role.ASSISTANT)
    if writable and sent and not message.part:
        actions += (UNPIN if message.id in model.pinned else PIN,)
    if chat and writable and sent and message.role == Role.ASSISTANT and message.state == MessageState.DONE:
        actions += (DECIDE,)
    return *actions, *pictures


def _of_turn(message: Message, *, writable: bool, unused: bool) -> tuple[str, ...]:
    """Return the actions of a debate's turn; one that failed is retried while the debate is open,
    as notes are changed.
    """
    if message.role == Role.SUMMARY:
        return _of_message(message, writable=writable, unused=unused)
    if message.is_interim:
        return (COPY,)
    if message.role == Role.ASSISTANT and message.state == MessageState.DONE:
        return (COPY, FORK)
    return (COPY, RETRY) if message.state == MessageState.FAILED and writable else (COPY,)


def _of_message(message: Message, *, writable: bool, unused: bool) -> tuple[str, ...]:
    if not writable or message.parent_turn_id is not None or message.state == MessageState.STREAMING:
        return (COPY,)
    if message.role == Role.SUMMARY:
        if message.note == SummaryNote.PRUNED:
            return (COPY,)
        # Notes for one assistant alone are not made by a command.
        again = () if message.agent_id else (REDO_SUMMARY,)
        return (COPY, EDIT, *again, USE_SUMMARY if unused else LEAVE_SUMMARY)
    if message.role == Role.USER:
        return (COPY, EDIT, RETRY, RETRY_WITH, CONTINUE_FROM)
    cut = message.state == MessageState.STOPPED or is_cut(message)
    if message.state == MessageState.FAILED:
        return (COPY, RETRY, RETRY_WITH)
    return (COPY, RETRY, RETRY_WITH, CONTINUE if cut else CONTINUE_FROM)


class ActionBar(QWidget):
    """Buttons over the message under the mouse; emits `chosen(message id, action)`.
    The keyboard has the menu.
    """

    chosen = Signal(str, str)

    def __init__(self, parent: QWidget, canvas: Canvas, model: TranscriptModel) -> None:
        super().__init__(parent)
        self._canvas, self._model = canvas, model
        self._mouse = QPoint()
        self._message_id = ""
        self._buttons: dict[str, QToolButton] = {}
        self._line = hbox(inside=self, margins=2, spacing=0)
        canvas.scrolled.connect(self.hide)
        canvas.refreshed.connect(self._on_refreshed)
        self.hide()

    @property
    def message_id(self) -> str:
        """The message of the bar, "" while it is hidden."""
        return "" if self.isHidden() else self._message_id

    def come_to(self, point: QPoint) -> None:
        """Show the buttons of the message at a point of the parent; none where there is none."""
        self._mouse = point
        placed = self._canvas.placed_at(point.y())
        row = self._canvas.row(placed.row) if placed else None
        if placed is None or not isinstance(row, MessageRow) or row.message.state == MessageState.STREAMING:
            self.hide()
            return
        self._message_id = row.message.id
        actions, style = offered(row.message, self._model), self._canvas.style
        for action in actions:
            if action not in self._buttons:
                self._buttons[action] = self._button(action)
        for action, button in self._buttons.items():
            button.setVisible(action in actions)
            key, icon = ACTIONS[action]
            button.setToolTip(style.texts(key))
            button.setAccessibleName(style.texts(key))
            if style.picture is not None:
                button.setIcon(style.picture(icon, "text_2", 15, self.devicePixelRatioF()))
        size = QSize(SIDE * len(actions) + 4, SIDE + 4)
        right = row.right - (80 if row.context.versions[1] > 1 else 0)
        self.setGeometry(QRect(QPoint(right - size.width(), max(0, placed.top + row.top - 14)), size))
        self.show()
        self.raise_()

    def _on_refreshed(self) -> None:
        # What moved or went without the mouse takes its buttons along.
        if not self.isHidden():
            self.come_to(self._mouse)

    def _button(self, action: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"message_{action}")
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setFixedSize(SIDE, SIDE)
        button.setIconSize(QSize(15, 15))
        button.clicked.connect(lambda: self.chosen.emit(self._message_id, action))
        self._line.addWidget(button)
        return button

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._canvas.style.tokens
        paint_box(QPainter(self), self.rect(), tokens.line_strong, tokens.surface, 7)


class MenuItem(NamedTuple):
    """An item of the menu: the key of its text, what it does, whether it is enabled, and the model
    that it asks, if it names one.
    """

    key: str
    do: Callable[[], object]
    enabled: bool = True
    model: str = ""


def items_of(
    actions: Sequence[str], do: Callable[[str], object], writer: Callable[[], str]
) -> list[MenuItem]:
    """Return the items of a message's actions; `writer` names who makes a summary again."""
    items = []
    for each in actions:
        model = writer() if each == REDO_SUMMARY else ""
        items.append(
            MenuItem("summary.redo_with" if model else ACTIONS[each][0], partial(do, each), model=model)
        )
    return items


def build_menu(parent: QWidget, texts: Texts, *parts: Sequence[MenuItem]) -> QMenu:
    """Return a menu whose parts are separated by lines; it deletes itself when closed."""
    menu = passing_menu(parent)
    for number, part in enumerate(parts):
        if number and part:
            menu.addSeparator()
        for item in part:
            words = texts(item.key, model=exact(item.model)) if item.model else texts(item.key)
            action = QAction(unmarked(words), menu)
            action.setEnabled(item.enabled)
            action.triggered.connect(lambda _checked=False, do=item.do: do())
            menu.addAction(action)
    return menu
