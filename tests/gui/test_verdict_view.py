"""What comes of a debate, over the real wire and by click: ballots, verdict, cites, forks, once more, export."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QMenu, QWidget

from app.core.council import NO_JUDGE, Ballot, Option, Participant, Point, Verdict
from app.core.council_parts import BestCase, JudgedPoint, JudgeReading, Position
from app.core.errors import Failure
from app.core.events import MessageFinished, TurnStarted
from app.core.message import Author, CouncilPart, Message, MessageState
from app.core.session import Council, Debate, DebateSession
from app.engine.council.outcome import vote_places
from app.engine.council.record import Record
from app.engine.engine import DebateSetup
from app.gui.controllers.debates import OFFERS_BLIND
from app.gui.display.appearance import Language, Look
from app.gui.pages.council.council_columns import Shown, shown_people
from app.gui.pages.council.vote_chart import MARK, VoteChart, VoteLine
from app.gui.panels.debate.cited_text import CitedText
from app.gui.panels.debate.discussion_view import DebatePage, DebateView, DiscussionView
from app.gui.widgets.badge import Chip
from app.gui.widgets.text import ElidedLabel, Paragraph
from tests.app_driver import Person, at_window, until
from tests.gui.seen import saying, texts_in
from tests.gui.test_council_verdict import texts
from tests.gui.test_drop_down_lists import RESOURCES
from tests.screenshots_verdict import ballot, letter_of, reading
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

PATIENCE_S = 60.0
KINDS = ("openai", "anthropic")
SEATS = tuple(
    Participant(id=kind, name=kind.title(), provider=kind, model=f"{kind}-wire", role=role)
    for kind, role in zip(KINDS, ("for", "against"), strict=True)
)
STEP, ONCE = OPTIONS = ("Step by step", "Rewrite it at once")
SAYS = {
    "openai": "The old one must go.",
    "anthropic": "It has served us well.",
    "ollama": "One part after the other.",
}
CASE = "Replace it <b>step</b> by step."


def number_of(asked: str, words: str) -> int:
    """Return the number under which a request shows a statement."""
    return next(int(line[1:].split(")")[0]) for line in asked.splitlines() if line.endswith(words))


def script(server: WireServer, *choices: str, case: str = CASE, slow: float = 0.0) -> None:
    """Let a server speak, vote for these options, and judge for the first."""
    votes = iter(choices)

    def reply(request) -> Answer:
        asked = request.messages[-1].text
        if "secret ballot" in asked:
            return Answer(ballot(asked, next(votes, STEP)))
        if "You judge a question" in asked:
            cites = [number_of(asked, said) for said in SAYS.values() if said in asked]
            more = {
                "cases": [{"option": letter_of(asked, STEP), "text": case, "cites": cites}],
                "agreed": [{"text": "The corpus decides", "cites": cites[-1:]}],
                "open": [{"text": "Who owns it", "cites": []}],
            }
            return Answer(reading(asked, STEP, **more), delay=slow)
        if "exclude each other" in asked:
            return Answer(json.dumps({"options": OPTIONS}))
        return Answer(SAYS[server.kind])

    server.script(f"{server.kind}-wire", reply)


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person


def debate_view(person: Person) -> DebatePage:
    return person.window.controller.session_page


async def hold(person: Person, *, polls: bool = True, rounds: int = 1, offers: bool = False) -> DebatePage:
    """Start a debate and wait until it has ended; `offers` says whether a blind pick is offered before its verdict."""
    view, before = debate_view(person), debate_view(person).session_id
    judge = "" if polls else NO_JUDGE
    setup = DebateSetup(
        topic="Rewrite the parser?",
        participants=SEATS,
        rounds=rounds,
        polls=polls,
        judge=judge,
        options=OPTIONS,
    )
    person.window.state.keep(OFFERS_BLIND, offers)
    person.window.controller.debates.show_setup()
    person.window.controller.panel.setup.start_requested.emit(setup, ())
    await until(lambda: view.session_id not in ("", before), PATIENCE_S)
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    return view


def chart_of(view: DebateView) -> VoteChart:
    chart = view.findChild(VoteChart, "debate_stances")
    assert chart is not None
    return chart


async def choose(person: Person, opener: str, menu_name: str, place: int) -> str:
    """Open a menu by its button, or an entry of the page's menu, and take one of its lines; return what it says."""
    if opener.endswith("…"):
        person.choose_from("decision_more", opener)
    else:
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
    script(wire_servers["openai"], ONCE, STEP)
    script(wire_servers["anthropic"])
    async with at_window(data_dir) as person:
        view = await hold(person)
        first = view.session_id
        # Who saw it end sees what came of it.
        await until(lambda: view.verdict.isVisible())
        assert not view.transcript.isVisible()
        await until(lambda: bool(view.session.debate.council.read_at))
        shown = texts(view.verdict)
        assert CASE in shown and STEP in shown and "The corpus decides" in shown
        assert "came to the same result. openai-wire, takes part" in shown
        assert "Openai: before B, after A" in shown and "1 of 2 changed position" in shown
        assert chart_of(view).accessibleDescription() == (
            "Before; Openai: B Rewrite it at once; Anthropic: A Step by step. "
            "Round 1; Openai: A Step by step; Anthropic: A Step by step"
        )
        assert not person.sees("council_outside"), "what only a council can do is not there"
        assert saying(view.controls, " turns").startswith("2 participants · 1 round · 2 turns")
        said = view.transcript.message_ids
        assert len(said) == 2, "ballots and readings are no rows"
        # A cite leads to its message.
        await person.click(f"cite_{said[1]}")
        assert view.transcript.isVisible() and view.transcript.hasFocus()
        assert view.transcript.selected_text(markdown=False) == SAYS["anthropic"]
        await person.click("segment_verdict")
        assert view.verdict.isVisible()
        page = await person.window.controller.engine.export(first, "html")
        assert f'<a href="#{said[1]}">[Anthropic r1]</a>' in page and f'<article id="{said[1]}"' in page
        assert page.count("<polyline") == 2 and page.count("<circle") == 4
        assert "#0C7A60" in page and "#AB5030" in page, "each speaker in a colour of its own"
        await person.click("copy_council")
        assert QGuiApplication.clipboard().text() == (
            "All agree\nA Step by step\nReplace it <b>step</b> by step. [Openai r1] [Anthropic r1]"
            "\nJudge openai-wire (takes part): A both times"
            "\n\nTheir positions\nA  Step by step\nB  Rewrite it at once"
            "\nOpenai: B → A (70% sure)\nAnthropic: A → A (70% sure)"
            "\nChanges of position: 0 citing a statement of somebody who held the new one, 1 without"
            "\nChanged position without naming a statement for it: Openai"
            "\n\nMinority report\ngiven up by Openai: B Rewrite it at once (no reason given)"
            "\nThe old one must go. [Openai r1]"
            "\n\nAgreed\nThe corpus decides [Anthropic r1]\n\nStill open\nWho owns it"
        )
        # Somebody else judges.
        line = await choose(person, "debate_ask_again", "judges_menu", 3)
        assert line == "Anthropic · anthropic-wire"
        await until(lambda: "anthropic-wire, takes part" in texts(view.verdict), PATIENCE_S)
        await until(lambda: view.session.status == "completed", PATIENCE_S)
        assert person.find("verdict_tab_2").isChecked(), "the verdict before it stays"
        # Exported as it is.
        person.choose_from("decision_more", "Markdown…")
        await until(lambda: any(one.isVisible() for one in person.window.findChildren(QFileDialog)))
        dialog = next(one for one in person.window.findChildren(QFileDialog) if one.isVisible())
        file = tmp_path / "verdict.md"
        dialog.fileSelected.emit(str(file))
        dialog.reject()
        await until(file.exists)
        assert "Rewrite the parser?" in file.read_text("utf-8")
        # Forked behind the first turn, and resumed.
        line = await choose(person, "Fork from a turn…", "fork_menu", 0)
        assert line == f"Round 1 · Openai: {SAYS['openai']}"
        await until(lambda: view.session_id not in ("", first), PATIENCE_S)
        fork = view.session_id
        assert view.session.status == "paused"
        assert len(person.transcript()) == 1
        await person.click("segment_debate")
        await person.click("debate_resume")
        await until(lambda: view.session.status == "completed", PATIENCE_S)
        await until(lambda: len(person.transcript()) == 2)
        # Once more, from its start: what it may cost is read before it begins.
        asked = len(wire_servers["openai"].requests)
        person.choose_from("decision_more", "Run again")
        setup = person.window.controller.panel.setup
        await until(lambda: setup.isVisible() and setup.start.isEnabled())
        assert setup.topic.text() == "Rewrite the parser?"
        assert setup.conclusion.polls.isChecked()
        assert setup.rounds.value() == view.session.debate.rounds
        names = [one.name for one in view.session.debate.participants]
        assert [one.name for one in setup.setup().participants] == names
        assert saying(setup, " turns")
        assert len(wire_servers["openai"].requests) == asked
        await person.click("debate_start")
        await until(lambda: view.session_id not in ("", first, fork), PATIENCE_S)
        await until(lambda: view.session.status == "completed", PATIENCE_S)
        await until(lambda: view.verdict.isVisible())
        # The way to another debate on the topic.
        person.choose_from("decision_more", "New debate on this topic…")
        assert person.window.controller.panel.setup.topic.text() == "Rewrite the parser?"
        person.window.controller.show_session(first)
        await until(lambda: view.session_id == first and view.verdict.isVisible())
    async with at_window(data_dir) as person:
        view = debate_view(person)
        await until(lambda: view.session_id == first and view.verdict.isVisible(), PATIENCE_S)
        assert "anthropic-wire, takes part" in texts(view.verdict)
        assert "Openai: A Step by step" in chart_of(view).accessibleDescription()
        await person.click(f"cite_{said[0]}")
        assert view.transcript.selected_text(markdown=False) == SAYS["openai"]


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_debate_without_ballots_is_judged_when_it_is_asked_for(person, wire_servers):  # noqa: F811
    script(wire_servers["openai"])
    script(wire_servers["anthropic"], slow=30.0)
    view = await hold(person, polls=False)
    assert view.transcript.isVisible()
    await person.click("segment_verdict")
    assert not person.sees("debate_stances")
    assert "No verdict yet" in texts(view.verdict)
    # It can be stopped while somebody judges, and another one be asked.
    await person.choose("debate_judge", "Anthropic · anthropic-wire")
    await person.click("debate_ask")
    # Before it reads, it is found out whether it may.
    await until(lambda: saying(view.controls, "Checking who may vote: "), PATIENCE_S)
    await until(lambda: "Judging…" in texts_in(view.controls), PATIENCE_S)
    assert view.verdict.isVisible() and "Judging…" in texts(view.verdict)
    assert not person.sees("debate_ask")
    await person.click("debate_stop")
    await until(lambda: person.sees("debate_ask"))
    assert "No verdict yet" in texts(view.verdict)
    assert person.find("debate_judge", QComboBox).currentText() == "Anthropic · anthropic-wire"
    await person.choose("debate_judge", "Openai · openai-wire")
    await person.click("debate_ask")
    await until(lambda: "came to the same result. openai-wire, takes part" in texts(view.verdict), PATIENCE_S)
    assert not person.sees("debate_ask") and view.session.status == "completed"
    # Where nobody answers any more, what there is stays.
    for server in wire_servers.values():
        for model in server.models:
            server.script(model, lambda _request: Fault("e401"))
    await choose(person, "debate_ask_again", "judges_menu", 1)
    await until(lambda: "No judge: The provider does not accept the key." in texts(view.verdict), PATIENCE_S)
    assert "came to the same result. openai-wire, takes part" in texts(view.verdict)
    assert not person.sees("verdict_tab_1") and person.sees("debate_ask_again")
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
    assert saying(panel.summary.controls, " turns") == saying(page.controls, " turns") != ""
    assert [
        one.text() for one in panel.summary.findChildren(ElidedLabel) if one.property("kind") == "value"
    ] == [
        "Openai",
        "Anthropic",
    ]
    assert sum(one.text() == f"A: {STEP}" for one in panel.summary.findChildren(ElidedLabel)) == 2
    person.window.controller.show_new()
    await until(lambda: panel.discussion.isVisible() and panel.discussion.session_id == first)
    person.window.controller.show_session(first)
    await until(lambda: page.isVisible() and panel.summary.isVisible())
    await person.click("segment_verdict")
    assert page.verdict.isVisible()
    await choose(person, "Fork from a turn…", "fork_menu", -1)
    await until(lambda: page.session_id not in ("", first))
    assert page.session.status == "paused"
    await person.click("debate_resume")
    await until(lambda: page.session.status == "completed", PATIENCE_S)


