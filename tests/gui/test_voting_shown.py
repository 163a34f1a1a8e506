"""The voting check as a user sees it: how far it is, skipping it, why there is no vote, checking again."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from app.core.council import NO_JUDGE, Ends
from app.core.session import DebateMode
from app.engine.council.record import Record
from app.engine.engine import CouncilSetup, DebateSetup
from app.gui.controllers.debates import OFFERS_BLIND
from app.gui.widgets.text import Paragraph
from tests.app_driver import Person, at_window, until
from tests.gui.seen import saying, texts_in
from tests.gui.test_models_page import Shown
from tests.gui.test_verdict_view import OPTIONS, SEATS, debate_view, script
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

PATIENCE_S = 60.0
SETUP = DebateSetup(
    topic="Rewrite the parser?",
    participants=SEATS,
    rounds=1,
    final_ballots=True,
    judge=NO_JUDGE,
    options=OPTIONS,
)


@pytest.fixture
async def person(qapp, data_dir, wire_home: dict[str, WireServer]):
    for server in wire_home.values():
        script(server)
    async with at_window(data_dir) as person:
        yield person
    for server in wire_home.values():
        server.stable, server.premises, server.check_delay = True, True, 0.0


def texts(person: Person, kind: str) -> list[str]:
    """Return the texts of all labels that are seen and whose name begins so."""
    found = [one for one in person.window.findChildren(Paragraph) if one.objectName().startswith(kind)]
    return [one.text() for one in found if one.isVisible()]


async def started(person: Person, setup: DebateSetup) -> None:
    # The verdict itself is looked at, not what is offered before it is read.
    person.window.state.keep(OFFERS_BLIND, False)
    person.window.controller.debates.show_setup()
    person.window.controller.panel.setup.start_requested.emit(setup, ())
    await until(lambda: debate_view(person).session_id != "", PATIENCE_S)


@pytest.mark.slow
async def test_a_check_that_is_skipped_says_so_and_is_made_up_for(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    wire_home["openai"].check_delay = 3.0
    view = debate_view(person)
    await started(person, SETUP)
    await until(lambda: "Checking who may vote: 4 of 8" in texts_in(view.controls), PATIENCE_S)
    assert person.find("debate_skip_check", QPushButton).text() == "Skip"
    await person.click("debate_skip_check")
    await until(lambda: view.session.status == "completed", PATIENCE_S)
    assert len(wire_home["openai"].check_requests) < 4
    view.steps.set_value("verdict")
    assert texts(person, "no_vote_") == ["Openai: no vote, the check was skipped"]
    wire_home["openai"].check_delay = 0.0
    await person.click(f"check_again_{view.session.debate.participants[0].id}")
    await until(lambda: not texts(person, "no_vote_"), PATIENCE_S)
    assert not view.session.debate.no_votes


@pytest.mark.slow
async def test_who_follows_the_order_has_no_vote_on_the_verdict_and_in_the_settings(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    wire_home["openai"].stable = False
    view = debate_view(person)
    await started(person, SETUP)
    await until(lambda: view.session_id and view.session.status == "completed", PATIENCE_S)
    view.steps.set_value("verdict")
    why = "no vote, only 0 of 2 answers stayed the same when the options were listed in the other order"
    assert texts(person, "no_vote_") == [f"Openai: {why}"]
    models = Shown(person)
    models.click("openai-wire", x=90)
    assert models.item("openai-wire").note.endswith(why.replace("no vote, ", "no vote: "))
    assert models.page.voting.text().startswith("openai-wire: no vote: only 0 of 2 answers")
    wire_home["openai"].stable = True
    await person.click("models_check")
    await until(lambda: models.page.voting.text() == "openai-wire: votes, breaks ties", PATIENCE_S)
    assert models.item("openai-wire").note.endswith("votes, breaks ties")
    assert models.page.check.isEnabled() and len(wire_home["openai"].check_requests) == 8
    models.click("anthropic-other", x=90)
    assert models.page.voting.text() == "anthropic-other: not checked yet"


@pytest.mark.slow
async def test_who_misses_premises_votes_and_the_verdict_and_the_settings_say_that_it_breaks_no_ties(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    server, view = wire_home["ollama"], debate_view(person)
    server.premises = False
    script(server)
    seats = (SEATS[0], replace(SEATS[1], provider="ollama", model="ollama-wire", name="Llama"))
    await started(person, replace(SETUP, participants=seats, judge="ollama/ollama-wire"))
    await until(lambda: view.session_id and view.session.status == "completed", PATIENCE_S)
    record = Record(view.session.debate, list(view.messages))
    assert [record.vote(one, 1).choice for one in record.voters()] == [record.options()[0].id] * 2
    view.steps.set_value("verdict")
    why = "missed 8 of 8 false premises"
    assert texts(person, "no_vote_") == [f"Llama: breaks no ties, {why}"]
    models = Shown(person)
    models.click("ollama-wire", x=90)
    assert models.item("ollama-wire").note.endswith(f"votes, breaks no ties: {why}")
    assert models.page.voting.text() == f"ollama-wire: votes, breaks no ties: {why}"
    assert "24 short questions" in models.page.check.toolTip()
    server.premises = True
    await person.click("models_check")
    await until(lambda: models.page.voting.text() == "ollama-wire: votes, breaks ties", PATIENCE_S)
    assert len(server.check_requests) == 48


@pytest.mark.slow
async def test_a_council_shows_how_far_the_check_is_and_skips_it(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    wire_home["openai"].check_delay = 3.0
    engine, page = person.window.controller.engine, person.window.controller.council_page
    setup = replace(SETUP, mode=DebateMode.COUNCIL, final_ballots=False)
    session_id = await engine.councils.start(CouncilSetup(setup=setup, ends=Ends.VOTE, judge=NO_JUDGE))
    person.window.controller.show_session(session_id)
    await until(lambda: person.sees("council_skip_check"), PATIENCE_S)
    await until(lambda: saying(page.box, "Checking who may vote: 4 of 8"), PATIENCE_S)
    await person.click("council_skip_check")
    await until(lambda: not person.find("council_skip_check", QWidget).isVisible(), PATIENCE_S)
    assert len(wire_home["openai"].check_requests) < 4
