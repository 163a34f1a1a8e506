"""Letters that are typed while nothing takes letters go to the input of the page, those of input methods too."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.gui.widgets.choices import DECIDE
from tests.app_driver import Person, at_window, until
from tests.gui.every_page import CHAT, keep_all
from tests.gui.test_working_agents import person

__all__ = ["person"]

COMPOSES = Qt.WidgetAttribute.WA_InputMethodEnabled
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


def compose(preedit: str, commit: str = "") -> None:
    """Let the input method say something to whatever has the focus, as a platform does."""
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(QGuiApplication.focusObject(), event)


async def test_a_letter_typed_at_a_button_goes_to_the_input(person: Person) -> None:
    box = person.find("composer")
    for name in ("work_button", "debate_button", "segment_decide", "first_example"):
        box.clear()
        button = person.find(name)
        button.setFocus()
        QTest.keyClicks(button, "Tea")
        assert box.hasFocus() and box.toPlainText() == "T", name
        QTest.keyClicks(QApplication.focusWidget(), "ea")
        assert box.toPlainText() == "Tea", name


async def test_typed_where_nothing_has_the_focus(person: Person) -> None:
    box = person.find("composer")
    box.clearFocus()
    QTest.keyClick(person.window.windowHandle(), "A")
    assert box.hasFocus() and box.toPlainText() == "A"


async def test_what_means_something_else_stays_where_it_is(person: Person) -> None:
    box, button = person.find("composer"), person.find("debate_button")
    button.setFocus()
    for key, modifier in (
        (Qt.Key.Key_B, Qt.KeyboardModifier.AltModifier),
        (Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_X, Qt.KeyboardModifier.MetaModifier),
        (Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
    ):
        QTest.keyClick(button, key, modifier)
        assert button.hasFocus() and box.toPlainText() == ""
    assert not button.isChecked()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert button.isChecked() and button.hasFocus() and box.toPlainText() == ""
    # What takes letters itself keeps them, and so does a list that they search.
    search = person.find("search_everything")
    search.setFocus()
    QTest.keyClick(search, Qt.Key.Key_Q)
    await until(lambda: person.sees("palette"))
    assert box.toPlainText() == ""


async def test_nothing_is_typed_under_a_menu_or_a_dialog(person: Person) -> None:
    box, button = person.find("composer"), person.find("work_button")
    button.setFocus()
    menu = QMenu(person.window)
    menu.addAction("First")
    menu.popup(person.window.mapToGlobal(person.window.rect().center()))
    await until(menu.isVisible)
    QTest.keyClick(button, Qt.Key.Key_A)
    menu.close()
    person.window.controller.settings.open("appearance")
    await until(lambda: person.sees("settings_page"))
    QTest.keyClick(button, Qt.Key.Key_B)
    assert box.toPlainText() == ""


async def test_a_syllable_that_begins_at_a_button_goes_on_in_the_input(person: Person) -> None:
    box, button = person.find("composer"), person.find("work_button")
    assert not button.testAttribute(COMPOSES)
    button.setFocus()
    assert button.testAttribute(COMPOSES), "an input method composes here"
    commits: list[str] = []
    button.inputMethodEvent = lambda event: commits.append(event.commitString())
    compose("ㄱ")
    assert box.hasFocus() and box.composing and box.toPlainText() == ""
    assert box.textCursor().block().layout().preeditAreaText() == "ㄱ"
    assert not button.testAttribute(COMPOSES)
    compose("가")
    compose("나", commit="가")
    compose("", commit="나")
    assert box.toPlainText() == "가나" and commits == []
    # A text box of its own keeps what is composed in it.
    box.setFocus()
    compose("다")
    assert box.textCursor().block().layout().preeditAreaText() == "다"


async def test_an_end_of_the_focus_ends_no_composition_elsewhere(person: Person) -> None:
    """Only the step to the input is kept from the input method, not a later one."""
    seen: list[QEvent.Type] = []
    button, other = person.find("work_button"), person.find("decisions_button")
    event_of = type(button).event
    button.event = lambda event: (seen.append(event.type()), event_of(button, event))[1]
    button.setFocus()
    other.setFocus()
    assert QEvent.Type.FocusAboutToChange in seen
    seen.clear()
    button.setFocus()
    compose("ㅎ")
    assert person.find("composer").hasFocus() and QEvent.Type.FocusAboutToChange not in seen


async def test_the_page_in_front_gets_them_and_a_page_without_an_input_nothing(qapp, data_dir) -> None:
    await keep_all(data_dir)
    async with at_window(data_dir) as person:
        desk, button = person.window.controller, person.find("work_button")
        person.window.activateWindow()
        desk.show_session(CHAT)
        await until(lambda: desk.chat_page.session_id == CHAT)
        desk.chat_page.transcript.setFocus()
        QTest.keyClick(desk.chat_page.transcript, Qt.Key.Key_H)
        assert desk.chat_page.composer.box.toPlainText() == "h"
        desk.assistants.show_page("zyx-architect")
        await until(lambda: not desk.chat_page.isVisible())
        button.setFocus()
        QTest.keyClick(button, Qt.Key.Key_I)
        assert button.hasFocus() and desk.chat_page.composer.box.toPlainText() == "h"
        desk.first_page.show(DECIDE)
        button.setFocus()
        QTest.keyClick(button, Qt.Key.Key_J)
        assert person.find("composer").toPlainText() == "j"