async def test_while_nobody_speaks_it_says_what_is_done(qapp, data_dir):
    session, messages = a_session(polls=True)
    vote = replace(a_ballot(0, 2, 0), state=MessageState.STREAMING)
    async with at_window(data_dir) as person:
        view = show(person, replace(session, status="running"), [*messages, vote])
        assert texts_in(view.controls, Chip)[-1:] == ["Voting…"]
        view.show_finished(MessageFinished(session_id="s", message=replace(vote, state=MessageState.DONE)))
        assert not {"Voting…", "Judging…"} & {*texts_in(view.controls)}
        author = Author(id="s-reading1", name="openai-wire", kind="helper")
        view.show_turn(
            TurnStarted(session_id="s", turn_id="r", author=author, part=CouncilPart.READING, round=2),
            starting="",
        )
        assert texts_in(view.controls, Chip)[-1:] == ["Judging…"]
        view.show_change(session)
        assert not {"Voting…", "Judging…"} & {*texts_in(view.controls)}
        assert list(view.transcript.message_ids) == ["m0", "m1"]


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_where_nobody_can_judge_the_last_words_are_shown_with_why(person, wire_servers):  # noqa: F811
    for kind in KINDS:
        script(wire_servers[kind])
    view = await hold(person, polls=False)
    for server in wire_servers.values():
        for model in server.models:
            server.script(model, lambda _request: Fault("e401"))
    await person.click("segment_verdict")
    await person.click("debate_ask")
    await until(lambda: person.sees("council_points"), PATIENCE_S)
    assert "No judge: The provider does not accept the key." in texts(view.verdict)
    last = view.verdict.findChild(QWidget, "council_points").findChild(CitedText)
    assert last.text() == " ".join(SAYS[kind] for kind in KINDS) and len(last.stops) == 2
    await until(lambda: person.sees("debate_ask"))


