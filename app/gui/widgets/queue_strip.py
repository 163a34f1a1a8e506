"""The queued messages of a chat whose assistant is busy: each can be edited, moved, removed or sent now."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.core.session import QueuedMessage
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button, put_in_tab_order
from app.gui.widgets.editable_row import EditableRow
from app.gui.widgets.label import ElidedLabel, plain_label

MOST_HEIGHT = 190


class QueuedMessageRow(EditableRow):
    """A queued message. Emits edited(text), removed(), moved(step) and sent().

    Emits written(text) while it is being edited, written(None) if that was cancelled. After edited, removed and sent,
    the receiver ends the edit with `write(None)`.
    """

    edited = Signal(str)
    written = Signal(object)
    sent = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(language, look, "queue", side=26, most=5)
        self.setProperty("kind", "queued")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._edge = {"first": True, "last": True}
        self._queued: QueuedMessage | None = None
        self._text = ElidedLabel("name")
        self._files = plain_label("hint")
        self._text.setCursor(Qt.CursorShape.OpenHandCursor)
        self.send = button("link", "queue_send")
        hbox(
            (self._text, 1),
            (self._box, 1),
            self._files,
            4,
            self.send,
            *self.tools,
            inside=self,
            margins=(10, 3, 6, 3),
            spacing=2,
        )
        self.send.clicked.connect(self.sent)
        self._box.submitted.connect(self._on_submitted)
        self._box.textChanged.connect(self._on_text)
        self._box.cancelled.connect(self._cancel)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """The widgets in the tab order."""
        return (self, self.send, *self.tools)

    def show_message(self, queued: QueuedMessage, *, first: bool, last: bool) -> None:
        """Show a message; an unfinished edit stays."""
        self._queued = queued
        words, files = self._language, len(queued.attachments)
        self._text.setText(queued.text or ", ".join(one.name for one in queued.attachments))
        self._files.setText(words("queue.files", count=files) if files else "")
        self._files.setVisible(bool(files))
        self.setAccessibleName(words("queue.message", text=queued.text[:200]))
        self._box.setAccessibleName(words("queue.edit"))
        self.send.setText(words("queue.send_now"))
        self.send.setToolTip(words("queue.send_now.hint"))
        self._edge = {"first": first, "last": last}
        self._name_tools()

    def write(self, text: str | None) -> None:
        """Edit the message, with the text so far; None ends the edit."""
        if text is None:
            if not self._box.isHidden():
                self._end()
        elif self._box.isHidden() or text != self._box.toPlainText():
            self._show_box(True)
            self._box.show_text(text)

    def _begin(self) -> None:
        if self._queued is not None:
            if self._box.isHidden():
                self.write(self._queued.text)
                self.written.emit(self._queued.text)
            self._box.setFocus()

    def _cancel(self) -> None:
        self._end()
        self.written.emit(None)

    def _end(self) -> None:
        focused = self._box.hasFocus()
        self._show_box(False)
        if focused:
            self.setFocus()

    def _show_box(self, shown: bool) -> None:
        self._text.setVisible(not shown)
        self._box.setVisible(shown)
        self._name_tools()

    def _name_tools(self) -> None:
        """Name the buttons: the pencil of a message that is being edited is a tick that saves it."""
        edits = not self._box.isHidden()
        self.edit.set_icon("check" if edits else "pencil")
        self._show_tools("dialog.save" if edits else "queue.edit", "queue.remove", **self._edge)

    def _on_text(self) -> None:
        if not self._box.isHidden():
            self.written.emit(self._box.toPlainText())

    def _on_submitted(self) -> None:
        text = self._box.text()
        if self._queued is not None and text and text != self._queued.text:
            self.edited.emit(text)
        else:
            self._cancel()


class QueueStrip(QScrollArea):
    """The queue of a chat, hidden while it is empty.

    Signals, each with the id of the message: edited(id, text), removed(id), moved(id, place), sent(id), and
    written(id, text) while it is being edited, with None if that was cancelled. left() when what had the focus went away.
    """

    left = Signal()
    edited = Signal(str, str)
    written = Signal(str, object)
    removed = Signal(str)
    moved = Signal(str, int)
    sent = Signal(str)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("queue")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._language = language
        self._look = look
        self._rows: dict[str, QueuedMessageRow] = {}
        self.after: QWidget | None = None
        """What Tab stops at before the rows."""
        self._queue: tuple[QueuedMessage, ...] = ()
        self._title = plain_label("section")
        body = QWidget()
        self._column = vbox(self._title, STRETCH, inside=body, spacing=4)
        self.setWidget(body)
        language.changed.connect(lambda: self.show_queue(self._queue))
        self.hide()

    def show_queue(self, queue: Sequence[QueuedMessage]) -> None:
        """Show the queued messages in order; rows keep their focus and unfinished edits."""
        self._queue = tuple(queue)
        gone = set(self._rows) - {one.id for one in queue}
        focus = self.window().focusWidget()
        for queued_id in gone:
            row = self._rows.pop(queued_id)
            if focus in (row, *row.stops, row.box):
                self.left.emit()
            row.hide()
            row.deleteLater()
        for place, queued in enumerate(queue):
            row = self._rows.get(queued.id) or self._add(queued.id)
            if self._column.indexOf(row) != place + 1:
                self._column.removeWidget(row)
                self._column.insertWidget(place + 1, row)
            row.show_message(queued, first=place == 0, last=place == len(queue) - 1)
            row.show()
        if self.after is not None:
            stops = [stop for queued in queue for stop in self._rows[queued.id].stops]
            put_in_tab_order([self.after, *stops])
        self._title.setText(self._language("queue.messages", count=len(queue)))
        self.setVisible(bool(queue))
        self._fit()

    def write(self, texts: Mapping[str, str]) -> None:
        """Edit these messages and no others, by their ids."""
        for queued_id, row in self._rows.items():
            row.write(texts.get(queued_id))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        done = super().eventFilter(watched, event)
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        elif watched is self.widget() and event.type() == QEvent.Type.Resize:
            self._keep_in_sight()
        return done

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_in_sight()

    def _fit(self) -> None:
        """Set the height to that of the rows, up to a limit."""
        self.setFixedHeight(min(MOST_HEIGHT, self.widget().sizeHint().height()))

    def _keep_in_sight(self) -> None:
        """Scroll to the row that has the focus."""
        focus = self.window().focusWidget()
        for row in self._rows.values():
            if focus is not None and row.isAncestorOf(focus):  # type: ignore[redundant-expr]
                self.ensureWidgetVisible(row, 0, 4)

    def _add(self, queued_id: str) -> QueuedMessageRow:
        row = QueuedMessageRow(self._language, self._look)
        self._rows[queued_id] = row
        row.edited.connect(lambda text: self.edited.emit(queued_id, text))
        row.written.connect(lambda text: self.written.emit(queued_id, text))
        row.removed.connect(lambda: self.removed.emit(queued_id))
        row.moved.connect(lambda step: self._on_moved(queued_id, step))
        row.sent.connect(lambda: self.sent.emit(queued_id))
        return row

    def _on_moved(self, queued_id: str, step: int) -> None:
        place = [one.id for one in self._queue].index(queued_id) + step
        if 0 <= place < len(self._queue):
            self.moved.emit(queued_id, place)
