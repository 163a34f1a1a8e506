"""Keys that work while another program is in front, on Windows: RegisterHotKey.

https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-registerhotkey
"""

import ctypes
import sys
from ctypes import wintypes

from PySide6 import QtCore

from app.gui.desktop.key_grab import TAKEN, UNKNOWN, Held, KeyGrab, pressed_of

ALT, CONTROL, SHIFT, WINDOWS, NO_REPEAT = 1, 2, 4, 8, 0x4000
MODIFIERS = {
    QtCore.Qt.KeyboardModifier.AltModifier: ALT,
    QtCore.Qt.KeyboardModifier.ControlModifier: CONTROL,
    QtCore.Qt.KeyboardModifier.ShiftModifier: SHIFT,
    QtCore.Qt.KeyboardModifier.MetaModifier: WINDOWS,
}
# Virtual keys that are not their character.
VIRTUAL = {
    QtCore.Qt.Key.Key_Backspace: 0x08,
    QtCore.Qt.Key.Key_Tab: 0x09,
    QtCore.Qt.Key.Key_Return: 0x0D,
    QtCore.Qt.Key.Key_Pause: 0x13,
    QtCore.Qt.Key.Key_PageUp: 0x21,
    QtCore.Qt.Key.Key_PageDown: 0x22,
    QtCore.Qt.Key.Key_End: 0x23,
    QtCore.Qt.Key.Key_Home: 0x24,
    QtCore.Qt.Key.Key_Left: 0x25,
    QtCore.Qt.Key.Key_Up: 0x26,
    QtCore.Qt.Key.Key_Right: 0x27,
    QtCore.Qt.Key.Key_Down: 0x28,
    QtCore.Qt.Key.Key_Insert: 0x2D,
    QtCore.Qt.Key.Key_Delete: 0x2E,
}
VIRTUAL_F1, FIRST_F, LAST_F = 0x70, QtCore.Qt.Key.Key_F1, QtCore.Qt.Key.Key_F24
HOT_KEY = 0x0312
NUMBER = 1


def hot_key(pressed: QtCore.QKeyCombination) -> tuple[int, int]:
    """Return modifiers and virtual key for RegisterHotKey; the key is 0 where it has none here."""
    key = pressed.key()
    modifiers = sum(bit for modifier, bit in MODIFIERS.items() if modifier in pressed.keyboardModifiers())
    if FIRST_F <= key <= LAST_F:
        return modifiers, VIRTUAL_F1 + key - FIRST_F
    # Letters, digits and the space are their own virtual keys; other characters lie elsewhere on each
    # keyboard.
    own = key == QtCore.Qt.Key.Key_Space or (key < 0x7F and chr(key).isalnum())
    return modifiers, VIRTUAL.get(key) or (int(key) if own else 0)


class WindowsGrab(KeyGrab):
    """Holds keys for the thread of the window."""

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._filter: _HotKeys | None = None

    async def hold(self, keys: str, title: str) -> Held:
        await self.release()
        pressed = pressed_of(keys)
        modifiers, key = hot_key(pressed) if pressed is not None else (0, 0)
        if not key:
            return Held(UNKNOWN)
        if sys.platform != "win32" or not ctypes.windll.user32.RegisterHotKey(
            None, NUMBER, modifiers | NO_REPEAT, key
        ):
            return Held(TAKEN)
        self._filter = _HotKeys(self)
        _application().installNativeEventFilter(self._filter)
        return Held()

    async def release(self) -> None:
        if self._filter is not None and sys.platform == "win32":
            ctypes.windll.user32.UnregisterHotKey(None, NUMBER)
            _application().removeNativeEventFilter(self._filter)
            self._filter = None


class _HotKeys(QtCore.QAbstractNativeEventFilter):
    """Sees the messages of Windows to the thread before Qt does."""

    def __init__(self, grab: WindowsGrab) -> None:
        super().__init__()
        self._grab = grab

    def nativeEventFilter(
        self, _kind: QtCore.QByteArray | bytes | bytearray | memoryview, message: int
    ) -> bool:
        said = wintypes.MSG.from_address(int(message))
        if said.message == HOT_KEY and said.wParam == NUMBER:
            self._grab.pressed.emit("")
            return True
        return False


def _application() -> QtCore.QCoreApplication:
    application = QtCore.QCoreApplication.instance()
    assert application is not None
    return application
