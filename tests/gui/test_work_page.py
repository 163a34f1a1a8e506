"""The page of all work by mouse and keyboard, what waits and what is steered there: against a local provider that is slow."""

import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from app.core.criteria import Criterion, CriterionState, Plan, PlanItem
from app.core.definitions import Busy, WorkflowDefinition, WorkflowStep
from app.core.ids import new_id
from app.core.message import UsageEntry
from app.core.session import Status
from app.core.settings import RunLimits
from app.engine.availability import Job, Work
from app.engine.work import Needs, WorkRow, WorkState
from app.gui.controllers.work import _state_of
from app.gui.display.appearance import Language, Look
from app.gui.pages.work.work_page import SHOWN_S, WorkDetails, WorkPage, WorkRows
from app.storage.paths import resources_dir
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import architect, call, said_last
from tests.gui.seen import saying, texts_in
from tests.stories.test_criteria import HALF, SEA, SKY, honest, is_check
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=120.0)
MODEL = "openai-wire"
DONE = "It is done.\n\n[STEP_COMPLETE]\nartifacts: patch.diff\nstatus: done"
ONE = architect(model=MODEL, role="Architect", tools=(), sub_agents=(), busy=Busy(strategy="queue", depth=5))

CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


class Pace:
    """What the server does: it answers slowly, a word each `seconds`, until it is told to hurry."""

    def __init__(self, seconds: float = 0.4) -> None:
        self.slow = True
        self._seconds = seconds

    def __call__(self, _request: object) -> Answer:
        return Answer(DONE, pace=self._seconds, pieces=30) if self.slow else Answer(DONE)


def jobs(person: Person) -> list[tuple[str, int | None]]:
    return [(one.id, one.place) for one in person.window.controller.engine.queues.jobs(ONE.id)]


def status(person: Person, session_id: str) -> str:
    live = person.window.controller.engine.live(session_id)
    return live.session.status if live else ""


@pytest.fixture
async def busy(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    """Give a person at the window, an assistant that answers one after the other, and the server's pace."""
    pace = Pace()
    wire_servers["openai"].script(MODEL, pace)
    async with at_window(data_dir) as person:
        person.unfold_team()
        engine = person.window.controller.engine
        await engine.assistants.save(ONE)
        await engine.assistants.save(replace(ONE, id="other", name="Other", role="Tester"))
        yield person, pace


def page_of(person: Person) -> WorkPage:
    return person.find("work_page", WorkPage)


def press_button(person: Person, row_id: str) -> None:
    """Click the button of a row."""
    view = page_of(person).list
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.button_of(row_id).center())


def headings(person: Person) -> list[str]:
    return [row for row in page_of(person).list.work.rows if isinstance(row, str)]


def said(person: Person, row_id: str) -> str:
    """Return what a screen reader says of a row."""
    work = page_of(person).list.work
    return str(work.index(work.row_of(row_id), 0).data(Qt.ItemDataRole.AccessibleTextRole))


async def shown(person: Person, assistant_id: str = "") -> WorkPage:
    """Open the page, by assistant where one is given, and wait until its actions may be carried out."""
    work = person.window.controller.work
    work.show_assistant(assistant_id) if assistant_id else work.show()
    await person.settle(SHOWN_S + 0.1)
    return page_of(person)


