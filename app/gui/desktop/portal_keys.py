"""Keys that work while another program is in front, under Wayland: the desktop portal's GlobalShortcuts.

The desktop asks the user and may choose other keys than those wanted.
https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.GlobalShortcuts.html
"""

import asyncio
import contextlib
import logging
import os
import secrets
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QKeyCombination, QObject, Qt
from PySide6.QtGui import QKeySequence

from app.gui.commands import PORTABLE
from app.gui.desktop.key_grab import NOWHERE, REFUSED, Held, KeyGrab, pressed_of
from app.gui.desktop.session_bus import ANSWER_S, BusService
from app.gui.window_frame import AppWindow

if TYPE_CHECKING:
    from jeepney import Message  # type: ignore[import-untyped]

log = logging.getLogger(__name__)

PORTAL = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"
QUICK = "quick-chat"
ALLOWED = 0
MODIFIERS = {
    Qt.KeyboardModifier.ControlModifier: "CTRL",
    Qt.KeyboardModifier.AltModifier: "ALT",
    Qt.KeyboardModifier.ShiftModifier: "SHIFT",
    Qt.KeyboardModifier.MetaModifier: "LOGO",
}
NAMES = {
    Qt.Key.Key_Space: "space",
    Qt.Key.Key_PageUp: "Prior",
    Qt.Key.Key_PageDown: "Next",
    Qt.Key.Key_Backspace: "BackSpace",
    Qt.Key.Key_Insert: "Insert",
    Qt.Key.Key_Delete: "Delete",
}


def trigger(pressed: QKeyCombination) -> str:
    """Return keys as portals write them, "" for a key without a name there.

    https://specifications.freedesktop.org/shortcuts-spec/latest/
    """
    key = pressed.key()
    name = NAMES.get(key) or QKeySequence(key).toString(PORTABLE)
    if len(name) == 1:
        name = name.lower()
    used = [words for modifier, words in MODIFIERS.items() if modifier in pressed.keyboardModifiers()]
    return "+".join((*used, name)) if name.isalnum() and name.isascii() else ""


class PortalGrab(KeyGrab):
    """Holds keys by a session with the desktop portal, which ends with the connection to the bus."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._service = BusService(PORTAL, PATH, SHORTCUTS)
        self._answers: asyncio.Queue[Message] = asyncio.Queue()
        self._session = self._token = ""

    async def hold(self, keys: str, title: str) -> Held:
        await self.release()
        pressed = pressed_of(keys)
        wanted = trigger(pressed) if pressed is not None else ""
        try:
            await self._connect()
            asked = self._ask("CreateSession", "a{sv}", {"session_handle_token": ("s", _token())})
            status, created = await asyncio.wait_for(asked, ANSWER_S)
            if status != ALLOWED:
                return await self._without(REFUSED)
            self._session = str(created["session_handle"][1])
            shortcut: dict[str, tuple[str, object]] = {"description": ("s", title)}
            if wanted:
                shortcut["preferred_trigger"] = ("s", wanted)
            # As long as the user thinks about it.
            kinds, shortcuts = "oa(sa{sv})sa{sv}", [(QUICK, shortcut)]
            status, bound = await self._ask("BindShortcuts", kinds, {}, self._session, shortcuts, "")
        except Exception as error:
            # Of the library, the bus or the portal; the next choice of keys tries again.
            log.info("no keys from the desktop portal: %r", error)
            return await self._without(NOWHERE)
        given = [item for item in bound.get("shortcuts", ("", []))[1] if item[0] == QUICK]
        if status != ALLOWED or not given:
            return await self._without(REFUSED)
        return Held(shown=str(given[0][1].get("trigger_description", ("s", ""))[1]))

    async def release(self) -> None:
        self._session = ""
        await self._service.close()

    def bring_forward(self, window: AppWindow) -> None:
        if self._token:
            # Qt gives it to the desktop with its next request for the front.
            os.environ["XDG_ACTIVATION_TOKEN"] = self._token
            self._token = ""
        super().bring_forward(window)

    async def _without(self, problem: str) -> Held:
        await self.release()
        return Held(problem)

    async def _connect(self) -> None:
        """Connect to the bus and listen. Raises ImportError, OSError, KeyError, TimeoutError."""
        await self._service.connect()
        self._answers = await self._service.signals(REQUEST, "Response")
        self._service.listen(self._listen(await self._service.signals(SHORTCUTS, "Activated")))

    async def _ask(
        self, method: str, kinds: str, options: dict[str, tuple[str, object]], *values: object
    ) -> tuple[int, dict[str, Any]]:
        """Return status and results of a request to the portal. Raises ConnectionRefusedError if it
        refuses.
        """
        from jeepney import HeaderFields

        options = {**options, "handle_token": ("s", _token())}
        answer = await self._service.call(method, kinds, *values, options)
        if answer is None:
            raise ConnectionRefusedError(method)
        [handle] = answer
        while True:
            said = await self._answers.get()
            if said.header.fields[HeaderFields.path] == handle:
                status, results = said.body
                return int(status), dict(results)

    async def _listen(self, presses: "asyncio.Queue[Message]") -> None:
        while True:
            press = await presses.get()
            with contextlib.suppress(ValueError, TypeError, LookupError, AttributeError):
                session, name, _time, options = press.body
                if (session, name) == (self._session, QUICK):
                    self._token = str(options.get("activation_token", ("s", ""))[1])
                    self.pressed.emit(self._token)


def _token() -> str:
    return f"moot_{secrets.token_hex(8)}"
