"""What an assistant does while it is busy, changed by a person: it counts at once, and cuts nothing."""

import json
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.definitions import Busy
from app.core.message import MessageState, Role
from app.core.session import Status
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.gui.test_work_page import MODEL, ONE, Pace, jobs, status
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

until = partial(app_driver.until, seconds=120.0)
WORDS = {"wait": "Wait", "queue": "Queue", "parallel": "Parallel", "reject": "Reject"}


@pytest.fixture
async def busy(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    """Give a person who looks at a slow assistant that works for one after the other, and the server's pace."""
    pace = Pace(seconds=2)  # Longer than it takes to choose and save twice.
    wire_servers["openai"].script(MODEL, pace)
    async with at_window(data_dir) as person:
        person.unfold_team()
        await person.window.controller.engine.assistants.save(ONE)
        await edit(person)
        yield person, pace


async def edit(person: Person) -> None:
    side = person.window.side_bar.assistants
    await until(lambda: ONE.id in side.ids())
    side.setFocus()
    side.setCurrentRow(side.ids().index(ONE.id))
    await person.press("assistant_list", Qt.Key.Key_F2)
    await until(lambda: person.sees("assistant_busy"))


def kept(person: Person) -> Busy | None:
    return person.window.controller.engine.assistants.find(ONE.id).busy


async def start(person: Person, *texts: str) -> list[str]:
    count = len(jobs(person))
    sessions = [await person.window.controller.engine.chats.start(ONE.id, text) for text in texts]
    await until(lambda: len(jobs(person)) == count + len(texts))
    return sessions


def at_work(person: Person) -> int:
    return sum(place is None for _, place in jobs(person))


@pytest.mark.slow
async def test_another_policy_counts_at_once_and_cuts_nothing_that_runs(busy):
    person, pace = busy
    sessions = await start(person, "One", "Two", "Three", "Four")
    assert at_work(person) == 1
    await person.choose("assistant_busy", WORDS["parallel"])
    person.find("assistant_busy_number").setValue(3)
    await until(lambda: kept(person) == Busy(strategy="parallel", limit=3, depth=3))
    await until(lambda: at_work(person) == 3)
    waits = [one for one in jobs(person) if one[1] is not None]
    await person.choose("assistant_busy", WORDS["reject"])
    await until(lambda: kept(person) == Busy(strategy="reject"))
    assert at_work(person) == 3, "a smaller limit has cut what runs"
    assert [one for one in jobs(person) if one[1] is not None] == waits, "what waits has lost its place"
    refused = await person.window.controller.engine.chats.start(ONE.id, "Five")
    await until(lambda: status(person, refused) == Status.IDLE)
    live = person.window.controller.engine.live(refused)
    [answer] = [one for one in live.messages if one.role == Role.ASSISTANT]
    assert (answer.state, answer.error.kind) == (MessageState.FAILED, "busy")
    pace.slow = False
    await until(lambda: all(status(person, one) == Status.IDLE for one in sessions))
    said = [person.window.controller.engine.live(one).messages[-1] for one in sessions]
    assert {(one.role, one.state) for one in said} == {(Role.ASSISTANT, "done")}


@pytest.mark.slow
async def test_another_role_brings_its_policy_at_once(busy):
    person, pace = busy
    person.find("assistant_busy").setFocus()
    await person.choose("assistant_busy", person.find("assistant_busy").itemText(0))
    await until(lambda: kept(person) is None)
    # An architect waits in turn; a tester does two things at once.
    sessions = await start(person, "One", "Two")
    assert at_work(person) == 1
    person.find("assistant_role").selectAll()
    QTest.keyClicks(person.find("assistant_role"), "QA")
    await until(lambda: at_work(person) == 2)
    assert "parallel" in person.find("assistant_busy").currentText()
    pace.slow = False
    await until(lambda: all(status(person, one) == Status.IDLE for one in sessions))


@pytest.mark.slow
async def test_each_strategy_shows_its_numbers_and_keeps_them(busy, data_dir):
    person, _ = busy
    number, depth = person.find("assistant_busy_number"), person.find("assistant_busy_depth")
    assert (number.value(), depth.isVisible()) == (5, False)
    number.setValue(0)
    await until(lambda: kept(person) == Busy(strategy="queue", depth=0))
    await person.choose("assistant_busy", WORDS["parallel"])
    assert (number.value(), depth.value(), number.minimum(), depth.isVisible()) == (2, 3, 1, True)
    number.setValue(4)
    depth.setValue(0)
    await until(lambda: kept(person) == Busy(strategy="parallel", limit=4, depth=0))
    assert {number.accessibleName(), depth.accessibleName()} == {"at once", "in the queue at most"}
    await person.choose("assistant_busy", WORDS["wait"])
    assert (number.value(), depth.isVisible()) == (60, False)
    number.setValue(5)
    await until(lambda: kept(person) == Busy(strategy="wait", timeout_s=5.0))
    document = json.loads((data_dir / "assistants" / f"{ONE.id}.json").read_text("utf-8"))
    assert document["busy"]["timeout_s"] == 5.0
    await person.choose("assistant_busy", WORDS["reject"])
    assert not number.isVisible() and not depth.isVisible()


async def test_none_that_may_wait_in_a_file_is_shown_as_none(busy):
    person, _ = busy
    policy = Busy(strategy="parallel", limit=2, depth=0)
    await person.window.controller.engine.assistants.save(replace(ONE, id="shy", name="Shy", busy=policy))
    side = person.window.side_bar.assistants
    await until(lambda: "shy" in side.ids())
    side.setCurrentRow(side.ids().index("shy"))
    await person.press("assistant_list", Qt.Key.Key_F2)
    depth = person.find("assistant_busy_depth")
    await until(lambda: depth.isVisible() and depth.value() == 0)
    assert person.window.controller.engine.assistants.find("shy").busy == policy


def failure(person: Person, session_id: str) -> str:
    live = person.window.controller.engine.live(session_id)
    return (
        next((one.error.kind for one in live.messages if one.state == MessageState.FAILED), "")
        if live
        else ""
    )


@pytest.mark.slow
async def test_what_has_waited_too_long_gives_up_and_says_so(busy):
    person, pace = busy
    engine = person.window.controller.engine
    await engine.assistants.save(replace(ONE, busy=Busy(strategy="wait", timeout_s=0.5)))
    [first] = await start(person, "One")
    second = await engine.chats.start(ONE.id, "Two")
    await until(lambda: failure(person, second) == "timed_out")
    assert (status(person, first), at_work(person), len(jobs(person))) == ("running", 1, 1)
    person.window.controller.show_session(second)
    words = person.window.language("failure.timed_out")
    await until(lambda: any(words in one for one in person.transcript("transcript")), what=words)
    pace.slow = False
    await engine.chats.retry(second, engine.live(second).messages[-1].id)
    await engine.stop(first)
    await until(lambda: status(person, second) == Status.IDLE and not jobs(person))
    assert engine.live(second).messages[-1].state == "done", "free again, it answers"


@pytest.mark.slow
async def test_several_at_once_then_a_queue_then_no_more(busy):
    person, pace = busy
    engine = person.window.controller.engine
    await engine.assistants.save(replace(ONE, busy=Busy(strategy="parallel", limit=2, depth=1)))
    sessions = await start(person, "One", "Two", "Three")
    assert [place for _, place in jobs(person)] == [None, None, 0]
    fourth = await engine.chats.start(ONE.id, "Four")
    await until(lambda: failure(person, fourth) == "queue_full")
    assert at_work(person) == 2
    pace.slow = False
    await engine.stop(sessions[0])
    await until(lambda: all(status(person, one) == Status.IDLE for one in sessions[1:]))
    assert status(person, sessions[0]) == Status.STOPPED
    assert engine.live(sessions[2]).messages[-1].state == "done"