async def test_what_waits_is_moved_given_away_and_taken_out(busy):
    person, pace = busy
    engine = person.window.controller.engine
    sessions = [await engine.chats.start(ONE.id, text) for text in ("One", "Two", "Three", "Four")]
    await until(lambda: len(jobs(person)) == 4)
    page = await shown(person, ONE.id)
    await until(lambda: "3 waiting" in said(person, ONE.id))
    (running, _), second, third, fourth = jobs(person)
    assert person.sees(f"queue_open_{running}") and not person.sees(f"queue_out_{running}")
    assert not person.sees(f"queue_front_{second[0]}"), "the next is at the front already"
    await person.click(f"queue_front_{fourth[0]}")
    assert [one for one, place in jobs(person) if place is not None] == [fourth[0], second[0], third[0]]
    await person.click(f"queue_out_{third[0]}")
    await until(lambda: status(person, sessions[2]) == Status.IDLE)
    assert person.sees("toast_action"), "the way to where it can be tried again is offered"
    give = person.find(f"queue_give_{second[0]}")
    next(action for action in give.menu().actions() if action.text() == "Other").trigger()
    await until(lambda: engine.queues.jobs("other"))
    out = f"queue_out_{fourth[0]}"
    await until(lambda: saying(person.find(out).parentWidget().parentWidget(), "waiting for"))
    press_button(person, ONE.id)
    await until(lambda: engine.queues.is_held(ONE.id))
    pace.slow = False
    await until(lambda: status(person, sessions[0]) == Status.IDLE)
    assert jobs(person) == [(fourth[0], 0)], "held back, it begins nothing more"
    await until(lambda: page.list.work.item_of(page.list.work.rows[0]).button == "Take work again")
    await person.settle(SHOWN_S + 0.1)
    await person.press("work_list", Qt.Key.Key_Return)
    await until(lambda: all(status(person, one) == Status.IDLE for one in sessions))
    await until(lambda: not person.sees(f"queue_out_{fourth[0]}"))
    other = engine.live(sessions[1])
    assert other is not None
    assert other.messages[-1].author.id == "other"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_a_row_says_where_it_waits_and_is_given_to_somebody_else(busy):
    person, pace = busy
    engine = person.window.controller.engine
    sessions = [await engine.chats.start(ONE.id, text) for text in ("One", "Two", "Three")]
    await until(lambda: len(jobs(person)) == 3)
    page = await shown(person)
    assert headings(person) == ["Running  1", "Waiting  2"]
    assert f"Waiting for {ONE.name}, number 2 in the queue" in said(person, sessions[2])
    page.list.choose(sessions[2])
    await person.settle()
    assert person.sees(f"queue_out_{jobs(person)[2][0]}"), "the queue stands in the details of what waits"
    press_button(person, sessions[2])
    menu = next(one for one in page.list.findChildren(QMenu) if one.objectName() == "work_takers")
    next(action for action in menu.actions() if action.text() == "Other").trigger()
    menu.close()
    person.window.activateWindow()
    page.list.setFocus()
    await app_driver.until(page.list.hasFocus, 5, "the focus in the list")
    await until(lambda: engine.queues.jobs("other"))
    pace.slow = False
    await until(lambda: all(status(person, one) == Status.IDLE for one in sessions))
    await until(lambda: person.sees("work_changes"), what="the pill: the focus is in the list")
    assert re.fullmatch("1 change|[23] changes", person.find("work_changes").text())
    assert headings(person), "nothing goes while the user is there"
    while not person.sees("work_none"):
        # What ends after the click is a change of its own.
        await until(lambda: person.sees("work_changes") or person.sees("work_none"))
        if person.sees("work_changes"):
            await person.click("work_changes")
    assert not person.sees("work_list"), "chats in which it is the user's turn are no work"


async def test_an_action_is_carried_out_once_it_has_been_shown_for_half_a_second(busy):
    person, _pace = busy
    engine = person.window.controller.engine
    session_id = await engine.chats.start(ONE.id, "One")
    await until(lambda: len(jobs(person)) == 1)
    await shown(person)
    await engine.pause(session_id)
    await engine.pause(session_id)
    await until(lambda: "Paused by you" in said(person, session_id))
    await person.press("work_list", Qt.Key.Key_Return)
    await person.settle(0.2)
    assert status(person, session_id) == Status.PAUSED, "it can cost money: Resume came under the finger"
    await person.settle(SHOWN_S)
    key, plain = Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier
    held = QKeyEvent(QEvent.Type.KeyPress, key, plain, "", True)
    QApplication.sendEvent(person.find("work_list"), held)
    await person.settle(0.2)
    assert status(person, session_id) == Status.PAUSED, "a held key was meant for something else"
    await person.press("work_list", key)
    await until(lambda: status(person, session_id) == Status.RUNNING)


