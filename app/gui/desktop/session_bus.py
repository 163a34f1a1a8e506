"""A service on the desktop's session bus, by jeepney, a dependency of keyring:
PySide cannot send unsigned numbers.
"""

import asyncio
import contextlib
import os
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from app.core.owned_tasks import start_owned

if TYPE_CHECKING:
    from jeepney import Message  # type: ignore[import-untyped]
    from jeepney.io.asyncio import DBusRouter  # type: ignore[import-untyped]

ANSWER_S = 5.0


class BusService:
    """Calls methods of one service and hears signals. Raises what the library, the bus or the service
    raises.
    """

    def __init__(self, name: str, path: str, interface: str) -> None:
        self._name, self._path, self._interface = name, path, interface
        self._around = contextlib.AsyncExitStack()
        self._router: DBusRouter | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        """Whether there is a connection to the bus."""
        return self._router is not None

    async def connect(self) -> None:
        """Connect to the bus. Raises ImportError, OSError, KeyError, TimeoutError."""
        os.environ["DBUS_SESSION_BUS_ADDRESS"]
        from jeepney.io.asyncio import open_dbus_router

        opening = self._around.enter_async_context(open_dbus_router("SESSION"))
        self._router = await asyncio.wait_for(opening, ANSWER_S)

    async def close(self) -> None:
        """Disconnect from the bus."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
            self._listening = None
        self._router = None
        with contextlib.suppress(Exception):
            await self._around.aclose()

    async def call(self, method: str, signature: str = "", *values: object) -> tuple[Any, ...] | None:
        """Return the service's answer, None if it refuses or does not exist."""
        from jeepney import DBusAddress, MessageType, new_method_call

        assert self._router is not None
        service = DBusAddress(self._path, bus_name=self._name, interface=self._interface)
        call = new_method_call(service, method, signature or None, values)
        answer = await asyncio.wait_for(self._router.send_and_get_reply(call), ANSWER_S)
        return answer.body if answer.header.message_type is MessageType.method_return else None

    async def signals(self, interface: str, member: str, path: str | None = None) -> "asyncio.Queue[Message]":
        """Return where the signals of a kind arrive from now on; any program can send one, with any
        values.
        """
        from jeepney import MatchRule, message_bus
        from jeepney.io.asyncio import Proxy

        rule = MatchRule(type="signal", interface=interface, member=member, path=path)
        # The library's own queue holds one signal and drops the next.
        arrived: asyncio.Queue[Message] = asyncio.Queue()
        assert self._router is not None
        self._around.enter_context(self._router.filter(rule, queue=arrived))
        await asyncio.wait_for(Proxy(message_bus, self._router).AddMatch(rule), ANSWER_S)
        return arrived

    def listen(self, work: Coroutine[Any, Any, None]) -> None:
        """Run what waits for signals, until the connection is closed."""
        self._listening = start_owned(work)
