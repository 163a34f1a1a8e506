"""Habits of the keyboard and the mouse: zoom, full screen, the next session, the next part of the window."""

from collections import Counter
from dataclasses import replace

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.session import Folder
from app.engine.importing import CHATGPT, session_of
from app.gui.commands import COMMANDS, chosen_keys, kept_shortcuts
from app.gui.widgets.item_list import ROW
from tests.app_driver import at_window, until
from tests.builders import PROMPTS
from tests.engine.foreign_exports import chatgpt
from tests.gui.chats import bring_in

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def test_no_keys_start_two_commands():
    keys = Counter(command.keys for command in COMMANDS if command.keys)
    assert [some for some, count in keys.items() if count > 1] == []
    assert chosen_keys(()) == {command.name: command.keys for command in COMMANDS}


def test_chosen_keys_are_kept_by_the_command_they_were_chosen_for():
    keys = chosen_keys(("pause=Ctrl+W", "notice=F7"))
    assert (keys["pause"], keys["close"]) == ("Ctrl+W", "")
    assert keys["area"] == "F7", "the command that was called notice"
    assert kept_shortcuts(keys) == ("area=F7", "close=", "pause=Ctrl+W")
    assert chosen_keys(kept_shortcuts(keys)) == keys


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        await until(person.window.isActiveWindow)
        yield person


