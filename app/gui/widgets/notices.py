"""Messages and offers: toasts that disappear by themselves, a banner that stays, and lines
that offer one thing.

`ServerOffers` lists the model servers found on this computer.
"""

from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QProgressBar, QWidget
from shiboken6 import isValid

from app.core.errors import MootError
from app.core.provider import FoundServer
from app.core.schedule import LoginStart
from app.gui.display.appearance import Language, Look
from app.gui.tasks import timer
from app.gui.widgets.badge import HeadingIcon
from app.gui.widgets.boxes import Frame, hbox, vbox
from app.gui.widgets.controls import Button, button, icon_button
from app.gui.widgets.text import ElidedLabel, name_button, plain_label, plain_tip, say, set_shown

TOAST_MS = 8_000
MOST_TOASTS = 3
MOST_GONE = 10
# The characters of a line, and the margins around it in pixels.
LETTERS, AROUND = 52, 32
EDGE = 8

Act = Callable[[], object] | None


class Toast(Frame):
    """A message with at most one action; emits `left` when it disappears."""

    left = Signal()

    def __init__(self, text: str, action: str, act: Act, undoes: bool, parent: QWidget) -> None:
        super().__init__("toast", "toast", parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = text
        self.here = True
        self.stays = False
        self.undoes = undoes and act is not None
        self.lasting: Callable[[], object] | None = None
        """What takes back what it says once it has disappeared, None for nothing."""
        self.button: Button | None = None
        label = plain_label(wrap=True, text=text)
        self.setAccessibleName(text)
        row = hbox((label, 1), inside=self, margins=(14, 9, 10, 9), spacing=14)
        label.ensurePolished()
        metrics = label.fontMetrics()
        width = min(metrics.horizontalAdvance(text), LETTERS * metrics.averageCharWidth())
        if act is not None:
            self.button = button("", "toast_action", self._on_used, text=action)
            self.button.clicked.connect(lambda: act())
            self.button.installEventFilter(self)
            row.addWidget(self.button)
            # The action's full width is added to that of the text.
            self.button.ensurePolished()
            width += self.button.sizeHint().width() + row.spacing()
        self._width = max(220, width + AROUND)
        self.setFixedWidth(self._width)
        self._before: QWidget | None = None
        self._timer = timer(self, TOAST_MS, self.leave, once=True)

    def fit(self, room: int) -> None:
        """Limit the width in pixels; the text wraps."""
        self.setFixedWidth(min(self._width, room))

    def appear(self) -> None:
        """Show the toast for some seconds."""
        # The layout would show it later, and count its size as 0 until then.
        self.show()
        if not self.stays:
            self._timer.start()

    def take_focus(self) -> None:
        """Focus the action; when the toast disappears, the focus goes back."""
        if self.button is not None and not self.button.hasFocus():
            self._before = self.window().focusWidget()
            self.button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Disappear now."""
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

    def _on_used(self) -> None:
        self.lasting = None
        self.leave()

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
        # In a dialog, Escape would close the dialog.
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _go_on(self) -> None:
        """Restart the time, unless the mouse is over the toast or its button has the focus."""
        held = self.stays or self.underMouse() or (self.button is not None and self.button.hasFocus())
        if self.here and not held:
            self._timer.start(TOAST_MS)


class Toasts(QWidget):
    """Stacks toasts over a widget: under the top bar, so that the composer stays free."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self._toasts: list[Toast] = []
        # What can still be taken back although its toast has disappeared, the newest last.
        self._gone: deque[tuple[str, Callable[[], object]]] = deque(maxlen=MOST_GONE)
        self._column = vbox(inside=self, spacing=8)
        over.installEventFilter(self)
        self.hide()

    def show_toast(
        self,
        text: str,
        action: str = "",
        act: Act = None,
        *,
        undoes: bool = True,
        stays: bool = False,
        lasts: bool = False,
    ) -> Toast:
        """Show a message for some seconds; choosing its action calls `act`.

        `undoes` says whether that is an undo. If there is no room, toasts without an action are removed; if
        all have one, the new toast waits. A toast that `stays` must be removed with `leave`. An undo that
        `lasts` can be run later too (`undo_gone`).
        """
        toast = Toast(text, action, act, undoes, self)
        toast.stays, toast.lasting = stays, act if lasts else None
        toast.hide()
        toast.left.connect(lambda: self._on_left(toast))
        self._toasts.append(toast)
        self._fill()
        announce(self, text)
        return toast

    def undo(self) -> bool:
        """Run the undo of the newest toast that has one; return whether there was one."""
        buttons = [item.button for item in self._toasts if item.undoes and item.button is not None]
        if buttons:
            buttons[-1].click()
        return bool(buttons)

    def undo_gone(self) -> str:
        """Run the newest undo that lasts and whose toast has disappeared; return what that said, "" where
        there is none.
        """
        if not self._gone:
            return ""
        text, act = self._gone.pop()
        act()
        return text

    def take_focus(self) -> None:
        """Focus the action of the newest toast that has one."""
        acting = [item for item in self._toasts if item.button is not None and item.isVisible()]
        if acting:
            acting[-1].take_focus()

    def clear(self) -> None:
        """Remove the toasts that only say something."""
        for toast in [item for item in self._toasts if item.button is None and not item.stays]:
            toast.leave()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._place()
        return False

    def _fill(self) -> None:
        """Show as many toasts as fit, the oldest first."""
        shown = [item for item in self._toasts if self._column.indexOf(item) >= 0]
        waiting = [item for item in self._toasts if item not in shown]
        if waiting and len(shown) >= MOST_TOASTS:
            if (idle := next((item for item in shown if item.button is None), None)) is not None:
                idle.leave()
            return
        for toast in waiting[: MOST_TOASTS - len(shown)]:
            self._column.addWidget(toast)
            self.show()
            toast.appear()
        self._place()

    def _on_left(self, toast: Toast) -> None:
        self._toasts.remove(toast)
        if toast.lasting is not None:
            self._gone.append((toast.text, toast.lasting))
        self._column.removeWidget(toast)
        self._fill()

    def _place(self) -> None:
        if self._column.count() == 0:
            self.hide()
            return
        for toast in self._toasts:
            toast.fit(self._over.width() - 2 * EDGE)
        self.adjustSize()
        self.move((self._over.width() - self.width()) // 2, 62)
        self.raise_()


class Banner(Frame):
    """A line across the window that stays until it is closed, for errors that may lose work."""

    closed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__("banner", "notice_banner")
        self.setProperty("tone", "error")
        self._label = plain_label(wrap=True)
        close = say(icon_button(look, "x", "notice_close", self._on_close), language, tip="notice.dismiss")
        hbox((self._label, 1), close, inside=self, margins=(16, 6, 8, 6))
        self.hide()

    def show_text(self, text: str) -> None:
        """Show a text until the banner is closed."""
        self._label.setText(text)
        self.setAccessibleName(text)
        self.show()
        announce(self, text, at_once=True)

    def text(self) -> str:
        """Return the text."""
        return self._label.text()

    def _on_close(self) -> None:
        self.hide()
        self.closed.emit()


def announce(speaker: QWidget, text: str, *, at_once: bool = False) -> None:
    """Let a screen reader say a text; `at_once` interrupts what it says."""
    if QAccessible.isActive():
        event = QAccessibleAnnouncementEvent(speaker, text)
        if at_once:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)


class OfferLine(Frame):
    """A line with an offer and a button; shows the progress of the work. Emits `accepted` and `dismissed`.

    What dismisses it is a cross, or a button `in_words`.
    """

    accepted = Signal()
    dismissed = Signal()

    def __init__(self, look: Look, name: str, icon: str, colour: str, *, in_words: bool = False) -> None:
        super().__init__("card", name)
        self._text = ElidedLabel("meta")
        self._bar = QProgressBar(textVisible=False)
        self._bar.setFixedSize(110, 6)
        self._bar.hide()
        self._button = button("link", f"{name}_accept", self.accepted)
        dismiss = f"{name}_dismiss", self.dismissed
        self._dismiss = button("link", *dismiss) if in_words else icon_button(look, "x", *dismiss)
        bar = (self._bar, 0, Qt.AlignmentFlag.AlignVCenter)
        self._icon = HeadingIcon(look, icon, colour)
        parts = (self._icon, (self._text, 1), bar, self._button, self._dismiss)
        hbox(*parts, inside=self, margins=(14, 4, 6, 4), spacing=9)

    def show_offer(self, text: str, action: str, dismiss: str = "") -> None:
        """Show an offer; without a text for `dismiss` it cannot be dismissed."""
        self._text.setText(text)
        self._button.setText(action)
        self._button.setAccessibleName(f"{action}: {text}")
        self._dismiss.setVisible(bool(dismiss))
        self._dismiss.setText(dismiss)
        name_button(self._dismiss, dismiss)
        self._bar.hide()

    def show_progress(self, text: str, done: int, total: int, action: str) -> None:
        """Show progress; the button then cancels."""
        self._text.setText(text)
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._dismiss.hide()
        self._bar.setRange(0, 1_000)
        self._bar.setValue(1_000 * done // max(1, total))
        self._bar.setAccessibleName(text)
        self._bar.show()

    def text(self) -> str:
        """Return the text."""
        return self._text.text()


MOST_SHOWN = 3


class LoginLine(OfferLine):
    """Says whether Moot starts with the computer, and offers to have it so; with `ends` also the opposite."""

    def __init__(
        self, words: Language, look: Look, name: str, login: LoginStart, *, ends: bool = False
    ) -> None:
        super().__init__(look, name, "clock", "warn")
        self._words, self._login, self._ends = words, login, ends
        self.accepted.connect(self._change)

    def show_state(self) -> bool:
        """Read how it is now, show that, and say whether it is on."""
        on, words = self._login.is_installed(), self._words
        self._say(words("repeat.on" if on else "repeat.off"), on)
        return on

    def _say(self, text: str, on: bool) -> None:
        self.show_offer(text, self._words("repeat.turn_off" if on else "repeat.turn_on"))
        set_shown(self._button, self._ends or not on)
        set_shown(self._icon, not on)

    def _change(self) -> None:
        on = self._login.is_installed()
        try:
            (self._login.remove if on else self._login.install)()
        except MootError as error:
            self._say(self._words.problem(error.code, **error.details), on)
        else:
            self.show_state()


class ServerOffers(QWidget):
    """Shows the servers found, the most useful first; emits use_requested(server) and dismissed(server)."""

    use_requested = Signal(FoundServer)
    dismissed = Signal(FoundServer)

    def __init__(self, language: Language, look: Look, prefix: str, *, dismissable: bool = True) -> None:
        super().__init__()
        self._language, self._dismissable = language, dismissable
        self._servers: tuple[FoundServer, ...] = ()
        self._most = MOST_SHOWN
        self._column = vbox(inside=self, spacing=6)
        self._lines = [OfferLine(look, f"{prefix}_{number}", "plug", "ok") for number in range(MOST_SHOWN)]
        for number, line in enumerate(self._lines):
            self._column.addWidget(line)
            line.accepted.connect(lambda at=number: self.use_requested.emit(self._servers[at]))
            line.dismissed.connect(lambda at=number: self.dismissed.emit(self._servers[at]))
        language.follow(self._retranslate)

    def show_servers(self, servers: Sequence[FoundServer]) -> None:
        """Offer these servers only."""
        self._servers = tuple(servers)[:MOST_SHOWN]
        self._retranslate()

    def show_most(self, count: int) -> None:
        """Show at most `count` lines."""
        if count != self._most:
            self._most = count
            self._retranslate()

    def _retranslate(self) -> None:
        words = self._language
        shown = self._servers[: self._most]
        for line in self._lines[len(shown) :]:
            line.hide()
        for line, server in zip(self._lines, shown, strict=False):
            name = words.server(server)
            key = "needs_key" if server.needs_key else "one" if len(server.models) == 1 else "many"
            text = words(f"offer.{key}", name=name, count=len(server.models), address=server.address)
            action = words("offer.key" if server.needs_key else "offer.use")
            line.show_offer(text, action, words("offer.dismiss") if self._dismissable else "")
            line.setToolTip(plain_tip(", ".join(server.models[:12])))
            line.show()
        self.setVisible(bool(self._servers))
