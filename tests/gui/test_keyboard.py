"""The window without a mouse: where Tab stops, what Enter, Space and Escape do, and what a screen reader hears."""

import asyncio
import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.gui.widgets.choices import DECIDE
from tests.app_driver import Person, at_window, until
from tests.repeats import slow_after


@pytest.fixture(params=["en", pytest.param("ko", marks=pytest.mark.slow)])
async def person(qapp, data_dir, request):
    async with at_window(data_dir, language=request.param) as person:
        person.window.activateWindow()
        yield person


async def walk(person: Person, start: QWidget, key: Qt.Key = Qt.Key.Key_Tab) -> list[QWidget]:
    """Press a key from one widget until the focus is there again; return where it stopped."""
    start.setFocus()
    stops: list[QWidget] = []
    while len(stops) < 80:
        focus = person.window.focusWidget()
        if stops and focus is start:
            return stops
        stops.append(focus)
        QTest.keyClick(focus, key)
        await asyncio.sleep(0)
    raise AssertionError("the focus never comes back")


def middle(person: Person, stop: QWidget) -> int:
    return stop.mapTo(person.window, stop.rect().center()).y()


@pytest.mark.slow
async def test_tab_goes_through_setup_from_top_to_bottom(person):
    # So high that nothing is scrolled out of sight: the foot stays where it is.
    person.window.resize(1440, 1200)
    person.window.controller.debates.show_setup("Tabs or spaces?")
    await person.click("segment_roles")
    setup = person.window.controller.panel.setup
    stops = await walk(person, setup.topic)
    inside = [stop for stop in stops if setup.isAncestorOf(stop)]
    names = [stop.objectName() for stop in inside]
    assert names[0] == "debate_topic"
    assert names[-1] == "debate_start"
    order = [
        names.index(name) for name in ("segment_roles", "model_ada", "role_ada", "model_ben", "debate_rounds")
    ]
    assert order == sorted(order)
    steps = [middle(person, after) - middle(person, before) for before, after in itertools.pairwise(inside)]
    assert min(steps) >= -8
    assert stops == [stops[0], *reversed((await walk(person, setup.topic, Qt.Key.Key_Backtab))[1:])]


@pytest.mark.slow
async def test_every_stop_has_words_of_its_own(person):
    person.window.controller.debates.show_setup("Tabs or spaces?")
    await person.click("segment_roles")
    stops = await walk(person, person.window.controller.panel.setup.topic)
    words = [stop.accessibleName() or (stop.text() if hasattr(stop, "text") else "") for stop in stops]
    assert all(words)
    seats = [
        text
        for text, stop in zip(words, stops, strict=True)
        if stop.objectName().startswith(("model_", "role_"))
    ]
    assert len(set(seats)) == len(seats)


async def test_every_button_of_the_first_page_is_reached_in_the_order_in_which_they_stand(person):
    person.window.controller.first_page.show(DECIDE)
    names = [stop.objectName() for stop in await walk(person, person.window.chat_page.chat_composer.box)]
    chips = [f"model_chip_{number}" for number in (1, 2)]
    order = [
        "composer",
        *chips,
        "composer_model",
        "attach_button",
        "decide_how",
        "first_example",
        "first_group",
    ]
    assert [name for name in names if name in order] == order
    assert any(name.startswith("segment_") for name in names), "the switch is one stop"
    for name in ("search_everything", "work_button", "decisions_button", "team_title"):
        assert name in names


@pytest.mark.parametrize("theme", slow_after(1, [("light",), ("dark",)]))
async def test_the_focus_can_be_seen(person, theme):
    person.window.look.choose(theme)
    person.window.controller.debates.show_setup("Tabs or spaces?")
    await person.click("segment_roles")
    await person.settle(0.05)
    stops = await walk(person, person.window.controller.panel.setup.topic)
    away = person.window.controller.panel.setup.topic
    person.use_keyboard()
    for stop in stops[1:]:
        away.setFocus()
        await asyncio.sleep(0)
        plain = stop.grab().toImage()
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        await asyncio.sleep(0)
        # A box of text is framed by what is around it.
        assert stop.grab().toImage() != plain or stop.objectName() == "composer", stop.objectName()


@pytest.mark.slow
async def test_enter_and_space_do_what_a_click_does(person):
    window = person.window
    await person.press("first_example", Qt.Key.Key_Space)
    assert window.chat_page.composer.box.text() == window.language("first.example")
    window.controller.debates.show_setup()
    await person.press("remove_ada", Qt.Key.Key_Space)
    assert not person.find("seat_ada").isChecked()
    person.find("segment_round-robin").setFocus()
    await person.press("segment_round-robin", Qt.Key.Key_Right)
    assert window.controller.panel.setup.mode.value() == "free"
    person.find("tab_setup").setFocus()
    await person.press("tab_setup", Qt.Key.Key_Right)
    assert window.controller.panel.tabs.current() == 1


@pytest.mark.slow
async def test_escape_empties_a_search_and_closes_a_dialog(person):
    person.window.controller.debates.show_setup()
    person.window.controller.panel.tabs.choose(2)
    await person.write("history_search", "parser")
    await person.press("history_search", Qt.Key.Key_Escape)
    assert person.window.controller.panel.history.search.text() == ""
    person.window.controller.settings.open("appearance")
    await until(lambda: person.sees("settings_page"))
    await person.press("settings_page", Qt.Key.Key_Escape)
    await until(lambda: not person.sees("settings_page"))