def a_session(**fields: object) -> tuple[DebateSession, list[Message]]:
    debate = Debate(
        topic="T",
        participants=SEATS,
        rounds=2,
        round=3,
        options=tuple(Option(id=f"o{place}", text=text) for place, text in enumerate(OPTIONS)),
        **fields,  # type: ignore[arg-type]
    )
    said = [
        Message(
            id=f"m{place}", turn_id=f"m{place}", role="assistant", content="I say so.", round=1,
            author=Author(id=seat.id, name=seat.name, kind="participant"),
        )
        for place, seat in enumerate(SEATS)
    ]  # fmt: skip
    return DebateSession(id="s", title="T", status="completed", debate=debate), said


def a_ballot(seat: int, number: int, place: int | None) -> Message:
    """Return the ballot of a participant after a round for the option at a place, None for a blank."""
    who, name = SEATS[seat], f"b{number}{seat}"
    choice = "" if place is None else f"o{place}"
    return Message(
        id=name,
        turn_id=name,
        role="assistant",
        author=Author(id=who.id, name=who.name, kind="participant"),
        part=CouncilPart.BALLOT,
        round=number,
        data=Position(shown=("o0", "o1"), choice=choice),
    )


def a_reading(order: int, *, error: Failure | None = None, **said: object) -> Message:
    """Return what a judge read in one order, or that it failed."""
    return Message(
        id=f"r{order}",
        turn_id=f"r{order}",
        role="assistant",
        author=Author(id=f"s-reading{order}", name="x", kind="helper"),
        part=CouncilPart.READING,
        round=2 if said else 1,
        state=MessageState.FAILED if error else MessageState.DONE,
        error=error,
        data=JudgeReading(judge="openai/x", order=order, shown=("o0", "o1"), **said),  # type: ignore[arg-type]
    )


