"""What can be done with a council, each clicked in the window: ask again, compare, ask outside, let it take part, argue."""

import json
from dataclasses import replace
from functools import partial

import pytest

from app.cli.printing.lines import load_texts
from app.core.message import CouncilPart
from app.engine.debate.estimates import Estimate
from app.gui.pages.council.council_box import step_price
from app.gui.pages.council.council_page import CouncilPage
from app.gui.pages.council.decision_steps import VERDICT
from app.gui.widgets.text import Paragraph
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.gui.seen import saying, texts_in
from tests.gui.test_council_page import HOLDS, ask, ended, heard, next_step, offered, opened, options, script
from tests.gui.test_council_verdict import debate, reply
from tests.wire import WireServer
from tests.wire.fixtures import call_count, wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

until = partial(app_driver.until, seconds=60.0)
OUTSIDE = "Plain files"
TEXTS = load_texts("en")


@pytest.fixture
async def person(qapp, data_dir, wire_home: dict[str, WireServer]):
    """Three who disagree, and a fourth family that may read any session."""
    settings = {"version": 1, "may_read_any": ["ollama"]}
    (data_dir / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    script(wire_home)
    for model in wire_home["ollama"].models:
        wire_home["ollama"].script(model, lambda one: outside(one.messages[-1].text))
    async with at_window(data_dir) as person:
        yield person


def outside(text: str) -> str:
    """Answer something that nobody at the council said; vote for the first, and object."""
    if "secret ballot" in text or "Open, each with its letter" in text:
        return 'The files.\n@@ {"choice": "A", "confidence": 60}'
    return f'{OUTSIDE}, nothing to run.\n@@ {{"answer": "{OUTSIDE}", "confidence": 60}}'


def parts(page: CouncilPage, part: str) -> int:
    return sum(one.part == part and one.ended for one in page.messages)


async def after(person: Person, page: CouncilPage, button: str) -> None:
    """Ask for what makes calls, and wait for its end."""
    count = len(page.messages)
    await ask(person, button)
    await until(
        lambda: (page.session is not None and page.session.status == "running") or len(page.messages) > count,
        what=f"what {button} starts",
    )
    await ended(page)


@pytest.mark.slow
async def test_all_are_asked_the_same_again_and_compared_anew(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    page = await heard(person)
    await person.click("council_use_1")
    await until(lambda: person.find("council_use_1").text() == "In use")
    await person.click("council_use_1")
    await until(lambda: person.find("council_use_1").text() == "Use this", what="taking it back")
    count = call_count(wire_home)
    await after(person, page, "council_again")
    assert call_count(wire_home) == count + 4, "three answers and the comparison"
    assert [parts(page, CouncilPart.ANSWER), parts(page, CouncilPart.DIFFERENCES)] == [6, 2]
    assert "3 of 3 answered" in texts_in(page.glance)


@pytest.mark.slow
async def test_it_is_paused_and_goes_on_and_what_failed_is_retried_and_compared(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    script(wire_home, broken={"gemini"}, pace=0.05)
    page = await opened(person)
    await until(lambda: next_step(page) == "pause")
    await person.click("decision_next")
    await until(lambda: page.session.status == "paused", what="the pause")
    assert page.box.next.text() == "Resume"
    await person.click("decision_next")
    await ended(page)
    failed = next(one for one in page.messages if one.state == "failed")
    script(wire_home)
    page.columns.all["p2"].transcript.action_requested.emit(failed.id, "retry")
    await until(lambda: parts(page, CouncilPart.ANSWER) == 4, what="the late answer")
    await ended(page)
    # The script compares three answers, and there were two.
    assert saying(page.glance, "nobody compared the answers")
    count = call_count(wire_home)
    await after(person, page, "council_compare")
    assert call_count(wire_home) == count + 1 and "3 of 3 answered" in texts_in(page.glance)
    assert "compare" not in offered(page)


async def test_one_is_asked_more_by_the_button_under_its_answer(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    page = await heard(person)
    await person.click("council_more_2")
    assert page.composer.box.hasFocus() and person.find("decision_target").accessibleName() == "For: Claude"
    assert page.composer.box.placeholderText() == "Only Claude answers · 1 call"
    count = call_count(wire_home)
    await person.write("composer", "and with 400?")
    await person.click("send_button")
    await until(lambda: parts(page, CouncilPart.ANSWER) == 4)
    await ended(page)
    assert call_count(wire_home) == count + 1
    assert not person.sees("council_more_4"), "nobody is behind a merged answer"
    await ask(person, "council_hide_names")
    place = [*page.people()].index("p1") + 1
    assert person.find("decision_target").accessibleName() == f"For: Answer {place}"
    person.choose_from("decision_target", "Everyone")
    assert page.composer.box.placeholderText() == "What if…? Everyone answers · 4 calls"
    # Who is named in the text is asked alone, whomever the input is for.
    await person.write("composer", "@Gemini and with 4000?")
    await person.click("send_button")
    await until(lambda: parts(page, CouncilPart.ANSWER) == 5)
    await ended(page)
    assert call_count(wire_home) == count + 2


@pytest.mark.slow
async def test_who_says_something_else_from_outside_takes_part_and_no_call_is_made_for_that(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    for kind in ("openai", "anthropic", "gemini"):
        for model in wire_home[kind].models:
            trailer = json.dumps({"answer": HOLDS["openai"], "confidence": 70})
            wire_home[kind].script(model, lambda _request, said=f"Postgres.\n@@ {trailer}": said)
    page = await heard(person)
    await after(person, page, "council_check")
    await until(lambda: next_step(page) == "join", what="the offer")
    count = call_count(wire_home)
    await person.click("decision_next")
    await until(lambda: len(page.session.debate.participants) == 4, what="its seat")
    assert call_count(wire_home) == count
    column = page.columns.all[page.session.debate.participants[3].id]
    await until(column.isVisible, what="its column")
    assert OUTSIDE in column.accessibleName() and saying(page.glance, "4 of 4 answered")
    assert "join" not in offered(page) and next_step(page) == "debate"


@pytest.mark.slow
async def test_on_the_verdict_others_object_answer_from_outside_and_take_part(
    person: Person, wire_home: dict[str, WireServer]
) -> None:
    for kind in ("openai", "anthropic", "gemini"):
        for model in wire_home[kind].models:
            wire_home[kind].script(model, lambda one, kind=kind: reply(kind, one.messages[-1].text))
    page = await heard(person)
    await debate(person, page)
    assert page.steps.value() == VERDICT
    minority = next(one.option for one in page.verdict._shown.result.minority if one.now)
    await after(person, page, f"council_argue_{minority}")
    assert parts(page, CouncilPart.TURN) == 6
    page.steps.set_value(VERDICT)
    await after(person, page, "council_check")
    await until(lambda: person.sees("council_outside_join"), what="the offer")
    said = [one.text() for one in person.find("council_outside").findChildren(Paragraph)]
    assert said == ["A model of another family says something else: it is an option now."]
    await person.click("council_outside_join")
    await until(lambda: len(page.session.debate.participants) == 4)
    assert OUTSIDE in options(page)
    page.steps.set_value(VERDICT)
    turns = parts(page, CouncilPart.TURN)
    await after(person, page, "council_stress")
    objections = [one for one in page.messages if one.part == CouncilPart.CHECK and one.round]
    assert len(objections) == 1 and parts(page, CouncilPart.TURN) == turns, "it alone speaks in that round"


def test_reading_the_web_counts_among_the_calls_where_no_price_is_known() -> None:
    plain = Estimate(turns=4, tokens=(1, 2), usd=None)
    assert step_price(TEXTS, plain, most=False) == "4 calls"
    assert step_price(TEXTS, replace(plain, reads=9), most=False) == "at most 13 calls"
