"""How a debate ends, chosen before its start: votes and a verdict, each with its price."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.council import ANY_JUDGE, Ends
from tests.app_driver import at_window, until
from tests.gui.models import give_keys, give_prices
from tests.gui.test_setup_view import card_of, person

__all__ = ["person"]


@pytest.mark.slow
async def test_each_way_to_end_has_the_words_of_the_first_page_and_its_price(person, monkeypatch):
    setup, engine = person.window.controller.panel.setup, person.window.controller.engine
    conclusion = setup.conclusion

    def shown(what: str) -> str:
        return person.find(f"price_{what}").text() if person.sees(f"price_{what}") else ""

    give_prices(monkeypatch, engine)
    await give_keys(person, "openai", "anthropic")
    await person.write("debate_topic", "Tabs or spaces?")
    await until(lambda: all("$" in shown(one) for one in ("ends", "polls")))
    choice = person.find("setup_ends")
    assert choice.accessibleName() == "Ends with" and choice.currentText() == "Verdict"
    assert [choice.itemText(row) for row in range(choice.count())] == ["Verdict", "Vote", "No verdict"]
    assert "a judge gives a verdict" in choice.toolTip()
    # Two ballots, two readings, what moved somebody, and what the minority writes.
    assert shown("ends").startswith("7 calls · ") and shown("polls").startswith("8 calls · ")
    assert conclusion.judge.accessibleName().endswith("(outside)") or "(outside)" in conclusion.judge.text()
    wanted = setup.setup()
    assert (wanted.final_ballots, wanted.polls, wanted.judge) == (True, False, ANY_JUDGE)
    conclusion.judge.chosen.emit("openai", wanted.participants[0].model)
    judge = f"openai/{wanted.participants[0].model}"
    assert setup.setup().judge == judge
    await person.click("debate_polls")
    assert shown("ends").startswith("13 calls · "), "eight ballots in place of two"
    again = setup.draft
    assert (again.setup.polls, again.setup.final_ballots, again.setup.judge) == (True, False, judge)

    async def choose(text: str) -> None:
        """Choose an end by the keyboard, as it stands in the list."""
        choice.setFocus()
        choice.setCurrentIndex(choice.findText(text))
        choice.activated.emit(choice.currentIndex())
        await person.settle()

    # The first page says the same, and what was chosen for it stays where it is needed again.
    await choose("Vote")
    assert (setup.setup().polls, setup.setup().judge) == (True, "none")
    assert shown("ends").startswith("8 calls · ") and not conclusion.judge.isEnabled()
    await choose("No verdict")
    assert (setup.setup().polls, setup.setup().final_ballots, setup.setup().judge) == (False, False, "none")
    assert shown("ends") == "" and shown("polls").startswith("8 calls · ")
    person.window.state.keep("how", "round-robin")
    assert person.window.controller.first_page.ends == "none"
    person.choose_from("decide_ends", "Verdict")
    assert choice.currentText() == "Verdict" and setup.setup().judge == judge
    assert (setup.setup().polls, setup.setup().final_ballots) == (False, True)
    # Votes in each round are votes.
    await choose("No verdict")
    await person.click("debate_polls")
    assert choice.currentText() == "Vote" and setup.setup().polls
    setup.show_draft(again)
    assert setup.draft == again and choice.currentText() == "Verdict" and conclusion.polls.isChecked()
    # A verdict on what was said alone, as the command line can begin it, stays one.
    alone = replace(again.setup, polls=False, final_ballots=False)
    setup.show_draft(replace(again, setup=alone))
    assert setup.draft.setup == alone and choice.currentText() == "Verdict"


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_what_the_models_cost_is_looked_up_when_the_list_of_judges_opens(person):
    engine = person.window.controller.engine
    await give_keys(person, "openai")
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
    await give_keys(person, "openai", "anthropic")
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
async def test_by_keyboard_alone_an_end_is_chosen_in_a_small_korean_window(qapp, data_dir):
    async with at_window(data_dir, language="ko", size=(900, 600)) as person:
        window, control = person.window, Qt.KeyboardModifier.ControlModifier
        await give_keys(person, "openai", "anthropic")
        QTest.keyClick(window, Qt.Key.Key_1, control)
        await person.settle(0.2)
        assert window.focusWidget().objectName() == "debate_topic", "what is typed goes into the topic"
        for _ in range(40):
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
            if window.focusWidget().objectName() == "setup_ends":
                break
        choice = window.focusWidget()
        await person.settle(0.2)
        assert choice.visibleRegion().boundingRect() == choice.rect(), "it has come into sight"
        seen = []
        for _ in range(2):
            QTest.keyClick(choice, Qt.Key.Key_Down)
            await person.settle()
            seen.append((choice.currentText(), window.controller.panel.setup.conclusion.ends))
        assert seen == [("투표", Ends.VOTE), ("판정 없음", Ends.NONE)]


@pytest.mark.slow
async def test_ballots_are_remembered(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.panel.setup.conclusion.polls.setChecked(True)
    async with at_window(data_dir) as person:
        assert person.window.controller.panel.setup.conclusion.polls.isChecked()
