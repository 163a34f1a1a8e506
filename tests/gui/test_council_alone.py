"""An answer of a council read alone: by its button, a double-click, Enter, and always where there is no room for all."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.gui.pages.council.council_columns import MERGED
from app.gui.pages.council.council_page import CouncilPage
from app.gui.widgets.controls import ShorteningButton
from tests.app_driver import Person, at_window, until
from tests.gui.seen import inside
from tests.gui.test_council_page import HOLDS, ask, ended, heard, person, script
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["person", "wire_home", "wire_servers"]
HELD = json.dumps({"answer": HOLDS["openai"], "confidence": 70})


def seen(page: CouncilPage) -> list[str]:
    """Return whose columns are on the screen, as they stand."""
    return [who for who, column in page.columns.all.items() if column.isVisible()]


def switch(page: CouncilPage) -> list[str]:
    """Return what the switch offers, the one that is shown with a star."""
    found = inside(page, "council_switch").findChildren(ShorteningButton)
    return [one.accessibleName() or one.text() for one in found if one.isVisible()]


async def test_one_answer_is_read_alone_and_all_come_back(person: Person) -> None:
    page = await heard(person)
    everybody = seen(page)
    assert everybody == ["p0", "p1", "p2"] and switch(page) == []
    wide = page.columns.all["p1"].width()
    await person.click("council_enlarge_2")
    await person.settle()
    assert seen(page) == ["p1"] and page.columns.all["p1"].width() > 2 * wide
    assert len(switch(page)) == 3 and person.find("council_switch_2").isChecked()
    assert page.columns.all["p1"].transcript.hasFocus()
    await person.click("council_switch_3")
    assert seen(page) == ["p2"]
    QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Left)
    assert seen(page) == ["p1"] and page.columns.all["p1"].transcript.hasFocus()
    QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Escape)
    assert seen(page) == everybody and switch(page) == []
    # Enter in an answer and a double-click on its head do the same.
    page.columns.all["p0"].transcript.setFocus()
    QTest.keyClick(page.columns.all["p0"].transcript, Qt.Key.Key_Right)
    assert page.columns.all["p1"].transcript.hasFocus() and seen(page) == everybody
    page.columns.all["p0"].transcript.setFocus()
    for expected in (["p0"], everybody):
        QTest.keyClick(page.columns.all["p0"].transcript, Qt.Key.Key_Return)
        assert seen(page) == expected
    QTest.mouseDClick(page.columns.all["p2"], Qt.MouseButton.LeftButton, pos=QPoint(200, 10))
    assert seen(page) == ["p2"]
    # What is found in another answer brings that one, and the focus stays in the find bar.
    page.open_find()
    await person.settle()
    page.find_bar.text_changed.emit("the")
    await until(lambda: page.finder.at != "" or True)
    page.columns.into_sight("p0")
    assert seen(page) == ["p0"] and page.find_bar.isAncestorOf(person.window.focusWidget())


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_where_there_is_no_room_for_all_one_is_alone(qapp, data_dir, wire_home, language) -> None:  # type: ignore[no-untyped-def]
    script(wire_home)
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        person.window.show_side(True)
        page = await heard(person)
        await person.settle(0.2)
        assert seen(page) == ["p0"] and len(switch(page)) == 3
        assert not person.sees("council_enlarge_1")
        assert page.columns.height() >= 0.45 * person.window.height()
        QTest.keyClick(page.columns.all["p0"].transcript, Qt.Key.Key_Right)
        assert seen(page) == ["p1"]
        page.columns._show_columns()
        person.window.resize(1440, 900)
        await until(lambda: page.columns.width() > 900, what="more room")
        assert seen(page) == ["p1"], "it was chosen to be read"
        QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Escape)
        assert seen(page) == ["p0", "p1", "p2"]


async def test_a_merged_answer_is_read_alone_and_gone_once_more_is_asked(person: Person) -> None:
    page = await heard(person)
    page.composer.setFocus()
    await ask(person, "council_merge")
    await until(lambda: seen(page) == [MERGED], 60.0, what="the merged answer")
    await ended(page)
    assert seen(page) == [MERGED] and page.columns.all[MERGED].width() == 860
    assert not page.columns.all[MERGED].transcript.hasFocus(), "who writes goes on writing"
    page.columns.all[MERGED].transcript.setFocus()
    QTest.keyClick(page.columns.all[MERGED].transcript, Qt.Key.Key_Escape)
    assert seen(page) == ["p0", "p1", "p2", MERGED]
    await person.write("composer", "And below 20 writers?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None and page.session.status == "running", what="the round")
    await until(lambda: seen(page) == ["p0", "p1", "p2"], what="the answers alone")
    await ended(page)


async def test_answers_begin_at_their_top_and_a_question_stands_above_its_answer(
    person: Person,
    wire_home,  # type: ignore[no-untyped-def]
) -> None:
    long = "\n\n".join(f"Point {number} of the answer." for number in range(90))
    for model in wire_home["openai"].models:
        wire_home["openai"].script(model, lambda _request: Answer(f"{long}\n@@ " + HELD))
    page = await heard(person)
    await person.settle(0.2)
    column = page.columns.all["p0"].transcript
    assert column.place == (column.message_ids[0], 0) and column.pill.isHidden()
    column.verticalScrollBar().setValue(900)
    await person.settle()
    assert column.pill.isHidden() and column.place != (column.message_ids[0], 0)
    await person.write("composer", "And below 20 writers?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: len(column.message_ids) == 3, 60.0, what="the second answer")
    await ended(page)
    await person.settle(0.2)
    asked = page.messages[[one.content for one in page.messages].index("And below 20 writers?")]
    assert column.place == (asked.id, 0)
    # Shown again, it begins there as well.
    page.show_session(page.session, page.messages)
    page.open_first_step()
    await person.settle(0.2)
    assert column.place == (asked.id, 0)
