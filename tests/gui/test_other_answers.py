"""An answer made again with another model or effort, by clicks: in the bar over it, its menu and the dialog."""

from functools import partial

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from tests import app_driver
from tests.app_driver import Person, at_window
from tests.wire import Fault
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

# The platform of the tests has no real pop-ups.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir, size=(900, 600)) as person:
        yield person


async def said(person: Person, text: str, answer: str) -> None:
    await person.write("composer", text)
    await person.press("composer", Qt.Key.Key_Return)
    await answered(person, answer)


async def answered(person: Person, answer: str) -> None:
    page = person.window.controller.chat_page
    await until(
        lambda: page.session and page.session.status == "idle" and answer in page_text(person), what=answer
    )


def page_text(person: Person) -> str:
    return "\n".join(person.transcript("transcript"))


async def open_menu(person: Person) -> QMenu:
    """Point at the last answer and click the arrow beside Retry."""
    transcript = person.window.controller.chat_page.transcript
    rect = transcript.message_rect(transcript.message_ids[-1])
    for place in (QPoint(3, 3), rect.topLeft() + QPoint(90, 20)):
        QTest.mouseMove(transcript.viewport(), place)
    await person.click("message_retry_with")
    menu = person.find("retry_menu", QMenu)
    await until(menu.isVisible)
    return menu


async def test_an_answer_again_with_more_effort_and_with_another_model(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.script("openai-wire", ["One.", "Two.", "Four."])
    server.script("openai-other", ["Three."])
    await person.click("new_button")
    await said(person, "Count.", "One.")
    assert "effort" not in page_text(person)
    menu = await open_menu(person)
    shown = [one.text() for one in menu.actions() if one.text()]
    assert shown == ["Retry", "Retry with another model…", "Low effort", "Medium effort", "High effort"]
    menu.actions()[-1].trigger()
    menu.close()
    await answered(person, "Two.")
    assert "(openai-wire, High effort): Two." in page_text(person)
    menu = await open_menu(person)
    menu.actions()[1].trigger()
    menu.close()
    box = person.find("retry_model")
    await until(box.isVisible)
    box.lineEdit().selectAll()
    QTest.keyClicks(box.lineEdit(), "i-other")
    popup = box.completer().popup()
    await until(popup.isVisible)
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    await person.choose("retry_effort", "Low")
    await person.click("retry_go")
    await answered(person, "Three.")
    assert "(openai-other, Low effort): Three." in page_text(person)
    await said(person, "Go on.", "Four.")
    asked = [(one.model, one.body.get("reasoning_effort")) for one in server.requests]
    assert asked == [
        ("openai-wire", None),
        ("openai-wire", "high"),
        ("openai-other", "low"),
        ("openai-wire", None),
    ]


async def test_a_failed_answer_names_the_models_that_can_answer_instead(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", [Fault("e401")])
    other = wire_servers["anthropic"]
    other.script(other.model, ["From the other."])
    await person.click("new_button")
    await person.write("composer", "Count.")
    await person.press("composer", Qt.Key.Key_Return)
    page = person.window.controller.chat_page
    await until(lambda: page.session and page.session.status == "idle" and "API key" in page_text(person))
    assert not other.requests
    menu = await open_menu(person)
    shown = [one.text() for one in menu.actions() if one.text()]
    assert shown[:5] == [
        "Retry",
        "Use anthropic-wire instead",
        "Use gemini-wire instead",
        "Use ollama-wire instead",
        "Retry with another model…",
    ]
    menu.actions()[1].trigger()
    menu.close()
    await answered(person, "From the other.")
    assert [one.model for one in other.requests] == ["anthropic-wire"]
    menu = await open_menu(person)
    assert not [one.text() for one in menu.actions() if "instead" in one.text()], "nothing failed here"
    menu.close()