async def test_something_is_told_and_waits_until_the_next_turn(busy):
    person, pace = busy
    engine = person.window.controller.engine
    session_id = await engine.chats.start(ONE.id, "One")
    await until(lambda: len(jobs(person)) == 1)
    other = await engine.chats.start("other", "Two")
    page = await shown(person)
    page.list.choose(session_id)
    await person.write("work_tell", "Mind the budget.")
    page.list.choose(other)
    assert not person.find("work_tell").toPlainText()
    page.list.choose(session_id)
    await person.press("work_tell", Qt.Key.Key_Return)
    live = engine.live(session_id)
    await until(lambda: [one.text for one in live.session.chat.queue] == ["Mind the budget."])
    await until(lambda: "1 message queued" in texts_in(page.details) and person.sees("work_send_now"))
    await person.click("work_open")
    await until(lambda: person.sees("chat_queue") or person.window.chat_page.queue.isVisible())
    pace.slow = False
    await until(lambda: status(person, session_id) == Status.IDLE)
    assert [one.content for one in live.messages if one.by_user] == ["One", "Mind the budget."]


async def test_what_was_told_interrupts_the_turn_on_a_click(busy):
    person, pace = busy
    engine = person.window.controller.engine
    session_id = await engine.chats.start(ONE.id, "One")
    await until(lambda: len(jobs(person)) == 1)
    page = await shown(person)
    page.list.choose(session_id)
    assert not person.sees("work_send_now")
    await person.write("work_tell", "Mind the budget.")
    await person.press("work_tell", Qt.Key.Key_Return)
    await until(lambda: person.sees("work_send_now"))
    await person.click("work_send_now")
    live = engine.live(session_id)
    await until(lambda: [one.content for one in live.messages if one.by_user] == ["One", "Mind the budget."])
    assert status(person, session_id) == Status.RUNNING and pace.slow, "it waited for the answer's end"
    await until(lambda: not person.sees("work_send_now"))
    await engine.stop(session_id)


@pytest.mark.parametrize(
    ("language", "badge", "asks", "answer"),
    [
        ("en", "2 need you", "asks: Which one?", "Answer"),
        ("ko", "확인 필요 2", "의 질문: Which one?", "답변하기"),
    ],
)
async def test_what_needs_the_user_is_answered_on_the_page(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    language,
    badge,
    asks,
    answer,
):
    def reply(request):
        if said_last(request).endswith("Ask me."):
            return Answer(calls=(call("promptUser", "call_q", question="Which one?", type="text"),))
        return Answer("Thanks.")

    wire_servers["openai"].script(MODEL, reply)
    async with at_window(data_dir, language=language) as person:
        person.window.activateWindow()
        engine = person.window.controller.engine
        await engine.assistants.save(replace(ONE, tools=("ask",), busy=None))
        sessions = [await engine.chats.start(ONE.id, "Ask me.") for _ in range(2)]
        await until(lambda: all(status(person, one) == Status.WAITING for one in sessions))
        button = person.find("work_button")
        await until(lambda: button.accessibleName().endswith(badge), what="the badge")
        notifications = person.window.controller.notifications
        assert notifications._waiting == 2, "the tray says the same number"
        QTest.keyClick(person.window, Qt.Key.Key_J, CTRL_SHIFT)
        await person.settle(SHOWN_S + 0.1)
        page = page_of(person)
        assert page.list.current_id() == sessions[1], "the newest first"
        assert asks in said(person, sessions[0])
        assert page.list.item(1).button == answer  # type: ignore[attr-defined]
        await person.press("work_list", Qt.Key.Key_Return)
        await until(lambda: person.find("prompt_card").isAncestorOf(person.window.focusWidget()))
        await until(lambda: notifications._waiting == 1, what="one that was opened counts no more")
        await person.write("prompt_text", "The red one.")
        await person.click("prompt_answer")
        await until(lambda: status(person, sessions[1]) == Status.IDLE)
        person.window.controller.show_session(sessions[0])
        await until(lambda: notifications._waiting == 0 and "2" not in button.accessibleName())
        assert status(person, sessions[0]) == Status.WAITING


