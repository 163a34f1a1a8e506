"""The editor of assistants in every size, language and theme: nothing cut, all reached by key, all named."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSpinBox, QWidget

from tests.app_driver import Person, at_window, until
from tests.gui.test_keyboard import walk
from tests.gui.test_main_window import cut_off
from tests.repeats import slow_after


@pytest.fixture(params=["ko", pytest.param("en", marks=pytest.mark.slow)])
async def person(qapp, data_dir, request):
    async with at_window(data_dir, language=request.param, size=(900, 600)) as person:
        person.unfold_team()
        person.window.activateWindow()
        await open_copy(person)
        yield person


async def open_copy(person: Person) -> None:
    """Open a copy of the browser in the editor: it has chips of every kind."""
    assistants = person.window.controller.assistants
    assistants.duplicate("browser")
    await until(lambda: person.sees("assistants_page") and len(person.window.side_bar.assistants.ids()) == 4)
    form = person.find("assistants_page").editor.form
    form.sub_agents.choose("checker")
    form.tools.choose("subAgent")
    await until(lambda: "✓" in person.find("assistants_page").editor.state.text())
    await person.settle()


def form(person: Person):
    return person.find("assistants_page").editor.form


@pytest.mark.slow
async def test_nothing_is_cut_off_in_the_smallest_window(person):
    assert cut_off(person) == []
    for box in form(person).findChildren(QSpinBox):
        assert box.lineEdit().width() >= QFontMetrics(box.font()).horizontalAdvance(box.text())
    assert not person.find("assistants_page").cards.isVisible()
    person.window.resize(1440, 900)
    await person.settle()
    assert cut_off(person) == []
    assert person.find("assistants_page").cards.isVisible()
    assert person.window.height() <= 900, "the editor scrolls and does not stretch the window"


@pytest.mark.slow
@pytest.mark.parametrize("agent_id", ["", "browser"])
async def test_where_only_the_editor_fits_the_name_has_the_focus(person, agent_id):
    page = person.find("assistants_page")
    for size, holder in (((900, 600), form(person).name), ((1440, 900), page.cards)):
        person.window.resize(*size)
        person.window.controller.show_new()
        await person.settle()
        person.window.controller.assistants.show_page(agent_id)
        await until(lambda: person.sees("assistants_page"))
        await until(lambda holder=holder: holder.hasFocus(), what=str(size))
    person.window.resize(900, 600)
    await until(lambda: form(person).name.hasFocus(), what="the cards are gone")


@pytest.mark.slow
async def test_tab_goes_from_top_to_bottom_and_every_stop_is_named(person):
    person.window.resize(1440, 1200)
    await person.settle()
    stops = await walk(person, form(person).name)
    inside = [stop for stop in stops if form(person).isAncestorOf(stop)]
    names = [stop.objectName() for stop in inside]
    wanted = [
        "assistant_name", "assistant_role", "assistant_model", "assistant_description",
        "assistant_instructions", "assistant_tools_web", "assistant_tools_add", "assistant_sub_agents_checker",
        "assistant_depth", "assistant_steps", "assistant_pages", "assistant_enabled",
    ]  # fmt: skip
    assert [name for name in names if name in wanted] == wanted
    for stop in inside:
        assert stop.accessibleName() or getattr(stop, "text", str)(), stop.objectName()


@pytest.mark.parametrize("theme", slow_after(1, [("light",), ("dark",)]))
async def test_the_focus_can_be_seen(person, theme):
    person.window.look.choose(theme)
    stops = [stop for stop in await walk(person, form(person).name) if form(person).isAncestorOf(stop)]
    person.use_keyboard()
    person.window.activateWindow()
    for stop, other in itertools.pairwise(stops):
        other.setFocus()
        await until(other.hasFocus)
        plain = stop.grab().toImage()
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        # The focus comes once the window is active, which takes a moment where other windows were.
        await until(stop.hasFocus)
        await until(lambda: stop.grab().toImage() != plain, what=f"the focus of {stop.objectName()}")  # noqa: B023


@pytest.mark.slow
async def test_switching_the_language_keeps_the_page_and_what_is_written(person):
    words = person.window.language
    await person.write("assistant_instructions", "Half a")
    words.choose("en" if words.name == "ko" else "ko")
    await person.settle(0.4)
    assert person.sees("assistants_page")
    assert person.find("session_title").text() == words("side.assistants")
    assert person.find("assistant_instructions").toPlainText() == "Half a"
    assert person.find("assistant_model").currentText() == words("assistant.model.default")
    assert cut_off(person) == []


async def test_the_side_bars_rows_are_read_with_their_model(person):
    view = person.window.side_bar.assistants
    said = [
        view.model().index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(view.count())
    ]
    assert all(", " in text for text in said)
    assert view.accessibleName()


@pytest.mark.slow
async def test_tab_reaches_the_assistants_from_the_search(person):
    search: QWidget = person.window.side_bar.search
    search.setFocus()
    stops = []
    for _ in range(6):
        QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Tab)
        stops.append(person.window.focusWidget().objectName())
    assert stops == [
        "work_button",
        "decisions_button",
        "team_title",
        "assistant_title",
        "assistant_add",
        "assistant_list",
    ]
