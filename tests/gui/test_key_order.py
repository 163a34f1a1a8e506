"""A key that ends a syllable takes its effect after the syllable, also where the input method passes it on before."""

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.gui.desktop.key_order import KeyOrder
from tests.app_driver import until


@pytest.fixture
async def box(qapp):
    order = KeyOrder(qapp)
    box = QLineEdit()
    box.show()
    box.activateWindow()
    box.setFocus()
    await until(lambda: QApplication.focusWidget() is box)
    yield box
    qapp.focusChanged.disconnect(order._on_focus)
    box.removeEventFilter(order)
    box.deleteLater()
    order.deleteLater()


def compose(box: QLineEdit, syllable: str) -> None:
    QCoreApplication.sendEvent(box, QInputMethodEvent(syllable, []))


def commit(box: QLineEdit, syllable: str) -> None:
    event = QInputMethodEvent()
    event.setCommitString(syllable)
    QCoreApplication.sendEvent(box, event)


async def test_a_space_that_comes_before_its_syllable_stands_behind_it(box):
    compose(box, "글")
    QTest.keyClick(box, Qt.Key.Key_Space)
    QTest.keyClicks(box, "ab")
    assert box.text() == ""
    commit(box, "글")
    await until(lambda: box.text() == "글 ab", 5)
    # Nothing is composed any more, and nothing is held.
    QTest.keyClicks(box, "c")
    assert box.text() == "글 abc"


async def test_enter_is_pressed_once_the_last_syllable_is_there(box):
    sent = []
    box.returnPressed.connect(lambda: sent.append(box.text()))
    compose(box, "한")
    QTest.keyClick(box, Qt.Key.Key_Return)
    commit(box, "한")
    await until(lambda: sent == ["한"], 5)


async def test_a_key_that_ends_no_syllable_is_not_lost(box):
    compose(box, "한")
    QTest.keyClicks(box, "x")
    await until(lambda: "x" in box.text(), 5)


async def test_what_is_held_is_dropped_with_the_focus(box):
    other = QLineEdit(box)
    other.show()
    compose(box, "한")
    QTest.keyClicks(box, "x")
    other.setFocus()
    QTest.keyClicks(other, "y")
    assert (other.text(), box.text()) == ("y", "")
