"""Desktop notifications on Linux: `org.freedesktop.Notifications` over D-Bus.

Uses jeepney, a dependency of keyring, because PySide cannot send unsigned numbers over D-Bus.
"""

import asyncio
import contextlib
import html
import logging
import os
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core.owned_tasks import start_owned

if TYPE_CHECKING:
    from jeepney import DBusAddress, Message  # type: ignore[import-untyped]
    from jeepney.io.asyncio import DBusRouter  # type: ignore[import-untyped]

log = logging.getLogger(__name__)

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
BUS_ADDRESS = "DBUS_SESSION_BUS_ADDRESS"
ANSWER_S = 3.0
OPEN = "default"


class NotificationBus(QObject):
    """Shows one notification a session; a newer one replaces it. Emits clicked(session id)."""

    clicked = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._around = contextlib.AsyncExitStack()
        self._router: DBusRouter | None = None
        self._notes: dict[str, int] = {}
        self._markup = False
        self._listening: asyncio.Task[None] | None = None

    async def show(self, session_id: str, title: str, text: str, action: str) -> bool:
        """Show plain text with a button named `action`; return False if the desktop has no notification service."""
        try:
            if self._router is None:
                await self._connect()
            body = html.escape(text, quote=False) if self._markup else text
            answer = await self._ask(
                "Notify",
                "susssasa{sv}i",
                (
                    "Moot",
                    self._notes.get(session_id, 0),
                    "moot",
                    title,
                    body,
                    [OPEN, action],
                    {"desktop-entry": ("s", "moot")},
                    -1,
                ),
            )
        except (
            Exception
        ) as error:  # Errors of the library, the bus or the service; the next notification connects again.
            log.info("no notification: %r", error)
            await self.close()
            return False
        if answer is None:
            return False
        self._notes[session_id] = int(answer[0])
        return True

    async def close(self) -> None:
        """Disconnect from the bus."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
            self._listening = None
        self._router = None
        with contextlib.suppress(Exception):
            await self._around.aclose()

    async def _connect(self) -> None:
        """Connect to the bus and listen for clicks. Raises ImportError, OSError, KeyError, TimeoutError."""
        from jeepney import MatchRule, message_bus
        from jeepney.io.asyncio import Proxy, open_dbus_router

        os.environ[BUS_ADDRESS]
        self._router = await asyncio.wait_for(
            self._around.enter_async_context(open_dbus_router("SESSION")), ANSWER_S
        )
        rule = MatchRule(type="signal", interface=NAME, member="ActionInvoked", path=PATH)
        await asyncio.wait_for(Proxy(message_bus, self._router).AddMatch(rule), ANSWER_S)
        # The library's own queue holds one signal and drops the next.
        clicks: asyncio.Queue[Message] = asyncio.Queue()
        self._around.enter_context(self._router.filter(rule, queue=clicks))
        self._listening = start_owned(self._listen(clicks))
        found = await self._ask("GetCapabilities", "", ())
        self._markup = found is not None and "body-markup" in found[0]

    async def _ask(self, method: str, signature: str, values: tuple[object, ...]) -> tuple[Any, ...] | None:
        """Return the service's answer, None if it refuses or does not exist."""
        from jeepney import MessageType, new_method_call

        assert self._router is not None
        call = new_method_call(_address(), method, signature or None, values)
        answer = await asyncio.wait_for(self._router.send_and_get_reply(call), ANSWER_S)
        return answer.body if answer.header.message_type is MessageType.method_return else None

    async def _listen(self, clicks: "asyncio.Queue[Message]") -> None:
        while True:
            # Any program can send such a signal, with any values.
            number, *_ = (await clicks.get()).body or (0,)
            for session_id, note in self._notes.items():
                if note == number:
                    self.clicked.emit(session_id)


def _address() -> "DBusAddress":
    from jeepney import DBusAddress

    return DBusAddress(PATH, bus_name=NAME, interface=NAME)
