"""The menu of tools in the composer: by server, each with a switch that the model's next request follows."""

from collections.abc import Callable
from functools import partial

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget

from app.core.servers import McpServer
from app.core.tool import ServerState, ServerStatus
from app.gui.widgets.controls import MenuButton
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
    await person.settle(0.2)
    assert place(setup.panels) > 0


@pytest.mark.slow
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_a_menu_has_its_entries_however_it_is_opened(person):  # noqa: F811
    def press(button: MenuButton) -> None:
        told = QAccessible.queryAccessibleInterface(button).actionInterface()
        told.doAction(told.pressAction())

    ways = {
        "a screen reader": press,
        "the keyboard": lambda button: QTest.keyClick(button, Qt.Key.Key_Space),
        "showMenu": MenuButton.showMenu,
        "the menu itself": lambda button: button.choices.popup(QPoint(0, 0)),
    }
    entries = {
        "decide_how": [
            *("Answers first", "Round robin", "Free discussion", "Assigned roles"),
            *(
                "One model three times (no second opinion)",
                "Compare the answers",
                "Search and read the web",
                "More options…",
            ),
        ],
        "decide_ends": [
            *("Verdict", "Vote", "Merged answer", "No verdict", "Stop after the answers", "Judge", "Helper"),
        ],
        "work_with": [
            "Ready-made groups…",
            "Propose a group…",
            "Bug fix",
            "Feature request",
            "Edit workflows…",
            "Work in a folder of yours…",
        ],
        "panels_button": ["Assemble automatically", "Save participants as a panel…", "Import a panel…"],
    }
    setup = person.window.controller.panel.setup
    for name, mode in (("decide_how", "decide"), ("decide_ends", "decide"), ("work_with", "work")):
        await person.click(f"segment_{mode}")
        await opens(person.find(name), ways, entries[name])
    person.window.controller.debates.show_new()
    await person.settle(0.2)
    await opens(setup.panels, ways, entries["panels_button"])


async def opens(
    button: MenuButton, ways: dict[str, Callable[[MenuButton], object]], entries: list[str]
) -> None:
    """Open a menu in each of these ways, empty before; see its entries at once."""
    for way, use in ways.items():
        button.clear()
        use(button)
        await until(button.choices.isVisible, what=f"the menu by {way}")
        # Who judges and helps depends on what the models cost.
        actions = [one for one in button.choices.actions() if one.isVisible()]
        shown = [one.text().partition(":")[0] for one in actions if one.text()]
        assert shown == entries, way
        least = sum(button.choices.actionGeometry(one).height() for one in actions)
        assert button.choices.height() >= least > 0, way
        button.choices.close()


@pytest.mark.slow
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_a_menu_that_is_filled_as_it_opens_stands_right_above_its_button(person):  # noqa: F811
    gauge = person.window.chat_page.chat_composer.gauge
    # All of it on the screen, whose edge would move the menu.
    person.window.resize(760, 700)
    await person.write("composer", "Hello")
    await person.press("composer", Qt.Key.Key_Return)
    await until(gauge.isVisible, what="the gauge")
    await person.settle(0.2)
    assert gauge.choices.actions() == []
    gauge.click()
    top = gauge.mapToGlobal(gauge.rect().topLeft()).y()
    assert gauge.choices.y() + gauge.choices.height() == top - 4
    gauge.choices.close()
