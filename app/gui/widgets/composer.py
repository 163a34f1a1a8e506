"""The composer: a growing text box in a frame with a send button, and the hint shown while files are dragged.

Used by the welcome page and by every session.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.core.text import trimmed
from app.gui.display.style import Look, sized, tall
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button, name_button
from app.gui.widgets.label import ElidedLabel, restyle

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TextBox(QPlainTextEdit):
    """A box of plain text as tall as its text, from `lines` to `most` lines; emits `submitted` on Enter.

    A paste of more than `longest_paste` characters, or that would make the text longer than `longest`, is not inserted
    but passed on: long_text_given(it). Shift+Enter breaks the line; while an input method composes, Enter only commits.
    Without `submits`, Enter breaks the line and Tab moves on.
    """

    submitted = Signal()
    focus_changed = Signal(bool)
    long_text_given = Signal(str)

    def __init__(
        self,
        *,
        lines: int = 1,
        most: int = 8,
        submits: bool = True,
        longest: int | None = None,
        longest_paste: int | None = None,
    ) -> None:
        super().__init__()
        self._lines = lines
        self._most = most
        self._submits = submits
        self._longest, self._longest_paste = longest, longest_paste
        self._composing = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        # Lines are wrapped; in a narrow moment of a layout Qt would show the bar, and keep it.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        # Otherwise undo would first remove the margin.
        self.document().clearUndoRedoStacks()
        self.textChanged.connect(self._fit)
        self._fit()

    def text(self) -> str:
        """Return the text without the empty lines before it and the blanks after it."""
        return trimmed(self.toPlainText())

    def lead_with(self, text: str) -> None:
        """Put a text before what is written, unless it stands there, with the cursor at the end and the focus."""
        if not self.toPlainText().startswith(text):
            self.setPlainText(text + self.toPlainText())
        self.moveCursor(self.textCursor().MoveOperation.End)
        self.setFocus()

    @property
    def composing(self) -> bool:
        """Whether an input method is composing."""
        return self._composing

    def insertFromMimeData(self, source: QMimeData) -> None:
        length = len(source.text())
        stays = len(self.toPlainText()) - len(self.textCursor().selectedText())
        if (self._longest_paste is not None and length > self._longest_paste) or (
            self._longest is not None and stays + length > self._longest
        ):
            self.long_text_given.emit(source.text())
        else:
            super().insertFromMimeData(source)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in ENTER or not self._submits:
            super().keyPressEvent(event)
            return
        if self._composing:
            event.ignore()
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
        else:
            self.submitted.emit()
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._composing = False
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def sizeHint(self) -> QSize:
        return QSize(240, self.height())

    def setPlaceholderText(self, text: str) -> None:
        super().setPlaceholderText(text)
        self._fit()

    def _lines_of_placeholder(self) -> int:
        """Return the lines the placeholder needs in an empty box, at most two."""
        if not self.document().isEmpty():
            return 0
        room = self.viewport().width() - 2 * round(self.document().documentMargin())
        wrap, metrics = Qt.TextFlag.TextWordWrap, self.fontMetrics()
        needed = metrics.boundingRect(0, 0, max(1, room), 0, wrap, self.placeholderText()).height()
        return min(2, round(needed / metrics.lineSpacing()))

    def _fit(self) -> None:
        wanted = max(round(self.document().size().height()), self._lines_of_placeholder())
        lines = max(self._lines, min(self._most, wanted))
        # A scroll bar that comes and goes would change the line breaks, and with them the height, again and again.
        bar = (
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if wanted > self._most
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setVerticalScrollBarPolicy(bar)
        frame = (
            max(0, self.height() - self.viewport().height())
            if self.testAttribute(Qt.WidgetAttribute.WA_WState_Polished)
            else 0
        )
        height = lines * self.fontMetrics().lineSpacing() + 8 + frame
        if height != self.height():
            self.setFixedHeight(height)


class Composer(QFrame):
    """A framed box with a hint and a send button; emits `submitted` with the text, and clears the box."""

    submitted = Signal(str)
    text_changed = Signal()

    def __init__(self, look: Look, *, box_name: str, button_name: str, box: TextBox | None = None) -> None:
        """`box` replaces the plain text box."""
        super().__init__()
        self.setProperty("kind", "composer")
        self.box = box or TextBox()
        self.box.setObjectName(box_name)
        self._hint = ElidedLabel("hint")
        self.send = button("send", button_name)
        self.send.dress(look, "arrow-up", "on_accent", side=17, room=0)
        self.send.setFixedSize(34, 27)
        self.foot = hbox((self._hint, 1), self.send, margins=(2, 0, 0, 0))
        self.column = vbox(self.box, self.foot, inside=self, margins=(12, 9, 10, 10), spacing=8)
        self.setFocusProxy(self.box)
        self.box.submitted.connect(self._on_submitted)
        self.box.textChanged.connect(self._on_text_changed)
        self.box.focus_changed.connect(self._on_focus_changed)
        # The button is disabled once the box is empty: the focus would jump to any other button.
        self.send.clicked.connect(lambda: self.box.setFocus())
        self.send.clicked.connect(self._on_submitted)
        self._on_text_changed()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # A click anywhere in the frame focuses the box.
        self.box.setFocus()

    def set_words(self, placeholder: str, hint: str, send: str) -> None:
        """Set the placeholder of the box, the hint under it and the name of the button."""
        self.box.setPlaceholderText(placeholder)
        # Qt does not repaint a placeholder whose text changes.
        self.box.viewport().update()
        self.box.setAccessibleName(placeholder)
        self._hint.setText(hint)
        name_button(self.send, send)

    def _on_submitted(self) -> None:
        text = self.box.text()
        if text and self.send.isEnabled():
            self.box.clear()
            self.submitted.emit(text)

    def _on_text_changed(self) -> None:
        self.send.setEnabled(bool(self.box.text()))
        self.text_changed.emit()

    def _on_focus_changed(self, focused: bool) -> None:
        restyle(self, focused=focused)


EDGE = 10


class DropHint(QWidget):
    """Covers a page while acceptable data is dragged over it; emits dropped(data)."""

    dropped = Signal(QMimeData)

    def __init__(
        self, look: Look, page: QWidget, over: Sequence[QWidget], takes: Callable[[QMimeData], bool]
    ) -> None:
        """`over` are the parts of the page that accept drops themselves."""
        super().__init__(page)
        self.setObjectName("drop_hint")
        self._look, self._page, self._takes = look, page, takes
        self._watched = (page, *over)
        self.words = ""
        self.setAcceptDrops(True)
        page.setAcceptDrops(True)
        for widget in self._watched:
            widget.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched in self._watched and isinstance(event, QDragEnterEvent) and self._takes(event.mimeData()):
            self.setGeometry(self._page.rect())
            self.show()
            self.raise_()
            event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            # Left the window, or moved on to this widget, which shows itself again.
            self.hide()
        if watched is self._page and event.type() == QEvent.Type.Resize:
            self.setGeometry(self._page.rect())
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.show()
        event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.hide()
        event.acceptProposedAction()
        self.dropped.emit(event.mimeData())

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = self._look.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(tokens.bg)
        veil.setAlpha(215)
        painter.fillRect(self.rect(), veil)
        painter.setPen(QPen(QColor(tokens.accent), 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(EDGE, EDGE, -EDGE, -EDGE), 12, 12)
        painter.setFont(sized(self.font(), 15, 560))
        wrapped = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
        room = self.rect().adjusted(3 * EDGE, 3 * EDGE, -3 * EDGE, -3 * EDGE)
        text = painter.boundingRect(room, wrapped, self.words)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.accent_bg))
        margin = tall(12)
        box = QRect(text).adjusted(-2 * margin, -margin, 2 * margin, margin)
        painter.drawRoundedRect(box, 10, 10)
        painter.setPen(QColor(tokens.accent))
        painter.drawText(text, wrapped, self.words)
