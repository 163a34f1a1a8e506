"""The page of a council: a column for each answer, what they hold and differ on, and what can be asked next."""

import asyncio
import json
import os
import re
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.council import Participant
from app.core.message import Attachment, CouncilPart
from app.core.session import DebateMode
from app.engine.council.outcome import CouncilOutcome, State, Tally, holders_of, state_text
from app.engine.council.record import Record
from app.engine.engine import CouncilSetup, DebateSetup
from app.gui.display.appearance import Language
from app.gui.pages.council.council_page import CouncilPage
from app.gui.pages.council.decision_steps import ANSWERS, DIFFERENCES, VERDICT
from app.gui.panels.debate.cited_text import CitedText
from app.gui.widgets.badge import Chip, initials
from app.gui.widgets.controls import Button
from app.gui.widgets.text import Paragraph
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.gui.seen import inside, saying, texts_in
from tests.wire import Answer, Fault, Recorded, WireServer
from tests.wire.fixtures import call_count, wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

until = partial(app_driver.until, seconds=60.0)
QUESTION = (
    "40 field laptops sync to one small server, often after days offline. Postgres or SQLite on the server?"
)
SAYS = {
    "openai": "Use **Postgres**, one row per document. Forty laptops coming back from the field write in the same minutes, and SQLite admits one writer at a time.\n\nLet the server settle conflicts by version number; a laptop only says what it last saw.\n\nRehearse a restore before the first laptop connects.",
    "anthropic": "SQLite in WAL mode, one writer behind a queue. A sync is a batch: a queue drains 40 batches in seconds, so nobody waits long enough to notice.\n\nWhat fails in the field is *operations*, not throughput. One file that anyone can copy beats a service nobody on site can repair.\n\nConflicts belong on the server, and a restore is tried each month.",
    "gemini": "Postgres. Not for speed: two people will want reports while laptops sync, and readers there never wait for a writer.\n\nDecide conflicts in one place, on the server. Practise the restore either way.",
}
HOLDS = {
    "openai": "Postgres, one row per document",
    "anthropic": "SQLite in WAL mode, one writer",
    "gemini": "Postgres, one row per document",
}
SURE = {"openai": 78, "anthropic": 71, "gemini": 64}


def compared(text: str) -> str:
    numbers = {
        kind: next(int(line[1]) for line in text.splitlines() if line.startswith("(") and says[:12] in line)
        for kind, says in SAYS.items()
    }
    quote = lambda kind, words: {"answer": numbers[kind], "text": words}  # noqa: E731
    return json.dumps(
        {
            "options": [
                {"text": HOLDS["openai"], "answers": [numbers["openai"], numbers["gemini"]]},
                {"text": HOLDS["anthropic"], "answers": [numbers["anthropic"]]},
            ],
            "differ": [
                {
                    "text": "How many laptops write at the same moment",
                    "quotes": [
                        quote("openai", "Forty laptops coming back from the field write in the same minutes"),
                        quote("anthropic", "a queue drains 40 batches in seconds"),
                    ],
                },
                {
                    "text": "Reports while laptops sync",
                    "quotes": [quote("gemini", "two people will want reports while laptops sync")],
                },
            ],
            "agreed": [
                {
                    "text": "The server settles conflicts, not the laptops",
                    "quotes": [quote("openai", "Let the server settle conflicts")],
                }
            ],
        }
    )


def vote(text: str) -> str:
    """Hold the first option whoever it is, as a turn and in the ballot."""
    letter = next(line[0] for line in text.splitlines() if line[1:] == f": {HOLDS['openai']}")
    said = json.dumps({"choice": letter, "confidence": 88, "moved_by": [1]})
    return said if "secret ballot" in text else f"The peak is the point.\n@@ {said}"


