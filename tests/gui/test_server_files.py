"""Resources of MCP servers as attachments, and their prompts, in the window."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu

from app.core.errors import BadInput
from tests import app_driver
from tests.app_driver import at_window
from tests.tools.serving import allow
from tests.tools.test_mcp_library import ENTRY

until = partial(app_driver.until, seconds=10.0)


@pytest.mark.timeout(120)
@pytest.mark.qt_log_ignore("does not support", extend=True)
async def test_a_resource_is_attached_and_a_prompt_called_by_a_slash(qapp: object, data_dir: Path) -> None:
    async with at_window(data_dir) as person:
        desk = person.window.controller
        await desk.engine.servers.save((ENTRY,))
        await allow(desk.engine, "library")
        desk.show_new()
        composer = desk.chat_page.chat_composer
        await until(composer.isVisible)
        await until(lambda: composer.sources() == ("library",))
        QTest.mouseClick(composer.attach, Qt.MouseButton.LeftButton)

        menu = composer.findChild(QMenu, "attach_menu")
        assert [action.text() for action in menu.actions()] == ["Attach files…", "Attach from library…"]
        menu.actions()[1].trigger()
        menu.close()
        await until(lambda: person.sees("resources_dialog"), what="the list of resources")
        dialog = person.find("resources_dialog")
        assert not dialog.go.isEnabled()
        dialog.list.list.ticked.emit(dialog.list.list.item(0).id)
        await person.click("resources_attach")
        await until(lambda: [one.name for one in composer.attachments()] == ["today"], what="the attachment")

        person.window.activateWindow()
        await until(person.window.isActiveWindow)
        composer.box.setFocus()
        QTest.keyClicks(composer.box, "/review")
        QTest.keyClick(composer.box, Qt.Key.Key_Return)
        await until(lambda: person.sees("variables_dialog"), what="the variables")
        await person.write("variable_0", "x = 1")
        await person.click("variables_insert")
        await until(lambda: composer.box.text().startswith("Review this: x = 1"), what="the prompt")
        person.window.controller.palette.search("plain words")
        entries = person.window.controller.palette.palette
        await until(entries.isVisible)
        await person.press(entries.box.objectName(), Qt.Key.Key_Return)
        await until(lambda: composer.box.text() == "Say it plainly.", what="the prompt from the palette")
        desk.chat_page.resource_requested.emit("library", "notes://May/2")
        await until(lambda: person.sees("confirm_dialog"), what="the question")
        assert "notes://May/2" in "".join(
            one.text() for one in person.find("confirm_dialog").findChildren(QLabel)
        )
        await person.click("confirm_agree")
        await until(
            lambda: "Notes of May 2" in [one.text for one in desk.chat_page.chat_composer.attachments()],
            what="what was read through the server",
        )
        with pytest.raises(BadInput, match="server_failed"):
            await desk.engine.servers.read_resource("library", "notes://broken")
