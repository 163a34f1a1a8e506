"""Pause and Resume of groups and chats, by click and by keys; against a provider that is slow."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.session import Status
from tests import app_driver
from tests.app_driver import at_window
from tests.group_scenes import SHIP, STEPS
from tests.gui.test_chat_page import running
from tests.gui.test_group_page import at_work, begin, person, plan_of  # noqa: F401
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=120.0)
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.mark.slow
async def test_a_group_is_paused_by_click_after_what_is_written_or_at_once_and_goes_on(person, wire_servers):  # noqa: F811
    page = await at_work(person)
    button = person.find("orchestrator_pause")
    assert button.text() == "Pause"
    await person.click("orchestrator_pause")
    assert button.text() == "Pause now"
    assert page.session.status == "running", "the turn in flight was cut by the first click"
    await person.click("orchestrator_pause")
    await until(lambda: page.session.status == Status.PAUSED)
    assert not person.sees("orchestrator_pause") and not person.sees("orchestrator_stop")
    assert plan_of(page)[0] == (STEPS[0], True)
    asked = len(wire_servers["openai"].requests)
    await person.click("chat_resume")
    await until(lambda: page.session.status == "running" and button.isVisible())
    assert button.text() == "Pause"
    await until(lambda: len(wire_servers["openai"].requests) > asked, what="it to go on")
    # Once: what is being written comes to its end, and nobody is asked anything after it.
    await person.click("orchestrator_pause")
    await person.click("orchestrator_stop")
    await until(lambda: page.session.status == Status.STOPPED)


async def test_a_chat_is_paused_by_keys_and_goes_on_by_keys(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    async with at_window(data_dir) as person:  # noqa: F811
        person.window.activateWindow()
        page = await running(person, wire_servers["openai"])
        QTest.keyClick(person.window, Qt.Key.Key_Period, CONTROL)
        await until(lambda: person.sees("toast"), what="that it pauses")
        assert page.session.status == "running"
        QTest.keyClick(person.window, Qt.Key.Key_Period, CONTROL)
        await until(lambda: page.session.status == Status.PAUSED)
        assert person.sees("chat_resume") and not person.sees("stop_button")
        assert "Some words" in person.transcript("transcript")[-1]
        wire_servers["openai"].script("openai-wire", lambda _: Answer("Done."))
        QTest.keyClick(person.window, Qt.Key.Key_Period, CONTROL)
        await until(lambda: page.session.status == Status.IDLE)
        assert not person.sees("chat_state")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 700])
async def test_turns_limit_and_state_are_told_where_the_line_has_no_room(person, width):  # noqa: F811
    person.window.resize(width, 800)
    page = await begin(person, SHIP)
    await until(lambda: page.box.isVisible() and page.session.status == "running")
    box = page.box
    box.unfold(True)
    await person.settle()
    shown = [one.text() for one in (box._meta, box._whole) if one.isVisible()]
    assert any("turn " in text and " of 20" in text for text in shown)
    assert len(shown) == 1 or width > 1000, "told twice"
    assert "Running" in box._head.toolTip() and "of 20" in box._head.toolTip()
    assert "Running" in box.accessibleDescription()
    await person.click("orchestrator_stop")
    await until(lambda: page.session.status == Status.STOPPED)
