"""Every page by keyboard: what a mouse can act on is reached with Tab, in reading order, seen, and named."""

import asyncio
import re

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)
from shiboken6 import isValid

from app.gui.pages.chat.message_box import NameList
from app.gui.transcript.selection import ActionBar
from app.gui.transcript.transcript_view import JumpPill, TranscriptView
from app.gui.widgets.choices import ChipButton
from app.gui.widgets.editable_lists import PlanRow, QueuedMessageRow
from tests.app_driver import at_window
from tests.gui.every_page import every_page, keep_all, parts_of
from tests.repeats import slow_after

MOST_STOPS = 200
ALIKE = 12
"""Pixels by which two that stand beside each other may differ in height."""
ACTED_ON = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    TranscriptView,
)
# What is in these has keys of its own: End; the menu key on a message; Alt and arrows, F2, Del on a row.
WITH_KEYS = (JumpPill, ActionBar, PlanRow, QueuedMessageRow, NameList)
KEY = re.compile(r"[a-z_]+(\.[a-z_0-9]+)+")


def inside(part: QWidget, kinds: tuple[type, ...]) -> bool:
    above: QWidget | None = part
    while above is not None:
        if isinstance(above, kinds):
            return True
        above = above.parentWidget()
    return False


def to_be_reached(root: QWidget) -> list[QWidget]:
    """Return what a mouse can act on in a window or dialog."""
    found = []
    for part in parts_of(root):
        if not isinstance(part, ACTED_ON) or not part.isEnabled() or isinstance(part, QScrollBar):
            continue
        parent = part.parentWidget()
        # The line within a choice or a number, and the cross within a line.
        if isinstance(parent, QComboBox | QAbstractSpinBox | QLineEdit) or inside(part, WITH_KEYS):
            continue
        if part.objectName() == "palette_list":
            # The box over it has the keys.
            continue
        if isinstance(part, ChipButton) and part.focusPolicy() == Qt.FocusPolicy.NoFocus:
            # It says what cannot be changed.
            continue
        if isinstance(part, QAbstractItemView) and (part.model() is None or not part.model().rowCount()):
            continue
        found.append(part)
    return found


async def walk(root: QWidget) -> tuple[list[QWidget], list[str]]:
    """Press Tab until the focus is where it was; return where it stopped, and the steps against reading order."""
    root.activateWindow()
    first = root.focusWidget() or to_be_reached(root)[0]
    first.setFocus()
    await tab(root)
    start = root.focusWidget()
    stops, back, stuck = [start], [], 0
    for _ in range(MOST_STOPS):
        before = root.focusWidget()
        await tab(root)
        focus = root.focusWidget()
        if focus is before:
            # An approval that has just come takes no keys.
            if not isinstance(focus, TranscriptView):
                await asyncio.sleep(0.3)
                stuck += 1
            if stuck > 3:
                return stops, back
            # Another link or action within it.
            continue
        # On a busy machine what the page before had may go only now.
        if isValid(before) and goes_back(root, before, focus):
            back.append(f"{said(before)} -> {said(focus)}")
        if focus is start:
            # Where the focus was at first may be a list that goes away when it is left.
            return [*stops, first], back
        stops.append(focus)
    raise AssertionError(f"the focus never comes back: {[said(stop) for stop in stops[-9:]]}")


async def tab(root: QWidget) -> None:
    QTest.keyClick(root.focusWidget(), Qt.Key.Key_Tab)
    await asyncio.sleep(0)


def said(part: QWidget) -> str:
    return f"{type(part).__name__} {part.objectName()} {name_of(part)!r}"


def name_of(part: QWidget) -> str:
    told = QAccessible.queryAccessibleInterface(part)
    return told.text(QAccessible.Text.Name) if told is not None else ""


def box(part: QWidget, root: QWidget) -> QRect:
    return QRect(part.mapTo(root, QPoint(0, 0)), part.size())


def goes_back(root: QWidget, one: QWidget, other: QWidget) -> bool:
    """Whether the eye has to go back: up without going to the right, or left in a line."""
    if one.isAncestorOf(other) or not (root.isAncestorOf(one) and root.isAncestorOf(other)):
        return False
    before, after = box(one, root), box(other, root)
    if abs(before.center().y() - after.center().y()) <= ALIKE:
        return after.left() < before.left()
    return after.center().y() < before.center().y() and after.left() < before.right() - ALIKE


def picture(stop: QWidget) -> QImage:
    framed = stop.parentWidget() if isinstance(stop, QPlainTextEdit) else stop
    return framed.grab().toImage()


async def unseen(root: QWidget, stops: list[QWidget], known: set[str]) -> list[str]:
    """Return the stops that look the same with the focus; one of a kind is looked at once."""
    found = []
    for place, stop in enumerate(stops):
        kind = f"{type(stop).__name__} {stop.property('kind')} {stop.property('tone')}"
        if kind in known or len(stops) < 2:
            continue
        known.add(kind)
        stops[place - 1].setFocus()
        await asyncio.sleep(0)
        plain = picture(stop)
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        await asyncio.sleep(0)
        if picture(stop) == plain:
            found.append(said(stop))
    return found


def reached(part: QWidget, stops: list[QWidget]) -> bool:
    """Whether Tab stops at a part, or at another of those of which one is chosen with the arrows."""
    if part in stops:
        return True
    group = part.group() if isinstance(part, QAbstractButton) else None
    if group is not None and group.exclusive():
        return any(one in stops for one in group.buttons())
    alike = isinstance(part, QAbstractButton) and part.autoExclusive()
    return alike and any(one.parentWidget() is part.parentWidget() for one in stops)


@pytest.mark.slow
@pytest.mark.parametrize("language", slow_after(1, [("en",), ("ko",)]))
async def test_every_page_by_keyboard(qapp, data_dir, language):
    await keep_all(data_dir)
    wrong: dict[str, list[str]] = {}
    known: set[str] = set()
    async with at_window(data_dir, language=language, size=(1100, 760)) as person:
        person.window.activateWindow()
        person.use_keyboard()
        async for name, root in every_page(person):
            if name == "approval":
                # It takes no keys while it comes; tests/gui/test_chat_questions.py goes through its buttons.
                continue
            parts = to_be_reached(root)
            stops, back = await walk(root)
            # What is made anew while somebody works may have gone meanwhile.
            parts, stops = ([one for one in these if isValid(one)] for these in (parts, stops))
            found = [f"not reached: {said(part)}" for part in parts if not reached(part, stops)]
            found += [f"no name: {said(part)}" for part in {*parts, *stops} if not name_of(part).strip()]
            found += [f"a key: {said(part)}" for part in {*parts, *stops} if KEY.fullmatch(name_of(part))]
            # One of them is that from the end to the beginning.
            most = 2 if name == "toast" else 1  # a toast comes last, wherever it stands
            found += [f"back: {step}" for step in back] if len(back) > most else []
            found += [f"focus unseen: {one}" for one in await unseen(root, stops, known)]
            if found:
                wrong[name] = found
    assert wrong == {}
