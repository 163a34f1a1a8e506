"""What a screen reader is told of a council: a list of columns in the order shown, and one announcement at the end."""

from functools import partial

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest

from app.gui.pages.council.council_page import CouncilPage
from tests import app_driver
from tests.app_driver import Person
from tests.gui.test_council_page import HOLDS, ask, ended, heard, person, read
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["person", "wire_home", "wire_servers"]

until = partial(app_driver.until, seconds=60.0)


def listed(page: CouncilPage) -> list[QAccessibleInterface]:
    """Return the items of the list of columns."""
    told = QAccessible.queryAccessibleInterface(page.columns.row.parentWidget())
    assert told.role() == QAccessible.Role.List and told.text(QAccessible.Text.Name) == "Answers"
    items = [told.child(place) for place in range(told.childCount())]
    assert [told.indexOfChild(one) for one in items] == [*range(len(items))]
    assert {one.role() for one in items} == {QAccessible.Role.ListItem}
    assert all(one.parent().object() is page.columns.row.parentWidget() for one in items)
    return items


def names(items: list[QAccessibleInterface]) -> list[str]:
    return [one.text(QAccessible.Text.Name).split(". ")[0] for one in items]


def within(item: QAccessibleInterface) -> list[QAccessibleInterface]:
    """Return all that a screen reader finds in an item."""
    children = [item.child(place) for place in range(item.childCount())]
    return [*children, *(deeper for one in children for deeper in within(one))]


@pytest.mark.slow
async def test_the_columns_are_a_list_in_the_order_of_the_participants(person: Person) -> None:
    page = await heard(person)
    items = listed(page)
    assert names(items) == ["GPT", "Claude", "Gemini"]
    said = items[0].text(QAccessible.Text.Name)
    assert HOLDS["openai"] in said and "78% sure" in said
    roles = {one.role() for one in within(items[1])}
    assert {QAccessible.Role.List, QAccessible.Role.Button} <= roles, (
        "its answers and what can be done with them"
    )
    # Where names are hidden, the order tells no more than what is seen.
    await ask(person, "council_hide_names")
    assert names(listed(page)) == ["Answer 1", "Answer 2", "Answer 3"]
    await ask(person, "council_hide_names")
    await ask(person, "council_merge")
    await until(lambda: page.session.status == "running")
    await ended(page)
    # The merged answer is read alone until all are wanted beside each other.
    assert names(listed(page)) == ["Merged answer"]
    QTest.keyClick(page.columns.all[""].transcript, Qt.Key.Key_Escape)
    assert len(listed(page)) == 4


@pytest.mark.slow
async def test_the_end_is_announced_once_with_state_headline_and_minority(
    person: Person, wire_home: dict[str, WireServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[QObject, str]] = []
    page = person.window.controller.council_page
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(
        QAccessible, "updateAccessibility", lambda event: told.append((event.object(), event.message()))
    )
    page = await heard(person)

    def said() -> list[str]:
        return [text for speaker, text in told if speaker is page]

    first = f"Leaning · 2 to 1. {HOLDS['openai']}. minority: 1"
    await until(lambda: said() == [first])
    page.refresh()
    await ask(person, "council_merge")
    await until(lambda: page.session.status == "running")
    await ended(page)
    await person.settle(0.3)
    assert said() == [first], "nothing has changed"
    await ask(person, "council_debate")
    await until(lambda: page.session.status == "running")
    await ended(page)
    await until(lambda: len(said()) == 2)
    assert said()[1].startswith("Choose between two answers"), "what leads is not told before a blind pick"
    await read(person)
    assert said()[2:] == [f"All agree. {HOLDS['openai']}"], "who gave a view up is no minority"