def votes(*places: tuple[int | None, int | None]) -> list[Message]:
    """Return the ballots of both participants before the first round, after it, and so on."""
    return [
        a_ballot(seat, number, place) for number, pair in enumerate(places) for seat, place in enumerate(pair)
    ]


def show(person: Person, session: DebateSession, messages: list[Message]) -> DiscussionView:
    person.window.controller.debates.show_setup()
    person.window.controller.panel.show_discussion()
    view = person.window.controller.panel.discussion
    view.show_session(session, messages)
    view.open_first_step()
    return view


@pytest.mark.slow
async def test_a_model_too_small_to_judge_leads_to_a_provider(qapp, data_dir):
    async with at_window(data_dir) as person:
        session, messages = a_session()
        small = tuple(replace(one, provider="embedded") for one in session.debate.participants)
        view = show(person, replace(session, debate=replace(session.debate, participants=small)), messages)
        view.controls.side_chosen.emit("verdict")
        assert "too small to judge a debate" in texts(view.verdict) and not person.sees("debate_ask")
        judged = replace(session.debate, council=Council(differences=False, judges=("openai/x",)))
        failed = [a_reading(order, error=Failure(kind="network")) for order in (1, 2)]
        view = show(person, replace(session, debate=judged), [*messages, *failed])
        view.controls.side_chosen.emit("verdict")
        await person.settle()
        assert "No judge: " in texts(view.verdict) and not person.sees("debate_ask")
        assert person.sees("cite_m0")
        await person.click("debate_add_provider")
        await until(lambda: person.sees("connect_dialog"))
        person.find("connect_dialog").reject()
        await person.settle()