def judged(text: str) -> str:
    """Judge for the first option, with a case of its own."""
    letter = next(line[0] for line in text.splitlines() if line[1:] == f": {HOLDS['openai']}")
    case = {"option": letter, "text": "Reports never wait for a writer.", "cites": [1]}
    said = re.findall(r"^\((\d+)\) Participant (\w): (.{12})", text, re.MULTILINE)
    who = {kind: next(one for _, one, words in said if words == says[:12]) for kind, says in SAYS.items()}
    number = {kind: next(int(n) for n, one, _ in said if one == own) for kind, own in who.items()}
    crux = {
        "text": "Do more than 20 laptops write in the same second?",
        "settled_by": "a day of sync logs",
        "yes": [who["openai"], who["gemini"]],
        "no": [who["anthropic"]],
        "cites": [number["openai"], number["anthropic"]],
    }
    claims = [
        {
            "text": "A queue drains 40 batches in seconds",
            "who": who["anthropic"],
            "for": [],
            "against": [who["openai"]],
            "cites": [number["anthropic"]],
        },
        {
            "text": "Two people will want reports while laptops sync",
            "who": who["gemini"],
            "for": [who["openai"]],
            "against": [],
            "cites": [number["gemini"]],
        },
        {"text": "The judge's own", "who": who["gemini"], "for": [], "against": [], "cites": []},
    ]
    more = {"agreed": [{"text": "The server settles conflicts", "cites": [1]}], "open": [], "cruxes": [crux]}
    more |= {"claims": claims, "unsupported": [number["gemini"]]}
    return json.dumps({"choice": letter, "confidence": 70, "cases": [case], **more})


def script(servers: dict[str, WireServer], *, broken: set[str] = frozenset(), pace: float = 0.0) -> None:  # type: ignore[assignment]
    for kind, says in SAYS.items():

        def reply(request, kind=kind, says=says):  # type: ignore[no-untyped-def]
            text = str(request.messages[-1])
            if "Compare their answers" in text:
                return compared(request.messages[-1].text)
            if "You judge a question" in text:
                return judged(request.messages[-1].text)
            if "Make one answer" in text:
                return "Postgres with one row per document (1); SQLite would do below 20 writers (2)."
            if "Open, each with its letter" in text or "secret ballot" in text:
                return vote(request.messages[-1].text)
            if kind in broken:
                return Fault("e500")
            trailer = json.dumps({"answer": HOLDS[kind], "confidence": SURE[kind]})
            return Answer(f"{says}\n@@ {trailer}", pace=pace)

        for model in servers[kind].models:
            servers[kind].script(model, reply)


def three() -> tuple[Participant, ...]:
    return tuple(
        Participant(id=f"p{place}", name=name, provider=kind, model=f"{kind}-wire")
        for place, (kind, name) in enumerate(zip(SAYS, ("GPT", "Claude", "Gemini"), strict=True))
    )


async def opened(
    person: Person, question: str = QUESTION, context: tuple[Attachment, ...] = ()
) -> CouncilPage:
    controller = person.window.controller
    setup = DebateSetup(topic=question, participants=three(), mode=DebateMode.COUNCIL, context=context)
    session_id = await controller.engine.councils.start(CouncilSetup(setup=setup))
    controller.show_session(session_id)
    page = controller.council_page
    await until(lambda: page.session_id == session_id and page.isVisible(), what="the page")
    return page


async def ended(page: CouncilPage) -> None:
    await until(lambda: page.session is not None and page.session.status in ("completed", "error"))


async def heard(
    person: Person, question: str = QUESTION, context: tuple[Attachment, ...] = ()
) -> CouncilPage:
    """Return the page of a council once all have answered."""
    page = await opened(person, question, context)
    await ended(page)
    return page


async def read(person: Person) -> None:
    """Go on from the blind pick that is offered to the verdict."""
    await until(lambda: person.sees("blind_close"), what="the offer")
    await person.click("blind_close")


def offered(page: CouncilPage) -> dict[str, str]:
    """Return what the bar offers: the next step, the entries of More, and what helps where something is said about it."""
    bar = page.box
    bar.more.choices.aboutToShow.emit()
    entries = [one for one in bar.more.choices.actions() if one.objectName()]
    notes = [one for one in bar.findChildren(Button) if one.property("kind") == "link"]
    notes = [one for one in notes if one.objectName().startswith("council_") and one.isVisible()]
    found = {one.objectName().removeprefix("council_"): one.text() for one in (*entries, *notes)}
    return found | ({next_step(page): bar.next.accessibleName()} if bar.next.isVisible() else {})


def next_step(page: CouncilPage) -> str:
    """Return the name of what the button of the next step asks for."""
    return page.box._what


