"""Keys that work while another program is in front, on an X server.

Through xcb, which reports errors as values; Xlib would end the program when the screen is lost.
"""

import ctypes
import struct
from functools import cache
from typing import Any

from PySide6.QtCore import QKeyCombination, QObject, QSocketNotifier, Qt, QTimer

from app.gui.desktop.key_grab import FIRST_F, NOWHERE, TAKEN, UNKNOWN, Held, KeyGrab, pressed_of
from app.gui.window_frame import AppWindow

SHIFT, CAPS_LOCK, CONTROL, ALT, NUM_LOCK, META = 1, 2, 4, 8, 16, 64
MODIFIERS = {
    Qt.KeyboardModifier.ShiftModifier: SHIFT,
    Qt.KeyboardModifier.ControlModifier: CONTROL,
    Qt.KeyboardModifier.AltModifier: ALT,
    Qt.KeyboardModifier.MetaModifier: META,
}
LOCKS = (0, CAPS_LOCK, NUM_LOCK, CAPS_LOCK | NUM_LOCK)
# Key symbols that are not their character, by Qt's keys: /usr/include/X11/keysymdef.h.
SYMBOLS = {
    Qt.Key.Key_Backspace: 0xFF08,
    Qt.Key.Key_Tab: 0xFF09,
    Qt.Key.Key_Return: 0xFF0D,
    Qt.Key.Key_Pause: 0xFF13,
    Qt.Key.Key_Home: 0xFF50,
    Qt.Key.Key_Left: 0xFF51,
    Qt.Key.Key_Up: 0xFF52,
    Qt.Key.Key_Right: 0xFF53,
    Qt.Key.Key_Down: 0xFF54,
    Qt.Key.Key_PageUp: 0xFF55,
    Qt.Key.Key_PageDown: 0xFF56,
    Qt.Key.Key_End: 0xFF57,
    Qt.Key.Key_Insert: 0xFF63,
    Qt.Key.Key_Delete: 0xFFFF,
}
LAST_F = Qt.Key.Key_F35
F1 = 0xFFBE
KEY_PRESS, MAPPING_CHANGED = 2, 34
ASYNCHRONOUS = 1
ANY_KEY, ANY_MODIFIER = 0, 1 << 15
TO_WINDOW_MANAGER = 1 << 20 | 1 << 19
CLIENT_MESSAGE, FROM_PAGER = 33, 2
# Until the window manager knows a window that has just been shown.
KNOWN_MS = 60


class _Cookie(ctypes.Structure):
    _fields_ = (("sequence", ctypes.c_uint),)


class _Screens(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.POINTER(ctypes.c_uint32)),
        ("left", ctypes.c_int),
        ("index", ctypes.c_int),
    )


class _Xcb:
    """The functions of libxcb that are used, with their types."""

    def __init__(self) -> None:
        """Raises OSError where a library is missing."""
        self._xcb, self._symbols = ctypes.CDLL("libxcb.so.1"), ctypes.CDLL("libxcb-keysyms.so.1")
        self._free = ctypes.CDLL(None).free
        self._free.argtypes = (ctypes.c_void_p,)
        pointer, number, small, short = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint8, ctypes.c_uint16
        of = self._function
        self.connect = of("xcb_connect", pointer, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int))
        self.disconnect = of("xcb_disconnect", None, pointer)
        self.has_error = of("xcb_connection_has_error", ctypes.c_int, pointer)
        self.descriptor = of("xcb_get_file_descriptor", ctypes.c_int, pointer)
        self.flush = of("xcb_flush", ctypes.c_int, pointer)
        self.setup = of("xcb_get_setup", pointer, pointer)
        self.screens = of("xcb_setup_roots_iterator", _Screens, pointer)
        self.next_screen = of("xcb_screen_next", None, ctypes.POINTER(_Screens))
        self.grab = of("xcb_grab_key_checked", _Cookie, pointer, small, number, short, small, small, small)
        self.ungrab = of("xcb_ungrab_key_checked", _Cookie, pointer, small, number, short)
        self.check = of("xcb_request_check", pointer, pointer, _Cookie)
        self.event = of("xcb_poll_for_event", pointer, pointer)
        self.intern = of("xcb_intern_atom", _Cookie, pointer, small, short, ctypes.c_char_p)
        self.interned = of("xcb_intern_atom_reply", pointer, pointer, _Cookie, pointer)
        self.send = of("xcb_send_event", _Cookie, pointer, small, number, number, ctypes.c_char_p)
        self.symbols = of("xcb_key_symbols_alloc", pointer, pointer)
        self.codes = of("xcb_key_symbols_get_keycode", pointer, pointer, number)
        self.free_symbols = of("xcb_key_symbols_free", None, pointer)

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        found = getattr(self._symbols if "key_symbols" in name else self._xcb, name)
        found.restype, found.argtypes = result, arguments
        return found

    def taken(self, address: int, size: int) -> bytes:
        """Return the bytes of an answer, and free it."""
        found = ctypes.string_at(address, size)
        self._free(address)
        return found

    def key_codes(self, connection: int, symbol: int) -> bytes:
        """Return the codes of the keys that write a symbol."""
        table = self.symbols(connection)
        found = self.codes(table, symbol)
        codes = ctypes.string_at(found) if found else b""
        self._free(found)
        self.free_symbols(table)
        return codes


