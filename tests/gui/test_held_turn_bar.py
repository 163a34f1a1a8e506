"""A turn that holds a debate up: the ways on are offered where it is said, and work by key and by mouse."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.core.council import Participant
from app.engine.engine import DebateSetup
from app.gui.panels.debate.discussion_view import DiscussionView
from tests.app_driver import Person, until
from tests.gui.seen import saying
from tests.gui.test_discussion_view import person
from tests.repeats import slow_after
from tests.wire import Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["person", "wire_home", "wire_servers"]

REFUSED = Fault("rate429", retry_after=100.0)
PATIENCE_S = 60.0
KINDS = ("openai", "anthropic", "gemini")


async def start(person: Person, *kinds: str) -> DiscussionView:
    """Start a debate of one round and show it in the panel."""
    names = {"openai": "R&D", "anthropic": "Claude, who is careful with every single word", "gemini": "Gem"}
    seats = tuple(
        Participant(id=kind, name=names[kind], provider=kind, model=f"{kind}-wire") for kind in kinds
    )
    desk = person.window.controller
    session_id = await desk.engine.debates.start(
        DebateSetup(topic="Should we rewrite the parser?", participants=seats, rounds=1)
    )
    person.window.top_bar.debate_button.setChecked(True)
    await desk.debates.show_discussion(session_id)
    return desk.panel.discussion


def states(view: DiscussionView) -> list[tuple[str, str]]:
    return [(one.author.id, one.state) for one in view.messages]


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_turn_that_waits_is_skipped_by_key(person: Person, wire_home: dict[str, WireServer]) -> None:
    wire_home["openai"].script("openai-wire", lambda _: REFUSED)
    view = await start(person, *KINDS)
    await until(lambda: person.sees("debate_skip_turn"), PATIENCE_S)
    assert saying(view.controls, "R&D")
    retry, skip, without = (
        person.find(name, QPushButton)
        for name in ("debate_retry_now", "debate_skip_turn", "debate_without_1")
    )
    assert [one.text() for one in (retry, skip, without)] == [
        "Retry now", "Skip this turn", "Continue without R&&D",
    ]  # fmt: skip
    assert without.accessibleName() == "Continue without R&D"
    view.controls.stop.setFocus()
    await person.press("debate_stop", Qt.Key.Key_Tab)
    assert person.window.focusWidget() is retry
    await person.press("debate_retry_now", Qt.Key.Key_Tab)
    await person.press("debate_skip_turn", Qt.Key.Key_Space)
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert states(view) == [("openai", "failed"), ("anthropic", "done"), ("gemini", "done")]
    assert saying(view.controls, "1 turn failed.")
    assert not person.sees("debate_skip_turn")


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_turn_that_waits_is_tried_at_once_and_its_wait_is_seen_by_who_comes_later(
    person: Person,
    wire_home: dict[str, WireServer],
) -> None:
    wire_home["openai"].script("openai-wire", [REFUSED])
    view = await start(person, *KINDS)
    await until(lambda: person.sees("debate_retry_now"), PATIENCE_S)
    typing, waiting = view.transcript.typing, view.session_id
    assert "next try" in typing.waiting_text()
    light = typing._speaker
    person.window.controller.settings.change({"theme": "dark"})
    await until(lambda: typing._speaker.background != light.background, what="the colours of the theme")
    other = await start(person, "anthropic", "gemini")
    await until(lambda: other.session.status == "completed", PATIENCE_S)
    assert not person.sees("debate_retry_now")
    await person.window.controller.debates.show_discussion(waiting)
    await until(lambda: person.sees("debate_retry_now"))
    view.controls._retry_at = 0.0
    await until(lambda: not person.sees("debate_retry_now"), what="the countdown to end")
    await until(lambda: "next try" not in typing.waiting_text(), what="the words to go with it")
    await person.window.controller.engine.debates.held.retry(waiting)
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert states(view) == [(kind, "done") for kind in KINDS]


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("language", slow_after(1, [("ko",), ("en",)]))
async def test_a_debate_that_failed_turns_paused_goes_on_without_one_of_them(
    person: Person,
    wire_home: dict[str, WireServer],
    language: str,
) -> None:
    person.window.language.choose(language)
    for kind in KINDS[:2]:
        wire_home[kind].script(f"{kind}-wire", [Fault("e500", retry_after=500.0)])
    view = await start(person, *KINDS)
    await until(lambda: person.sees("debate_without_2"), PATIENCE_S)
    without = person.find("debate_without_2", QPushButton)
    assert (
        without.text()
        == {
            "en": "Continue without Claude, who i…",
            "ko": "Claude, who i… 빼고 재개",
        }[language]
    )
    assert "every single word" in without.accessibleName() and "every single word" in without.toolTip()
    await until(lambda: view.controls.held.rect().contains(without.geometry()))
    await person.click("debate_without_2")
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert states(view)[2:] == [("openai", "done"), ("gemini", "done")]
    left_out = {"en": "every single word left out · ", "ko": "every single word 중도 제외 · "}[language]
    assert saying(view.controls, left_out)
    desk = person.window.controller
    desk.show_session(view.session_id)
    await until(desk.panel.summary.isVisible, what="the debate beside its page")
    beside = [one.accessibleName() for one in desk.panel.summary.findChildren(QWidget)]
    assert sum({"en": ", left out", "ko": ", 제외됨"}[language] in one for one in beside) == 1
    assert not person.sees("debate_retry_now")


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_two_are_not_offered_to_go_on_alone(person: Person, wire_home: dict[str, WireServer]) -> None:
    wire_home["openai"].script("openai-wire", lambda _: Fault("rate429", retry_after=500.0))
    view = await start(person, "openai", "anthropic")
    await until(lambda: view.session.status == "paused", PATIENCE_S)
    await until(lambda: person.sees("debate_skip_turn"))
    assert view.controls.held.without == []
    wire_home["openai"].script("openai-wire", ["Here I am."])
    await person.click("debate_retry_now")
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert states(view) == [("openai", "done"), ("anthropic", "done")]


@pytest.mark.timeout(180)
async def test_a_single_failed_turn_is_taken_again_from_its_row(
    person: Person,
    wire_home: dict[str, WireServer],
) -> None:
    wire_home["openai"].script("openai-wire", [Fault("e500", retry_after=500.0)])
    wire_home["gemini"].script("gemini-wire", lambda _: REFUSED)
    view = await start(person, *KINDS)
    await until(lambda: person.sees("debate_skip_turn"), PATIENCE_S)
    failed = next(one for one in view.messages if one.state == "failed")
    view.transcript.action_requested.emit(failed.id, "retry")
    await until(lambda: ("openai", "done") in states(view), PATIENCE_S)
    await person.window.controller.engine.stop(view.session_id)


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_turn_is_copied_and_forked_by_the_buttons_over_it(person: Person) -> None:
    view = await start(person, *KINDS)
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    view.controls.side_chosen.emit("discussion")
    first = view.transcript.message_ids[0]
    rect = view.transcript.message_rect(first)
    QTest.mouseMove(view.transcript.viewport(), rect.center())
    bar = view.transcript.action_bar
    await until(lambda: bar.message_id == first)
    assert [one.objectName() for one in bar.findChildren(QWidget) if one.isVisible()] == [
        "message_copy", "message_fork",
    ]  # fmt: skip
    await person.click("message_copy")
    assert QApplication.clipboard().text() == next(one.content for one in view.messages if one.id == first)
    before = view.session_id
    await person.click("message_fork")
    await until(lambda: view.session_id != before and view.session.status == "paused")
    assert [one.content for one in view.messages] == [QApplication.clipboard().text()]
