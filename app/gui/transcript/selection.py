"""What the reader of a transcript does: selecting, copying, following links, and acting on a message.

`Selection` is what is selected across rows and how it is copied. The keyboard reaches links and actions one
by one, and has a text cursor that selects. `offered` are the actions of a message, in a bar and a menu.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.core.message import Message, MessageState, Role, SummaryNote
from app.core.texts import Texts, exact, unmarked
from app.gui.display.theme import Tokens
from app.gui.markdown.blocks import blocks_of
from app.gui.markdown.document import markdown_of, plain_of
from app.gui.tasks import timer
from app.gui.transcript.canvas import Canvas
from app.gui.transcript.message_rows import COMPARE, CONTINUE, RETRY, SETTINGS, MessageRow
from app.gui.transcript.painted_row import COPY_CODE, FOLLOW, PaintedRow
from app.gui.transcript.pictures import COPY_PICTURE, SAVE_PICTURE, shown_pictures
from app.gui.transcript.row_text import Range
from app.gui.transcript.row_words import is_cut
from app.gui.transcript.transcript_model import MESSAGE, TranscriptModel
from app.gui.widgets.badge import paint_box
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import passing_menu
from app.gui.widgets.text import name_button

TO_END = 1 << 60
"""A position behind the end of every text."""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A place between two characters: a row and a position in its plain text."""

    row_id: str
    position: int