async def ask(person: Person, name: str) -> None:
    """Click the button of that name, else the next step, or choose the entry of More."""
    bar = person.window.controller.council_page.box
    what = name.removeprefix("council_")
    if person.sees(name):
        await person.click(name)
    elif next_step(person.window.controller.council_page) == what:
        await person.click("decision_next")
    else:
        bar.more.choices.aboutToShow.emit()
        entries = {one.objectName(): one for one in bar.more.choices.actions()}
        assert name in entries, f"{name} is not among {sorted(entries)}"
        entries[name].trigger()
        await asyncio.sleep(0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):
    script(wire_home)
    async with at_window(data_dir) as person:
        yield person


def said(page: CouncilPage, place: int) -> list[str]:
    transcript = [*page.columns.all.values()][place].transcript
    return [transcript.describe(one) for one in transcript.message_ids]


@pytest.mark.slow
async def test_each_answer_has_its_column_and_the_card_says_what_they_hold(person: Person) -> None:
    page = await heard(person)
    columns = [*page.columns.all.values()]
    assert [column.isVisible() for column in columns] == [True, True, True, False]
    for place, (kind, says) in enumerate(SAYS.items()):
        (row,) = said(page, place)
        assert says[-20:] in row and "@@" not in row
        assert (
            HOLDS[kind] in columns[place].accessibleName()
            and str(SURE[kind]) in columns[place].accessibleName()
        )
    assert columns[0].accessibleName().split(". ")[2].startswith("A") and "B" in columns[1].accessibleName()
    assert texts_in(page.box, Chip) == ["Leaning · 2 to 1"]
    marked = columns[0].transcript.search.marks
    row = columns[0].transcript.canvas.row(0)
    words = [
        row.text.plain_text[one.start : one.end] for one in marked.ranges(row, person.window.look.tokens)
    ]
    assert words == [
        "Let the server settle conflicts",
        "Forty laptops coming back from the field write in the same minutes",
    ]
    if folder := os.environ.get("COUNCIL_SHOTS"):
        await person.settle(0.3)
        person.window.grab().save(str(Path(folder) / "council.png"))


