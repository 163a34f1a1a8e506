"""Discussion: a debate over the real wire, seen, paused, stepped into, stopped, and found again."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea

from app.core.council import Participant
from app.core.draft import Draft
from app.core.errors import Failure
from app.core.events import RetryScheduled
from app.core.message import Attachment, Author, CouncilPart, Message
from app.core.session import Debate, DebateMode, DebateSession
from app.engine.engine import DebateSetup
from app.gui.widgets.badge import Chip
from app.gui.widgets.text import Paragraph
from tests.app_driver import Person, at_window, until
from tests.gui.seen import saying, texts_in
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

PATIENCE_S = 60.0


def seats(*kinds: str) -> tuple[Participant, ...]:
    return tuple(
        Participant(id=kind, name=kind.title(), provider=kind, model=f"{kind}-wire", role="for")
        for kind in kinds
    )


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person


async def start(person: Person, *kinds: str, rounds: int = 1) -> str:
    setup = DebateSetup(
        topic="Should we rewrite the parser?",
        participants=seats(*kinds),
        mode=DebateMode.ROLES,
        rounds=rounds,
    )
    desk = person.window.controller
    desk.debates.show_setup()
    session_id = await desk.engine.debates.start(setup)
    await desk.debates.show_discussion(session_id)
    return session_id


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_debate_runs_to_its_end_and_is_read_everywhere(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", ["The old parser *must* go."])
    wire_servers["anthropic"].script("anthropic-wire", ["It has served us well."])
    await start(person, "openai", "anthropic")
    assert person.window.controller.panel.tabs.current() == 1
    view = person.window.controller.panel.discussion
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    await until(lambda: len(person.transcript()) == 2)
    first, second = person.transcript()
    assert "Openai" in first and "The old parser must go." in first
    assert "Anthropic" in second and "It has served us well." in second
    assert not person.sees("debate_pause")
    assert not person.sees("debate_stop")
    # A message after the end begins a what-if round.
    assert view.composer.isVisible() and view.composer.box.hasFocus()
    assert person.sees("debate_again")
    assert not any("$" in text for text in texts_in(view.controls, Chip))
    assert saying(view.controls, " turns").startswith("2 participants · 1 round · 2 turns")
    await until(lambda: person.window.controller.panel.history.list.model().rowCount() == 1)
    person.window.controller.show_session(view.session_id)
    await until(lambda: person.window.controller.session_page.isVisible())
    await until(lambda: len(person.transcript()) == 2)
    person.choose_from("decision_more", "New debate on this topic…")
    panel = person.window.controller.panel
    # It was chosen in the main area, so Setup opens there.
    await until(panel.setup.isVisible)
    assert not panel.isAncestorOf(panel.setup)
    assert panel.setup.topic.text() == "Should we rewrite the parser?"


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_stepping_in_pausing_and_going_on(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", [Answer("One two three four five six seven", pace=0.15)])
    await start(person, "openai", "anthropic", rounds=2)
    await until(person.transcript, PATIENCE_S)
    await person.write("debate_interject", "Two weeks at most.")
    await person.press("debate_interject", Qt.Key.Key_Return)
    await person.click("debate_pause")
    view = person.window.controller.panel.discussion
    assert view.controls.pause.text() == "Pause now"
    await until(lambda: view.session.status == "paused", PATIENCE_S)
    assert any("paused" in text.lower() for text in texts_in(view.controls))
    # The key that paused must not end the debate when it is pressed again.
    assert person.window.focusWidget() is view.controls.resume
    assert any("Two weeks at most." in line for line in person.transcript())
    await person.click("debate_resume")
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    asked = wire_servers["anthropic"].requests[0].body
    assert "Two weeks at most." in str(asked)


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_long_paste_is_attached_to_what_the_user_says_in_a_debate(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", [Answer("One two three four five six seven", pace=0.15)])
    await start(person, "openai", "anthropic")
    await until(person.transcript, PATIENCE_S)
    view, long = person.window.controller.panel.discussion, QMimeData()
    long.setText("The parser has 4,000 lines. " * 200)
    view.composer.box.insertFromMimeData(long)
    assert view.composer.box.toPlainText() == "" and person.find("debate_send").isEnabled()
    await person.click("attachment_remove_1")
    assert not person.find("debate_send").isEnabled()
    await person.click("toast_action")
    await person.press("debate_interject", Qt.Key.Key_Return)
    assert view.draft == Draft()
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert long.text().strip() in str(wire_servers["anthropic"].requests[0].body)
    assert any("Pasted text.txt" in line for line in person.transcript())


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_stop_closes_the_request_and_keeps_the_words(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", [Answer("word " * 400, pace=0.05)])
    await start(person, "openai", "anthropic")
    await until(lambda: any("word" in line for line in person.transcript()), PATIENCE_S)
    await person.click("debate_stop")
    view = person.window.controller.panel.discussion
    await until(lambda: view.session.status == "stopped")
    server = wire_servers["openai"]
    assert await asyncio.to_thread(server.wait_for, lambda: server.requests[0].closed_at is not None, 5.0)
    assert "word" in person.transcript()[0]


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_closing_the_panel_stops_nothing_and_quitting_pauses(qapp, data_dir, wire_home, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", [Answer("word " * 600, pace=0.05)])
    async with at_window(data_dir) as person:
        session_id = await start(person, "openai", "anthropic")
        await until(person.transcript, PATIENCE_S)
        await person.click("panel_close")
        assert not person.window.controller.panel.isVisible()
        grown = len(person.transcript()[0])
        await until(lambda: len(person.transcript()[0]) > grown)
        await person.click("debate_button")
    async with at_window(data_dir) as person:
        view = person.window.controller.panel.discussion
        await until(lambda: view.session_id == session_id, what="the debate of last time")
        assert view.session.status == "paused"
        assert person.sees("debate_resume")
        await until(lambda: "word" in person.transcript()[0])


@pytest.mark.slow
async def test_a_retry_is_counted_down(person):
    controls = person.window.controller.panel.discussion.controls
    seat = seats("openai", "anthropic")
    session_id = await person.window.controller.engine.debates.start(
        DebateSetup(topic="T?", participants=seat, rounds=1)
    )
    live = await person.window.controller.engine.open(session_id)
    view = person.window.controller.panel.discussion
    person.window.controller.debates.show_setup()
    person.window.controller.panel.show_discussion()
    view.show_session(live.session, [])
    author = Author(id="openai", name="Openai", kind="participant")
    view.show_retry(
        RetryScheduled(session_id=session_id, turn_id="t", author=author, seconds=9.6, reason="rate_limit")
    )
    assert saying(controls, "in 10 s").startswith("Retrying Openai in 10 s")
    # What looks for options beside the turns does not end it.
    beside = {"id": "o", "turn_id": "o", "role": "assistant", "part": CouncilPart.DIFFERENCES}
    view.show_message(Message(author=Author(id="o", name="x", kind="helper"), **beside))
    assert saying(controls, "Retrying Openai")
    controls.end_retry()
    assert not saying(controls, "Retrying Openai")
    fault = {"seconds": 3.6, "reason": "overloaded", "repeat": 2, "repeats": 3}
    view.show_retry(RetryScheduled(session_id=session_id, turn_id="t", author=author, **fault))
    assert saying(controls, "Openai: Asked again").startswith("Openai: Asked again (2 of 3) in 4 s.")
    assert not person.sees("debate_retry_now")
    await person.window.controller.engine.stop(session_id)


async def test_without_a_debate_there_is_one_sentence_and_one_button(person):
    person.window.controller.debates.show_setup()
    person.window.controller.panel.show_discussion()
    assert person.sees("debate_empty")
    await person.click("debate_empty")
    assert person.window.controller.panel.tabs.current() == 0


@pytest.mark.slow
async def test_a_message_that_failed_for_its_key_leads_to_the_settings_of_its_provider(person):
    message = Message(
        id="m",
        turn_id="t",
        role="assistant",
        author=Author(id="anthropic", name="Claude", kind="participant"),
        state="failed",
        error=Failure(kind="authentication"),
        round=1,
    )
    session = DebateSession(
        id="s",
        title="T",
        status="paused",
        debate=Debate(topic="T", participants=seats("openai", "anthropic")),
    )
    view = person.window.controller.panel.discussion
    person.window.controller.debates.show_setup()
    person.window.controller.panel.show_discussion()
    view.show_session(session, [message])
    await person.settle()
    rect = view.transcript.canvas.row(0).action_rects[0][1]
    point = rect.center() + QPoint(0, view.transcript.canvas.placed[0].top)
    QTest.mouseClick(view.transcript.viewport(), Qt.MouseButton.LeftButton, pos=point)
    await until(lambda: person.sees("settings_page"))
    assert person.find("settings_page").page("providers").page().provider_id == "anthropic"
    person.find("settings_close").click()
    await person.settle()


@pytest.mark.slow
async def test_a_bar_with_nowhere_to_go_shows_no_handle(person):
    view = person.window.controller.panel.discussion
    person.window.controller.debates.show_setup()
    person.window.controller.panel.show_discussion()
    session = DebateSession(
        id="s",
        title="T",
        status="paused",
        debate=Debate(topic="T", participants=seats("openai", "anthropic")),
    )
    author = Author(id="openai", name="GPT", kind="participant")
    short = Message(id="m", turn_id="t", role="assistant", author=author, content="Yes.", round=1)
    view.show_session(session, [short])
    await person.settle()
    assert not view.transcript.verticalScrollBar().isEnabled()
    view.show_session(session, [replace(short, content="Yes. " * 3_000)])
    await person.settle()
    assert view.transcript.verticalScrollBar().isEnabled()


@pytest.mark.slow
async def test_the_topic_stands_at_the_top_and_unfolds_with_its_files(person):
    topic = "Should we rewrite the parser? " * 30
    files = (Attachment(name="notes.md", text="x" * 8_000),)
    session = DebateSession(
        id="01hzzzzzzzzzzzzzzzzzzzzzzz",
        title="Should we rewrite the parser?",
        status="paused",
        debate=Debate(topic=topic, participants=seats("openai", "anthropic"), context=files),
    )
    page = person.window.controller.session_page
    page.show_session(session, [])
    person.window.main_area.setCurrentWidget(page)
    card = page.topic
    whole, text = card.findChild(QScrollArea), card.findChild(Paragraph)
    assert person.sees("debate_topic_card") and not whole.isVisible()
    assert texts_in(card)[0].startswith("Should we") and texts_in(card)[1:] == ["1 file"]
    await person.click("debate_topic_card_toggle")
    await person.settle()
    assert text.text() == topic and whole.isVisible()
    assert whole.height() >= text.heightForWidth(text.width())
    assert "notes.md · 2.0k tokens" in texts_in(card)
    wide = whole.height()
    person.window.resize(900, 600)
    person.window.show_side(True)
    await until(lambda: whole.height() > wide)
    assert whole.height() >= text.heightForWidth(text.width())
    person.window.resize(1440, 900)
    await until(lambda: whole.height() == wide)
    page.show_session(replace(session, debate=replace(session.debate, topic="Tabs?")), [])
    assert not whole.isVisible()
