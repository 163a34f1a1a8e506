"""The editor of groups in every size, language and theme: nothing cut, all reached by key, all named."""

import itertools

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea

from tests.app_driver import Person, at_window, until
from tests.gui.test_keyboard import walk
from tests.gui.test_main_window import cut_off
from tests.repeats import slow_after


@pytest.fixture(params=["ko", pytest.param("en", marks=pytest.mark.slow)])
async def person(qapp, data_dir, request):
    async with at_window(data_dir, language=request.param, size=(900, 600)) as person:
        person.unfold_team()
        person.window.activateWindow()
        commands = person.window.controller.group_commands
        stem = "trip-plan" if request.param == "ko" else "release-crew"
        await commands.keep(person.window.controller.engine.groups.ready_made()[stem])
        await until(lambda: person.sees("group_page"))
        await person.settle()
        yield person


def page(person: Person):
    return person.find("group_page")


def leaves(person: Person) -> list[str]:
    """Return the forms that are wider than what they scroll in shows of them."""
    areas = [area for area in page(person).findChildren(QScrollArea) if area.isVisible()]
    return [
        f"{area.widget().width()} > {area.viewport().width()}"
        for area in areas
        if area.widget().width() > area.viewport().width()
    ]


async def test_nothing_is_cut_off_in_any_size(person):
    assert cut_off(person) == []
    assert leaves(person) == []
    assert page(person).editor.isVisible(), "members and editor stand side by side in the smallest window"
    assert person.sees("group_chat")
    person.window.resize(1440, 900)
    await person.settle()
    assert cut_off(person) == []
    assert person.window.height() <= 900, "the editor scrolls and does not stretch the window"
    person.window.resize(900, 600)
    # The rows of the form are laid out in several turns of the event loop.
    await until(lambda: leaves(person) == [])
    assert (person.window.width(), cut_off(person), leaves(person)) == (900, [], [])


@pytest.mark.slow
async def test_beside_the_debate_panel_the_members_have_the_room_and_lead_to_the_editor(person):
    person.window.top_bar.debate_button.click()
    await person.settle()
    assert cut_off(person) == []
    assert leaves(person) == []
    chat, title = person.find("group_chat"), person.find("session_title")
    assert (person.window.width(), person.window.height()) == (900, 600)
    assert chat.text() and chat.width() >= chat.sizeHint().width()
    assert person.window.top_bar.rect().contains(
        chat.rect().translated(chat.mapTo(person.window.top_bar, QPoint()))
    )
    # The title is laid out last; a busy machine may not be there yet.
    await until(lambda: title.width() >= min(title.sizeHint().width(), 70))
    assert not page(person).editor.isVisible()
    assert page(person).form.cards.isVisible()
    page(person).form.cards.setFocus()
    QTest.keyClick(page(person).form.cards, Qt.Key.Key_F2)
    await until(lambda: person.sees("assistants_page"))
    assert person.find("assistants_page").editor.definition_id == page(person).form.members[0]


@pytest.mark.slow
async def test_tab_goes_from_top_to_bottom_and_every_stop_is_named(person):
    person.window.resize(1440, 1200)
    await person.settle()
    form, editor = page(person).form, page(person).editor
    stops = await walk(person, form.name)
    inside = [stop for stop in stops if form.isAncestorOf(stop)]
    assert [stop.objectName() for stop in inside] == [
        "group_name", "member_cards", "group_add_member", "group_model", "effort_menu", "creativity_menu",
        "length_menu", "group_turns", "group_ask", "group_instructions",
    ]  # fmt: skip
    assert editor.form.name in stops
    for stop in stops:
        if page(person).isAncestorOf(stop):
            assert stop.accessibleName() or getattr(stop, "text", str)(), stop.objectName()
    names = [stop.objectName() for stop in stops]
    assert {"group_share", "group_chat", "group_list"} <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("theme", slow_after(1, [("light",), ("dark",)]))
async def test_the_focus_can_be_seen(person, theme):
    person.window.look.choose(theme)
    form = page(person).form
    stops = [stop for stop in await walk(person, form.name) if form.isAncestorOf(stop)]
    person.use_keyboard()
    for stop, other in itertools.pairwise(stops):
        other.setFocus()
        await person.settle(0)
        plain = stop.grab().toImage()
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        await person.settle(0)
        assert stop.grab().toImage() != plain, stop.objectName()


@pytest.mark.slow
async def test_switching_the_language_keeps_the_page_and_what_is_written(person):
    words = person.window.language
    await person.write("group_instructions", "Half a")
    words.choose("en" if words.name == "ko" else "ko")
    await person.settle(0.4)
    assert person.sees("group_page")
    assert person.window.top_bar.mode.text() == words("kind.group")
    assert person.find("session_title").text() == page(person).form.name.text()
    assert person.find("group_instructions").toPlainText() == "Half a"
    assert person.find("group_model").currentText() == words("assistant.model.default")
    said = person.window.side_bar.groups.item(0).said
    assert said.endswith(words("group.members_count", count=4))
    assert cut_off(person) == []


@pytest.mark.slow
async def test_the_ready_made_groups_are_chosen_with_the_keyboard(person):
    actions = person.find("group_add").menu().actions()
    words = person.window.language
    assert [action.text() for action in actions] == [
        words("group.new"), words("group.ready"), words("side.import_group")
    ]  # fmt: skip
    actions[1].trigger()
    await until(lambda: person.sees("ready_groups_dialog"))
    rows = person.find("ready_groups")
    said = [rows.model().index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(5)]
    assert all(", " in text for text in said)
    QTest.keyClick(rows, Qt.Key.Key_Down)
    QTest.keyClick(rows, Qt.Key.Key_Return)
    await until(lambda: len(person.window.side_bar.groups.ids()) == 2)
    await until(lambda: not person.sees("ready_groups_dialog"))


@pytest.mark.slow
async def test_the_group_that_is_shown_is_marked_and_only_while_it_is(person):
    view = person.window.side_bar.groups
    view.clearFocus()
    shown = view.grab().toImage()
    person.window.controller.show_new()
    await person.settle()
    assert view.grab().toImage() != shown


@pytest.mark.slow
async def test_the_page_comes_to_rest_at_every_height(person):
    # Where a bar comes and goes the text is wrapped anew each time, and the window never answers again.
    boxes = [person.find("group_instructions"), page(person).editor.form.instructions]
    boxes[0].setPlainText(boxes[0].toPlainText() * 2)
    for height in range(600, 1100, 12):
        person.window.resize(1180, height)
        await person.settle(0)
        await person.settle(0)
        heights = [box.height() for box in boxes]
        await person.settle(0)
        assert [box.height() for box in boxes] == heights, height
