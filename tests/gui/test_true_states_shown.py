"""Nothing ends by accident, and what has stopped says so: Escape, Stop and Resume, closing the window, limits, sub-agents."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.session import Status
from app.core.settings import AN_HOUR, RunLimits
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import TREE, architect, replies, said_last
from tests.group_scenes import replies as group_replies
from tests.gui.seen import texts_in, toasts
from tests.gui.test_chat_page import read, running, say
from tests.gui.test_group_page import at_work, person, set_up  # noqa: F401
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=120.0)
KEYS = Qt.Key
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    # What the screen of the tests cannot do.
    pytest.mark.qt_log_ignore("does not support raise", extend=True),
]


def half_done(page: object) -> list[str]:
    """Return the items of the plan that are shown as worked on."""
    rows = [row.accessibleName() for row in page.box.plan.rows()]  # type: ignore[attr-defined]
    return [row for row in rows if row.endswith("next")]


def note_of(person: Person, session_id: str) -> tuple[str, str]:  # noqa: F811
    """Return what stands at a session in the sidebar, and its colour."""
    rows = person.window.side_bar.sessions.model()
    item = rows.item(rows.row_of(session_id))
    return item.note, item.note_colour


async def test_escape_ends_no_group_and_a_stopped_one_goes_on(person):  # noqa: F811
    page = await at_work(person)
    page.box.unfold(True)
    assert len(half_done(page)) == 1
    for _ in range(3):
        await person.press("composer", KEYS.Key_Escape)
        QTest.keyClick(page.transcript, KEYS.Key_Escape)
    await person.settle(0.3)
    assert page.session.status == Status.RUNNING, "Escape ended a run"
    await person.click("orchestrator_stop")
    await until(lambda: page.session.status == Status.STOPPED)
    assert half_done(page) == [], "nobody works, and something is half done"
    assert texts_in(page.state_line) == ["Stopped by you"]
    assert person.window.top_bar.status.text() == "Stopped by you"
    await until(lambda: note_of(person, page.session_id) == ("stopped", "text_2"))
    await person.click("chat_resume")
    await until(lambda: page.session.status == Status.RUNNING and len(half_done(page)) == 1)
    assert not person.sees("chat_state")


async def test_escape_closes_what_is_open_before_it_stops_an_answer(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    async with at_window(data_dir) as person:  # noqa: F811
        person.window.activateWindow()
        page = await running(person, wire_servers["openai"])
        page.open_find()
        page.composer.box.setFocus()
        await person.press("composer", KEYS.Key_Escape)
        assert not person.sees("find_box") and page.session.status == Status.RUNNING
        QTest.keyClick(page.transcript, KEYS.Key_Escape)
        await until(lambda: page.session.status == Status.STOPPED)
        [request] = wire_servers["openai"].requests
        assert wire_servers["openai"].wait_for(lambda: request.closed_at is not None), "the answer still runs"


@pytest.mark.parametrize(
    ("language", "title", "words"),
    [
        ("en", "1 run is working", "Stopped by you"),
        ("ko", "진행 중인 작업이 1개 있어요", "중지됨 · 사용자 요청"),
    ],
)
async def test_the_window_asks_once_before_it_leaves_what_runs(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    monkeypatch,
    language,
    title,
    words,
):
    async with at_window(data_dir, language=language) as person:  # noqa: F811
        window, notes, ends = person.window, [], []

        async def show(session_id, title, text, action):
            notes.append(text)
            return True

        window.controller.notifications.notes.show = show
        window.close_requested.connect(lambda: ends.append(True))
        page = await running(person, wire_servers["openai"], seconds=30)
        window.close()
        dialog = person.find("leave_dialog")
        assert dialog.heading.text() == title and window.isVisible()
        await person.click("leave_cancel")
        assert window.isVisible() and not ends and page.session.status == Status.RUNNING
        window.close()
        await person.click("leave_remember")
        await person.click("leave_keep")
        await until(lambda: bool(notes))
        assert not window.isVisible() and not ends and page.session.status == Status.RUNNING
        window.come_forward()
        window.close()
        await until(lambda: len(notes) == 2, what="the notification where there is no tray")
        assert not window.isVisible() and window.controller.settings.current().when_closed == "keep"
        window.come_forward()
        # To quit is asked about, whatever closing does.
        window.controller.actions()["quit"]()
        await person.click("leave_pause")
        assert ends == [True]
        await person.click("stop_button")
        await until(lambda: page.session.status == Status.STOPPED)
        assert texts_in(page.state_line) == [words]
        window.close()
        assert len(ends) == 2, "nothing runs, and the window asks"


async def test_limits_are_chosen_told_reached_and_extended_at_the_input(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    async with at_window(data_dir) as person:  # noqa: F811
        window, server = person.window, wire_servers["openai"]
        chip = window.chat_page.chat_composer.budget
        assert chip.objectName() == "composer_budget" and chip.isVisible()
        assert chip.accessibleName() == "up to 30 min · 100 calls · $2"
        window.controller.settings.change({"max_model_calls": 5})
        await set_up(person)
        server.script("openai-wire", group_replies(0.0))
        window.controller.show_new(group_id="crew")
        await until(lambda: "5 calls" in chip.accessibleName())
        await say(person, "Ship the offline importer this week. Find what is missing and get it tested.")
        page = window.controller.chat_page
        await until(lambda: page.session is not None and page.session.status == Status.PAUSED)
        assert page.session.reason == "budget_model_calls:5"
        assert texts_in(page.state_line)[0].startswith("Paused at 5 calls. Resume")
        await until(lambda: note_of(person, page.session_id) == ("at its limit", "warn"))
        told = [text for text in toasts(window) if "4 of 5 calls used" in text]
        assert len(told) == 1
        asked = len(server.requests)
        assert person.sees("chat_extend") and person.sees("chat_resume")
        person.choose_from("chat_extend", "An hour unattended: 60 min · 500 calls · $5")
        await until(lambda: len(server.requests) > asked)
        assert page.session.chat.limits == AN_HOUR
        assert chip.accessibleName() == "up to 60 min · 500 calls · $5"
        await window.controller.engine.stop(page.session_id)


async def test_own_limits_are_for_the_next_session_alone(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", lambda _request: "Done.")
    async with at_window(data_dir) as person:  # noqa: F811
        page = person.window.chat_page
        person.choose_from("composer_budget", "Change…")
        person.find("setting_max_minutes").setValue(7)
        person.find("setting_max_cost_usd").setValue(0.5)
        await person.click("limits_save")
        assert page.chat_composer.budget.accessibleName() == "up to 7 min · 100 calls · $0.5"
        await say(person, "Well?")
        await until(lambda: page.session is not None and page.session.status == Status.IDLE)
        assert page.session.chat.limits == RunLimits(minutes=7, calls=100, usd=0.5)
        person.window.controller.show_new()
        assert page.chat_composer.budget.accessibleName() == "up to 30 min · 100 calls · $2"


async def test_a_sub_agents_stop_stands_still_and_its_caller_goes_on(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    slow = replies(pace=4.0)
    wire_servers["openai"].script(
        "openai-wire", lambda request: "Done." if said_last(request) == "tool" else slow(request)
    )
    async with at_window(data_dir) as person:  # noqa: F811
        engine = person.window.controller.engine
        await engine.assistants.save(architect(model="openai-wire", sub_agents=("checker",)))
        person.window.controller.show_new("architect")
        await say(person, TREE)
        page = person.window.chat_page
        await until(lambda: person.sees("agent_stop_0"))
        stop = person.find("agent_stop_0")
        assert stop.accessibleName().startswith("Stop ")
        place = stop.mapTo(person.window, stop.rect().center())
        await until(lambda: "The disk fills up" in read(person), what="the checker to write")
        assert stop.mapTo(person.window, stop.rect().center()) == place, "Stop moved while it wrote"
        shown = page.session_id
        await person.click("new_button")
        assert not person.sees("working_strip"), "nobody works in a new session"
        person.window.controller.show_session(shown)
        await until(lambda: page.session_id == shown and person.sees("agent_stop_0"))
        await person.click("agent_stop_0")
        await until(lambda: page.session.status == Status.IDLE)
        assert "Done." in person.transcript("transcript")[-1]
        assert not person.sees("working_strip")
