"""A page that is built in steps: the first at once, the others in turns of the event loop, all when it is asked for."""

import asyncio

from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from shiboken6 import delete

from app.gui.widgets.form import Steps
from tests.app_driver import at_window, until


async def test_steps_run_in_turns_until_the_whole_is_needed_or_the_owner_goes(qapp):
    ran, ended, owner = [], [], QObject()

    def work():
        for step in range(100):
            ran.append(step)
            # Asked for by a step itself, the whole is what is there.
            owner.findChild(Steps).finish()
            yield
        ended.append(len(ran))

    steps = Steps(owner, work())
    assert ran == [0]
    await until(lambda: len(ran) > 1)
    steps.finish()
    steps.finish()
    assert (ran, ended, steps.is_done) == (list(range(100)), [100], True)
    ran.clear()
    Steps(owner, work())
    delete(owner)
    await asyncio.sleep(0.05)
    assert ran == [0]


async def test_a_page_of_the_settings_is_built_when_it_is_shown(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("providers", "gemini")
        dialog = person.find("settings_page")
        await until(dialog.isVisible)
        assert list(dialog._made) == ["providers"]
        assert list(dialog.page("providers")._made) == ["gemini"]
        dialog.show_page("shortcuts")
        steps = dialog.findChild(Steps)
        assert not steps.is_done
        await until(lambda: steps.is_done)
        # Tab goes through all rows, also those that were made last, before it leaves the page.
        keys = [row.keys for row in dialog.page("shortcuts").rows.values()]
        keys[0].setFocus()
        for after in keys[1:]:
            QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Tab)
            assert person.window.focusWidget() is after
        QTest.keyClick(keys[-1], Qt.Key.Key_Tab)
        assert not dialog.isAncestorOf(person.window.focusWidget())
        person.find("settings_close").click()
