"""What comes of a debate, over the real wire and by click: ballots, verdict, cites, forks, once more, export."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu

from app.core.council import Participant
from app.core.message import Author, Message
from app.core.session import Debate, DebateSession
from app.core.verdict import Ballot, Point, Verdict
from app.engine.engine import DebateSetup
from app.gui.display.appearance import Look
from app.gui.panels.debate.cited_text import CitedText
from app.gui.panels.debate.discussion_view import DiscussionView
from app.gui.panels.debate.stance_chart import spread, stance_lines
from app.gui.widgets.text import ElidedLabel, Paragraph
from tests.app_driver import Person, at_window, until
from tests.gui.test_drop_down_lists import RESOURCES
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

PATIENCE_S = 60.0
KINDS = ("openai", "anthropic")
SEATS = tuple(
    Participant(id=kind, name=kind.title(), provider=kind, model=f"{kind}-wire", role=role)
    for kind, role in zip(KINDS, ("for", "against"), strict=True)
)
VERDICT = {
    "minority": [{"text": "Rewrite it at once", "who": ["A", "B"], "now": False, "cites": [1]}],
    "answer": [{"text": "Replace it <b>step</b> by step.", "cites": [1, 2]}],
    "agreed": [{"text": "The corpus decides", "cites": [2]}],
    "open": [{"text": "Who owns it", "cites": []}],
    "options": ["Step by step", "Rewrite it at once"],
    "choice": 1,
}


def script(server: WireServer, *stances: int, verdict: object = VERDICT, slow: float = 0.0) -> None:
    """Let a server speak, vote these stances and judge."""
    votes = iter(stances)

    def reply(request) -> Answer:
        asked = request.messages[-1].text
        if "secret ballot" in asked:
            return Answer(json.dumps({"stance": next(votes, 0)}))
        if "What could follow from it" in asked:
            return Answer(json.dumps({"choice": "Rewrite it at once"}))
        if "You judge a debate" in asked:
            return Answer(json.dumps(verdict), delay=slow)
        return Answer(f"So says {server.kind}.")

    server.script(f"{server.kind}-wire", reply)


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person


def debate_view(person: Person) -> DiscussionView:
    return person.window.controller.session_page


async def hold(person: Person, *, polls: bool = True, rounds: int = 1) -> DiscussionView:
    """Start a debate and wait until it has ended."""
    view, before = debate_view(person), debate_view(person).session_id
    setup = DebateSetup(topic="Rewrite the parser?", participants=SEATS, rounds=rounds, polls=polls)
    person.window.controller.debates.show_setup()
    person.window.controller.panel.setup.start_requested.emit(setup, ())
    await until(lambda: view.session_id not in ("", before), PATIENCE_S)
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    return view


async def choose(person: Person, opener: str, menu_name: str, place: int) -> str:
    """Open a menu by its button and take one of its lines; return what the line says."""
    await person.click(opener)
    await until(lambda: person.sees(menu_name), what=menu_name)
    menu = person.find(menu_name, QMenu)
    action = [one for one in menu.actions() if not one.isSeparator()][place]
    text = action.text()
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    await person.settle()
    return text


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_from_ballots_to_the_next_debate_by_click(qapp, data_dir, wire_home, wire_servers, tmp_path):  # noqa: F811
    script(wire_servers["openai"], 2, 1, 1)
    script(wire_servers["anthropic"], -2, 1)
    async with at_window(data_dir) as person:
        view = await hold(person)
        first = view.session_id
        # Who saw it end sees what came of it.
        await until(lambda: view.verdict.isVisible())
        assert not view.transcript.isVisible()
        assert view.verdict._answer.text() == "Replace it <b>step</b> by step."
        assert view.verdict._judge_chip.text() == "by Openai (takes part)"
        assert view.verdict.chart.accessibleDescription() == (
            "Before; Openai: for; Anthropic: against. Round 1; Openai: rather for; Anthropic: rather for"
        )
        facts = view.controls._facts.text()
        assert facts.startswith("2 participants · 1 round · 2 turns")
        assert view.controls._facts.isVisible()
        said = view.transcript.message_ids
        # A cite leads to its message.
        await person.click(f"cite_{said[1]}")
        assert view.transcript.isVisible() and view.transcript.hasFocus()
        assert view.transcript.selected_text(markdown=False) == "So says anthropic."
        await person.click("segment_debate_verdict")
        assert view.verdict.isVisible()
        page = await person.window.controller.engine.export(first, "html")
        assert f'<a href="#{said[1]}">[Anthropic r1]</a>' in page and f'<article id="{said[1]}"' in page
        assert page.count("<polyline") == 2 and page.count("<circle") == 4
        assert "#0C7A60" in page and "#AB5030" in page, "each speaker in a colour of its own"
        await person.click("debate_copy_verdict")
        assert QGuiApplication.clipboard().text() == (
            "Verdict · by Openai (takes part)\n\nReplace it <b>step</b> by step. [Openai r1] [Anthropic r1]"
            "\n\nUnstable: reading in another order, the judge came to a different conclusion: Rewrite it at once"
            "\n\nMinority report\n- given up by Openai, Anthropic: Rewrite it at once [Openai r1]"
            "\n\nAgreed\n- The corpus decides [Anthropic r1]\n\nStill open\n- Who owns it"
        )
        # Somebody else judges.
        line = await choose(person, "debate_ask_again", "judges_menu", 3)
        assert line == "Anthropic · anthropic-wire"
        await until(lambda: view.verdict._judge_chip.text() == "by Anthropic (takes part)", PATIENCE_S)
        # Exported as it is.
        await choose(person, "debate_export", "export_menu", 0)
        dialog = next(one for one in person.window.findChildren(QFileDialog) if one.isVisible())
        file = tmp_path / "verdict.md"
        dialog.fileSelected.emit(str(file))
        dialog.reject()
        await until(file.exists)
        assert "Rewrite the parser?" in file.read_text("utf-8")
        # Forked behind the first turn, and resumed.
        line = await choose(person, "debate_fork", "fork_menu", 0)
        assert line == "Round 1 · Openai: So says openai."
        await until(lambda: view.session_id not in ("", first), PATIENCE_S)
        fork = view.session_id
        assert view.session.status == "paused"
        assert len(person.transcript()) == 1
        await person.click("segment_debate_discussion")
        await person.click("debate_resume")
        await until(lambda: view.session.status == "completed", PATIENCE_S)
        await until(lambda: len(person.transcript()) == 2)
        # Once more, from its start: what it may cost is read before it begins.
        asked = len(wire_servers["openai"].requests)
        await person.click("debate_again")
        setup = person.window.controller.panel.setup
        await until(lambda: setup.isVisible() and setup.start.isEnabled())
        assert setup.topic.text() == "Rewrite the parser?"
        assert setup.conclusion.polls.isChecked()
        assert setup.rounds.value() == view.session.debate.rounds
        names = [one.name for one in view.session.debate.participants]
        assert [one.name for one in setup.setup().participants] == names
        assert "turns" in setup._estimate.text()
        assert len(wire_servers["openai"].requests) == asked
        await person.click("debate_start")
        await until(lambda: view.session_id not in ("", first, fork), PATIENCE_S)
        await until(lambda: view.session.status == "completed", PATIENCE_S)
        await until(lambda: view.verdict.isVisible())
        # The way to another debate on the topic.
        await choose(person, "debate_more", "more_menu", 0)
        assert person.window.controller.panel.setup.topic.text() == "Rewrite the parser?"
        person.window.controller.show_session(first)
        await until(lambda: view.session_id == first)
    async with at_window(data_dir) as person:
        view = debate_view(person)
        await until(lambda: view.session_id == first and view.verdict.isVisible(), PATIENCE_S)
        assert view.verdict._judge_chip.text() == "by Anthropic (takes part)"
        assert "Openai: rather for" in view.verdict.chart.accessibleDescription()
        await person.click(f"cite_{said[0]}")
        assert view.transcript.selected_text(markdown=False) == "So says openai."


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_debate_without_ballots_is_judged_when_it_is_asked_for(person, wire_servers):  # noqa: F811
    script(wire_servers["openai"])
    script(wire_servers["anthropic"], slow=30.0)
    view = await hold(person, polls=False)
    assert view.transcript.isVisible()
    await person.click("segment_debate_verdict")
    assert not person.sees("debate_stances")
    assert "No verdict yet" in view.verdict._sentence.text()
    # It can be stopped while somebody judges, and another one be asked.
    await person.choose("debate_judge", "Anthropic · anthropic-wire")
    await person.click("debate_ask")
    await until(lambda: person.sees("debate_ask_stop"))
    # Before it reads, it is found out whether it may.
    assert view.verdict._busy.text().startswith("Checking who may vote: ")
    await until(lambda: view.verdict._busy.text().startswith("Anthropic is reading"), PATIENCE_S)
    assert not person.sees("debate_ask")
    await person.click("debate_ask_stop")
    await until(lambda: person.sees("debate_ask"))
    assert view.session.debate.verdict is None
    await person.choose("debate_judge", "Openai · openai-wire")
    await person.click("debate_ask")
    await until(lambda: view.verdict._judge_chip.text() == "by Openai (takes part)", PATIENCE_S)
    assert not person.sees("debate_ask")
    # Where nobody answers any more, what there is stays.
    for server in wire_servers.values():
        for model in server.models:
            server.script(model, lambda _request: Fault("e401"))
    await choose(person, "debate_ask_again", "judges_menu", 1)
    await until(lambda: "does not accept the key" in view.verdict._problem.text(), PATIENCE_S)
    assert view.verdict._judge_chip.text() == "by Openai (takes part)"
    # Finding is in what was said.
    person.window.controller.find_in_session()
    assert view.transcript.isVisible() and view.find_bar.isVisible()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_in_the_main_area_what_comes_of_it_is_shown_there(person, wire_servers):  # noqa: F811
    for kind in ("openai", "anthropic"):
        script(wire_servers[kind])
    page = await hold(person)
    first, panel = page.session_id, person.window.controller.panel
    person.window.top_bar.debate_button.setChecked(True)
    panel.show_discussion()
    assert panel.summary.isVisible() and not panel.discussion.isVisible(), "never a second transcript"
    facts = panel.summary.controls._facts
    assert facts.isVisible() and facts.text() == page.controls._facts.text() != ""
    assert [
        one.text() for one in panel.summary.findChildren(ElidedLabel) if one.property("kind") == "value"
    ] == [
        "Openai",
        "Anthropic",
    ]
    assert sum("unsure" in one.text() for one in panel.summary.findChildren(ElidedLabel)) == 2
    person.window.controller.show_new()
    await until(lambda: panel.discussion.isVisible() and panel.discussion.session_id == first)
    person.window.controller.show_session(first)
    await until(lambda: page.isVisible() and panel.summary.isVisible())
    await person.click("segment_debate_verdict")
    assert page.verdict.isVisible()
    await choose(person, "debate_fork", "fork_menu", -1)
    await until(lambda: page.session_id not in ("", first))
    assert page.session.status == "paused"
    await person.click("debate_resume")
    await until(lambda: page.session.status == "completed", PATIENCE_S)


async def test_while_nobody_speaks_it_says_what_is_done(qapp, data_dir):
    session, messages = a_session(polls=True)
    ballots = tuple(Ballot(participant=seat.id, round=2, stance=0) for seat in SEATS)
    async with at_window(data_dir) as person:
        view = show(person, replace(session, status="running"), messages)
        assert view.controls._doing.text() == "Voting…"
        voted = replace(session.debate, ballots=ballots)
        view.show_change(replace(session, status="running", debate=voted))
        assert view.controls._doing.text() == "Judging…"
        view.show_change(replace(session, debate=voted))
        assert not view.controls._doing.isVisible()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_where_nobody_can_judge_the_last_words_are_shown_with_why(person, wire_servers):  # noqa: F811
    view = await hold(person, polls=False)
    for server in wire_servers.values():
        for model in server.models:
            server.script(model, lambda _request: Fault("e401"))
    await person.click("segment_debate_verdict")
    await person.click("debate_ask")
    await until(lambda: view.session.debate.verdict is not None, PATIENCE_S)
    assert view.verdict._title.text() == "No verdict"
    assert "does not accept the key" in view.verdict._sentence.text()
    assert len(view.verdict._last_words.stops) == 2
    await until(lambda: person.sees("debate_ask"))


def a_session(**fields: object) -> tuple[DebateSession, list[Message]]:
    debate = Debate(topic="T", participants=SEATS, rounds=2, round=3, **fields)  # type: ignore[arg-type]
    said = [
        Message(
            id=f"m{place}", turn_id=f"m{place}", role="assistant", content="I say so.", round=1,
            author=Author(id=seat.id, name=seat.name, kind="participant"),
        )
        for place, seat in enumerate(SEATS)
    ]  # fmt: skip
    return DebateSession(id="s", title="T", status="completed", debate=debate), said


def show(person: Person, session: DebateSession, messages: list[Message]) -> DiscussionView:
    person.window.controller.debates.show_setup()
    person.window.controller.panel.show_discussion()
    view = person.window.controller.panel.discussion
    view.show_session(session, messages)
    return view


@pytest.mark.slow
async def test_a_model_too_small_to_judge_leads_to_a_provider(qapp, data_dir):
    verdict = Verdict(open=(Point(text="I say so.", cites=("m0",)),), failure="too_small")
    async with at_window(data_dir) as person:
        session, messages = a_session(verdict=verdict)
        small = tuple(replace(one, provider="embedded") for one in session.debate.participants)
        view = show(
            person,
            replace(session, debate=replace(session.debate, participants=small, verdict=None)),
            messages,
        )
        view.controls.side_chosen.emit("verdict")
        assert "too small" in view.verdict._sentence.text() and not person.sees("debate_ask")
        view = show(person, session, messages)
        assert "too small" in view.verdict._sentence.text()
        assert not person.sees("debate_ask")
        assert person.sees("cite_m0")
        await person.click("debate_add_provider")
        await until(lambda: person.sees("connect_dialog"))
        person.find("connect_dialog").reject()
        await person.settle()


@pytest.mark.slow
async def test_the_keys_reach_every_cite_and_the_ballots_of_every_round(qapp, data_dir):
    point = Point(text="One. ", cites=("m0", "m1", "gone"))
    ballots = tuple(
        Ballot(participant=seat.id, round=number, stance=1)
        for number in (0, 1, 2)
        for seat in SEATS[: 2 - number % 2]
    )
    verdict = Verdict(judge="Openai", model="openai/x", answer=(point,), agreed=(point,), open=(point,))
    async with at_window(data_dir) as person:
        view = show(person, *a_session(verdict=verdict, ballots=ballots))
        await person.settle()
        person.find("segment_debate_verdict").setFocus()
        seen = []
        for _ in range(14):
            QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Tab)
            seen.append(person.window.focusWidget().objectName())
        cites = ["cite_m0", "cite_m1"]
        assert seen[:9] == ["debate_copy_verdict", *cites, "debate_decide", *cites * 2, "debate_stances"]
        after = ["debate_fork", "debate_again", "debate_export", "debate_more"]
        assert seen[9:14] == ["debate_interject", *after], "a message begins a what-if round"
        chart = view.verdict.chart
        chart.setFocus()
        for key, place in ((Qt.Key.Key_Right, 0), (Qt.Key.Key_Right, 1), (Qt.Key.Key_Left, 0)):
            QTest.keyClick(chart, key)
            assert chart._chosen == place
        assert "Anthropic: no vote" in chart.values(1)


async def test_a_hundred_turns_are_below_one_another_in_the_menu(qapp, data_dir):
    session, messages = a_session()
    many = [replace(messages[0], content=f"It is & {number}. " * 9) for number in range(100)]
    async with at_window(data_dir) as person:
        view = show(person, session, messages)
        await person.settle()
        view.after.offer_turns(many)
        menu = person.find("fork_menu", QMenu)
        lefts = {menu.actionGeometry(action).left() for action in menu.actions()}
        assert len(lefts) == 1
        assert menu.actions()[7].text().startswith("Round 1 · Openai: It is && 7.")
        assert menu.actions()[7].text().endswith("…")
        menu.close()


async def test_what_has_no_room_is_in_the_menu_at_the_end(qapp, data_dir):
    async with at_window(data_dir, size=(900, 600)) as person:
        person.window.show_side(True)
        show(person, *a_session())
        await person.settle()
        assert person.sees("debate_fork") and person.sees("debate_again")
        assert not person.sees("debate_export")
        person.find("debate_more").click()
        menu = person.find("more_menu", QMenu)
        assert [one.text() for one in menu.actions() if one.text()] == [
            "New debate on this topic…",
            "Markdown…",
            "Web page (HTML)…",
            "PDF…",
            "JSON…",
        ]
        menu.close()


@pytest.mark.slow
async def test_paused_it_shows_the_ballots_there_are(qapp, data_dir):
    session, messages = a_session(ballots=(Ballot(participant="openai", round=0, stance=2),))
    paused = DebateSession(id="s", title="T", status="paused", debate=session.debate)
    async with at_window(data_dir) as person:
        view = show(person, paused, messages)
        assert view.transcript.isVisible()
        await person.click("segment_debate_verdict")
        assert person.sees("debate_stances")
        assert not person.sees("debate_ask")
        assert not view.composer.isVisible()
        view.show_change(DebateSession(id="s", title="T", status="running", debate=session.debate))
        assert view.transcript.isVisible() and view.composer.isVisible()


def test_a_line_goes_through_what_is_missing():
    ballots = [("openai", 0, None), ("openai", 1, 2), ("openai", 3, -2), ("anthropic", 2, None)]
    session, _messages = a_session(
        ballots=tuple(Ballot(participant=who, round=n, stance=stance) for who, n, stance in ballots)
    )
    one, other = stance_lines(session.debate)
    assert one.stances == (None, 2, None, -2)
    assert [one.height(place) for place in range(4)] == [2.0, 2.0, 0.0, -2.0]
    assert other.stances == (None,) * 4
    assert other.height(2) == 0.0


async def test_votes_at_the_end_alone_are_one_place_of_the_chart(qapp, data_dir):
    ballots = tuple(Ballot(participant=seat.id, round=2, stance=2) for seat in SEATS)
    async with at_window(data_dir) as person:
        view = show(person, *a_session(ballots=ballots))
        view.controls.side_chosen.emit("verdict")
        await person.settle()
        chart = view.verdict.chart
        assert chart.accessibleDescription() == "Round 2; Openai: for; Anthropic: for"
        assert view.verdict._chart_hint.text() == "secret vote at the end"
        assert not chart.grab().isNull()


def test_names_at_the_right_never_overlap():
    for wanted in ([50.0] * 6, [0.0, 1.0, 200.0, 199.0], [100.0, 20.0, 21.0], [300.0] * 12):
        places = sorted(spread(wanted, 15, 8, 190))
        assert all(after - before >= 14.999 for before, after in zip(places, places[1:], strict=False))
        assert places[0] >= 7.999 and places[-1] <= 190.001


def test_the_sentences_of_a_verdict_are_plain_text(qapp):
    look = Look(qapp, RESOURCES, "light")
    text = CitedText("verdict")
    points = (
        Point(text="<img src=x> & so on " * 9, cites=("a",)),
        Point(text="단어" * 200, cites=("a", "b")),
    )
    text.show_points(points, lambda message_id: (f"[A&B {message_id}]", f"Show {message_id}"))
    text.resize(300, 10)
    text.resize(300, text.heightForWidth(300))
    assert text.text().startswith("<img src=x> & so on")
    rects = [cite.geometry() for cite in text.stops]
    assert len(rects) == 3
    assert all(text.rect().contains(rect) for rect in rects)
    assert text.stops[0].text() == "[A&&B a]"
    chosen: list[str] = []
    text.cite_requested.connect(chosen.append)
    QTest.mouseClick(text.stops[2], Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert chosen == ["b"]
    text.deleteLater()
    look.deleteLater()


async def test_a_message_after_the_end_begins_a_round_and_each_verdict_has_a_tab(
    person: Person,
    wire_home: dict[str, WireServer],  # noqa: F811
) -> None:
    for kind in KINDS:
        script(wire_home[kind], 1, 1, 1)
    view = await hold(person)
    assert person.sees("debate_interject") and view.composer.box.isEnabled()
    assert not person.sees("verdict_tab_1"), "one verdict needs no tabs"
    second = {**VERDICT, "answer": [{"text": "Rewrite it now.", "cites": [1]}]}
    for kind in KINDS:
        script(wire_home[kind], -1, -1, verdict=second)
    await person.write("debate_interject", "What if nobody uses it?")
    await person.click("debate_send")
    await until(lambda: len(view.session.debate.verdicts) == 2, PATIENCE_S)
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert [one.round for one in view.messages[-3:]] == [2, 2, 2]
    if not person.sees("verdict_tab_1"):
        view._show_side("verdict")
    await until(lambda: person.sees("verdict_tab_2"), what="the tabs")
    tabs = [person.find(f"verdict_tab_{number}").text() for number in (1, 2)]
    assert tabs == ["Verdict 1, after round 1", "Verdict 2, after “What if nobody uses it?”"]
    assert "Rewrite it now." in view.verdict.text()
    changes = view.findChild(Paragraph, "verdict_changes")
    assert changes is not None and "rather for → rather against" in changes.text()
    await person.click("verdict_tab_1")
    await until(lambda: "Replace it" in view.verdict.text(), what="the first verdict")
    assert not changes.isVisible()