@pytest.mark.slow
async def test_the_keys_reach_every_cite_and_the_ballots_of_every_round(qapp, data_dir):
    cites = ("m0", "m1", "gone")
    point = JudgedPoint(text="One.", cites=cites)
    said = {
        "choice": "o0",
        "cases": (BestCase(option="o0", text="One.", cites=cites),),
        "agreed": (point,),
        "open": (point,),
    }
    read = [a_reading(order, **said) for order in (1, 2)]
    council = Council(differences=False, judges=("openai/x",))
    async with at_window(data_dir) as person:
        session, messages = a_session(council=council)
        view = show(person, session, [*messages, *votes((0, 0), (0, None), (0, 0)), *read])
        await person.settle()
        person.find("segment_debate_verdict").setFocus()
        seen = []
        for _ in range(14):
            QTest.keyClick(person.window.focusWidget(), Qt.Key.Key_Tab)
            seen.append(person.window.focusWidget().objectName())
        shown = ["cite_m0", "cite_m1"]
        assert seen[:9] == ["copy_council", *shown * 3, "debate_stances", "verdict_decision"]
        after = ["debate_fork", "debate_again", "debate_export", "debate_more"]
        assert seen[9:14] == ["debate_interject", *after], "a message begins a what-if round"
        chart = chart_of(view)
        chart.setFocus()
        for key, place in ((Qt.Key.Key_Right, 0), (Qt.Key.Key_Right, 1), (Qt.Key.Key_Left, 0)):
            QTest.keyClick(chart, key)
            assert chart._chosen == place
        assert "Anthropic: no vote" in chart.values(1)


async def test_a_verdict_of_an_earlier_version_says_what_it_said_then(qapp, data_dir):
    point = Point(text="Take two weeks.", cites=("m0", "m1"))
    verdict = Verdict(
        judge="Openai",
        model="openai/openai-wire",
        answer=(point,),
        agreed=(point,),
        open=(Point(text="Who"),),
    )
    cast = tuple(
        Ballot(participant=seat.id, round=number, stance=stance)
        for number, stances in enumerate(((2, -2), (1, None)))
        for seat, stance in zip(SEATS, stances, strict=True)
    )
    async with at_window(data_dir) as person:
        view = show(person, *a_session(verdict=verdict))
        shown = texts(view.verdict)
        assert "Take two weeks." in shown and "Read only once, so it does not count." in shown
        assert "openai-wire, takes part" in shown and "Who" in shown
        session, messages = a_session(verdict=verdict, ballots=cast)
        view = show(person, replace(session, debate=replace(session.debate, options=())), messages)
        await person.settle()
        assert "Before; Openai: A For; Anthropic: E Against. " in chart_of(view).accessibleDescription()
        assert "Round 1; Openai: B Rather for; Anthropic: no vote" in chart_of(view).accessibleDescription()
        assert "Take two weeks." in texts(view.verdict)


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
            "Word document…",
            "JSON…",
        ]
        menu.close()


@pytest.mark.slow
async def test_paused_it_shows_the_ballots_there_are(qapp, data_dir):
    session, messages = a_session(polls=True)
    paused = DebateSession(id="s", title="T", status="paused", debate=session.debate)
    async with at_window(data_dir) as person:
        view = show(person, paused, [*messages, *votes((1, 1), (1, 0))])
        assert view.transcript.isVisible()
        await person.click("segment_debate_verdict")
        assert person.sees("debate_stances")
        assert "The verdict follows when the debate has ended." in texts(view.verdict)
        assert not person.sees("debate_ask") and not person.sees("verdict_decision")
        assert not view.composer.isVisible()
        view.show_change(DebateSession(id="s", title="T", status="running", debate=session.debate))
        assert view.transcript.isVisible() and view.composer.isVisible()