def press(person, key, modifiers=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(QApplication.focusWidget() or person.window, key, modifiers)


async def list_sessions(person, count):
    """Bring in so many sessions, and wait until they are listed."""
    session, messages = session_of(next(CHATGPT.chats(chatgpt(), PROMPTS.lines("en", "import"))), None, "en")
    for number in range(count):
        await bring_in(person.window.controller, replace(session, id=f"01j{number:023d}"), messages)
    await until(lambda: len(person.window.side_bar.sessions.summaries) == count)


def size(person):
    return person.window.controller.settings.current().text_size


async def test_keys_and_the_wheel_zoom_the_text_within_its_sizes(person):
    person.window.controller.show_new()
    box = QApplication.focusWidget()
    usual = box.fontInfo().pixelSize()
    sizes = []
    for _ in range(4):
        press(person, Qt.Key.Key_Plus, CONTROL)
        sizes.append(size(person))
    assert sizes == [115, 130, 150, 150]
    assert box.fontInfo().pixelSize() == round(usual * 1.5)
    press(person, Qt.Key.Key_0, CONTROL)
    assert (size(person), box.fontInfo().pixelSize()) == (100, usual)
    press(person, Qt.Key.Key_Equal, CONTROL)
    assert size(person) == 115, "the plus key without Shift"
    for _ in range(3):
        press(person, Qt.Key.Key_Minus, CONTROL)
    assert size(person) == 85
    handle, middle = person.window.windowHandle(), QPointF(person.window.rect().center())

    def turn(angle, modifiers):
        turned = QWheelEvent(
            middle,
            person.window.mapToGlobal(middle),
            QPoint(),
            QPoint(0, angle),
            Qt.MouseButton.NoButton,
            modifiers,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(handle, turned)

    turn(120, Qt.KeyboardModifier.NoModifier)
    assert size(person) == 85
    turn(120, CONTROL)
    assert size(person) == 100
    turn(60, CONTROL)
    assert size(person) == 100, "half a notch of a touchpad"
    turn(60, CONTROL)
    assert size(person) == 115
    turn(-120, CONTROL)
    await until(lambda: person.window.controller.engine.settings().text_size == 100)


async def test_f11_fills_the_screen_and_gives_it_back(person):
    press(person, Qt.Key.Key_F11)
    assert person.window.isFullScreen()
    press(person, Qt.Key.Key_F11)
    assert not person.window.isFullScreen()


async def test_ctrl_tab_goes_round_the_sessions_and_ctrl_w_leaves_one(person):
    desk, side = person.window.controller, person.window.side_bar.sessions
    await list_sessions(person, 3)
    listed = [row.id for row in side.rows.rows if not isinstance(row, str)]
    shown = []
    for modifiers in (CONTROL, CONTROL, CONTROL, CONTROL, CONTROL | SHIFT, CONTROL | SHIFT):
        before = desk.chat_page.session_id
        press(person, Qt.Key.Key_Tab, modifiers)
        await until(lambda before=before: desk.chat_page.session_id not in ("", before))
        await person.settle()
        shown.append(listed.index(desk.chat_page.session_id))
    assert shown == [0, 1, 2, 0, 2, 1]
    press(person, Qt.Key.Key_W, CONTROL)
    await until(lambda: desk.chat_page.session_id == "")
    assert QApplication.focusWidget() is desk.chat_page.composer.box
    press(person, Qt.Key.Key_Tab, CONTROL | SHIFT)
    await until(lambda: desk.chat_page.session_id == listed[2], what="the last one, from the first page")


async def test_f6_goes_round_the_parts_of_the_window_and_finds_the_old_place_again(person):
    desk, window = person.window.controller, person.window
    desk.show_new()
    box = QApplication.focusWidget()
    assert box is desk.chat_page.composer.box
    press(person, Qt.Key.Key_F6)
    assert window.side_bar.isAncestorOf(QApplication.focusWidget())
    person.find("settings_button").setFocus()
    press(person, Qt.Key.Key_F6)
    assert QApplication.focusWidget() is box
    press(person, Qt.Key.Key_F6, SHIFT)
    assert QApplication.focusWidget() is person.find("settings_button")
    window.toasts.show_toast("Said", "Act", lambda: None)
    press(person, Qt.Key.Key_F6)
    press(person, Qt.Key.Key_F6)
    assert window.toasts.isAncestorOf(QApplication.focusWidget()), "notices are a part too"
    press(person, Qt.Key.Key_F6, SHIFT)
    assert QApplication.focusWidget() is box
    window.top_bar.debate_button.click()
    await until(lambda: len(window.areas()) == 4)
    places = []
    for _ in range(4):
        press(person, Qt.Key.Key_F6)
        places.append(
            next(
                place
                for place, area in reversed([*enumerate(window.areas())])
                if area.isAncestorOf(QApplication.focusWidget())
            )
        )
    assert places == [1, 2, 3, 0]


async def test_a_double_click_renames_a_session(person):
    side = person.window.side_bar.sessions
    await list_sessions(person, 1)
    row = next(place for place in range(side.rows.rowCount()) if not isinstance(side.rows.rows[place], str))
    middle = side.visualRect(side.rows.index(row)).center()
    assert side.rows.index(row).data(ROW).id == side.summaries[0].id
    QTest.mouseClick(side.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseDClick(side.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    await until(lambda: person.sees("rename_dialog"))
    await person.write("rename_field", "Better")
    await person.click("rename_save")
    await until(lambda: side.summaries[0].title == "Better")


async def test_several_sessions_are_chosen_deleted_and_restored_together(person):
    desk, side = person.window.controller, person.window.side_bar.sessions
    await list_sessions(person, 4)
    rows = [place for place, row in enumerate(side.rows.rows) if not isinstance(row, str)]
    ids = [side.rows.rows[place].id for place in rows]

    def click(row, modifiers=Qt.KeyboardModifier.NoModifier):
        middle = side.visualRect(side.rows.index(row)).center()
        QTest.mouseClick(side.viewport(), Qt.MouseButton.LeftButton, modifiers, middle)

    click(rows[0])
    await until(lambda: desk.chat_page.session_id == ids[0])
    click(rows[2], CONTROL)
    assert side.selected_ids() == (ids[0], ids[2])
    side.show_sessions(side.summaries)
    assert side.selected_ids() == (ids[0], ids[2]), "a list that is shown again keeps them"
    click(rows[2], CONTROL)
    assert side.selected_ids() == (ids[0],)
    click(rows[0])
    await person.settle()
    click(rows[2], SHIFT)
    assert side.selected_ids() == tuple(ids[:3])
    assert desk.chat_page.session_id == ids[0], "none of these clicks opens a session"
    menu = side.menu_of(ids[1])
    assert [action.text() for action in menu.actions()] == ["Move to folder", "Delete 3 sessions\tDel"]
    menu.close()
    QTest.keyClick(side, Qt.Key.Key_Delete)
    await until(lambda: [summary.id for summary in desk.engine.sessions()] == [ids[3]])
    assert person.find("toast").text == "Moved 3 sessions to the trash."
    await person.click("toast_action")
    await until(lambda: len(desk.engine.sessions()) == 4)
    folder = await desk.engine.folders.save(Folder(id="", name="Work"))
    await until(lambda: side.rows.row_of(folder.id) >= 0)
    side.clearSelection()
    for session_id in (ids[1], ids[3]):
        index = side.rows.index(side.rows.row_of(session_id))
        side.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)
    moves = side.menu_of(ids[3]).actions()[0].menu()
    next(action for action in moves.actions() if action.text() == "Work").trigger()
    await until(lambda: {item.id for item in desk.engine.sessions() if item.folder} == {ids[1], ids[3]})
