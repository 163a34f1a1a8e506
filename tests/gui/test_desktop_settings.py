"""Dark, high contrast and less motion as a real portal on a real bus asks for them."""

import asyncio
import ctypes
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAccessibilityHints, QColor, QStyleHints

from app.gui.display.appearance import Look
from app.gui.display.theme import DARK, LIGHT, contrast, high_contrast
from app.storage.paths import resources_dir

needs_bus = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="there is no dbus-daemon")
DARK_SCHEME = ("org.freedesktop.appearance", "color-scheme", "u", 1)
LIGHT_SCHEME = ("org.freedesktop.appearance", "color-scheme", "u", 2)
NO_SCHEME = ("org.freedesktop.appearance", "color-scheme", "u", 0)
CONTRAST = ("org.freedesktop.appearance", "contrast", "u", 1)
NO_CONTRAST = ("org.freedesktop.appearance", "contrast", "u", 0)
NO_ANIMATIONS = ("org.gnome.desktop.interface", "enable-animations", "b", False)
PATIENCE_S = 20


@asynccontextmanager
async def running(*command: str, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a program with its pipes; it is ended in the end."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | environment,
    )
    try:
        yield process
    finally:
        process.terminate()
        await process.communicate()


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)).decode().strip()


async def look_of(process: asyncio.subprocess.Process, **wanted: Any) -> None:
    """Wait until the window looks so."""
    while True:
        shown = json.loads(await line_of(process))
        if shown == wanted:
            return


async def choose(portal: asyncio.subprocess.Process, *settings: tuple[str, str, str, object]) -> None:
    """Change settings of the desktop."""
    assert portal.stdin is not None
    for setting in settings:
        portal.stdin.write(json.dumps(setting).encode() + b"\n")
        await portal.stdin.drain()
        await line_of(portal)


@needs_bus
async def test_the_desktop_is_followed_from_the_start_and_when_it_changes() -> None:
    async with running("dbus-daemon", "--session", "--nofork", "--print-address") as daemon:
        bus = {"DBUS_SESSION_BUS_ADDRESS": await line_of(daemon)}
        async with running(sys.executable, "-m", "tests.gui.portal_service", **bus) as portal:
            await choose(portal, DARK_SCHEME)
            async with running(sys.executable, "-m", "tests.gui.look_of_the_desktop", **bus) as look:
                await look_of(look, dark=True, text=DARK.text, moves=True)
                await choose(portal, CONTRAST)
                await look_of(look, dark=True, text="#FFFFFF", moves=True)
                await choose(portal, LIGHT_SCHEME)
                await look_of(look, dark=False, text="#000000", moves=True)
                await choose(portal, NO_CONTRAST, NO_ANIMATIONS)
                await look_of(look, dark=False, text=LIGHT.text, moves=False)
                await choose(portal, DARK_SCHEME, NO_SCHEME)
                await look_of(look, dark=True, text=DARK.text, moves=False)
                # Without a preference the portal leaves it to Qt, which has none offscreen.
                await look_of(look, dark=False, text=LIGHT.text, moves=False)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_high_contrast_is_higher_everywhere(tokens) -> None:
    strong = high_contrast(tokens)
    for ground in (strong.bg, strong.side, strong.surface, strong.hover):
        assert contrast(strong.text, ground) >= 7  # WCAG 2 AAA
        assert contrast(strong.text_3, ground) >= 4.5
        assert contrast(strong.line, ground) >= 2.5
    assert QColor(strong.edge) == QColor(strong.text)
    assert high_contrast(tokens) is strong


def a_look(qapp, theme: str = "light") -> Look:
    return Look(qapp, resources_dir(), theme)


def test_high_contrast_is_followed_where_qt_tells(qapp, monkeypatch) -> None:
    look, seen = a_look(qapp), []
    look.changed.connect(lambda: seen.append(look.tokens.text))
    for preference in (Qt.ContrastPreference.HighContrast, Qt.ContrastPreference.NoPreference):
        monkeypatch.setattr(QAccessibilityHints, "contrastPreference", lambda _hints, now=preference: now)
        qapp.styleHints().accessibility().contrastPreferenceChanged.emit(preference)
    assert seen == ["#000000", LIGHT.text]
    look.deleteLater()


def test_frames_of_windows_follow_the_theme(qapp, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(QStyleHints, "setColorScheme", lambda _hints, scheme: asked.append(scheme))
    look = a_look(qapp, "dark")
    assert asked[-1] == Qt.ColorScheme.Dark
    look.choose("light")
    assert asked[-1] == Qt.ColorScheme.Light
    look.choose("system")
    assert asked[-1] == Qt.ColorScheme.Unknown
    look.deleteLater()


class Windows:
    """What Windows answers to a program that asks whether things may move."""

    def __init__(self) -> None:
        self.user32, self.moves = self, 1

    def SystemParametersInfoW(self, action: int, _size: int, answer: Any, _change: int) -> int:  # noqa: N802
        assert action == 0x1042
        answer._obj.value = self.moves
        return 1


def test_less_motion_is_followed_on_windows(qapp, monkeypatch) -> None:
    windows = Windows()
    monkeypatch.setattr(ctypes, "windll", windows, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    look, changes = a_look(qapp), []
    look.changed.connect(lambda: changes.append(look.moves))
    assert look.moves
    for windows.moves in (1, 0, 0, 1):
        # The user was in the settings of Windows.
        qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert changes == [False, True]
    look.deleteLater()


def test_less_motion_is_followed_on_macos(qapp, monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    system = QSettings("apple.com", "universalaccess")
    system.remove("reduceMotion")
    look = a_look(qapp)
    assert look.moves
    system.setValue("reduceMotion", True)
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert not look.moves
    look.choose_motion("full")
    assert look.moves
    system.clear()
    look.deleteLater()
