"""Folders in the sidebar: made, filled, folded, renamed, deleted, by mouse and keyboard, and begun in."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu

from app.core.ids import new_id
from app.core.session import Chat, ChatSession, Folder, SessionSummary
from app.gui.widgets.item_list import ROW
from tests.app_driver import Person, at_window, until
from tests.gui.chats import bring_in
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

NAMES = ("one", "two", "three")
KEYS = Qt.Key


async def fill(person: Person) -> list[str]:
    """Bring in three chats; return their ids, the newest first."""
    ids = []
    for place, name in enumerate(NAMES):
        at = f"2026-11-2{place}T10:00:00.000Z"
        one = ChatSession(
            id=new_id(), title=name, status="idle", created_at=at, updated_at=at,
            chat=Chat(assistant_id="assistant"),
        )  # fmt: skip
        await bring_in(person.window.controller, one, [])
        ids.insert(0, one.id)
    return ids


def rows(person: Person) -> list[str]:
    """Return the rows: folders as [name], sessions inside with a dash, headings of days as they are."""
    model = person.window.side_bar.sessions.model()
    found = []
    for row in range(model.rowCount()):
        content = model.data(model.index(row), ROW)
        if isinstance(content, Folder):
            found.append(f"[{content.name}]")
        elif isinstance(content, SessionSummary):
            found.append(f"- {content.title}" if content.id in model.inside else content.title)
    return found


def row_at(person: Person, wanted: str) -> QPoint:
    """Return the middle of a row."""
    sessions = person.window.side_bar.sessions
    place = rows(person).index(wanted)
    shown = [
        one
        for one in range(sessions.model().rowCount())
        if sessions.model().flags(sessions.model().index(one))
    ]
    return sessions.visualRect(sessions.model().index(shown[place])).center()


def choose(person: Person, wanted: str) -> None:
    """Make a row the current one, as the arrow keys do."""
    sessions = person.window.side_bar.sessions
    sessions.setFocus()
    sessions.setCurrentIndex(sessions.indexAt(row_at(person, wanted)))


def menu_of(person: Person, wanted: str) -> QMenu:
    """Open the menu of a row by the keyboard."""
    choose(person, wanted)
    sessions = person.window.side_bar.sessions
    by_key = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(sessions, QContextMenuEvent(by_key, QPoint(0, 0), QPoint(0, 0)))
    return next(menu for menu in sessions.findChildren(QMenu) if menu.isVisible())


async def trigger(person: Person, menu: QMenu, *path: str) -> None:
    """Choose an entry of a menu, and close it."""
    shown = menu
    for name in path[:-1]:
        shown = next(one for one in shown.actions() if one.text() == name).menu()
    next(one for one in shown.actions() if one.text().split("\t")[0] == path[-1]).trigger()
    menu.close()
    await person.settle()


def drop(person: Person, name: str, on: str) -> None:
    """Drop a session on another row."""
    sessions = person.window.side_bar.sessions
    dragged: QMimeData = sessions.model().mimeData([sessions.indexAt(row_at(person, name))])
    here = row_at(person, on).toPointF()
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    sessions.dropEvent(QDropEvent(here, Qt.DropAction.CopyAction, dragged, button, none))


@pytest.mark.slow
@pytest.mark.qt_log_ignore("does not support", extend=True)
async def test_folders_by_mouse_and_keyboard(qapp, data_dir):
    async with at_window(data_dir) as person:
        side, engine = person.window.side_bar, person.window.controller.engine
        await fill(person)
        assert rows(person) == ["three", "two", "one"]

        # Made from the menu beside New.
        next(one for one in side.new_menu.menu().actions() if one.text() == "New folder…").trigger()
        await person.write("rename_field", "School")
        await person.click("rename_save")
        await until(lambda: "[School]" in rows(person))

        # Dragged in, and another by its menu.
        drop(person, "one", "[School]")
        await until(lambda: rows(person) == ["[School]", "- one", "three", "two"])
        await trigger(person, menu_of(person, "three"), "Move to folder", "School")
        await until(lambda: rows(person) == ["[School]", "- three", "- one", "two"])

        # Dragged out, which can be undone.
        drop(person, "- one", "two")
        await until(lambda: "one" in rows(person))
        person.window.controller.undo()
        await until(lambda: "- one" in rows(person))

        # Folded with the keys and at its chevron; a click on the name lists its sessions and begins another one in it.
        choose(person, "- one")
        for key in (KEYS.Key_Left, KEYS.Key_Left):
            await person.press("session_list", key)
        assert rows(person) == ["[School]", "two"]
        said = side.sessions.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
        assert said == "Folder School, 2 sessions, closed"
        folder, view = engine.folders.find("School"), side.sessions.viewport()
        for listed in (["[School]", "- three", "- one", "two"], ["[School]", "two"]):
            QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(10, row_at(person, "[School]").y()))
            assert rows(person) == listed
        assert person.window.controller.folders.folder_id == ""
        assert not person.window.controller.chat_page.chat_composer.folder.isVisible()
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=row_at(person, "[School]"))
        assert rows(person) == ["[School]", "- three", "- one", "two"]
        assert person.window.controller.folders.folder_id == folder.id
        assert person.window.controller.chat_page.chat_composer.folder.isVisible()

        # Renamed with F2.
        choose(person, "[School]")
        await person.press("session_list", KEYS.Key_F2)
        await person.write("rename_field", "Physics")
        await person.click("rename_save")
        await until(lambda: "[Physics]" in rows(person))

        # Deleted with the key: its sessions stay, and Undo brings them back into it.
        choose(person, "[Physics]")
        await person.press("session_list", KEYS.Key_Delete)
        await until(lambda: rows(person) == ["three", "two", "one"])
        person.window.controller.undo()
        await until(lambda: rows(person) == ["[Physics]", "- three", "- one", "two"])
        side.sessions.fold(folder.id, closed=True)
    async with at_window(data_dir) as person:
        assert rows(person) == ["[Physics]", "two"]


@pytest.mark.qt_log_ignore("does not support", extend=True)
async def test_a_session_begun_in_a_folder_uses_its_instructions_and_file(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    tmp_path: Path,
):
    file = tmp_path / "units.txt"
    file.write_text("One mile is 1609 m.", "utf-8")
    async with at_window(data_dir) as person:
        controller = person.window.controller
        controller.folders.make_new()
        await person.write("rename_field", "School")
        await person.click("rename_save")
        await until(lambda: "[School]" in rows(person))
        await trigger(person, menu_of(person, "[School]"), "Instructions, skills and files…")
        await until(lambda: person.sees("folder_dialog"))
        person.find("folder_dialog").form.fields["skills"].control.choose("decision-memo")
        await person.write("folder_instructions", "Answer in metres.")
        await person.click("folder_choose")
        [dialog] = [one for one in QApplication.topLevelWidgets() if isinstance(one, QFileDialog)]
        dialog.filesSelected.emit([str(file)])
        dialog.reject()
        await person.click("folder_save")
        await until(lambda: controller.engine.folders.find("School").context == (str(file),))
        assert controller.engine.folders.find("School").skills == ("decision-memo",)

        # The plus at the right of its row.
        sessions = person.window.side_bar.sessions
        plus = QPoint(sessions.viewport().width() - 12, row_at(person, "[School]").y())
        QTest.mouseClick(sessions.viewport(), Qt.MouseButton.LeftButton, pos=plus)
        page = controller.chat_page
        await until(lambda: page.isVisible())
        assert page.chat_composer.folder.isVisible()
        await person.write("composer", "How far?")
        await person.press("composer", KEYS.Key_Return)
        await until(lambda: page.session is not None and page.session.status == "idle", what="the answer")
        [request] = wire_servers["openai"].requests
        assert "- decision-memo: Writes a memo" in str(request.system)
        assert "Answer in metres." in str(request.system) and "1609 m" in str(request.messages)
        await until(lambda: "- How far?" in rows(person))
        assert not page.chat_composer.folder.isVisible()

        # Debates begin with its files as well.
        controller.debates.show_new()
        await person.settle()
        assert controller.panel.setup.context.text() == "Include the files of “School”"
        assert controller.panel.setup.files.paths == (str(file),)
        controller.show_new()
        assert page.chat_composer.folder.isVisible()
        QTest.mouseClick(person.find("folder_leave"), Qt.MouseButton.LeftButton)
        assert not page.chat_composer.folder.isVisible()
        assert controller.panel.setup.files.paths == ()


async def test_delete_means_the_row_that_was_clicked_until_something_else_is_pressed(
    qapp: QApplication, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_window(data_dir) as person:
        await fill(person)
        side, window = person.window.side_bar, person.window.windowHandle()
        composer = person.window.controller.chat_page.chat_composer.box

        async def click(wanted: str) -> None:
            side.sessions.clearFocus()
            QTest.mouseClick(side.sessions.viewport(), Qt.MouseButton.LeftButton, pos=row_at(person, wanted))
            await until(composer.hasFocus, what="the keyboard in the page of the session")

        await click("two")
        QTest.keyClick(window, KEYS.Key_Delete)
        await until(lambda: rows(person) == ["three", "one"])
        person.window.controller.undo()
        await until(lambda: rows(person) == ["three", "two", "one"])
        # On a Mac that is the key that is Backspace elsewhere, also at a folder.
        await click("two")
        QTest.keyClick(window, KEYS.Key_Backspace)
        await click("two")
        with monkeypatch.context() as mac:
            mac.setattr(sys, "platform", "darwin")
            QTest.keyClick(window, KEYS.Key_Backspace)
        await until(lambda: rows(person) == ["three", "one"])
        person.window.controller.undo()
        await until(lambda: rows(person) == ["three", "two", "one"])
        # After a word or a press at another place it edits text, as ever.
        await click("two")
        QTest.keyClick(window, "a")
        QTest.keyClick(window, KEYS.Key_Home)
        QTest.keyClick(window, KEYS.Key_Delete)
        assert composer.toPlainText() == ""
        await click("three")
        side.search.setFocus()
        QTest.mouseClick(
            window, Qt.MouseButton.LeftButton, pos=side.search.mapTo(person.window, QPoint(4, 4))
        )
        QTest.keyClick(window, KEYS.Key_Delete)
        # Text that came otherwise, as from an input method, is not a reason to delete a session.
        await person.press("composer", KEYS.Key_Escape)
        await click("one")
        composer.setPlainText("가")
        QTest.keyClick(window, KEYS.Key_Delete)
        # F2 renames the one in front, as from everywhere.
        composer.clear()
        QTest.keyClick(window, KEYS.Key_F2)
        await until(
            person.window.top_bar.isAncestorOf(person.window.focusWidget()).__bool__, what="the title's field"
        )
        await person.settle()
        assert rows(person) == ["three", "two", "one"]
