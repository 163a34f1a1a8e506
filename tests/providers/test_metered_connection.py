"""Whether a connection is metered, asked of a service on a bus of its own that speaks for NetworkManager."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from jeepney import MessageType, message_bus, new_error, new_method_return
from jeepney.io.asyncio import open_dbus_connection

from app.providers.local_models import ModelFolder
from tests.desktop.desktops import BUS_ADDRESS, desktop, missing

NAME = "org.freedesktop.NetworkManager"
pytestmark = pytest.mark.skipif(bool(missing("dbus-daemon")), reason=missing("dbus-daemon"))


@contextlib.asynccontextmanager
async def network_manager(address: str, metered: int | None) -> AsyncIterator[None]:
    """Answer as NetworkManager does: `metered` is its property, None for an older one that has none."""
    async with asyncio.timeout(20):
        connection = await open_dbus_connection(address)

    async def serve() -> None:
        await connection.send(message_bus.RequestName(NAME, 4))
        while True:
            call = await connection.receive()
            if call.header.message_type is not MessageType.method_call:
                ready.set()
                continue
            if metered is None:
                await connection.send(new_error(call, "org.freedesktop.DBus.Error.UnknownProperty"))
            else:
                assert call.body == (NAME, "Metered")
                await connection.send(new_method_return(call, "v", (("u", metered),)))

    ready = asyncio.Event()
    serving = asyncio.create_task(serve())
    try:
        await asyncio.wait_for(ready.wait(), 20)
        yield
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await connection.close()


@pytest.mark.parametrize(
    ("metered", "found"), [(1, True), (3, True), (0, False), (2, False), (4, False), (None, False)]
)
async def test_the_word_of_network_manager_counts(
    monkeypatch: pytest.MonkeyPatch, metered: int | None, found: bool
) -> None:
    with desktop() as screen:
        screen.start_bus()
        address = screen.environment[BUS_ADDRESS]
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
        async with network_manager(address, metered):
            assert await ModelFolder(Path(), None).is_metered() is found


async def test_where_nobody_knows_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with desktop() as screen:
        screen.start_bus()
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", screen.environment[BUS_ADDRESS])
        assert await ModelFolder(Path(), None).is_metered() is False
    assert await ModelFolder(Path(), None).is_metered() is False
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", "nonsense")
    assert await ModelFolder(Path(), None).is_metered() is False
