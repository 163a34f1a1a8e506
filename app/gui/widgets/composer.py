"""Where a person writes: a growing box in a frame, with a button that sends.

Used by the welcome page and by every session's foot.
"""

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.gui.display.style import Look
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button, name_button
from app.gui.widgets.label import ElidedLabel, Paragraph

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TextBox(QPlainTextEdit):
    """A box of plain text as tall as its text within limits; `submitted` on Enter.

    A paste that would make it longer than `longest` characters is left out whole, and said by `paste_refused`
    with its length.

    Shift+Enter breaks the line, and while an input method composes Enter only commits. With
    `submits` false Enter breaks the line and Tab moves on.
    """

    submitted = Signal()
    focus_changed = Signal(bool)
    paste_refused = Signal(int)

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        lines: int = 1,
        most: int = 8,
        submits: bool = True,
        longest: int | None = None,
    ) -> None:
        super().__init__(parent)
        self._lines = lines
        self._most = most
        self._submits = submits
        self._longest = longest
        self._composing = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(2)
        # The margin would be the first thing to be undone.
        self.document().clearUndoRedoStacks()
        self.textChanged.connect(self._fit)
        self._fit()

    def text(self) -> str:
        """Return what was written, without blanks around it."""
        return self.toPlainText().strip()

    @property
    def composing(self) -> bool:
        """Whether an input method has a letter in the making."""
        return self._composing

    def insertFromMimeData(self, source: QMimeData) -> None:
        length = len(source.text())
        stays = len(self.toPlainText()) - len(self.textCursor().selectedText())
        if self._longest is not None and stays + length > self._longest:
            self.paste_refused.emit(length)
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
        """Return how many lines, two at most, the words of an empty box need in its width."""
        if not self.document().isEmpty():
            return 0
        room = self.viewport().width() - 2 * round(self.document().documentMargin())
        wrap, metrics = Qt.TextFlag.TextWordWrap, self.fontMetrics()
        needed = metrics.boundingRect(0, 0, max(1, room), 0, wrap, self.placeholderText()).height()
        return min(2, round(needed / metrics.lineSpacing()))

    def _fit(self) -> None:
        wanted = max(round(self.document().size().height()), self._lines_of_placeholder())
        lines = max(self._lines, min(self._most, wanted))
        # A bar that comes and goes would make the lines shorter and longer, and the box higher and lower,
        # without end.
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
    """A framed box with its hint and send button; emits `submitted` with the text, then is empty."""

    submitted = Signal(str)
    text_changed = Signal()

    def __init__(
        self,
        look: Look,
        *,
        box_name: str,
        button_name: str,
        box: TextBox | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`box` is a box of another kind than a plain one."""
        super().__init__(parent)
        self.setProperty("kind", "composer")
        self.box = box or TextBox()
        self.box.setObjectName(box_name)
        self._hint = ElidedLabel("hint")
        self._warning = Paragraph("warn")
        self._warning.hide()
        self.send = button("send", button_name)
        self.send.dress(look, "arrow-up", "on_accent", side=17, room=0)
        self.send.setFixedSize(34, 27)
        self.foot = hbox((self._hint, 1), self.send, margins=(2, 0, 0, 0))
        self.column = vbox(
            self.box, self._warning, self.foot, inside=self, margins=(12, 9, 10, 10), spacing=8
        )
        self.setFocusProxy(self.box)
        self.box.submitted.connect(self._on_submitted)
        self.box.textChanged.connect(self._on_text_changed)
        self.box.textChanged.connect(self._warning.hide)
        self.box.focus_changed.connect(self._on_focus_changed)
        self.send.clicked.connect(self._on_submitted)
        self._on_text_changed()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # Anywhere in the frame is the box, to who clicks it.
        self.box.setFocus()

    def set_words(self, placeholder: str, hint: str, send: str) -> None:
        """Name the box, the hint under it and the button."""
        self.box.setPlaceholderText(placeholder)
        # Qt draws it anew only when it comes or goes, not when its words change.
        self.box.viewport().update()
        self.box.setAccessibleName(placeholder)
        self._hint.setText(hint)
        name_button(self.send, send)

    def warn(self, text: str) -> None:
        """Say something of what was just tried, until something else is written."""
        self._warning.setText(text)
        self._warning.show()

    def _on_submitted(self) -> None:
        text = self.box.text()
        if text and self.send.isEnabled():
            self.box.clear()
            self.submitted.emit(text)

    def _on_text_changed(self) -> None:
        self.send.setEnabled(bool(self.box.text()))
        self.text_changed.emit()

    def _on_focus_changed(self, focused: bool) -> None:
        self.setProperty("focused", focused)
        self.style().unpolish(self)
        self.style().polish(self)