@pytest.mark.slow
async def test_one_is_used_all_are_merged_and_asked_more(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    page = await heard(person)
    await person.click("council_use_2")
    await until(lambda: person.find("council_use_2").text() == "In use")
    count = call_count(wire_home)
    await ask(person, "council_merge")
    await until(lambda: page.columns.all[""].isVisible() and page.session.status == "completed")
    first, second = (name for name in ("GPT", "Claude", "Gemini") if f"({name})" in said(page, 3)[0])
    assert first != second and "(1)" not in said(page, 3)[0]
    assert call_count(wire_home) == count + 1
    await person.write("composer", "@Claude and below 20 writers?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: len(said(page, 1)) == 3, what="the second answer")
    await ended(page)
    assert len(said(page, 0)) == 1
    assert call_count(wire_home) == count + 2


@pytest.mark.slow
async def test_a_failed_answer_says_why_above_the_result_and_is_retried_alone(
    qapp, data_dir, wire_home
) -> None:  # type: ignore[no-untyped-def]
    script(wire_home, broken={"gemini"})
    async with at_window(data_dir) as person:
        page = await heard(person)
        page.steps.set_value(DIFFERENCES)
        assert saying(page.glance, "2 of 3 answered") and page.glance.isVisible()
        failed = next(one for one in page.messages if one.state == "failed")
        script(wire_home)
        count = len(wire_home["openai"].requests)
        page.columns.all["p2"].transcript.action_requested.emit(failed.id, "retry")
        await until(lambda: "p2" in [one.author.id for one in page.messages if one.state == "done"])
        await ended(page)
        assert len(wire_home["openai"].requests) == count


@pytest.mark.slow
async def test_where_all_agree_a_provider_is_offered_or_a_model_from_outside(
    person: Person, wire_home: dict[str, WireServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in SAYS:
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda _: 'Postgres.\n@@ {"answer": "Postgres", "confidence": 70}')
    page = await heard(person)
    assert saying(page.box, "All agree").startswith("All agree") and "connect" in offered(page)
    assert not {"check", "debate"} & {*offered(page)}
    assert page.box.next.text() == "Look for a counter-argument · at most 9 calls"
    await person.click("council_connect")
    await until(lambda: person.sees("connect_dialog"), what="the dialog that adds a provider")
    person.find("connect_dialog").reject()
    assert page.councils is not None
    monkeypatch.setattr(page.councils.providers, "outsider", lambda _session: "ollama/ollama-wire")
    page.refresh()
    assert "check" in offered(page) and "connect" not in offered(page)


async def test_the_switch_of_the_composer_asks_several(person: Person) -> None:
    page = person.window.controller.council_page
    await person.click("segment_decide")
    setup = person.window.controller.panel.setup.setup()
    person.choose_from("decide_ends", "No verdict")
    assert person.hint().startswith(f"at most {len(setup.participants) + 1} calls")
    await person.write("composer", QUESTION)
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None and page.isVisible(), what="the council")
    assert page.session.debate.topic == QUESTION and page.session.debate.mode == "council"
    await ended(page)
    asked = [one for one in page.messages if one.part == CouncilPart.ANSWER]
    assert len(asked) == len(setup.participants)


@pytest.mark.slow
async def test_what_is_open_is_debated_and_the_column_says_who_moved(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    page = await heard(person)
    count = call_count(wire_home)
    assert page.box.next.text() == "Debate what is open · at most 14 calls"
    assert page.box.next.toolTip() == "2 rounds"

    def moved_by_nothing(request: Recorded) -> str:
        text = request.messages[-1].text
        return judged(text) if "You judge a question" in text else vote(text).replace("[1]", "[]")

    for model in wire_home["anthropic"].models:
        wire_home["anthropic"].script(model, moved_by_nothing)
    await ask(person, "council_debate")
    await until(lambda: page.transcript.isVisible() and page.transcript.message_ids, what="the turn")
    await ended(page)
    # All agree after the first round: three turns, the ballots of all, and two readings.
    assert call_count(wire_home) == count + 8
    turns = [page.transcript.describe(one) for one in page.transcript.message_ids]
    assert len(turns) == 3 and all("The peak is the point." in one for one in turns)
    assert [len(said(page, place)) for place in range(3)] == [1, 1, 1]
    page.steps.set_value(ANSWERS)
    assert "88% sure · first B" in texts_in(page.columns.all["p1"])
    assert saying(page.box, "All agree").startswith("All agree") and "debate" not in offered(page)
    # What was given up is shown without marks, and who names no statement leaves no empty line.
    page.steps.set_value(VERDICT)
    await read(person)
    minority, before_after = (
        person.find(name).findChildren(CitedText) for name in ("council_minority", "council_before_after")
    )
    assert "in the field is operations, not throughput" in minority[0].text() and not before_after
    card = person.find("council_before_after")
    lines = [one.text() for one in card.findChildren(Paragraph)]
    assert "Changes of position: 0 citing a statement of somebody who held the new one, 1 without" in lines


@pytest.mark.slow
async def test_the_panel_shows_how_the_council_stands_and_never_a_second_transcript(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    page = await opened(person)
    panel = person.window.controller.panel
    person.window.top_bar.debate_button.setChecked(True)
    panel.show_discussion()
    await ended(page)
    summary = panel.summary
    assert summary.isVisible() and not panel.discussion.isVisible()

    def rows() -> list[str]:
        found = (summary._rows.itemAt(place).widget() for place in range(summary._rows.count()))
        return [one.accessibleName() for one in found]

    a, b = (f"{letter}: {HOLDS[kind]}" for letter, kind in (("A", "openai"), ("B", "anthropic")))
    assert rows() == [f"GPT, {a}", f"Claude, {b}", f"Gemini, {a}"]
    assert not person.sees("beside_stop")
    server = wire_home["gemini"]
    server.script(server.model, lambda request: Answer(vote(request.messages[-1].text), delay=2.0))
    await ask(person, "council_debate")
    await until(lambda: any(one.endswith(f"writing…, {a}") for one in rows()), what="who writes")
    assert "Round 1 of 2" in texts_in(summary.controls)
    await person.click("beside_pause")
    await until(lambda: page.session.status == "paused", what="the pause")
    await person.click("beside_resume")
    await until(lambda: page.session.status == "running", what="going on")
    await until(lambda: page.session.status == "completed", what="the end")
    assert rows() == [f"{name}, {a}" for name in ("GPT", "Claude", "Gemini")]
    await person.click("beside_turn_2")
    assert page.transcript.isVisible(), "the turn is in the discussion"
    # Beside the panel the steps are in a menu.
    QTest.keyClick(person.window, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert page.steps.value() == ANSWERS
    await ask(person, "council_hide_names")
    await until(lambda: rows()[0].startswith("Answer 1"), what="hidden names")


def options(page: CouncilPage) -> dict[str, tuple[str, ...]]:
    record = Record(page.session.debate, page.messages)
    return {one.text: holders_of(record)[one.id] for one in record.options()}


@pytest.mark.slow
async def test_the_options_are_renamed_merged_and_added_by_the_user(person: Person) -> None:
    page = await heard(person)
    assert "3 of 3 answered" in texts_in(page.glance)
    await person.click("segment_differences")
    await person.click("council_edit")
    await person.write("option_1", "Postgres")
    await person.write("option_3", "Files")
    await person.click("options_save")
    await until(lambda: list(options(page)) == ["Postgres", HOLDS["anthropic"], "Files"])
    assert options(page)["Postgres"] == ("p0", "p2") and "Postgres" in page.columns.all["p0"].accessibleName()
    await person.click("council_edit")
    await person.write("option_2", "postgres.")
    await person.write("option_3", "")
    await person.click("options_save")
    await until(lambda: options(page) == {"Postgres": ("p0", "p1", "p2")})


@pytest.mark.slow
async def test_names_are_hidden_and_words_found_over_all_columns(person: Person) -> None:
    page = await heard(person, "Postgres or SQLite?")
    await ask(person, "council_hide_names")
    shown = [page.columns.row.itemAt(place).widget() for place in range(3)]
    assert [one.accessibleName().split(".")[0] for one in shown] == ["Answer 1", "Answer 2", "Answer 3"]
    assert shown == [page.columns.all[one] for one in page.people()]
    for one in (*shown, *inside(page.glance, "council_options").findChildren(QWidget)):
        assert not any(name in one.accessibleName() for name in ("GPT", "Claude", "Gemini", "wire"))
    await ask(person, "council_hide_names")
    assert [page.columns.row.itemAt(place).widget() for place in range(3)] == [*page.columns.all.values()][:3]
    page.open_find()
    bar = page.find_bar
    inside(bar, "find_box", QLineEdit).setText("postgres")
    await until(lambda: texts_in(bar) == ["1 of 2"])
    for step, said, at in ((1, "2 of 2", "p2"), (1, "1 of 2", "p0"), (-1, "2 of 2", "p2")):
        bar.step_requested.emit(step)
        assert (texts_in(bar), page.finder.at) == ([said], at)


@pytest.mark.slow
async def test_the_composer_of_a_chat_asks_several_without_a_comparison(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    controller = person.window.controller
    page = controller.council_page
    await person.click("segment_decide")
    person.choose_from("decide_how", "Compare the answers")
    setup = controller.panel.setup.setup()
    person.choose_from("decide_ends", "No verdict")
    assert person.hint().startswith(f"at most {len(setup.participants)} calls · ")
    await person.click("segment_chat")
    await person.write("composer", QUESTION)
    controller.chat_page.chat_composer.ask_several.trigger()
    await until(lambda: page.session is not None and page.isVisible(), what="the council")
    await ended(page)
    assert page.session.debate.topic == QUESTION
    assert [one.part for one in page.messages].count(CouncilPart.DIFFERENCES) == 0
    assert not saying(page.glance, "Grouped by their short answers")


def test_a_tie_names_each_number(qapp: object) -> None:
    tally = Tally(votes={"a": 1, "b": 1, "c": 1}, weighted={})
    result = CouncilOutcome(state=State.TIE, headline="", before=tally, after=tally)
    words = Language(Path(__file__).parents[2] / "resources" / "i18n", "en")
    assert state_text(result, words) == "Open: a tie · 1 to 1 to 1"


def test_participants_with_the_same_initial_get_different_letters() -> None:
    assert initials(["GPT", "Gemini", "Claude"]) == ["Gp", "Ge", "C"]