def test_a_line_goes_through_what_is_missing():
    session, said = a_session()
    cast = votes((None, None), (1, None), (None, None), (0, None))
    one, other = vote_places(Record(session.debate, [*said, *cast])).values()
    assert one == (None, 1, None, 0) and other == (None,) * 4
    shown = Shown("Openai", "x", 0, "O")
    assert [VoteLine(shown, one, frozenset()).level(at) for at in range(4)] == [1.0, 1.0, 0.5, 0.0]
    assert VoteLine(shown, other, frozenset()).level(2) is None


async def test_votes_at_the_end_alone_are_one_place_of_the_chart(qapp, data_dir):
    session, messages = a_session(final_ballots=True, judge=NO_JUDGE)
    async with at_window(data_dir) as person:
        view = show(person, session, [*messages, a_ballot(0, 1, 0), a_ballot(1, 1, 1)])
        await until(lambda: person.sees("council_before_after"))
        assert not person.sees("debate_stances"), "one vote is no line"
        rows = [one.accessibleName() for one in person.find("council_before_after").findChildren(QWidget)]
        assert {"Openai: A", "Anthropic: B"} <= {*rows}
        assert "Open: a tie · 1 to 1" in [one.text() for one in view.verdict.findChildren(Chip)]
        assert person.sees("verdict_decision")


@pytest.mark.parametrize("count", [2, 8])
def test_the_marks_of_one_round_never_overlap(qapp, data_dir, count):
    look = Look(qapp, RESOURCES, "light")
    seats = tuple(replace(SEATS[0], id=f"p{place}", name=f"P{place}") for place in range(count))
    options = tuple(Option(id=f"o{place}", text=text) for place, text in enumerate(OPTIONS))
    debate = Debate(topic="T", participants=seats, options=options)
    cast = [
        replace(
            a_ballot(0, number, number % 2),
            id=f"{number}{one.id}",
            author=Author(id=one.id, name=one.name, kind="participant"),
        )
        for number in range(3)
        for one in seats
    ]
    words = Language(RESOURCES / "i18n", "en")
    chart = VoteChart(words, look, Record(debate, cast), shown_people(seats, "", words))
    chart.resize(300, chart.sizeHint().height())
    for at in range(3):
        ys = sorted(chart.point(number, at).y() for number in range(count))
        assert all(after - before >= MARK for before, after in zip(ys, ys[1:], strict=False))
        assert ys[0] >= MARK / 2 and ys[-1] <= chart.height() - MARK / 2
    xs = [chart.point(0, at).x() for at in range(3)]
    assert xs == sorted(xs) and xs[0] >= MARK / 2 and xs[-1] <= 300 - MARK / 2
    assert not chart.grab().isNull()
    chart.deleteLater()
    look.deleteLater()


