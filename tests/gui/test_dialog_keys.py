"""Enter in every dialog: the button that has the focus, else the one that is meant, and never another."""

import pytest
from PySide6.QtWidgets import QDialog, QPushButton

from app.core.session import Folder
from app.gui.dialogs.ask_dialogs import ConfirmDialog, FolderDialog, LinkDialog, PromptDialog, RenameDialog
from app.gui.dialogs.connect_dialogs import ConnectDialog, ServerDialog
from tests.app_driver import at_window, until
from tests.gui.every_page import every_dialog, keep_all

# The dialogs made here, each with the button that Enter means; what is dangerous is never it.
MADE = {
    "rename": (lambda words, _look, window: RenameDialog(words, "Zyx", window), "rename_save"),
    "folder": (
        lambda words, look, window: FolderDialog(words, look, Folder(id="f", name="Zyx"), window),
        "folder_save",
    ),
    "prompt": (lambda words, _look, window: PromptDialog(words, "Zyx", "a", "b", window), "prompt_save"),
    "confirm": (
        lambda words, _look, window: ConfirmDialog(words, "Zyx", "Wvu", "Go", window),
        "confirm_cancel",
    ),
    "link": (
        lambda words, _look, window: LinkDialog(words, "https://zyx.example", "", window),
        "link_cancel",
    ),
    "server": (lambda words, _look, window: ServerDialog(words, window), "server_add"),
    "connect": (
        lambda words, look, window: ConnectDialog(words, look, window.controller.engine, [], window),
        "connect_go",
    ),
}


def buttons(dialog: QDialog) -> list[QPushButton]:
    # Of the cards one is chosen; on such a choice Enter goes on.
    return [
        one
        for one in dialog.findChildren(QPushButton)
        if one.isVisible() and one.isEnabled() and not one.isCheckable()
    ]


async def check_enter(dialog: QDialog) -> None:
    dialog.activateWindow()
    await until(dialog.isActiveWindow)
    for one in buttons(dialog):
        one.setFocus()
        await until(one.hasFocus)
        assert [other.objectName() for other in buttons(dialog) if other.isDefault()] == [one.objectName()]


async def test_enter_is_the_button_that_is_meant_or_that_has_the_focus(qapp, data_dir):
    async with at_window(data_dir) as person:
        window = person.window
        for name, (make, meant) in MADE.items():
            dialog = make(window.language, window.look, window)
            dialog.open()
            await until(dialog.isVisible)
            assert next(one for one in buttons(dialog) if one.isDefault()).objectName() == meant, name
            await check_enter(dialog)
            dialog.reject()
            await until(lambda dialog=dialog: not dialog.isVisible())


@pytest.mark.slow
async def test_so_it_is_in_the_dialogs_over_real_data(qapp, data_dir):
    await keep_all(data_dir)
    async with at_window(data_dir) as person:
        async for name, dialog in every_dialog(person):
            if not name.startswith("settings"):
                await check_enter(dialog)
