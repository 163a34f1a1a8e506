"""Assistants are brought into a group: dragged onto it in the sidebar, or by the menu; several at once, and back."""

import json

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.core.definitions import Group
from tests.app_driver import Person, at_window, until

LEFT, NONE, CONTROL = (
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier,
)
MOVE = Qt.DropAction.MoveAction


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.unfold_team()
        groups = person.window.controller.engine.groups
        await groups.save(Group(id="crew", name="Crew & Co", members=("checker",)))
        await groups.save(Group(id="desk", name="Desk"))
        await until(lambda: set(side(person).groups.ids()) == {"crew", "desk"})
        yield person


def side(person: Person):
    return person.window.side_bar


def members(data_dir, group_id: str) -> list[str]:
    return json.loads((data_dir / "groups" / f"{group_id}.json").read_text("utf-8")).get("members", [])


def pick(person: Person, *rows: int) -> None:
    """Select assistants by clicks with Ctrl."""
    view = side(person).assistants
    for row in rows:
        place = view.visualRect(view.model().index(row, 0)).center()
        QTest.mouseClick(view.viewport(), LEFT, CONTROL, place)


def drag_onto(person: Person, group_id: str, source: object) -> bool:
    """Drag what is selected in a list onto a group as Qt does; return whether it is taken there."""
    groups = side(person).groups
    view = groups.viewport()
    row = groups.rows.row_of(group_id)
    place = QPoint(4, view.height() + 40) if row < 0 else groups.visualRect(groups.rows.index(row)).center()
    data = side(person).assistants.model().mimeData(side(person).assistants.selectedIndexes()) or QMimeData()

    class From:
        def source(self):
            return source

    class Enter(From, QDragEnterEvent):
        pass

    class Move(From, QDragMoveEvent):
        pass

    class Drop(From, QDropEvent):
        pass

    QApplication.sendEvent(view, Enter(place, MOVE, data, LEFT, NONE))
    move = Move(place, MOVE, data, LEFT, NONE)
    QApplication.sendEvent(view, move)
    if move.isAccepted():
        QApplication.sendEvent(view, Drop(QPointF(place), MOVE, data, LEFT, NONE))
    return move.isAccepted()


async def test_several_are_dragged_onto_a_group_and_taken_out_again(person, data_dir):
    heard = []
    side(person).assistants.chat_requested.connect(heard.append)
    pick(person, 0, 1, 2)
    assert side(person).assistants.selected_ids() == ("assistant", "browser", "checker")
    assert heard == [], "to select is not to begin a chat"
    assert not drag_onto(person, "nowhere", side(person).assistants)
    assert drag_onto(person, "crew", side(person).assistants)
    await until(lambda: members(data_dir, "crew") == ["checker", "assistant", "browser"])
    await until(lambda: person.sees("toast_action"))
    assert person.find("toast").text == "Added to “Crew & Co”: Assistant, Browser."
    await person.click("toast_action")
    await until(lambda: members(data_dir, "crew") == ["checker"])
    assert side(person).assistants.ids() == ("assistant", "browser", "checker"), "their order is the same"
    assert not drag_onto(person, "crew", side(person).sessions), "a session is no member"


async def test_the_menu_adds_one_or_all_selected_to_a_group_or_a_new_one(person, data_dir):
    assistants = side(person).assistants

    def choose(row_id: str, group: str) -> None:
        menu = assistants.menu_of(row_id)
        [offers] = [one for one in menu.findChildren(QMenu) if one.title() == "Add to group…"]
        assert [one.text() for one in offers.actions()] == ["Crew && Co", "Desk", "New group"]
        next(one for one in offers.actions() if one.text() == group).trigger()
        menu.deleteLater()

    choose("browser", "Desk")
    await until(lambda: members(data_dir, "desk") == ["browser"])
    await until(lambda: person.sees("toast_action"))
    await person.settle()
    pick(person, 0, 2)
    assert assistants.selected_ids() == ("assistant", "checker")
    choose("checker", "Desk")
    await until(lambda: members(data_dir, "desk") == ["browser", "assistant", "checker"])
    choose("browser", "Desk")
    await person.settle()
    assert members(data_dir, "desk") == ["browser", "assistant", "checker"], "nobody is there twice"
    choose("assistant", "New group")
    await until(lambda: person.sees("group_page"))
    [made] = set(side(person).groups.ids()) - {"crew", "desk"}
    await until(lambda: members(data_dir, made) == ["assistant", "checker"])


async def test_a_group_page_that_is_open_shows_who_came_in(person, data_dir):
    person.window.controller.group_commands.show_page("crew")
    await until(lambda: person.sees("group_page"))
    await person.write("group_instructions", "Be brief.")
    pick(person, 1)
    assert drag_onto(person, "crew", side(person).assistants)
    await until(lambda: members(data_dir, "crew") == ["checker", "browser"])
    page = person.find("group_page")
    await until(lambda: page.form.cards.ids() == ("checker", "browser"))
    assert page.form.instructions.text() == "Be brief."
