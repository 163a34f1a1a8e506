"""How a debate ends, chosen before its start: votes and a verdict, each with its price."""

import pytest

from app.core.council import ANY_JUDGE
from app.core.model_facts import Price
from tests.app_driver import at_window, until
from tests.gui.test_setup_view import card_of


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.debates.show_setup()
        yield person


@pytest.mark.slow
async def test_each_way_to_end_has_its_price_and_the_judge_its_place(person, monkeypatch):
    setup, engine = person.window.controller.panel.setup, person.window.controller.engine
    conclusion = setup.conclusion

    async def price(_provider: str, _model: str) -> Price | None:
        return Price(read=0.000002, written=0.00001)

    def shown(what: str) -> str:
        return person.find(f"price_{what}").text() if person.sees(f"price_{what}") else ""

    monkeypatch.setattr(engine.estimates._models, "price", price)
    for provider in ("openai", "anthropic"):
        await engine.keys.set(provider, "sk-canary-typed-by-hand")
    setup.seats.refresh()
    await person.write("debate_topic", "Tabs or spaces?")
    await until(lambda: all("$" in shown(one) for one in ("final_ballots", "polls", "verdict")))
    assert shown("final_ballots").startswith("2 calls · ") and shown("polls").startswith("8 calls · ")
    # Two readings, what moved somebody, and what the minority writes.
    assert shown("verdict").startswith("5 calls · ")
    assert [tick.isChecked() for tick in conclusion.ticks] == [True, True, False], "a verdict ends it"
    assert conclusion.judge.accessibleName().endswith("(outside)") or "(outside)" in conclusion.judge.text()
    wanted = setup.setup()
    assert (wanted.final_ballots, wanted.polls, wanted.judge) == (True, False, ANY_JUDGE)
    conclusion.judge.chosen.emit("openai", wanted.participants[0].model)
    assert setup.setup().judge == f"openai/{wanted.participants[0].model}"
    await person.click("debate_polls")
    assert shown("final_ballots") == "Included in the votes of each round"
    assert not conclusion.final_ballots.isEnabled()
    again = setup.draft
    for tick in conclusion.ticks:
        tick.setChecked(False)
    setup.show_draft(again)
    assert setup.draft == again and all(tick.isChecked() for tick in conclusion.ticks)


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_what_the_models_cost_is_looked_up_when_the_list_of_judges_opens(person):
    engine = person.window.controller.engine
    await engine.keys.set("openai", "sk-canary-typed-by-hand")
    await person.window.controller._refresh_one_by_one()
    assert engine.connections.known_facts("openai", "gpt-5.4-mini").prices is None
    await person.click("setup_judge")
    await until(
        lambda: engine.connections.known_facts("openai", "gpt-5.4-mini").prices is not None,
        60.0,
        what="the price of a model that can judge",
    )


@pytest.mark.slow
async def test_ballots_are_offered_where_somebody_can_vote_and_counted_in_the_estimate(person, data_dir):
    setup, engine = person.window.controller.panel.setup, person.window.controller.engine
    await person.write("debate_topic", "Tabs or spaces?")
    assert not setup.conclusion.polls.isEnabled()
    assert "too small" in setup.conclusion.polls.toolTip()
    for provider in ("openai", "anthropic"):
        await engine.keys.set(provider, "sk-canary-typed-by-hand")
    setup.seats.refresh()
    assert setup.conclusion.polls.isEnabled()
    assert not setup.conclusion.polls.isChecked(), "off until it is asked for"
    before = engine.estimates.debate(setup.setup(), 0)
    await person.click("debate_polls")
    assert setup.setup().polls
    after = engine.estimates.debate(setup.setup(), 0)
    assert after.turns == before.turns
    assert after.tokens[0] > before.tokens[0]
    for kind in ("openai", "anthropic"):
        card_of(person, kind).tick.setChecked(False)
    card_of(person, "ada").tick.setChecked(True)
    assert not setup.setup().polls, "not where nobody can vote"


@pytest.mark.slow
async def test_ballots_are_remembered(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.panel.setup.conclusion.polls.setChecked(True)
    async with at_window(data_dir) as person:
        assert person.window.controller.panel.setup.conclusion.polls.isChecked()
