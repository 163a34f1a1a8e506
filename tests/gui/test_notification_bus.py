"""Notifications over a real session bus, to a real service: a process on a bus of its own."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from app.gui.desktop.notifications import NotificationBus
from tests.app_driver import until

SERVICE = Path(__file__).with_name("notification_service.py")
needs_bus = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="there is no dbus-daemon")


class Desktop:
    """The desktop's end: what it was asked to show, and the user's clicks."""

    def __init__(self, service: asyncio.subprocess.Process) -> None:
        self._service = service

    async def shown(self) -> dict:
        return json.loads(await asyncio.wait_for(self._service.stdout.readline(), 10))

    async def click(self, *numbers: int) -> None:
        self._service.stdin.write("".join(f"{number}\n" for number in numbers).encode())
        await self._service.stdin.drain()


@pytest.fixture
async def bus(qapp, monkeypatch):
    daemon = await asyncio.create_subprocess_exec(
        "dbus-daemon",
        "--session",
        "--nofork",
        "--print-address",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    address = (await asyncio.wait_for(daemon.stdout.readline(), 10)).decode().strip()
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    yield address
    daemon.terminate()
    await daemon.communicate()


@pytest.fixture
async def desktop(bus, monkeypatch):
    monkeypatch.setenv("CAPABILITIES", "body,body-markup,actions")
    service = await asyncio.create_subprocess_exec(
        sys.executable, str(SERVICE), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert await asyncio.wait_for(service.stdout.readline(), 10) == b"ready\n"
    yield Desktop(service)
    service.terminate()
    await service.communicate()


@pytest.fixture
async def notes(qapp):
    parent = QObject()
    notes = NotificationBus(parent)
    yield notes
    await notes.close()
    parent.deleteLater()


@needs_bus
async def test_a_note_is_shown_as_plain_text_and_a_click_names_its_session(desktop, notes):
    clicked = []
    notes.clicked.connect(clicked.append)
    assert await notes.show("s1", "The <title>", "Is 1 < 2 & <b>so</b>?", "Open Moot")
    assert await notes.show("s2", "Another", "Finished.", "Open Moot")
    first, second = await desktop.shown(), await desktop.shown()
    assert first["title"] == "The <title>"
    assert first["body"] == "Is 1 &lt; 2 &amp; &lt;b&gt;so&lt;/b&gt;?"
    assert first["actions"] == ["default", "Open Moot"]
    await desktop.click(second["number"])
    await until(lambda: clicked == ["s2"])
    await desktop.click(99, first["number"], second["number"])
    await until(lambda: clicked == ["s2", "s1", "s2"])


@needs_bus
async def test_a_newer_note_of_a_session_takes_the_place_of_the_older(desktop, notes):
    assert await notes.show("s1", "T", "It asks.", "Open")
    assert await notes.show("s1", "T", "Finished.", "Open")
    first, second = await desktop.shown(), await desktop.shown()
    assert (first["replaced"], second["replaced"]) == (0, first["number"])


@needs_bus
async def test_where_nobody_shows_notes_that_is_said(bus, notes):
    assert not await notes.show("s1", "T", "Finished.", "Open")


@pytest.mark.parametrize("address", [None, "unix:path=/nowhere/bus", "nonsense"])
async def test_without_a_bus_that_is_said(notes, monkeypatch, address):
    if address is None:
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    else:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    assert not await notes.show("s1", "T", "Finished.", "Open")


@needs_bus
async def test_whether_the_desktop_shows_notifications_is_asked_of_its_service(desktop, notes):
    assert await notes.reaches()


@needs_bus
async def test_a_bus_without_a_service_shows_none(bus, notes):
    assert not await notes.reaches()


async def test_without_a_bus_nothing_shows_them(qapp, notes, monkeypatch):
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    assert not await notes.reaches()
