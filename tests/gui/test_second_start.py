"""A second start goes straight to where one was: the session, its place, and no welcome."""

import asyncio
import ctypes
import os
import sys
from functools import partial

import pytest
from PySide6.QtCore import Qt

from app.main import _other_came_forward
from app.storage.paths import DataPaths
from tests import app_driver
from tests.app_driver import at_window
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_second_start_shows_the_last_chat(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        assert person.sees("composer_mode"), "the first start welcomes"
        await person.write("composer", "What is a moot?")
        await person.press("composer", Qt.Key.Key_Return)
        page = person.window.controller.chat_page
        await until(lambda: page.session is not None and page.session.status == "idle")
        session_id, said = page.session_id, person.transcript("transcript")
        assert len(said) == 2
    async with at_window(data_dir) as person:
        page = person.window.controller.chat_page
        await until(lambda: page.session_id == session_id)
        await until(lambda: person.transcript("transcript") == said)
        assert person.window.main_area.currentWidget() is page
        assert not person.sees("composer_mode")
        assert person.window.focusWidget() is page.composer.box


@pytest.mark.slow
async def test_a_second_start_after_nothing_was_done_welcomes_again(qapp, data_dir):
    for _ in range(2):
        async with at_window(data_dir) as person:
            assert person.sees("composer_mode")


@pytest.mark.timeout(180)
async def test_where_the_last_session_is_gone_the_window_welcomes(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        await person.write("composer", "What is a moot?")
        await person.press("composer", Qt.Key.Key_Return)
        page = person.window.controller.chat_page
        await until(lambda: page.session is not None and page.session.status == "idle")
        session_id = page.session_id
    (data_dir / "sessions" / f"{session_id}.jsonl").unlink()
    async with at_window(data_dir) as person:
        await person.settle(0.3)
        assert person.sees("composer_mode")


class Windows:
    """Notes whom a program lets come to the front on Windows."""

    def __init__(self) -> None:
        self.user32, self.let = self, []

    def AllowSetForegroundWindow(self, pid: int) -> int:  # noqa: N802
        self.let.append(pid)
        return 1


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
async def test_on_windows_a_second_start_lets_the_first_come_to_the_front(qapp, data_dir, monkeypatch):
    windows = Windows()
    monkeypatch.setattr(ctypes, "windll", windows, raising=False)
    async with at_window(data_dir) as person:
        person.window.hide()
        with monkeypatch.context() as there:
            there.setattr(sys, "platform", "win32")
            assert await asyncio.to_thread(_other_came_forward, DataPaths(data_dir))
        assert windows.let == [os.getpid()]
        assert person.window.isVisible()
