"""The list of the window: its rows, its keys, what stays when the rows change, and ten thousand rows."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.gui.display.appearance import Look
from app.gui.widgets.item_list import TICKS, TWO_LINES, ItemList, ItemModel, ListStyle, RowItem

RESOURCES = Path(__file__).parents[2] / "resources"
ALT, LEFT = Qt.KeyboardModifier.AltModifier, Qt.MouseButton.LeftButton
KEYS = Qt.Key
NAMES = ("one", "two", "three", "four")


def listed(qtbot, look: Look, style: ListStyle = TWO_LINES, **fields) -> ItemList:
    shown = ItemList(look, "a_list", style, **fields)
    qtbot.addWidget(shown)
    shown.resize(300, 200)
    shown.show()
    return shown


def items(*names: str) -> list[RowItem]:
    return [RowItem(id=name, title=name.title()) for name in names]


def heard(signal) -> list[object]:
    values: list[object] = []
    signal.connect(values.append)
    return values


def test_rows_are_moved_with_the_keyboard_and_the_current_one_goes_along(qtbot, look):
    shown = listed(qtbot, look, ordered=True)
    shown.show_rows(items(*NAMES))
    orders = heard(shown.order_chosen)
    shown.choose("one")
    QTest.keyClick(shown, KEYS.Key_Down, ALT)
    QTest.keyClick(shown, KEYS.Key_Down, ALT)
    QTest.keyClick(shown, KEYS.Key_Up, ALT)
    assert orders == [
        ("two", "one", "three", "four"),
        ("two", "three", "one", "four"),
        ("two", "one", "three", "four"),
    ]
    assert (shown.current_id(), shown.currentIndex().row()) == ("one", 1)
    shown.choose("two")
    QTest.keyClick(shown, KEYS.Key_Up, ALT)
    assert len(orders) == 3, "the first row stays where it is"


def test_rows_of_a_list_without_an_order_are_not_moved(qtbot, look):
    shown = listed(qtbot, look)
    shown.show_rows(items(*NAMES))
    shown.choose("one")
    QTest.keyClick(shown, KEYS.Key_Down, ALT)
    assert shown.ids() == NAMES


def test_what_is_asked_of_a_row_carries_its_id(qtbot, look):
    shown = listed(qtbot, look)
    shown.show_rows(items(*NAMES))
    shown.fixed = frozenset({"two"})
    edits, deletes = heard(shown.edit_requested), heard(shown.delete_requested)
    for name in ("one", "two"):
        shown.choose(name)
        QTest.keyClick(shown, KEYS.Key_F2)
        QTest.keyClick(shown, KEYS.Key_Delete)
    assert (edits, deletes) == (["one", "two"], ["one"])


@pytest.mark.parametrize(("system", "deleted"), [("linux", []), ("win32", []), ("darwin", ["one"])])
def test_backspace_deletes_on_a_mac_whose_keyboards_have_no_delete(qtbot, look, monkeypatch, system, deleted):
    shown = listed(qtbot, look)
    shown.show_rows(items(*NAMES))
    shown.choose("one")
    deletes = heard(shown.delete_requested)
    monkeypatch.setattr(sys, "platform", system)
    QTest.keyClick(shown, KEYS.Key_Backspace)
    assert deletes == deleted
    QTest.keyClick(shown, KEYS.Key_Delete)
    assert deletes == [*deleted, "one"]
    menu = QMenu()
    shown.add_delete(menu, "Delete", "one")
    assert [one.text() for one in menu.actions()] == [f"Delete\t{'Backspace' if deleted else 'Del'}"]


def test_the_row_and_the_place_stay_when_the_rows_change(qtbot, look):
    shown = listed(qtbot, look)
    shown.show_rows([RowItem(id=str(row), title=f"Row {row}") for row in range(100)])
    shown.choose("50")
    place = shown.verticalScrollBar().value()
    shown.verticalScrollBar().setValue(place + 30)
    shown.show_rows([RowItem(id=str(row), title=f"Row {row}", note="new") for row in range(120)])
    assert shown.current_id() == "50" and shown.item(50).note == "new"
    assert shown.verticalScrollBar().value() == place + 30
    shown.show_rows(items(*NAMES))
    assert shown.current_id() == "" and shown.currentItem() is None


def test_headings_are_read_but_never_chosen(qtbot, look):
    shown = listed(qtbot, look, TICKS)
    shown.show_rows(["First", *items("one", "two"), "Second", *items("three")])
    shown.choose("two")
    QTest.keyClick(shown, KEYS.Key_Down)
    assert shown.current_id() == "three"
    said = [shown.rows.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(shown.count())]
    assert said == ["First", "One", "Two", "Second", "Three"]
    assert shown.rows_height() == 2 * TICKS.heading + 3 * TICKS.height
    assert shown.visualItemRect(shown.item(1)).top() == TICKS.heading


def test_a_tick_is_given_by_its_box_or_the_space_bar_not_by_a_click_on_the_name(qtbot, look):
    shown = listed(qtbot, look, TICKS)
    shown.show_rows([RowItem(id="one", title="One", ticked=False), RowItem(id="plain", title="Plain")])
    ticks = heard(shown.ticked)
    row, plain = (shown.visualItemRect(shown.item(row)) for row in (0, 1))
    QTest.mouseClick(shown.viewport(), LEFT, pos=QPoint(60, row.center().y()))
    QTest.mouseClick(shown.viewport(), LEFT, pos=QPoint(18, plain.center().y()))
    assert ticks == []
    QTest.mouseClick(shown.viewport(), LEFT, pos=QPoint(18, row.center().y()))
    QTest.keyClick(shown, KEYS.Key_Space)
    assert ticks == ["one", "one"]


class Lazy(ItemModel):
    """Counts the items that are made."""

    made = 0

    def item_of(self, row: int) -> RowItem:
        self.made += 1
        return RowItem(id=str(row), title=f"Row {row}")


def test_of_ten_thousand_rows_only_those_in_sight_are_made(qtbot, look):
    rows = Lazy()
    shown = listed(qtbot, look, rows=rows)
    shown.show_rows(range(10_000))
    shown.scrollToBottom()
    shown.grab()
    assert shown.verticalScrollBar().maximum() > 9_000 * TWO_LINES.height
    assert 0 < rows.made < 50


def painted(shown: ItemList, row: int) -> set[str]:
    """Return the colours of a row."""
    picture = shown.viewport().grab(shown.visualItemRect(shown.item(row))).toImage()
    return {
        picture.pixelColor(x, y).name().upper()
        for x in range(picture.width())
        for y in range(picture.height())
    }


def test_a_row_is_painted_with_what_it_has(qtbot, look):
    tokens = look.tokens
    shown = listed(qtbot, look)
    rows = [
        RowItem(id="a", title="A"),
        RowItem(id="b", title="B", second="c", dot="ok"),
        RowItem(id="c", title=""),
    ]
    shown.show_rows(rows)
    assert tokens.ok.upper() in painted(shown, 1) and tokens.ok.upper() not in painted(shown, 0)
    assert len(painted(shown, 2)) == 1 < len(painted(shown, 0))
    shown.choose("a")
    assert tokens.accent_bg.upper() in painted(shown, 0)
    # Markup is a text like any other.
    shown.show_rows([RowItem(id="a", title="<b>A</b>", tip="<b>A</b>")])
    assert shown.rows.index(0).data(Qt.ItemDataRole.ToolTipRole).count("&lt;") == 2


@pytest.mark.parametrize("style", [TICKS, TWO_LINES])
def test_rows_grow_with_the_texts_at_once(qtbot, look, style):
    shown = listed(qtbot, look, style)
    shown.show_rows(["First", *items("one", "two")] if style.heading else items("none", "one", "two"))
    QApplication.processEvents()
    try:
        for percent in (100, 150, 100):
            look.choose_size(percent)
            QApplication.processEvents()
            top, height = (
                round(one * percent / 100) for one in (style.heading or style.height, style.height)
            )
            place = shown.visualItemRect(shown.item(2))
            assert (place.top(), place.height()) == (top + height, height)
            assert shown.rows_height() == top + 2 * height
    finally:
        look.choose_size(100)
