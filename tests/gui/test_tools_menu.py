"""The menu of tools in the composer: by server, each with a switch that the model's next request follows."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget

from app.core.server_secrets import McpServer
from app.core.tool import ServerState, ServerStatus
from tests import app_driver
from tests.gui.test_chat_page import person  # noqa: F401
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=60.0)


@pytest.mark.slow
async def test_a_tool_that_is_switched_off_is_not_offered_to_the_model(person, wire_servers):  # noqa: F811
    requests = wire_servers["openai"].requests
    person.window.controller.show_new("browser")
    page = person.window.controller.chat_page

    async def say(text: str) -> set[str]:
        before = len(requests)
        await person.write("composer", text)
        await person.press("composer", Qt.Key.Key_Return)
        await until(lambda: len(requests) > before and page.session and page.session.status == "idle")
        return {one["function"]["name"] for one in requests[before].body["tools"]}

    before = await say("Hello.")
    menu = person.find("tools_button").choices
    assert menu.actions()[0].text() == "Built in · 5 of 5 on"
    next(one for one in menu.actions()[0].menu().actions() if one.text() == "Search the web").trigger()
    await until(lambda: page.chat_composer.tools.text() == "4 tools")
    assert menu.actions()[0].text() == "Built in · 4 of 5 on"
    assert before - await say("Hello again.") == {"web_search"}


async def test_the_tools_of_each_server_are_switched_in_a_menu_of_its_own(person):  # noqa: F811
    composer = person.window.controller.chat_page.chat_composer
    server = McpServer(name="R&D", command="x")
    status = ServerStatus(server=server, state=ServerState.CONNECTED, tools=("R_D__read", "R_D__write"))
    composer.show_tools((), (status, ServerStatus(server=server, state=ServerState.DOWN)), ("R_D__write",))
    switched = []
    composer.tool_switched.connect(lambda *said: switched.append(said))
    titles = [action.text() for action in composer.tools.choices.actions() if action.menu()]
    assert titles == ["R&&D · 1 of 2 on", "R&&D · stopped"]
    assert composer.tools.text() == "1 tool"
    switches = composer.tools.choices.actions()[0].menu().actions()
    assert [(one.text(), one.isChecked()) for one in switches[:2]] == [("read", True), ("write", False)]
    switches[1].trigger()
    assert switched == [("R_D__write", True)]


async def test_a_menu_that_is_made_again_leaves_nothing_of_the_old_one(person):  # noqa: F811
    composer = person.window.controller.chat_page.chat_composer
    status = ServerStatus(
        server=McpServer(name="R&D", command="x"), state=ServerState.CONNECTED, tools=("R_D__read",)
    )
    for number in range(5):
        composer.show_tools((), (status,), ("R_D__read",) if number % 2 else ())
    await until(lambda: len(composer.tools.choices.findChildren(QMenu)) == 1)
    [made] = composer.tools.choices.findChildren(QMenu)
    composer.show_tools((), (status,), ())
    assert composer.tools.choices.findChildren(QMenu) == [made], "what has not changed stays"


# A menu over another one; the offscreen platform has neither windows that come forward nor a grab.
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_the_menu_stays_open_while_tools_are_switched(person):  # noqa: F811
    person.window.controller.show_new("browser")
    composer = person.window.controller.chat_page.chat_composer
    menu = composer.tools.choices
    menu.popup(person.window.mapToGlobal(person.window.rect().center()))
    inside = menu.actions()[0].menu()
    inside.popup(menu.pos())
    switches = inside.actions()[:2]
    for one in switches:
        QTest.mouseClick(inside, Qt.MouseButton.LeftButton, pos=inside.actionGeometry(one).center())
        await until(lambda one=one: not one.isChecked(), what="a switch")
    await until(lambda: composer.tools.text() == "3 tools", what="3 tools")
    assert inside.isVisible() and menu.isVisible()
    inside.close()
    menu.close()
    await until(lambda: menu.actions()[0].text() == "Built in · 3 of 5 on")


@pytest.mark.slow
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_a_menu_opens_where_the_window_has_more_room(person):  # noqa: F811
    def place(button: QWidget) -> int:
        """Return how far below the top of its button a menu opens."""
        button.click()
        y = button.choices.y() - button.mapToGlobal(button.rect().topLeft()).y()
        button.choices.close()
        return y

    page = person.window.controller.chat_page
    person.window.controller.show_new("browser")
    await person.settle(0.2)
    assert place(page.chat_composer.tools) > 0, "the input of the first page is in the upper half"
    await person.write("composer", "Hello")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None and page.transcript.isVisible())
    await person.settle(0.2)
    assert place(page.chat_composer.tools) < 0
    person.window.controller.debates.show_new()
    setup = person.window.controller.panel.setup
    setup.panels.pressed.emit()
    await person.settle(0.2)
    assert place(setup.panels) > 0
