"""After a restart the window is as it was left: place, size, splitter, last session and what was not sent."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow

from app.gui.window_frame import WindowState
from app.main import open_window
from tests.app_driver import Person, at_window, until
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401


@pytest.mark.slow
async def test_place_size_and_splitter_come_back(qapp, data_dir):
    window = await open_window(data_dir)
    # Within the screen of the tests, which is 800 × 800: what is larger is fitted to it.
    window.setGeometry(QRect(40, 60, 700, 640))
    window.splitter.set_widths([300, 0, 470])
    await until(lambda: window.height() == 640)
    left, sizes = window.geometry(), window.splitter.sizes()
    assert sizes[0] != 248
    await window.shutdown()
    window = await open_window(data_dir)
    try:
        assert window.size() == left.size()
        assert window.geometry().top() == left.top()
        await until(lambda: window.splitter.sizes()[0] == sizes[0])
    finally:
        await window.shutdown()


async def test_after_a_while_in_a_small_window_the_sides_are_as_wide_as_before(qapp, data_dir):
    async with at_window(data_dir, size=(1440, 900)) as person:
        window = person.window
        window.top_bar.debate_button.setChecked(True)
        await until(lambda: window.splitter.sizes()[2] == 470)
        wide = window.splitter.sizes()
        window.resize(900, 600)
        await until(lambda: window.splitter.sizes()[:1] + window.splitter.sizes()[2:3] == [0, 470])
        window.show_side(True)
        await until(lambda: window.splitter.sizes()[2] < 470)
        window.resize(1440, 900)
        await until(lambda: window.splitter.sizes() == wide)


async def test_what_the_user_drags_is_remembered_and_nothing_else_changes(qapp, data_dir):
    async with at_window(data_dir, size=(1440, 900)) as person:
        splitter = person.window.splitter
        person.window.top_bar.debate_button.setChecked(True)
        await until(lambda: splitter.sizes()[2] == 470)
        handle = splitter.handle(2)
        start = handle.rect().center()
        QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(handle, start - QPoint(60, 0))
        QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=start)
        assert splitter.widths()[:3] == [248, 0, splitter.sizes()[2]]
        assert splitter.sizes()[2] > 500


@pytest.mark.slow
async def test_a_window_left_maximised_opens_so(qapp, data_dir):
    window = await open_window(data_dir)
    window.showMaximized()
    await until(window.isMaximized)
    await window.shutdown()
    window = await open_window(data_dir)
    try:
        assert window.isMaximized()
    finally:
        await window.shutdown()


@pytest.mark.parametrize("place", [(5_000, 4_000), (-4_000, 20), (20, -4_000)])
async def test_a_window_whose_screen_is_gone_is_on_one_that_is_there(qapp, data_dir, place):
    data_dir.mkdir(exist_ok=True)
    other = QMainWindow()
    other.resize(500, 400)
    other.move(*place)
    other.show()
    state = WindowState(data_dir)
    state.keep("geometry", other.saveGeometry())
    state.save()
    other.close()
    other.deleteLater()
    window = await open_window(data_dir)
    try:
        room = window.screen().availableGeometry()
        assert room.contains(window.geometry().topLeft())
        assert room.contains(window.geometry().center())
    finally:
        await window.shutdown()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_second_start_goes_straight_to_the_last_session(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", lambda _request: Answer("Yes."))
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        session_id = await engine.chats.start("assistant", "Is it so?")
        await until(lambda: engine.live(session_id).session.status == "idle", 90)
        person.window.controller.show_session(session_id)
        await until(lambda: person.window.controller.chat_page.session_id == session_id)
        await person.write("composer", "Half a sent")
    window = await open_window(data_dir)
    try:
        person = Person(window)
        await until(lambda: window.controller.chat_page.session_id == session_id)
        assert window.main_area.currentWidget() is window.controller.chat_page
        await until(lambda: person.find("composer").toPlainText() == "Half a sent")
        assert person.transcript("transcript")[-1].endswith("Yes.")
    finally:
        await window.shutdown()