async def test_where_there_is_little_room_the_details_cover_the_list(busy):
    person, _pace = busy
    session_id = await person.window.controller.engine.chats.start(ONE.id, "One")
    await until(lambda: len(jobs(person)) == 1)
    person.window.resize(900, 600)
    page = await shown(person)
    assert person.sees("work_list") and not person.sees("work_details")
    await person.press("work_list", Qt.Key.Key_Space)
    await until(lambda: person.sees("work_details") and not person.sees("work_list"))
    QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Escape)
    await until(lambda: person.sees("work_list") and page.list.hasFocus())
    person.window.resize(1100, 700)
    await until(lambda: person.sees("work_details") and person.sees("work_list"))
    await until(lambda: bool(page.list.item(1).third), what="rows of three lines")
    await person.press("work_list", Qt.Key.Key_F6)
    await until(lambda: page.details.isAncestorOf(person.window.focusWidget()), what="F6 to the details")
    QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_F6)
    await until(page.list.hasFocus, what="F6 back to the list")
    await person.click("work_stop")
    await until(lambda: status(person, session_id) == Status.STOPPED)


@pytest.mark.slow
async def test_what_was_taken_out_is_tried_again_where_it_was_asked_for(busy):
    person, pace = busy
    engine = person.window.controller.engine
    sessions = [await engine.chats.start(ONE.id, text) for text in ("One", "Two")]
    await until(lambda: len(jobs(person)) == 2)
    await shown(person, ONE.id)
    await person.click(f"queue_out_{jobs(person)[1][0]}")
    await person.click("toast_action")
    page = person.window.controller.chat_page
    await until(lambda: page.session_id == sessions[1] and not person.sees("work_page"))
    await until(lambda: status(person, sessions[1]) == Status.IDLE)
    pace.slow = False
    live = engine.live(sessions[1])
    page.transcript.action_requested.emit(live.messages[-1].id, "retry")
    await until(lambda: live.messages[-1].state == "done" and status(person, sessions[1]) == Status.IDLE)


