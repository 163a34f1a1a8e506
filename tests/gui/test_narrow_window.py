"""In a window of less than 1,000 pixels the sidebar is folded away until a button or a key opens it."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.gui.window_frame import NARROW, SIDE_WIDTH
from tests.app_driver import Person, at_window

CTRL = Qt.KeyboardModifier.ControlModifier


def press_b(person: Person) -> None:
    person.window.activateWindow()
    QTest.keyClick(person.window, Qt.Key.Key_B, CTRL)


async def test_the_side_bar_is_folded_below_a_thousand_pixels_alone(qapp, data_dir):
    async with at_window(data_dir, size=(NARROW, 700)) as person:
        window = person.window
        assert window.side_bar.isVisible() and not person.sees("side_button")
        window.resize(NARROW - 1, 700)
        await person.settle()
        assert not window.side_bar.isVisible()
        button = person.find("side_button")
        assert button.isVisible() and button.mapTo(window, QPoint()).x() < 30, "at the top left"
        assert window.splitter.widget(1).width() == NARROW - 1, "the page has all of the width"
        window.resize(NARROW, 700)
        await person.settle()
        assert window.side_bar.isVisible() and window.side_bar.width() == SIDE_WIDTH


async def test_a_button_and_a_key_open_it_beside_the_page_and_close_it(qapp, data_dir):
    async with at_window(data_dir, size=(900, 600)) as person:
        window = person.window
        await person.click("side_button")
        assert window.side_bar.isVisible() and not person.sees("side_button")
        await person.settle()
        assert window.side_bar.width() == SIDE_WIDTH
        await person.click("side_toggle")
        assert not window.side_bar.isVisible()
        press_b(person)
        assert window.side_bar.isVisible()
        press_b(person)
        assert not window.side_bar.isVisible()


async def test_a_narrow_window_and_a_wide_one_are_remembered_each_for_itself(qapp, data_dir):
    async with at_window(data_dir, size=(900, 600)) as person:
        press_b(person)
        person.window.resize(1440, 900)
        await person.settle()
        press_b(person)
        assert not person.window.side_bar.isVisible()
        person.window.resize(900, 600)
        await person.settle()
        assert person.window.side_bar.isVisible()
    async with at_window(data_dir, size=(900, 600)) as person:
        await person.settle()
        assert person.window.side_bar.isVisible()
        person.window.resize(1440, 900)
        await person.settle()
        assert not person.window.side_bar.isVisible()


async def test_a_window_that_is_even_narrower_scrolls_only_what_is_open(qapp, data_dir):
    async with at_window(data_dir, size=(700, 600)) as person:
        bar = person.window.centralWidget().horizontalScrollBar()
        await person.settle()
        assert bar.maximum() == 0
        press_b(person)
        await person.settle()
        assert bar.maximum() >= 200