class Selection:
    """The range between an anchor and a cursor, in either order."""

    def __init__(self, model: TranscriptModel) -> None:
        self._model = model
        self.anchor: TextPlace | None = None
        self.cursor: TextPlace | None = None

    def clear(self) -> None:
        """Select nothing."""
        self.anchor = self.cursor = None

    def start(self, place: TextPlace) -> None:
        """Begin a selection at a place."""
        self.anchor = self.cursor = place

    def extend(self, place: TextPlace) -> None:
        """Move the cursor and keep the anchor."""
        self.anchor = self.anchor or place
        self.cursor = place

    def select_row(self, row_id: str) -> None:
        """Select all of a row."""
        self.anchor, self.cursor = TextPlace(row_id, 0), TextPlace(row_id, TO_END)

    def select_all(self) -> None:
        """Select everything."""
        model = self._model
        if model.entries:
            self.anchor, self.cursor = TextPlace(model.id(0), 0), TextPlace(model.id(-1), TO_END)

    def bounds(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Return first and last (row, position), None if nothing is selected."""
        if self.anchor is None or self.cursor is None or self.anchor == self.cursor:
            return None
        if self.anchor.row_id not in self._model or self.cursor.row_id not in self._model:
            return None
        one = (self._model.index(self.anchor.row_id), self.anchor.position)
        two = (self._model.index(self.cursor.row_id), self.cursor.position)
        return (one, two) if one <= two else (two, one)

    def in_row(self, row: int) -> tuple[int, int] | None:
        """Return start and end of the selection in a row, None if nothing of it is selected."""
        bounds = self.bounds()
        if bounds is None or not bounds[0][0] <= row <= bounds[1][0]:
            return None
        (first, start), (last, end) = bounds
        return (start if row == first else 0), (end if row == last else TO_END)

    def ranges(self, row: int, tokens: Tokens) -> list[Range]:
        """Return what to mark in a row."""
        selected = self.in_row(row)
        colour = tokens.line_strong if tokens.dark else tokens.accent_bg
        return [Range(*selected, colour)] if selected else []

    def copied(self, texts: Texts, *, markdown: bool) -> str:
        """Return the selected text; each of several messages begins with who speaks."""
        bounds = self.bounds()
        if bounds is None:
            return ""
        first, last = bounds[0][0], bounds[1][0]
        parts = []
        for row in range(first, last + 1):
            if first != last and self._model.entries[row].kind != MESSAGE:
                continue
            start, end = self.in_row(row) or (0, 0)
            text = self._row_text(row, start, end, markdown=markdown)
            if first != last:
                text = f"{self.label(row, texts, markdown=markdown)}\n\n{text}"
            parts.append(text)
        return "\n\n".join(parts)

    def label(self, row: int, texts: Texts, *, markdown: bool) -> str:
        """Return the speaker of a row with the role."""
        message = self._model.message(row)
        name = self._model.name(message, texts)
        role = self._model.role(message, texts)
        label = f"{name} ({role}):" if role else f"{name}:"
        return f"**{label}**" if markdown else label

    def _row_text(self, row: int, start: int, end: int, *, markdown: bool) -> str:
        source = self._model.text(row)
        blocks = blocks_of(self._model.message(row), source)
        length = sum([len(block.text) + 1 for block in blocks]) - 1
        if start <= 0 and end >= length:
            return source.strip("\n") if markdown else plain_of(blocks, 0, length)
        return (markdown_of if markdown else plain_of)(blocks, start, min(end, length))


class Pointer(QObject):
    """Turns mouse events into selections and actions."""

    def __init__(
        self, canvas: Canvas, selection: Selection, act: Callable[[PaintedRow, str, QPoint], None]
    ) -> None:
        """`act(row, action, point)` does what a row offers."""
        super().__init__(canvas)
        self._area, self._canvas, self._selection, self._act = canvas.area, canvas, selection, act
        self._pressed: str | None = None
        self._drag = QPoint()
        self._auto_scroll = timer(self, 40, self._on_auto_scroll)

    def press(self, event: QMouseEvent) -> None:
        """Begin a selection, or extend it with Shift."""
        found = self._canvas.row_at(event.position().toPoint())
        if found is None:
            return
        row, point = found
        self._pressed = row.action_at(point)
        place = TextPlace(row.row_id, row.text.position_at(point))
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selection.anchor:
            self._selection.extend(place)
        else:
            self._selection.start(place)
        self._canvas.repaint()

    def move(self, event: QMouseEvent) -> None:
        """Extend the selection while the button is held; else show by the pointer what is under it."""
        point = event.position().toPoint()
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed is not None:
            self._drag = point
            outside = not 0 <= point.y() < self._area.viewport().height()
            if outside and not self._auto_scroll.isActive():
                self._auto_scroll.start()
            elif not outside:
                self._auto_scroll.stop()
            self._extend_to(point)
            return
        shape = Qt.CursorShape.ArrowCursor
        if found := self._canvas.row_at(point):
            row, inside = found
            if row.action_at(inside):
                shape = Qt.CursorShape.PointingHandCursor
            elif any(segment.rect.contains(inside) for segment in row.text.segments):
                shape = Qt.CursorShape.IBeamCursor
        self._area.viewport().setCursor(shape)

    def release(self, event: QMouseEvent) -> None:
        """Do what was clicked, unless something was selected."""
        self._auto_scroll.stop()
        pressed, self._pressed = self._pressed, None
        found = self._canvas.row_at(event.position().toPoint())
        if found and pressed and event.button() == Qt.MouseButton.LeftButton and not self._selection.bounds():
            row, point = found
            if row.action_at(point) == pressed:
                self._act(row, pressed, point)

    def double_click(self, event: QMouseEvent) -> None:
        """Select the word under the pointer."""
        if found := self._canvas.row_at(event.position().toPoint()):
            row, point = found
            start, end = row.word_at(row.text.position_at(point))
            self._selection.start(TextPlace(row.row_id, start))
            self._selection.extend(TextPlace(row.row_id, end))
            self._canvas.repaint()

    def _extend_to(self, point: QPoint) -> None:
        if found := self._canvas.row_at(point):
            row, inside = found
            self._selection.extend(TextPlace(row.row_id, row.text.position_at(inside)))
            self._canvas.repaint()

    def _on_auto_scroll(self) -> None:
        over = self._drag.y() - (0 if self._drag.y() < 0 else self._area.viewport().height())
        bar = self._area.verticalScrollBar()
        bar.setValue(bar.value() + over // 2 + (1 if over > 0 else -1))
        self._extend_to(self._drag)


@dataclass(frozen=True, slots=True)
class KeyTarget:
    """Something Enter can use: an action of a row; `rect` is in the row."""

    row_id: str
    action: str
    rect: QRect


class Keyboard:
    """The focused action, and the keys that extend a selection."""

    def __init__(self, model: TranscriptModel, canvas: Canvas, selection: Selection) -> None:
        self._model, self._canvas, self._selection = model, canvas, selection
        self.target: KeyTarget | None = None

    def to_next(self, *, forward: bool) -> bool:
        """Go to the next action on screen; return False past the last."""
        stops = self._targets()
        index = stops.index(self.target) if self.target in stops else (-1 if forward else len(stops))
        index += 1 if forward else -1
        self.target = stops[index] if 0 <= index < len(stops) else None
        self._canvas.repaint()
        return self.target is not None

    def follow_target(self) -> None:
        """Take the new place of the target after its row was folded or unfolded."""
        if self.target:
            row_id = self.target.row_id
            self.target = next((each for each in self._targets() if each.row_id == row_id), None)

    def extend(self, key: int) -> bool:
        """Extend the selection by an arrow key, Home or End; return False for another key."""
        cursor = self._selection.cursor
        if cursor is None:
            if not self._canvas.placed:
                return False
            cursor = TextPlace(self._model.id(self._canvas.placed[0].row), 0)
            self._selection.start(cursor)
        place = self._moved(cursor, key)
        if place is not None:
            self._selection.extend(place)
            self._canvas.repaint()
        return place is not None

    def _targets(self) -> Sequence[KeyTarget]:
        """Return the actions on screen from top to bottom, those of links among them."""
        found: list[KeyTarget] = []
        for placed in self._canvas.placed:
            row = self._canvas.row(placed.row)
            for position, span in row.text.links:
                rect = row.position_rect(position).adjusted(-2, 0, 0, 0)
                end = row.position_rect(position + len(span.text))
                rect.setRight(end.right() + 2 if end.top() == rect.top() else rect.left() + 40)
                found.append(KeyTarget(row.row_id, f"{FOLLOW}/{span.link}", rect))
            found += [KeyTarget(row.row_id, COPY_CODE, rect) for rect in row.text.copy_rects]
            found += [KeyTarget(row.row_id, action, rect) for action, rect in row.action_rects]
        return found

    def _moved(self, place: TextPlace, key: int) -> TextPlace | None:
        """Return where a key takes the cursor of the selection; None for a key that moves nothing."""
        model, row_of = self._model, self._canvas.row
        index = model.index(place.row_id)
        row = row_of(index)
        length = row.text.length
        position = min(place.position, length)
        keys = Qt.Key
        if key == keys.Key_Left:
            position -= 1
        elif key == keys.Key_Right:
            position += 1
        elif key in (keys.Key_Up, keys.Key_Down):
            position = _line_moved(row, position, key == keys.Key_Down)
        elif key == keys.Key_Home:
            return TextPlace(model.id(0), 0)
        elif key == keys.Key_End:
            return TextPlace(model.id(-1), TO_END)
        else:
            return None
        if position < 0 and index > 0:
            above = row_of(index - 1)
            return TextPlace(above.row_id, above.text.length)
        if position > length and index < len(model.entries) - 1:
            return TextPlace(model.id(index + 1), 0)
        return TextPlace(place.row_id, max(0, min(position, length)))


def _line_moved(row: PaintedRow, position: int, down: bool) -> int:
    rect = row.position_rect(position)
    y = rect.bottom() + rect.height() // 2 if down else rect.top() - rect.height() // 2
    result = row.text.position_at(QPoint(rect.left(), y))
    if down:
        return result if row.position_rect(result).top() > rect.top() else row.text.length + 1
    return result if row.position_rect(result).top() < rect.top() else -1


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
            name_button(button, style.texts(key))
            if style.picture is not None:
                button.setIcon(style.picture(icon, "text_2", 15, self.devicePixelRatioF()))
        size = QSize(SIDE * len(actions) + 4, SIDE + 4)
        right = row.right - (80 if row.context.versions[1] > 1 else 0)
        # Never over the row above, whose arrow folds it.
        top = max(0, placed.top + max(0, row.top - 14))
        self.setGeometry(QRect(QPoint(right - size.width(), top), size))
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
        key = "summary.redo_with" if model else ACTIONS[each][0]
        items.append(MenuItem(key, partial(do, each), model=model))
    return items


def build_menu(parent: QWidget, texts: Texts, *parts: Sequence[MenuItem]) -> QMenu:
    """Return a menu whose parts are separated by lines; it deletes itself when closed."""
    menu = passing_menu(parent)
    for number, part in enumerate(parts):
        if number and part:
            menu.addSeparator()
        for item in part:
            words = texts(item.key, model=exact(item.model)) if item.model else texts(item.key)
            menu.addAction(unmarked(words), item.do).setEnabled(item.enabled)
    return menu
