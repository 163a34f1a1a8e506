"""The frame of a debate's page: its steps, its bar, the keyboard, and the names that it bears in front alone."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget

from app.core.session import Council, DebateSession
from app.gui.pages.council.decision_steps import DEBATE, DECISION, MARGIN, VERDICT, VOTES, StepButton
from app.gui.panels.debate.discussion_view import DebatePage
from app.gui.widgets.boxes import stops_in
from app.gui.widgets.controls import MenuButton
from tests.app_driver import Person, at_window, until
from tests.gui.seen import inside
from tests.gui.test_council_page import ended, opened, script
from tests.gui.test_council_verdict import texts
from tests.gui.test_verdict_view import a_session, hold, votes
from tests.gui.test_verdict_view import script as script_debate
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]


def show(person: Person, session: DebateSession, messages) -> DebatePage:  # type: ignore[no-untyped-def]
    """Show a debate in the main area."""
    page = person.window.controller.session_page
    page.show_session(session, messages)
    page.open_first_step()
    person.window.main_area.setCurrentWidget(page)
    person.window.controller.pages.follow(page)
    return page


def counts(page: DebatePage) -> list[str]:
    """Return what stands beside each step, in grey where it is shut."""
    return [
        shown.accessibleName() + ("" if shown.isEnabled() else " (shut)")
        for shown in page.steps.findChildren(StepButton)
    ]


async def test_a_debate_has_the_steps_it_can_reach(qapp, data_dir) -> None:  # type: ignore[no-untyped-def]
    session, said = a_session(council=Council(differences=False, judges=("openai/x",)))
    running = DebateSession(id="s", title="T", status="running", debate=session.debate)
    async with at_window(data_dir) as person:
        page = show(person, running, said)
        assert counts(page) == ["1 Debate 2 turns", "2 Votes (shut)", "3 Verdict", "4 Decision"]
        assert person.find("segment_votes").accessibleDescription() == "All vote in secret after a debate"
        page.show_session(session, [*said, *votes((0, 0), (0, 1))])
        page.open_first_step()
        await person.settle()
        assert counts(page) == ["1 Debate 2 turns", "2 Votes 2", "3 Verdict 1", "4 Decision"]
        keys = [one.key().toString() for one in page.steps.findChildren(QShortcut)]
        assert keys == ["Alt+1", "Alt+2", "Alt+3", "Alt+4"]
        for key, step, seen in (
            (Qt.Key.Key_1, DEBATE, "debate_transcript"),
            (Qt.Key.Key_2, VOTES, "council_before_after"),
            (Qt.Key.Key_4, DECISION, "decision_keep"),
            (Qt.Key.Key_3, VERDICT, "debate_stances"),
        ):
            QTest.keyClick(person.window, key, Qt.KeyboardModifier.AltModifier)
            await person.settle()
            assert page.steps.value() == step and person.sees(seen), step
            assert person.sees("debate_interject"), "the input is never away"


async def test_votes_and_verdict_show_each_its_own_and_the_form_stands_beside_the_verdict(
    qapp, data_dir
) -> None:  # type: ignore[no-untyped-def]
    session, said = a_session(council=Council(differences=False, judges=("openai/x",)))
    parts = ("council_before_after", "debate_stances", "council_verdict", "decision_keep", "verdict_decision")
    async with at_window(data_dir) as person:
        page = show(person, session, [*said, *votes((0, 0), (0, 1))])

        async def seen(key: Qt.Key) -> list[bool]:
            QTest.keyClick(person.window, key, Qt.KeyboardModifier.AltModifier)
            await person.settle(0.2)
            return [person.sees(part) for part in parts]

        assert await seen(Qt.Key.Key_2) == [True, True, False, False, False]
        card = person.find("council_before_after")
        assert (card.mapTo(page, card.rect().topLeft()).x(), card.width()) == (MARGIN, 760)
        assert await seen(Qt.Key.Key_3) == [True, True, True, True, False]
        # The votes stand at the right of the verdict, and the form below them.
        verdict, card, form = (
            QRect(one.mapTo(page, one.rect().topLeft()), one.size())
            for one in (page.verdict, person.find("council_before_after"), person.find("decision_form"))
        )
        assert card.left() >= verdict.right() and card.top() == verdict.top() + 12
        assert (form.left(), form.width()) == (card.left(), card.width()) and 360 <= card.width() <= 460
        assert form.top() == card.bottom() + 1 + 12
        assert await seen(Qt.Key.Key_4) == [False, False, False, True, False]
        form = person.find("decision_form")
        assert form.width() == 560, "by itself it is as wide as it reads well"
        assert await seen(Qt.Key.Key_3) == [True, True, True, True, False]
        # Where there is no room a button leads to it.
        person.window.resize(900, 600)
        assert await seen(Qt.Key.Key_3) == [True, True, True, False, True]
        assert await seen(Qt.Key.Key_2) == [True, True, False, False, False]


async def test_the_bar_is_one_row_that_holds_what_is_next(qapp, data_dir) -> None:  # type: ignore[no-untyped-def]
    session, said = a_session()
    running = DebateSession(id="s", title="T", status="running", debate=session.debate)
    async with at_window(data_dir) as person:
        page = show(person, running, said)
        await person.settle(0.2)
        row = [page.controls.pause, page.controls.stop, page.composer]
        assert [one.isVisible() for one in row] == [True] * 3
        assert not page.next.isVisible() and not page.more.isVisible()
        assert {one.height() for one in row} == {40}
        assert len({one.mapTo(page, one.rect().bottomLeft()).y() for one in row}) == 1
        paused = DebateSession(
            id="s", title="T", status="paused", reason="two_failures", debate=session.debate
        )
        page.show_change(paused)
        row = [page.controls.pause, page.controls.resume, page.controls.stop, page.composer]
        person.find("debate_button").setChecked(True)  # type: ignore[attr-defined]
        for width in (1440, 900):
            person.window.resize(width, 600)
            await person.settle(0.2)
            assert page.layout().minimumSize().width() <= page.width(), width
            assert page.composer.box.width() >= 60
            assert all(page.rect().contains(one.mapTo(page, one.rect().center())) for one in row), width
        names = [one.objectName() for one in stops_in(page) if one.isVisible() and one.isEnabled()]
        at = names.index("debate_resume")
        assert names[at : at + 3] == ["debate_resume", "debate_stop", "debate_interject"]


@pytest.mark.parametrize(("language", "at"), [("en", "1 of 4 Debate"), ("ko", "1/4 토론")])
async def test_a_narrow_debate_has_a_menu_of_the_steps(qapp, data_dir, language, at) -> None:  # type: ignore[no-untyped-def]
    session, said = a_session()
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        person.window.show_side(True)
        page = show(person, session, said)
        person.find("debate_button").setChecked(True)  # type: ignore[attr-defined]
        await person.settle(0.3)
        assert (
            not person.sees("segment_debate") and inside(page.steps, "decision_step").accessibleName() == at
        )
        menu = inside(page.steps, "decision_step", MenuButton).choices
        menu.aboutToShow.emit()
        entries = menu.actions()
        assert [one.isChecked() for one in entries] == [step == DEBATE for step in DebatePage.STEPS]
        entries[2].trigger()
        assert page.steps.value() == VERDICT and page.verdict.isVisible()


async def test_a_verdict_is_asked_for_by_the_next_step(person: Person, wire_servers) -> None:  # type: ignore[no-untyped-def]
    for server in wire_servers.values():
        script_debate(server)
    page = await hold(person, polls=False)
    asks = person.find("decision_next")
    assert asks.isVisible() and asks.accessibleName() == "Ask for a verdict"
    await person.click("decision_next")
    # The first judge of the list, a model outside, answers what cannot be read: that is seen.
    assert page.steps.value() == VERDICT
    failed = "No judge: The model’s answer was not in the form that was asked for."
    await until(lambda: failed in texts(page.verdict), 60.0, what="why there is none")
    person.choose_from("decision_more", "Openai · openai-wire")
    await until(lambda: counts(page)[2] == "3 Verdict 1", 60.0, what="the verdict")
    await until(lambda: "came to the same result" in texts(page.verdict), what="how reliable it is")
    await until(lambda: not asks.isVisible(), what="no other step")
    assert person.sees("verdict_band")


async def test_a_fork_behind_the_last_turn_says_that_a_message_begins_a_round(
    person: Person, wire_servers
) -> None:  # type: ignore[no-untyped-def]
    for server in wire_servers.values():
        script_debate(server)
    page = await hold(person, polls=False)
    last, first = page.transcript.message_ids[-1], page.session_id
    page.fork_requested.emit(first, last)
    await until(lambda: page.session_id not in ("", first), what="the fork")
    assert page.session is not None and page.session.status == "paused"
    box = page.composer.box
    await until(
        lambda: box.accessibleName().startswith("What if…? Everyone speaks once more."), what="the words"
    )
    # One from the middle goes on with its turns.
    page.fork_requested.emit(page.session_id, page.transcript.message_ids[0])
    second = page.session_id
    await until(lambda: page.session_id not in ("", second), what="the second fork")
    await until(lambda: box.accessibleName().startswith("Write to everyone."), what="the other words")


async def test_the_page_in_front_alone_bears_the_names(person: Person, wire_home) -> None:  # type: ignore[no-untyped-def]
    script(wire_home)
    council = await opened(person)
    await ended(council)

    def bearers(name: str) -> list[QWidget]:
        return person.window.findChildren(QWidget, name)

    names = ("decision_page", "decision_steps", "decision_next", "decision_more", "segment_verdict")
    for page in (council, show(person, *a_session()), council):
        person.window.main_area.setCurrentWidget(page)
        await person.settle()
        assert [len(bearers(name)) for name in names] == [1] * len(names)
        assert all(page is one or page.isAncestorOf(one) for name in names for one in bearers(name))


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # type: ignore[no-untyped-def]
    async with at_window(data_dir) as person:
        yield person


@pytest.mark.slow
async def test_a_blind_pick_is_offered_before_the_verdict_of_a_debate_is_read(
    person: Person, wire_servers
) -> None:  # type: ignore[no-untyped-def]
    for server in wire_servers.values():
        script_debate(server)
    page = await hold(person, offers=True)
    await until(lambda: person.sees("blind_start"), 60.0, what="the offer")
    assert page.steps.value() == VERDICT and not page.verdict.isVisible()
    assert page.session is not None and page.session.debate.council is not None
    assert not page.session.debate.council.read_at, "what is not shown is not read"
    await person.click("blind_close")
    await until(lambda: page.verdict.isVisible(), what="the verdict")
    await until(lambda: bool(page.session.debate.council.read_at), what="that it was read")
    # Later it is below the verdict, and in the menu; it is not blind any more.
    assert "blind_card" in [one.objectName() for one in page.verdict.findChildren(QWidget)]
    page.more.choices.aboutToShow.emit()
    assert "council_blind" in [one.objectName() for one in page.more.choices.actions()]
    await person.click("blind_open")
    assert page.blind.isVisible() and not page.verdict.isVisible()
    assert "not blind" in texts(page.blind) or "no longer blind" in texts(page.blind)


@pytest.mark.slow
async def test_while_another_judge_reads_the_offer_stays_and_the_verdict_before_is_unread(
    person: Person, wire_servers
) -> None:  # type: ignore[no-untyped-def]
    for server in wire_servers.values():
        script_debate(server)
    page = await hold(person, offers=True)
    await until(lambda: person.sees("blind_start"), 60.0, what="the offer")
    seen: list[bool] = []
    page.verdict.read.connect(lambda: seen.append(True))
    page.more.choices.aboutToShow.emit()
    judges = page.more.choices.findChild(QMenu, "judges_menu")
    assert judges is not None
    judges.actions()[0].trigger()
    council = lambda: page.session.debate.council  # noqa: E731
    await until(lambda: council().judged == 1, what="the wish for another verdict")
    assert person.sees("blind_offer") and not person.sees("blind_start"), "nothing can be picked meanwhile"
    await ended(page)
    await until(lambda: person.sees("blind_start"), what="the offer of the verdict that came")
    assert page.steps.value() == VERDICT and not seen and not council().read_at
