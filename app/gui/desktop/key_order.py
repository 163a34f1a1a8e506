"""Keeps typed keys in order where fcitx5 replaces ibus; main installs it there.

fcitx5 passes on a key before the syllable that the key ends: a space would come before the last syllable of a
word, and Enter would send a message without it.
"""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

# The syllable follows within a millisecond or two. A key that ends no syllable waits unnoticeably long.
HOLD_MS = 40


class KeyOrder(QObject):
    """Holds keys back while a syllable is being composed, until it has arrived."""

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self._widget: QWidget | None = None
        self._composing = False
        self._held: list[QKeyEvent] = []
        self._release = QTimer(self, singleShot=True)
        self._release.timeout.connect(self._on_release)
        application.focusChanged.connect(self._on_focus)

    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self._widget is not None:
            self._widget.removeEventFilter(self)
        self._held.clear()
        self._composing = False
        composes = Qt.WidgetAttribute.WA_InputMethodEnabled
        self._widget = now if now is not None and now.testAttribute(composes) else None
        if self._widget is not None:
            self._widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QInputMethodEvent):
            self._composing = bool(event.preeditString())
            if not self._composing and self._held:
                # After this event, and one behind it that ends the composition.
                self._release.start(0)
        elif (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and (self._composing or self._held)
        ):
            self._held.append(event.clone())
            self._release.start(HOLD_MS)
            return True
        return False

    def _on_release(self) -> None:
        keys, self._held = self._held, []
        self._composing = False
        for key in keys:
            # An earlier key may have moved the focus.
            if (widget := QApplication.focusWidget()) is not None:
                QApplication.sendEvent(widget, key)
