"""The page of a council's verdict: what leads, what the minority holds, what it took; and the judge that is chosen before."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QMenu, QWidget

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL
from app.core.council import ANY_JUDGE, Ends, Participant
from app.core.message import Attachment, CouncilPart
from app.core.session import DebateMode
from app.engine.engine import CouncilSetup, DebateSetup
from app.gui.controllers.debates import OFFERS_BLIND
from app.gui.pages.council.council_page import CouncilPage
from app.gui.pages.council.decision_steps import ANSWERS, DEBATE, DECISION, DIFFERENCES, STEPS, VERDICT, VOTES
from app.gui.pages.council.verdict_page import ClaimRow
from app.gui.pages.council.vote_chart import VoteChart
from app.gui.panels.debate.cited_text import CitedText
from app.gui.widgets.text import ElidedLabel, Paragraph
from app.providers.model_file import find_model
from tests.app_driver import Person, at_window
from tests.gui.seen import inside, saying, texts_in
from tests.gui.test_council_page import (
    HOLDS,
    QUESTION,
    SAYS,
    ask,
    compared,
    ended,
    heard,
    judged,
    offered,
    opened,
    read,
    three,
    until,
)
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]


def reply(kind: str, text: str) -> str:
    """Argue with one who stays with what it holds."""
    if "Compare their answers" in text:
        return compared(text)
    if "You judge a question" in text:
        return judged(text)
    if "Write your dissent" in text:
        return 'Nobody has shown that forty laptops write at once.\n@@ {"right_if": "a day of logs shows fewer than 20 writers"}'
    letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
    if "Open, each with its letter" in text or "secret ballot" in text:
        said = json.dumps({"choice": letters[HOLDS[kind]], "confidence": 82, "moved_by": []})
        return said if "secret ballot" in text else f"The peak is the point.\n@@ {said}"
    quotes = " “Forty laptops sync at night” and “nobody ever waits for it”." * (
        "sync.md" in text and kind == "gemini"
    )
    return f"{SAYS[kind]}{quotes}\n@@ " + json.dumps({"answer": HOLDS[kind], "confidence": 70})


@pytest.fixture
async def person(qapp, data_dir, wire_home: dict[str, WireServer]):
    for kind in SAYS:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: reply(kind, one.messages[-1].text))
    async with at_window(data_dir) as person:
        yield person


def texts(page: QWidget) -> str:
    """Return all that the verdict says, with what screen readers are told."""
    parts = [
        one.text() for kind in (Paragraph, CitedText) for one in page.findChildren(kind) if one.isVisible()
    ]
    return "\n".join([*parts, *(one.accessibleName() for one in page.findChildren(QWidget))])


async def shot(person: Person, name: str) -> None:
    if folder := os.environ.get("COUNCIL_SHOTS"):
        await person.settle(0.3)
        person.window.grab().save(str(Path(folder) / f"{name}.png"))


async def debated(person: Person) -> CouncilPage:
    page = await heard(person)
    await debate(person, page)
    return page


async def debate(person: Person, page: CouncilPage) -> None:
    await ask(person, "council_debate")
    await until(lambda: page.session is not None and page.session.status == "running")
    await ended(page)
    if not page.session.debate.council.read_at:  # type: ignore[union-attr]
        await read(person)


@pytest.mark.slow
async def test_claims_say_who_holds_and_denies_them_and_lead_to_where_that_was_said(person: Person) -> None:
    page = await opened(person)
    steps = {name: person.find(f"segment_{name}") for name in STEPS}
    await ended(page)
    assert [name for name, one in steps.items() if one.isEnabled()] == [ANSWERS, DIFFERENCES, DECISION]
    assert steps[VERDICT].toolTip() == "The verdict follows after a debate · at most 14 calls"
    assert page.box.next.text() == "Debate what is open · at most 14 calls"
    await debate(person, page)
    assert offered(page)["debate"].startswith("Debate 2 more rounds")
    assert all(one.isEnabled() for one in steps.values())
    assert [one.accessibleName() for one in steps.values()] == [
        "1 Answers 3",
        "2 Differences 2",
        "3 Debate 3 turns",
        "4 Votes 3",
        "5 Verdict 1",
        "6 Decision",
    ]
    done = [name for name, one in steps.items() if one.accessibleDescription() == "done"]
    assert done == [ANSWERS, DIFFERENCES, DEBATE, VOTES, VERDICT]
    # Left of the verdict by the keyboard.
    steps[VERDICT].setFocus()
    QTest.keyClick(person.find("council_tabs"), Qt.Key.Key_Left)
    assert page.steps.value() == VOTES and page.verdict.isVisible()
    await person.settle()
    assert person.sees("council_before_after") and not person.sees("council_verdict")
    page.steps.set_value(DIFFERENCES)
    assert page.differences.isVisible() and not page.verdict.isVisible()
    await shot(person, "claims")
    rows = page.differences.findChildren(ClaimRow)
    await until(lambda: len(rows) == 4 and all(one.isVisible() for one in rows), what="the rows")
    question, _, queue, reports = rows
    assert question.accessibleName() == (
        "Do more than 20 laptops write in the same second?. Would settle it: a day of sync logs. yes: GPT, Gemini · no: Claude"
    )
    assert queue.accessibleName() == "A queue drains 40 batches in seconds. held by Claude · denied by GPT"
    assert "held by GPT, Gemini" in reports.accessibleName() and "own" not in texts(page.differences)
    assert "Facts without support" in [one.text() for one in page.differences.findChildren(QLabel)]
    question.setFocus()
    QTest.keyClick(question, Qt.Key.Key_Down)
    QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Down)
    assert person.window.focusWidget() is queue
    QTest.keyClick(queue, Qt.Key.Key_Return)
    assert page.steps.value() == ANSWERS and person.window.focusWidget() is page.columns.all["p1"].transcript
    # A statement of a round stands in the discussion.
    turn = next(one.id for one in page.messages if one.part == "turn" and one.author.id == "p1")
    page.verdict.cite_requested.emit(turn)
    assert page.steps.value() == DEBATE and page.transcript.isVisible()
    assert person.window.focusWidget() is page.transcript
    await shot(person, "discussion")
    page.open_find()
    inside(page.find_bar, "find_box", QLineEdit).setText("peak is the point")
    await until(lambda: texts_in(page.find_bar)[0].endswith("of 3"))
    page.steps.set_value(ANSWERS)
    await shot(person, "answers")
    assert texts_in(page.find_bar) == ["0 of 0"]


@pytest.mark.slow
async def test_a_chip_says_where_a_quote_is_and_that_one_is_in_no_file(person: Person) -> None:
    page = await heard(person, context=(Attachment(name="sync.md", text="Forty laptops  sync at night."),))
    transcript = page.columns.all["p2"].transcript
    (row,) = transcript.message_ids
    assert transcript.describe(row).endswith(
        "[“Forty laptops sync at night” word for word in sync.md, “nobody ever waits for it” not in the source]"
    )
    assert "[" not in page.columns.all["p0"].transcript.describe(
        page.columns.all["p0"].transcript.message_ids[0]
    )
    # It is in the list of what has no support, also before anybody debates.
    page.steps.set_value(DIFFERENCES)
    assert "[Gemini answer]" in [one.text() for one in page.differences.findChildren(QAbstractButton)]
    page.steps.set_value(ANSWERS)
    await shot(person, "quotes")


@pytest.mark.slow
async def test_the_verdict_follows_the_debate_and_says_what_it_rests_on(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced: list[str] = []
    monkeypatch.setattr("app.gui.pages.council.council_page.announce", lambda _, text: announced.append(text))
    page = await debated(person)
    assert page.steps.value() == VERDICT and page.verdict.isVisible() and not page.columns.isVisible()
    said = texts(page)
    assert "3 of 3 answered" in said and "The judge read it twice and came to the same result." in said
    assert "Reports never wait for a writer." in said
    assert "Nobody has shown" in said and "Right if a day of logs shows fewer than 20 writers" in said
    assert (
        "Do more than 20 laptops write in the same second?" in said
        and "Would settle it: a day of sync logs" in said
    )
    assert "Claude: before B, after B" in said and "Nobody changed position" in said
    # The state, the headline and the minority, once the verdict is seen.
    assert announced[-2:] == [
        "Choose between two answers without names. Were several models worth it?",
        f"Leaning · 2 to 1. {HOLDS['openai']}. minority: 1",
    ]
    await shot(person, "verdict")
    cite = next(one for text in page.verdict.findChildren(CitedText) for one in text.stops)
    cite.click()
    assert page.steps.value() == ANSWERS and page.columns.isVisible()
    page.steps.set_value(VERDICT)
    again = next(
        one for one in page.verdict.findChildren(QAbstractButton) if one.text().startswith("Argue this")
    )
    assert "calls" in again.text() and "Claude" in again.accessibleDescription()


@pytest.mark.slow
async def test_where_no_model_can_compare_it_says_why_and_offers_a_provider(person: Person) -> None:
    page = await heard(person)
    debate = page.session.debate
    assert not {"connect", "allow"} & {*offered(page)}
    council = replace(debate.council, helper="")
    small = tuple(replace(one, provider="embedded") for one in debate.participants)
    alone = replace(page.session, debate=replace(debate, council=council, participants=small))
    page.show_session(alone, [one for one in page.messages if one.part != CouncilPart.DIFFERENCES])
    page.open_first_step()
    # A provider that is ready, and may not read the session yet.
    assert "allow" in offered(page) and "connect" not in offered(page)
    assert saying(page.box, "OpenAI could compare these answers")
    assert saying(page.glance, "built-in model can’t compare answers")
    await shot(person, "locked")
    await person.click("council_allow")
    await until(lambda: person.sees("settings_page"))
    await person.click("may_read_openai")
    await until(lambda: "compare" in offered(page), what="the entry")
    assert "allow" not in offered(page) and offered(page)["compare"] == "Compare · 1 call"
    await person.click("may_read_openai")
    await person.click("settings_close")
    await until(lambda: "allow" in offered(page), what="the way to allow it")
    engine = person.window.controller.engine
    for one in engine.providers():
        await engine.save_provider(replace(one.config, enabled=False))
    page.refresh()
    assert "connect" in offered(page) and "compare" not in offered(page)
    assert "Add a provider" in saying(page.box, "very small")
    # One that is ready elsewhere helps no session whose models all run on this computer.
    openai = next(one.config for one in engine.providers() if one.config.id == "openai")
    await engine.save_provider(replace(openai, enabled=True, base_url="https://models.example.com/v1"))
    await engine.keys.set("openai", "sk-canary-elsewhere")
    await engine.change_settings(lambda settings: replace(settings, may_read_any=("openai",)))
    page.refresh()
    assert saying(page.box, "nobody elsewhere may read this session")
    assert not {"allow", "compare"} & {*offered(page)}


@pytest.mark.slow
@pytest.mark.own_host
@pytest.mark.embedded
@pytest.mark.skipif(find_model() is None, reason="the built-in model's file is not there")
async def test_what_the_built_in_model_answered_is_compared_by_a_provider_added_later(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    script = {"options": [{"text": "Both", "answers": [1, 2]}], "differ": [], "agreed": []}
    for model in wire_home["openai"].models:
        wire_home["openai"].script(model, lambda _: json.dumps(script))
    controller = person.window.controller
    small = tuple(
        Participant(id=name, name=name, provider=EMBEDDED, model=EMBEDDED_MODEL) for name in ("Ada", "Ben")
    )
    setup = DebateSetup(topic="Tea or coffee?", participants=small, mode=DebateMode.COUNCIL)
    session_id = await controller.engine.councils.start(CouncilSetup(setup=setup))
    controller.show_session(session_id)
    page = controller.council_page
    await until(lambda: page.session_id == session_id and page.session is not None)
    await ended(page)
    assert not wire_home["openai"].requests and "allow" in offered(page)
    await person.click("council_allow")
    await until(lambda: person.sees("settings_page"))
    await person.click("may_read_openai")
    await until(lambda: "compare" in offered(page), what="the button")
    person.find("settings_close").click()
    await ask(person, "council_compare")
    await until(lambda: any(one.part == CouncilPart.DIFFERENCES and one.ended for one in page.messages))
    await ended(page)
    assert len(wire_home["openai"].requests) == 1
    await until(lambda: person.find("segment_differences").isEnabled(), what="what they hold")
    assert page.session.debate.council.helper.startswith("openai/")


def forks(page: CouncilPage) -> dict[str, QAction]:
    """Return after which rounds More offers to fork."""
    page.box.more.choices.aboutToShow.emit()
    menus = [one.menu() for one in page.box.more.choices.actions() if isinstance(one.menu(), QMenu)]
    return {one.text(): one for menu in menus if menu.title() == "Fork…" for one in menu.actions()}


@pytest.mark.slow
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_a_council_is_forked_after_a_round_and_goes_its_own_way(person: Person) -> None:
    page = await opened(person)
    assert forks(page) == {}
    await ended(page)
    await debate(person, page)
    first = page.session_id
    texts_before = texts(page.verdict)
    assert [*forks(page)] == ["After the answers", "After round 1"]
    forks(page)["After the answers"].trigger()
    await until(lambda: page.session_id not in ("", first))
    assert page.session is not None and page.session.status == "completed"
    steps = {name: person.find(f"segment_{name}") for name in STEPS}
    assert [name for name, one in steps.items() if one.isEnabled()] == [ANSWERS, DIFFERENCES, DECISION]
    assert len(page.columns.all) == 4
    await shot(person, "forked")
    await debate(person, page)
    assert page.session_id != first and steps[VERDICT].isEnabled()
    person.window.controller.show_session(first)
    await until(lambda: page.session_id == first)
    assert texts(page.verdict) == texts_before
    await shot(person, "fork_first")


@pytest.mark.slow
async def test_a_verdict_that_was_seen_is_kept_as_read_and_moves_no_session(person: Person) -> None:
    page = await heard(person)

    def read_at() -> str:
        assert page.session is not None and page.session.debate.council is not None
        return page.session.debate.council.read_at

    await person.settle(0.2)
    assert not page.verdict.isVisible() and not read_at()
    await debate(person, page)
    assert page.verdict.isVisible()
    await until(lambda: bool(read_at()))
    assert page.session is not None and page.session.updated_at < read_at()


async def test_a_question_of_values_has_no_headline_until_the_user_wants_one(
    person: Person, wire_home
) -> None:  # type: ignore[no-untyped-def]
    def valued(kind: str, text: str) -> str:
        said = reply(kind, text)
        return json.dumps({**json.loads(said), "values": True}) if "You judge a question" in text else said

    for kind in SAYS:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: valued(kind, one.messages[-1].text))
    page = await debated(person)
    await person.click(f"segment_{VERDICT}")
    said = texts(page.verdict)
    assert "No evidence would settle it, both readings found." in said
    assert not page.verdict.findChild(QWidget, "council_minority")
    switch = person.find("council_weigh")
    assert isinstance(switch, QAbstractButton) and switch.text() == "Show what leads all the same"
    await person.click("council_weigh")
    await until(lambda: person.find("council_weigh").text() == "Show the views side by side")  # type: ignore[attr-defined]
    assert "No evidence would settle it" not in texts(page.verdict)
    await person.click("council_weigh")
    await until(lambda: person.find("council_weigh").text() == "Show what leads all the same")  # type: ignore[attr-defined]


@pytest.mark.slow
async def test_a_what_if_verdict_says_which_votes_moved_for_what_was_said(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    controller, what_if = person.window.controller, "What if only two laptops write?"

    def moving(kind: str, text: str) -> str:
        """After the question all vote as Claude does: GPT for what Claude says, Gemini for nothing."""
        if "changes of position" in text:
            return json.dumps({"moves": [{"move": 1, "argues": True}]})
        if what_if in text and "secret ballot" in text:
            letters = {line[3:]: line[0] for line in text.splitlines() if line[1:3] == ": "}
            claude = next(line for line in text.splitlines() if SAYS["anthropic"].split("\n")[0] in line)
            named = [int(claude[1])] if kind == "openai" else []
            return json.dumps({"choice": letters[HOLDS["anthropic"]], "confidence": 80, "moved_by": named})
        return reply(kind, text)

    for kind in SAYS:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: moving(kind, one.messages[-1].text))
    setup = DebateSetup(topic=QUESTION, participants=three(), mode=DebateMode.COUNCIL)
    person.window.state.keep(OFFERS_BLIND, False)
    session_id = await controller.engine.councils.start(
        CouncilSetup(setup=setup, ends=Ends.VERDICT, judge=ANY_JUDGE)
    )
    controller.show_session(session_id)
    page = controller.council_page
    await until(lambda: page.session_id == session_id)
    await ended(page)
    await person.write("composer", what_if)
    await person.click("send_button")
    await until(lambda: page.session.status == "running")
    await ended(page)
    await until(lambda: person.sees("verdict_tab_2"), what="the second verdict")
    told = (
        "Changes of position: 1 citing a statement that argues for the new one, as the judge read it,"
        " 1 without"
    )
    chart = person.find("debate_stances", VoteChart)
    assert [chart.values(at).split("\n")[0] for at in range(3)] == ["Before", "Round 1", "What if"]
    assert chart.values(2).endswith("Gemini: B SQLite in WAL mode, one writer")
    rows = {one.accessibleName() for one in person.find("council_before_after").findChildren(QWidget)}
    assert {
        "GPT: before A, after B",
        "Claude: before B, after B",
        "Gemini: before A, after B",
    } <= rows
    for step in ("verdict", "votes"):
        await person.click(f"segment_{step}")
        said = texts(page)
        assert told in said and "Changed position without naming a statement for it: Gemini" in said, step
        assert "2 of 3 changed position" in said, step
        assert len(person.find("council_before_after").findChildren(CitedText)) == 1
    await person.click("segment_verdict")
    await person.click("verdict_tab_1")
    assert "Changes of position" not in texts(page), "the first verdict is before it"
    chart = person.find("debate_stances", VoteChart)
    assert [chart.values(at).split("\n")[0] for at in range(2)] == ["Before", "Round 1"]
    assert "What if" not in chart.text()


async def test_a_what_if_round_is_read_from_its_question_and_tells_of_no_debate(person: Person) -> None:
    controller, what_if = person.window.controller, "What if only two laptops write?"
    setup = DebateSetup(topic=QUESTION, participants=three(), mode=DebateMode.COUNCIL)
    asking = CouncilSetup(setup=setup, ends=Ends.VERDICT, judge=ANY_JUDGE)
    person.window.state.keep(OFFERS_BLIND, False)
    session_id = await controller.engine.councils.start(asking)
    controller.show_session(session_id)
    page = controller.council_page
    await until(lambda: page.session_id == session_id)
    await ended(page)

    def said() -> str:
        labels = (one.text() for one in page.verdict.findChildren(ElidedLabel))
        return "\n".join((texts(page), *labels))

    assert "after 1 round; nobody moved" in said() and "Nobody changed position" in said()
    await person.write("composer", what_if)
    await person.click("send_button")
    await until(lambda: page.session.status == "running")
    await until(lambda: "Comparing the answers…" in texts_in(page.box), what="what is done")
    await ended(page)
    await until(lambda: person.sees("verdict_tab_2"), what="the second verdict")
    # All have answered anew and voted on that: nobody argued, and nobody holds anything else than before it.
    assert "after 1 round" not in said() and "Nobody changed position" in said()
    assert person.find("debate_stances", VoteChart).values(2).startswith("What if\n")
    question = [one for one in page.messages if one.part == CouncilPart.QUESTION][-1]
    await person.click("segment_answers")
    for one in three():
        assert page.columns.all[one.id].transcript.place == (question.id, 0)
    await person.click("segment_debate")
    rows = person.transcript("council_transcript")
    assert what_if in rows[-1] or what_if in rows[-2], "before what the minority writes of it"