def test_a_move_that_cites_nothing_is_dashed(qapp, data_dir):
    look = Look(qapp, RESOURCES, "light")
    seats = tuple(replace(SEATS[0], id=f"p{place}", name=f"P{place}") for place in range(3))
    debate = Debate(
        topic="T",
        participants=seats,
        options=tuple(Option(id=f"o{n}", text=t) for n, t in enumerate(OPTIONS)),
    )
    authors = [Author(id=one.id, name=one.name, kind="participant") for one in seats]
    turns = [
        Message(id=f"t{one.id}", turn_id=f"t{one.id}", role="assistant", author=one, content="So.", round=1)
        for one in authors
    ]
    # The first moves for what the third says, the second for nothing; the third stays.
    cites, cast = {"p0": ("tp2",)}, []
    for number, held in enumerate(((0, 0, 1), (1, 1, 1))):
        for author, place in zip(authors, held, strict=True):
            vote = a_ballot(0, number, place)
            said = replace(vote.data, moved_by=cites.get(author.id, ()) if number else ())
            cast.append(replace(vote, id=f"{number}{author.id}", author=author, data=said))
    words = Language(RESOURCES / "i18n", "en")
    record = Record(debate, [*cast[:3], *turns, *cast[3:]])
    assert [move.moved for move in record.moves] == ["cited", "drift"]
    chart = VoteChart(words, look, record, shown_people(seats, "", words))
    chart.resize(420, chart.sizeHint().height())
    image = chart.grab().toImage()

    def painted(number: int) -> float:
        """Return the painted share of the middle of a line."""
        start, end = chart.point(number, 0), chart.point(number, 1)
        wanted = QColor(look.tokens.speaker(number)[0])
        found = []
        for step in range(200):
            spot = start + (end - start) * (0.25 + 0.5 * step / 200)
            # A slanted line is blended with what is behind it.
            around = [image.pixelColor(round(spot.x()), round(spot.y()) + by) for by in (-1, 0, 1)]
            near = [abs(one.red() - wanted.red()) + abs(one.green() - wanted.green()) for one in around]
            found.append(min(near) < 90)
        return sum(found) / len(found)

    assert painted(0) > 0.95 and painted(2) > 0.95
    assert 0.2 < painted(1) < 0.9
    chart.deleteLater()
    look.deleteLater()


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
        script(wire_home[kind])
    view = await hold(person)
    assert person.sees("debate_interject") and view.composer.box.isEnabled()
    assert not person.sees("verdict_tab_1"), "one verdict needs no tabs"
    for kind in KINDS:
        script(wire_home[kind], ONCE, case="## Drop it\n\nNobody would miss it.")
    await person.write("debate_interject", "What if nobody uses it?")
    await person.click("debate_send")
    await until(lambda: view.session.status == "running", PATIENCE_S)
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert [one.round for one in view.messages if not one.part][-3:] == [2, 2, 2]
    if not person.sees("verdict_tab_1"):
        view.steps.set_value("verdict")
    await until(lambda: person.sees("verdict_tab_2"), what="the tabs")
    tabs = [person.find(f"verdict_tab_{number}").text() for number in (1, 2)]
    assert tabs == [
        "Verdict 1, after round 1 · stable",
        "Verdict 2, after “What if nobody uses it?” · stable",
    ]
    assert "Anthropic: before A, after B" in texts(view)
    assert "Drop it" in texts(view.verdict) and "##" not in texts(view.verdict)
    changes = view.findChild(Paragraph, "verdict_changes")
    assert changes is not None and f"Openai: {STEP} → {ONCE}" in changes.text()
    await person.click("verdict_tab_1")
    await until(lambda: CASE in texts(view.verdict), what="the first verdict")
    assert "Anthropic: before A, after A" in texts(view)
    assert not person.sees("debate_ask_again") and not person.sees("verdict_decision")
    assert not changes.isVisible()


async def test_a_what_if_round_of_a_debate_is_for_those_whom_the_user_chooses(
    person: Person,
    wire_home: dict[str, WireServer],  # noqa: F811
) -> None:
    for kind in KINDS:
        script(wire_home[kind])
    view = await hold(person, polls=False)
    await until(lambda: person.sees("debate_target"), what="whom it is for")
    assert person.find("debate_target").accessibleName() == "For: Everyone"
    box = view.composer.box
    assert box.accessibleName().startswith("What if…? Everyone speaks once more.")
    # By the keyboard it stands between what can be done and the box.
    person.find("debate_target").setFocus()
    QTest.keyClick(person.find("debate_target"), Qt.Key.Key_Tab)
    assert box.hasFocus()
    before = view._price
    person.choose_from("debate_target", "Anthropic")
    assert person.find("debate_target").accessibleName() == "For: Anthropic" and box.hasFocus()
    assert box.accessibleName().startswith("What if…? Only Anthropic speaks.")
    assert before and view._price

    async def ask(text: str, number: int) -> list[str]:
        await person.write("debate_interject", text)
        await person.click("debate_send")
        await until(lambda: view.session.status == "running", PATIENCE_S)
        # While it runs a message is for all who come.
        await until(lambda: view.session.status != "running" or not person.sees("debate_target"))
        await until(lambda: view.session.status == "completed", PATIENCE_S)
        return [one.author.name for one in view.messages if not one.part and one.round == number][1:]

    assert await ask("What if nobody uses it?", 2) == ["Anthropic"]
    await until(lambda: person.sees("debate_target"), what="whom the next is for")
    # Who is named in the text comes before who was chosen.
    assert await ask("@Openai: what if all use it?", 3) == ["Openai"]
    await until(lambda: person.sees("debate_target"), what="whom the next is for")
    person.choose_from("debate_target", "Everyone")
    assert await ask("And if it is sold?", 4) == ["Openai", "Anthropic"]
    what_ifs = view.session.debate.what_ifs
    assert [one.to for one in what_ifs] == [("anthropic",), ("openai",), ()]
