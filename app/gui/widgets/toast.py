"""What the window tells without being asked: a sticky banner, and toasts that leave by themselves."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget
from shiboken6 import isValid

from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import button, icon_button, name_button
from app.gui.widgets.label import plain_label

TOAST_MS = 8_000
MOST_TOASTS = 3
UNDER_TOP_BAR = 62
# About as many go on a line; the room that is left and right of them.
LETTERS, AROUND = 52, 32
EDGE = 8


class Toast(QFrame):
    """One message, with at most one action; emits `left` once it goes away."""

    left = Signal()

    def __init__(
        self, text: str, action: str, act: Callable[[], object] | None, undoes: bool, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self.setProperty("kind", "toast")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = text
        self.here = True
        self.stays = False
        self.undoes = undoes and act is not None
        self.button = button("", "toast_action") if act is not None else None
        label = plain_label(wrap=True)
        label.setText(text)
        self.setAccessibleName(text)
        row = hbox((label, 1), inside=self, margins=(14, 9, 10, 9), spacing=14)
        if act is not None and self.button is not None:
            self.button.setText(action)
            self.button.clicked.connect(self.leave)
            self.button.clicked.connect(lambda: act())
            self.button.installEventFilter(self)
            row.addWidget(self.button)
        label.ensurePolished()
        metrics = label.fontMetrics()
        width = min(metrics.horizontalAdvance(text), LETTERS * metrics.averageCharWidth())
        # An action's name has its room beside the text, however long it is and however large all is written.
        if self.button is not None:
            self.button.ensurePolished()
            width += self.button.sizeHint().width() + row.spacing()
        self._width = max(220, width + AROUND)
        self.setFixedWidth(self._width)
        self._before: QWidget | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.leave)

    def fit(self, room: int) -> None:
        """Be no wider than `room`: the words take more lines there."""
        self.setFixedWidth(min(self._width, room))

    def appear(self) -> None:
        """Be seen from now on, for some seconds."""
        # The layout would show it later, and count it as nothing until then.
        self.show()
        if not self.stays:
            self._timer.start(TOAST_MS)

    def take_focus(self) -> None:
        """Put the keyboard on the action; when the toast leaves, it goes back to where it was."""
        if self.button is not None and not self.button.hasFocus():
            self._before = self.window().focusWidget()
            self.button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Go away now."""
        if not self.here:
            return
        self.here = False
        self._timer.stop()
        before = self._before
        if before is not None and isValid(before) and self.button is not None and self.button.hasFocus():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()
        self.left.emit()
        self.deleteLater()

    def enterEvent(self, event: QEvent) -> None:
        self._timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        self._go_on()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self._timer.stop()
        elif event.type() == QEvent.Type.FocusOut:
            self._go_on()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # In a dialog the key would close that.
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _go_on(self) -> None:
        """Let the time run, unless somebody is at it with the mouse or the keyboard."""
        held = self.stays or self.underMouse() or (self.button is not None and self.button.hasFocus())
        if self.here and not held:
            self._timer.start(TOAST_MS)


class Toasts(QWidget):
    """Stacks toasts under the top bar of the widget it is given: at its foot stands where one writes and sends.

    Over a list they stand `above` its foot instead, by so many pixels.
    """

    def __init__(self, over: QWidget, above: int | None = None) -> None:
        super().__init__(over)
        self._over, self._above = over, above
        self._toasts: list[Toast] = []
        self._column = vbox(inside=self, spacing=8)
        over.installEventFilter(self)
        self.hide()

    def show_toast(
        self,
        text: str,
        action: str = "",
        act: Callable[[], object] | None = None,
        *,
        undoes: bool = True,
        stays: bool = False,
    ) -> Toast:
        """Show a message for some seconds; `act` is called when its action is chosen.

        `undoes` says whether that takes something back. One with an action is never pushed out by another: where
        there is no room, those without go, else the new one waits. One that `stays` leaves when it is told to.
        """
        toast = Toast(text, action, act, undoes, self)
        toast.stays = stays
        toast.hide()
        toast.left.connect(lambda: self._on_left(toast))
        self._toasts.append(toast)
        self._fill()
        announce(self, text)
        return toast

    def undo(self) -> bool:
        """Take back what the newest toast offers to; say whether there was one."""
        for toast in reversed(self._toasts):
            if toast.undoes and toast.button is not None:
                toast.button.click()
                return True
        return False

    def take_focus(self) -> None:
        """Put the keyboard on the action of the newest toast that has one."""
        for toast in reversed(self._toasts):
            if toast.button is not None and toast.isVisible():
                toast.take_focus()
                return

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._place()
        return False

    def _fill(self) -> None:
        """Show as many as there is room for, the oldest first."""
        shown = [one for one in self._toasts if self._column.indexOf(one) >= 0]
        waiting = [one for one in self._toasts if one not in shown]
        if waiting and len(shown) >= MOST_TOASTS:
            idle = next((one for one in shown if one.button is None), None)
            if idle is not None:
                idle.leave()
            return
        for toast in waiting[: MOST_TOASTS - len(shown)]:
            self._column.addWidget(toast)
            self.show()
            toast.appear()
        self._place()

    def _on_left(self, toast: Toast) -> None:
        self._toasts.remove(toast)
        self._column.removeWidget(toast)
        self._fill()

    def _place(self) -> None:
        if self._column.count() == 0:
            self.hide()
            return
        for toast in self._toasts:
            toast.fit(self._over.width() - 2 * EDGE)
        self.adjustSize()
        foot = self._over.height() - self.height()
        top = UNDER_TOP_BAR if self._above is None else foot - self._above
        self.move((self._over.width() - self.width()) // 2, top)
        self.raise_()


class Banner(QFrame):
    """A line across the window that stays until it is closed: only where work may be lost."""

    closed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("notice_banner")
        self.setProperty("kind", "banner")
        self.setProperty("tone", "error")
        self._language = language
        self._label = plain_label(wrap=True)
        self._close = icon_button(look, "x", "notice_close")
        hbox((self._label, 1), self._close, inside=self, margins=(16, 6, 8, 6))
        self._close.clicked.connect(self._on_close)
        language.changed.connect(self._retranslate)
        self._retranslate()
        self.hide()

    def show_text(self, text: str) -> None:
        """Say `text` until it is closed."""
        self._label.setText(text)
        self.setAccessibleName(text)
        self.show()
        announce(self, text, at_once=True)

    def text(self) -> str:
        """Return what it says."""
        return self._label.text()

    def _on_close(self) -> None:
        self.hide()
        self.closed.emit()

    def _retranslate(self) -> None:
        name_button(self._close, self._language("notice.dismiss"))


def announce(speaker: QWidget, text: str, *, at_once: bool = False) -> None:
    """Have a text read out, where a screen reader listens; `at_once` interrupts what it reads."""
    if QAccessible.isActive():
        event = QAccessibleAnnouncementEvent(speaker, text)
        if at_once:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)