@pytest.mark.slow
async def test_who_is_held_back_stays_so_after_a_restart_until_the_user_lets_go(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    wire_servers["openai"].script(MODEL, lambda _: Answer(DONE))
    async with at_window(data_dir) as person:
        await person.window.controller.engine.assistants.save(ONE)
        await shown(person, ONE.id)
        press_button(person, ONE.id)
        await until(lambda: person.window.controller.engine.queues.is_held(ONE.id))
    async with at_window(data_dir) as person:
        desk = person.window.controller
        session_id = await desk.engine.chats.start(ONE.id, "One")
        desk.show_session(session_id)
        line = desk.chat_page.state_line
        await until(lambda: line.isVisible() and saying(line, "on hold"))
        assert not wire_servers["openai"].requests
        await shown(person, ONE.id)
        assert "on hold" in said(person, ONE.id)
        await until(lambda: f"{ONE.name} takes no new work" in said(person, session_id))
        desk.show_session(session_id)
        await person.click("chat_resume")
        await until(lambda: status(person, session_id) == Status.IDLE)
        assert len(wire_servers["openai"].requests) == 1
        assert desk.engine.settings().held_back == ()


@pytest.mark.slow
async def test_a_step_is_stopped_retried_and_skipped_and_the_whole_paused_and_cancelled(busy):
    person, pace = busy
    engine = person.window.controller.engine
    steps = (
        WorkflowStep(id="one", name="First", role="Architect", prompt="Do it."),
        WorkflowStep(id="two", name="Second", role="Tester", prompt="Do it."),
        WorkflowStep(id="three", name="Third", role="Tester", prompt="Do it.", depends_on=("one",)),
        WorkflowStep(id="four", name="Fourth", role="Tester", prompt="Do it.", depends_on=("three",)),
    )
    await engine.workflows.save(
        WorkflowDefinition(id="trio", name="Trio", keywords=("diamond",), steps=steps)
    )
    await person.click("workflow_button")
    await person.write("workflow_command", "Cut the diamond")
    await person.click("workflow_start")
    page = person.window.controller.chat_page

    def states() -> list[str]:
        return [one.state for one in page.session.workflow.steps] if page.session else []

    await until(lambda: states() == ["running", "running", "pending", "pending"])
    await person.click("step_action_one")
    await until(lambda: states() == ["cancelled", "running", "skipped", "skipped"])
    await person.click("step_action_one")
    await until(lambda: states() == ["running", "running", "pending", "pending"])
    pace.slow = False
    await person.click("workflow_pause")
    await until(lambda: page.session.status == Status.PAUSED)
    pace.slow = True
    await person.click("workflow_resume")
    await until(lambda: states()[2:] == ["running", "pending"])
    rows = person.window.controller.workflows.panel.work.steps.rows
    words = person.window.language("step.do.skip")
    next(one for one in rows["four"].menu.actions() if one.text() == words).trigger()
    await until(lambda: states()[3] == "skipped")
    await person.click("workflow_cancel")
    await until(lambda: page.session.status in (Status.STOPPED, Status.COMPLETED))
    assert not {"running", "waiting"} & set(states())


def menu_of(person: Person, row_id: str) -> dict[str, QAction]:
    """Return the entries of a row's menu by their texts."""
    menu = page_of(person).list.menu_of(row_id)
    assert menu is not None
    return {one.text(): one for one in menu.actions()}


async def test_the_menu_of_a_row_steers_it_and_stop_can_be_undone(busy):
    person, pace = busy
    engine = person.window.controller.engine
    sessions = [await engine.chats.start(ONE.id, text) for text in ("One", "Two", "Three")]
    await until(lambda: len(jobs(person)) == 3)
    await shown(person)
    usual = ["Pause", "Stop", "Raise the limit…", "Go to session", "Repeat…"]
    assert list(menu_of(person, sessions[0])) == usual
    assert list(menu_of(person, sessions[2])) == [*usual[:2], "Move to front", *usual[2:]]
    third = jobs(person)[2][0]
    menu_of(person, sessions[2])["Move to front"].trigger()
    assert next(one for one, place in jobs(person) if place is not None) == third
    menu_of(person, sessions[0])["Stop"].trigger()
    await until(lambda: status(person, sessions[0]) == Status.STOPPED)
    await until(lambda: person.sees("toast_action"), what="the way back")
    await until(lambda: "Stopped by you" in said(person, sessions[0]))
    assert list(menu_of(person, sessions[0])) == ["Resume", *usual[2:]]
    await person.click("toast_action")
    await until(lambda: status(person, sessions[0]) == Status.RUNNING)
    pace.slow = False
    menu_of(person, sessions[0])["Go to session"].trigger()
    await until(lambda: person.window.chat_page.session_id == sessions[0])


async def test_what_today_cost_is_all_of_it(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.script(MODEL, lambda _: Answer("Yes."))
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        await engine.assistants.save(replace(ONE, busy=None))
        await shown(person)

        def used(cost: float, at: str) -> UsageEntry:
            return UsageEntry(message_id=new_id(), at=at, cost_usd=cost, input_tokens=1, output_tokens=1)

        now = datetime.now(UTC)
        engine.usage.note(used(0.25, now.isoformat()))
        engine.usage.note(used(0.5, now.isoformat()))
        engine.usage.note(used(4.0, (now - timedelta(days=1, minutes=1)).isoformat()))
        await shown(person)
        await until(lambda: person.window.top_bar.mode.text() == "$0.75 today")


def test_nothing_is_green_that_nobody_has_checked(qapp):
    rows = WorkRows(Language(resources_dir() / "i18n", "en"))
    done = WorkRow(
        id="s", kind="group", title="T", state=WorkState.DONE, says="Completed", limits=RunLimits()
    )
    met, accepted = (Criterion(text="c", state=one) for one in (CriterionState.MET, CriterionState.ACCEPTED))
    found = [
        rows.item_of(replace(done, criteria=some)).second_colour for some in ((), (met,), (met, accepted))
    ]
    assert found == ["text_2", "ok", "warn"]


def test_nothing_is_said_of_the_time_left_once_it_is_over(qapp):
    job = Job(id="j", agent_id="a", work=Work(session_id="s"), seconds=65.0, place=0, expected=0.2)
    words = Language(resources_dir() / "i18n", "en")
    assert _state_of(job, words) == "waiting for 1 min 5 s"
    assert _state_of(replace(job, expected=2.0), words) == "waiting for 1 min 5 s · about 2 s left"


@pytest.mark.slow
async def test_the_limit_of_a_row_is_raised_and_it_goes_on(busy):
    person, pace = busy
    engine, pace.slow = person.window.controller.engine, False
    session_id = await engine.chats.start(ONE.id, "One")
    await until(lambda: status(person, session_id) == Status.IDLE)
    engine.live(session_id).change(status=Status.PAUSED, reason="budget_model_calls:1")
    await shown(person)
    await until(lambda: "Paused at 1 call" in said(person, session_id))
    page_of(person).choose(session_id)
    await until(lambda: person.sees("work_extend"), what="the way to more, beside what is said")
    person.choose_from("work_extend", "Change…")
    await until(lambda: person.sees("limits_save"))
    await person.click("limits_cancel")
    menu_of(person, session_id)["Raise the limit…"].trigger()
    await until(lambda: person.sees("limits_save"))
    person.find("setting_max_model_calls").setValue(7)
    await person.click("limits_save")
    await until(lambda: status(person, session_id) == Status.IDLE)
    assert engine.live(session_id).session.chat.limits.calls == 7
    await until(lambda: not person.sees("work_extend"))


async def test_chips_filter_by_kind_and_without_a_row_the_day_is_summed_up(busy):
    person, _pace = busy
    engine = person.window.controller.engine
    chat = await engine.chats.start(ONE.id, "One")
    steps = (WorkflowStep(id="one", name="First", role="Tester", prompt="Do it."),)
    await engine.workflows.save(WorkflowDefinition(id="solo", name="Solo", keywords=("gem",), steps=steps))
    work = await engine.workflows.start("Cut the gem", "solo")
    await until(lambda: status(person, work) == Status.RUNNING and len(jobs(person)) == 1)
    page = await shown(person)
    chips = ("work_all", "work_chat", "work_workflow", "work_group", "work_debate")
    assert [person.find(one).text() for one in chips[:3]] == ["All  2", "Chats  1", "Workflows  1"]
    assert [person.sees(one) for one in chips] == [True, True, True, False, False]
    page.list.choose(chat)
    await person.click("work_workflow")
    assert page.list.ids()[1:] == (work,) and headings(person) == ["Running  1"]
    page.list.setCurrentRow(-1)
    await until(lambda: person.sees("work_totals"))
    assert page.details.totals.text() == "2 running"
    await engine.stop(work)
    await until(lambda: page.details.totals.text() == "1 running")
    await person.click("work_all")
    await until(lambda: set(page.list.ids()) >= {chat, work})
    page.switch.set_value("assistant")
    await person.click("work_workflow")
    await until(lambda: chat not in page.list.ids() and work in page.list.ids())


@pytest.mark.parametrize(
    ("language", "title", "asks", "waits", "rests"),
    [
        ("en", ["PLAN", "1 of 4 done"], "Dana · asks you", "waits for step 2", "not started"),
        ("ko", ["계획", "1/4 완료"], "Dana · 확인 필요", "2단계 후 시작", "시작 전"),
    ],
)
def test_the_plan_says_who_does_what_and_headings_count(
    qapp, language: str, title: list[str], asks: str, waits: str, rests: str
) -> None:
    details = WorkDetails(Language(resources_dir() / "i18n", language), Look(qapp, resources_dir(), "light"))
    # With a parent it is no window of its own.
    parent = QWidget()
    details.setParent(parent)
    first = PlanItem(text="Look", done=True, by="Mina")
    items = (first, *(PlanItem(text=text) for text in ("Draw", "Print", "Send")))
    row = WorkRow(
        id="a", kind="group", title="T", state=WorkState.RUNNING, says="x", who=("Dana",), limits=RunLimits()
    )

    def beside() -> list[str]:
        return [one._note.text() for one in details.plan.rows()]

    details.show_work(row, plan=Plan(items=items))
    shown = details.plan_title.findChildren(QLabel)
    assert [one.text() for one in shown] == title and beside() == ["Mina", "Dana", waits, rests]
    details.show_work(replace(row, state=WorkState.NEEDS_YOU, needs=Needs.ANSWER), plan=Plan(items=items))
    assert beside() == ["Mina", asks, waits, rests]
    details.show_work(replace(row, state=WorkState.DONE), plan=Plan(items=items))
    assert beside() == ["Mina", rests, rests, rests], "all idle: nothing is half done"
    details.show_work(replace(row, who=("Dana", "Jun")), plan=Plan(items=items))
    assert beside() == ["Mina", "Dana, Jun", "", ""], "side by side, Jun may do the third"
    details.show_work(row, plan=Plan())
    headings = (details.plan_title, details.means_title, details.files_title)
    assert all(one.isHidden() for one in headings)


@pytest.mark.slow
def test_what_could_not_be_said_comes_back_before_what_was_written_since(qapp, look):
    details, parent = WorkDetails(Language(resources_dir() / "i18n", "en"), look), QWidget()
    details.setParent(parent)
    first = WorkRow(id="a", kind="chat", title="A", state=WorkState.RUNNING, says="", limits=RunLimits())
    second = replace(first, id="b", title="B")
    details.show_work(first, can_tell=True)
    details.tell.box.setPlainText("And the time.")
    details.give_back("a", "Mind the budget.")
    assert details.tell.box.toPlainText() == "Mind the budget.\n\nAnd the time."
    details.give_back("b", "Go on.")
    assert details.tell.box.toPlainText() == "Mind the budget.\n\nAnd the time.", "it was said elsewhere"
    details.show_work(second, can_tell=True)
    assert details.tell.box.toPlainText() == "Go on."
    details.show_work(first, can_tell=True)
    assert details.tell.box.toPlainText() == "Mind the budget.\n\nAnd the time."
    parent.deleteLater()


async def test_the_details_show_files_and_criteria_with_who_checked(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    server, written = wire_servers["openai"], []

    def reply(request):
        if is_check(request):
            return honest(request)
        if not written:
            written.append(request)
            return Answer(calls=(call("write_file", path="sky.md", content="# Blue"),))
        return Answer(HALF)

    server.script(server.model, reply)
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        await engine.assistants.save(replace(ONE, model=server.model, tools=("files",), busy=None))
        session_id = await engine.chats.start(ONE.id, "Name the colours.", done_means=(SKY, SEA))
        await engine.wait(session_id)
        page = await shown(person)
        page.choose(session_id)
        await until(lambda: ", 1 file, " in said(person, session_id), what="how many files it has")
        await until(lambda: person.sees("work_files"))
        files, details = person.find("work_files"), page.details
        assert files.ids() == ("sky.md",)
        assert {"DONE MEANS", "0 of 2 met", "FILES", "1"} <= set(texts_in(details))
        assert "PLAN" not in texts_in(details)
        count = details.files_title.count
        assert count.geometry().right() == details.files_title.rect().right(), "at the edge"
        said_there = [one.text() for one in details.means.findChildren(QLabel)]
        assert f"{server.model} · same family" in said_there
        person.click_row("work_files", 0)
        await until(lambda: person.sees("file_dialog"))
        await until(lambda: person.transcript("file_view") == [f"{ONE.name}: Blue"])


async def test_the_button_of_the_chosen_row_is_filled(busy):
    person, pace = busy
    engine = person.window.controller.engine
    first, second = [await engine.chats.start(ONE.id, text) for text in ("One", "Two")]
    page = await shown(person)
    await until(lambda: set(page.list.ids()) >= {first, second})
    accent = QColor(page.list._look.tokens.accent)
    filled = {}
    for chosen in (first, second):
        page.choose(chosen)
        await person.settle()
        picture = page.list.viewport().grab().toImage()
        filled[chosen] = [
            row
            for row in (first, second)
            if picture.pixelColor(page.list.button_of(row).topLeft() + QPoint(8, 8)) == accent
        ]
    assert filled == {first: [first], second: [second]}
    page.switch.set_value("assistant")
    page.choose(ONE.id)
    await person.settle()
    box, picture = page.list.button_of(ONE.id), page.list.viewport().grab().toImage()
    assert picture.pixelColor(box.topLeft() + QPoint(8, 8)) != accent, "nobody is held back by chance"
    pace.slow = False
    await engine.stop(first)
    await engine.stop(second)


async def test_work_in_the_sidebar_leads_back_to_the_list_and_past_what_was_said(busy):
    person, pace = busy
    engine, toasts = person.window.controller.engine, person.window.toasts
    person.window.resize(900, 600)
    session_id = await engine.chats.start(ONE.id, "One")
    page = await shown(person)
    await until(lambda: session_id in page.list.ids())
    person.click_row("work_list", page.list.work.row_of(session_id))
    await until(lambda: person.sees("work_details") and not person.sees("work_list"))
    person.window.controller.show_session(session_id)
    said, undo = (
        toasts.show_toast("Paused before Jun's turn."),
        toasts.show_toast("Deleted.", "Undo", lambda: None),
    )
    await person.click("work_button")
    assert person.sees("work_list") and not person.sees("work_details")
    assert undo.isVisible() and not said.here, "it would lie over the buttons of the first rows"
    undo.leave()
    pace.slow = False
    await engine.stop(session_id)


async def test_today_ends_at_midnight(qapp, data_dir, wire_home, monkeypatch):  # noqa: F811
    async with at_window(data_dir) as person:
        usage, now = person.window.controller.engine.usage, datetime.now(UTC)
        spent = {"cost_usd": 0.75, "input_tokens": 1, "output_tokens": 1}
        usage.note(UsageEntry(message_id=new_id(), at=now.isoformat(), **spent))
        await shown(person)
        mode = person.window.top_bar.mode
        await until(lambda: mode.text() == "$0.75 today")
        # The clock of a place where midnight is in some seconds.
        over = datetime.now(UTC) + timedelta(seconds=3)
        monkeypatch.setenv("TZ", f"DAY+{over:%H:%M:%S}")
        time.tzset()
        try:
            await until(lambda: datetime.now(UTC) > over, seconds=10)
            await until(lambda: mode.text() == "", what="nothing of the new day")
        finally:
            monkeypatch.delenv("TZ")
            time.tzset()
