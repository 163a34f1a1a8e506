"""History and the sidebar: every debate, to be found, opened, deleted and brought back (row D10)."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextDocument
from PySide6.QtWidgets import QWidget

from app.core.session import Folder, SessionSummary
from app.gui.display.appearance import Language, Look, sized
from app.gui.navigation.session_list import matches
from app.gui.panels.debate.debate_panel import AVATAR_STEP, HistoryView, avatars
from tests.app_driver import Person, until
from tests.gui.test_setup_view import person

__all__ = ["person"]

RESOURCES = Path(__file__).parent.parent.parent / "resources"


async def hold(person: Person, *topics: str) -> list[str]:
    """Start debates and stop them at once."""
    engine = person.window.controller.engine
    ids = []
    for topic in topics:
        person.window.controller.panel.setup.set_topic(topic)
        ids.append(await engine.debates.start(person.window.controller.panel.setup.setup()))
        await engine.stop(ids[-1])
    await until(lambda: person.window.controller.panel.history.list.model().rowCount() == len(topics))
    return ids


async def test_without_debates_there_is_one_sentence_and_one_button(person):
    person.window.controller.panel.tabs.choose(2)
    await person.click("history_empty")
    assert person.window.controller.panel.tabs.current() == 0


@pytest.mark.slow
async def test_debates_are_listed_newest_first_and_found(person):
    await hold(person, "Tabs or spaces?", "원격 근무, 늘려야 할까?")
    person.window.controller.panel.tabs.choose(2)
    rows = person.window.controller.panel.history.list.model()
    assert [rows.data(rows.index(at)) for at in range(2)] == ["원격 근무, 늘려야 할까?", "Tabs or spaces?"]
    await person.write("history_search", "원격")
    assert rows.rowCount() == 1
    await person.write("history_search", "ada TABS")
    assert [rows.data(rows.index(0))] == ["Tabs or spaces?"]
    assert not person.sees("history_nothing")
    await person.write("history_search", "nothing like it")
    assert rows.rowCount() == 0
    assert person.sees("history_nothing")
    await person.press("history_search", Qt.Key.Key_Escape)
    assert rows.rowCount() == 2
    assert not person.sees("history_nothing")


@pytest.mark.slow
async def test_the_debates_of_the_chosen_folder_are_listed_or_all(person):
    ids = await hold(person, "Tabs or spaces?", "Trams or buses?")
    desk = person.window.controller
    folder = await desk.engine.folders.save(Folder(id="", name="Work"))
    await desk.engine.move(ids[0], folder.id)
    desk.panel.tabs.choose(2)
    rows = desk.panel.history.list.model()
    assert rows.rowCount() == 2 and not person.sees("history_scope")
    desk.folders.choose(folder.id)
    assert [rows.data(rows.index(at)) for at in range(rows.rowCount())] == ["Tabs or spaces?"]
    await person.click("history_scope")
    assert rows.rowCount() == 2
    desk.folders.choose("")
    assert rows.rowCount() == 2 and not person.sees("history_scope")


@pytest.mark.slow
async def test_what_is_watched_is_remembered_before_the_window_ends(person):
    """After a kill the debate that ran is shown again, with its Resume button."""
    (session_id,) = await hold(person, "Tabs or spaces?")
    await person.window.controller.debates.show_discussion(session_id)
    await until(lambda: person.window.state.text("panel_session") == session_id)
    assert person.window.state.flag("panel", False)
    assert person.window.state.text("tab") == "1"


@pytest.mark.slow
async def test_opening_shows_the_debate_in_the_main_area(person):
    ids = await hold(person, "Tabs or spaces?")
    person.window.controller.panel.tabs.choose(2)
    history = person.find("debate_history")
    history.setCurrentIndex(history.model().index(0, 0))
    await person.click("history_open")
    page = person.window.controller.session_page
    await until(lambda: page.session_id == ids[0] and page.isVisible())


@pytest.mark.slow
async def test_delete_can_be_undone(person):
    await hold(person, "Tabs or spaces?")
    person.window.controller.panel.tabs.choose(2)
    history = person.find("debate_history")
    history.setCurrentIndex(history.model().index(0, 0))
    history.setFocus()
    await person.press("debate_history", Qt.Key.Key_Delete)
    await until(lambda: person.window.controller.engine.sessions() == [])
    await until(lambda: person.sees("toast_action"))
    await person.click("toast_action")
    await until(lambda: person.window.controller.panel.history.list.model().rowCount() == 1)
    assert person.window.controller.engine.sessions()[0].title == "Tabs or spaces?"


@pytest.mark.slow
async def test_deleting_the_debate_on_screen_leaves_no_trace_of_it(person):
    ids = await hold(person, "Tabs or spaces?")
    person.window.controller.show_session(ids[0])
    await until(lambda: person.window.controller.session_page.session_id == ids[0])
    person.window.controller.sessions.delete(ids[0])
    await until(lambda: person.sees("composer_mode"))
    assert person.window.controller.session_page.session_id == ""


def test_search_looks_at_title_and_speakers():
    row = SessionSummary(
        id="1",
        kind="debate",
        title="Tabs or spaces?",
        status="idle",
        updated_at="",
        messages=0,
        speakers=("지민",),
    )
    assert matches(row, "")
    assert matches(row, "SPACES tabs")
    assert matches(row, "지민")
    assert not matches(row, "emacs")


EVERYBODY = tuple(f"<b>Voice</b> {place}" for place in range(12))


@pytest.mark.parametrize("width", [330, 470])
def test_a_card_names_everybody_and_shows_its_day_beside_the_buttons(qapp, width):
    row = partial(
        SessionSummary,
        kind="debate",
        title="Tabs or spaces?",
        updated_at=datetime.now(UTC).isoformat(),
        messages=3,
        mode="roles",
        rounds=3,
        speakers=EVERYBODY,
    )
    view = HistoryView(Language(RESOURCES / "i18n", "en"), Look(qapp, RESOURCES, "light"))
    view.resize(width, 300)
    view.show_sessions([row(id="1", status="paused"), row(id="2", status="completed")])
    view.show()
    try:
        qapp.sendPostedEvents()
        painted = view.list.grab().toImage()
        first = view.list.visualRect(view.list.model().index(0, 0))
        view.list.setCurrentIndex(view.list.model().index(0, 0))
        qapp.sendPostedEvents()
        actions = view.card_actions
        assert actions.isVisible()
        for button in actions.findChildren(QWidget):
            shown = button.isVisible()
            assert not shown or button.width() >= button.sizeHint().width(), button.objectName()
        # What stands right of the buttons is the day, as before; nothing but the frame is another.
        active = view.list.grab().toImage()
        left, right = actions.geometry().right() + 2, first.right() - 4
        rows = range(first.top() + 45, first.top() + 68)
        day = [(x, y) for y in rows for x in range(left, right)]
        assert len({painted.pixel(x, y) for x, y in day}) > 5, "there is text"
        assert all(painted.pixel(x, y) == active.pixel(x, y) for x, y in day)
        tip = view.list.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
        label = QTextDocument()
        label.setHtml(tip)
        assert label.toPlainText() == ", ".join(EVERYBODY)
    finally:
        view.hide()
        view.deleteLater()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_as_many_initials_as_there_is_room_for_and_how_many_more(qapp):
    common = partial(
        SessionSummary, id="1", kind="debate", title="T", status="idle", updated_at="", messages=0
    )
    row = common(speakers=EVERYBODY)
    metrics = QFontMetrics(sized(QFont(), 12, 400))
    assert avatars(row, 1_000, metrics) == (6, "+6")
    for count in (0, 3, 5):
        more = f"+{12 - count}"
        least = count * AVATAR_STEP + metrics.horizontalAdvance(more) + 2
        assert avatars(row, least, metrics) == (count, more)
        assert avatars(row, least - 1, metrics)[0] < max(1, count)
    assert avatars(row, 0, metrics) == (0, "")
    assert avatars(common(speakers=EVERYBODY[:2]), 1_000, metrics) == (2, "")