@cache
def libraries() -> _Xcb | None:
    """Return the libraries, None where one is missing."""
    try:
        return _Xcb()
    except (OSError, AttributeError):
        return None


def symbol_of(pressed: QKeyCombination) -> int:
    """Return the X11 symbol of a key, 0 for one that has none here."""
    key = pressed.key()
    if FIRST_F <= key <= LAST_F:
        return F1 + key - FIRST_F
    # Letters of Latin-1 are their own symbols, the small ones without Shift.
    return SYMBOLS.get(key) or (ord(chr(key).lower()) if 0x20 <= key < 0x7F else 0)


class X11Grab(KeyGrab):
    """Holds keys on an X server, by a connection of its own."""

    def __init__(self, parent: QObject, display: str = "") -> None:
        """`display` names another X server than that of the window."""
        super().__init__(parent)
        self._display = display.encode() or None
        self._connection = self._root = 0
        self._keys: tuple[int, int] | None = None
        self._time = 0
        self._notifier: QSocketNotifier | None = None

    async def hold(self, keys: str, title: str) -> Held:
        pressed, xcb = pressed_of(keys), libraries()
        symbol = symbol_of(pressed) if pressed is not None else 0
        if xcb is None or not self._connect(xcb):
            await self.release()
            return Held(NOWHERE)
        self._ungrab(xcb)
        self._keys = None
        if pressed is None or not symbol:
            return Held(UNKNOWN)
        modifiers = sum(bit for one, bit in MODIFIERS.items() if one in pressed.keyboardModifiers())
        self._keys = symbol, modifiers
        problem = self._grab(xcb)
        if problem:
            self._keys = None
            self._ungrab(xcb)
        return Held(problem)

    async def release(self) -> None:
        self._keys = None
        if self._notifier is not None:
            self._notifier.setEnabled(False)
            self._notifier.deleteLater()
            self._notifier = None
        if self._connection and (xcb := libraries()) is not None:
            # The server forgets the keys of a connection that ends, but somewhat later.
            self._ungrab(xcb)
            xcb.disconnect(self._connection)
            self._connection = 0

    def bring_forward(self, window: AppWindow) -> None:
        super().bring_forward(window)
        # Window managers let nobody in front who was not used last, and Qt has not seen the key.
        QTimer.singleShot(KNOWN_MS, self, lambda: self._activate(int(window.winId())))

    def _connect(self, xcb: _Xcb) -> bool:
        """Connect to the server unless that is done; return whether there is one."""
        if self._connection:
            return not xcb.has_error(self._connection)
        number = ctypes.c_int()
        self._connection = connection = xcb.connect(self._display, ctypes.byref(number))
        if xcb.has_error(connection):
            xcb.disconnect(connection)
            self._connection = 0
            return False
        screens = xcb.screens(xcb.setup(connection))
        for _screen in range(number.value):
            xcb.next_screen(ctypes.byref(screens))
        self._root = screens.data[0]
        kind = QSocketNotifier.Type.Read
        self._notifier = QSocketNotifier(xcb.descriptor(connection), kind, self)
        self._notifier.activated.connect(self._on_events)
        return True

    def _ungrab(self, xcb: _Xcb) -> None:
        """Release all keys; they are free for other programs when this returns."""
        error = xcb.check(self._connection, xcb.ungrab(self._connection, ANY_KEY, self._root, ANY_MODIFIER))
        if error:
            xcb.taken(error, 1)

    def _grab(self, xcb: _Xcb) -> str:
        """Hold the keys, whatever else is locked; return why they are not held."""
        if self._keys is None:
            return ""
        symbol, modifiers = self._keys
        codes = xcb.key_codes(self._connection, symbol)
        for code in codes:
            for locks in LOCKS:
                wanted = (self._root, modifiers | locks, code, ASYNCHRONOUS, ASYNCHRONOUS)
                error = xcb.check(self._connection, xcb.grab(self._connection, False, *wanted))
                if error:
                    xcb.taken(error, 1)
                    return TAKEN
        return "" if codes else UNKNOWN

    def _on_events(self) -> None:
        xcb = libraries()
        assert xcb is not None
        pressed = changed = False
        while address := xcb.event(self._connection):
            kind, _detail, _number, time = struct.unpack("=BBHI", xcb.taken(address, 8))
            if kind & 0x7F == KEY_PRESS:
                pressed, self._time = True, time
            changed = changed or kind & 0x7F == MAPPING_CHANGED
        if xcb.has_error(self._connection) and self._notifier is not None:
            # The screen is gone; the end of the window is Qt's.
            self._notifier.setEnabled(False)
        elif changed:
            self._ungrab(xcb)
            self._grab(xcb)
        if pressed:
            self.pressed.emit("")

    def _activate(self, window: int) -> None:
        xcb, name = libraries(), b"_NET_ACTIVE_WINDOW"
        if xcb is None or not self._connection:
            return
        asked = xcb.intern(self._connection, False, len(name), name)
        answer = xcb.interned(self._connection, asked, None)
        if answer:
            # https://specifications.freedesktop.org/wm-spec/latest/ar01s03.html
            atom = struct.unpack("=I", xcb.taken(answer, 12)[8:])[0]
            message = struct.pack(
                "=BBHII5I", CLIENT_MESSAGE, 32, 0, window, atom, FROM_PAGER, self._time, 0, 0, 0
            )
            xcb.send(self._connection, False, self._root, TO_WINDOW_MANAGER, message)
            xcb.flush(self._connection)
