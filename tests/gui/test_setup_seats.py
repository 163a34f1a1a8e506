"""Assistants in Setup: who is offered, what stays when that changes, and what the models are told (rows D2, D5, S8)."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit

from app.core.catalog import ProviderConfig
from app.core.council import Participant
from app.core.definitions import Agent
from app.core.session import Debate
from app.engine.debate.modes import role_text
from app.gui.panels.debate.participant_list import ParticipantCard
from app.gui.panels.debate.participant_picker import PickRow
from tests.app_driver import Person, at_window, until
from tests.builders import PROMPTS
from tests.gui.models import give_keys
from tests.gui.seen import inside, saying, texts_in
from tests.gui.test_setup_view import person
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

__all__ = ["person"]

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)

PATIENCE_S = 60.0
TOLD = "Count the costs first. Quote KESTREL numbers."


def card_of(person: Person, seat: str) -> ParticipantCard:
    cards = [
        one
        for one in person.window.controller.panel.setup.seats.cards
        if one.candidate.participant.id == seat
    ]
    assert len(cards) <= 1
    return cards[0] if cards else None


def ids(person: Person) -> list[str]:
    return [one.candidate.participant.id for one in person.window.controller.panel.setup.seats.cards]


async def test_a_window_that_begins_with_a_chat_makes_no_cards_of_participants(qapp, data_dir):
    async with at_window(data_dir) as person:
        controller = person.window.controller
        assert controller.panel.setup.seats.made == []
        controller.debates.show_setup()
        assert controller.panel.setup.seats.made != []


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_an_assistant_knows_its_role_the_mode_and_its_own_instructions(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    async with at_window(data_dir) as person:
        desk = person.window.controller
        agent = Agent(id="", name="Auditor", provider="anthropic", model="anthropic-wire", instructions=TOLD)
        await desk.engine.assistants.save(agent)
        desk.debates.show_setup()
        await person.write("debate_topic", "Should we rewrite the parser?")
        chosen = [card for card in desk.panel.setup.seats.cards if card.chosen]
        assert {"Gp", "Ge"} < {card._avatar._letters for card in chosen}, "GPT and Gemini are told apart"
        for card in desk.panel.setup.seats.cards:
            card.tick.setChecked(card.candidate.participant.id in ("auditor", "openai"))
        await person.click("segment_roles")
        await person.choose("role_openai", "For")
        await person.choose("role_auditor", "Devil’s advocate")
        assert not person.find("prompt_auditor").isChecked(), "nobody has edited it"
        await person.click("prompt_auditor")
        await until(lambda: person.sees("prompt_dialog"))
        shown = person.find("prompt_text", QPlainTextEdit).toPlainText()
        await person.click("prompt_cancel")
        desk.panel.setup.rounds.setValue(1)
        await person.click("debate_start")
        await until(lambda: desk.session_page.session, PATIENCE_S)
        await until(lambda: desk.session_page.session.status == "completed", PATIENCE_S)
        live = desk.engine.live(desk.session_page.session.id)
        assert [message.error for message in live.whole_messages() if message.error] == []
    told, other = (wire_servers[kind].requests[0].system for kind in ("anthropic", "openai"))
    assert told.strip() == shown.strip()
    for part in (TOLD, role_text("devils-advocate", "en", PROMPTS), PROMPTS.text("en", "mode-roles")):
        assert part in told
    assert "one of 2 participants" in told and "House rules" in told
    assert role_text("for", "en", PROMPTS) in other and "KESTREL" not in other


@pytest.mark.slow
async def test_the_programs_own_and_those_on_the_default_model_are_offered(person):
    desk = person.window.controller
    assert {"assistant", "browser", "checker"} <= set(ids(person))
    assert ids(person)[:2] == ["ada", "ben"], "who takes part from the start comes first"
    card = card_of(person, "checker")
    assert (card.candidate.participant.provider, card.chosen) == ("embedded", False)
    await give_keys(person, "gemini")
    assert card_of(person, "checker") is card
    assert card.participant().provider == "gemini"
    assert card._model._shown == ("gemini", card.participant().model) != ("gemini", "")
    saved = await desk.engine.assistants.save(Agent(id="", name="Ada", instructions=TOLD))
    assert saved.id == "ada"
    assert card_of(person, "ada").participant().persona == TOLD
    assert card_of(person, "seat-ada").candidate.plain


@pytest.mark.slow
async def test_every_model_and_assistant_is_found_and_ticked_in_the_list(person):
    setup, desk = person.window.controller.panel.setup, person.window.controller
    await give_keys(person, "openai")
    await person.write("debate_topic", "Tabs or spaces?")
    assert setup.start.text() == "Start with 2 participants"
    await person.click("add_voice")
    picker = setup.seats.picker
    assert picker.isVisible() and picker.parent() is setup.seats
    QTest.keyClicks(picker.search, "checker")
    assert [row.tick.text() for row in picker.findChildren(PickRow) if row.isVisible()] == ["Checker"]
    QTest.keyClick(picker.search, Qt.Key.Key_Return)
    picker.search.setText("claude")
    assert person.sees("set_up_anthropic"), "what has no key leads to the settings"
    status = next(one for one in desk.engine.providers() if one.config.id == "openai")
    taken = {one.model for one in setup.setup().participants if one.provider == "openai"}
    other = next((one for one in status.models if one not in taken), "")
    if other:
        picker.search.setText(other)
        await person.click(f"seat_openai/{other}")
    names = ["GPT", "GPT 2", "Checker", *([other] if other else [])]
    assert [one.name for one in setup.setup().participants] == names
    assert setup.start.text() == f"Start with {len(names)} participants"
    shown = [card for card in setup.seats.cards if card.isVisibleTo(setup)]
    assert [card.participant().name for card in shown] == names, "nobody takes part out of sight"


@pytest.mark.slow
async def test_a_model_chosen_in_the_list_is_named_after_itself_and_its_copy_gets_a_number(person):
    setup = person.window.controller.panel.setup
    await give_keys(person, "openai", "anthropic")
    before = [one.name for one in setup.setup().participants]
    await person.click("add_voice")
    await person.click("seat_openai/gpt-5.4-mini")
    assert [one.name for one in setup.setup().participants] == [*before, "gpt-5.4-mini"]
    row = next(one for one in setup.seats.picker.findChildren(PickRow) if one.tick.text() == "gpt-5.4-mini")
    row.again_requested.emit()
    assert [one.name for one in setup.setup().participants] == [*before, "gpt-5.4-mini", "gpt-5.4-mini 2"]


@pytest.mark.slow
async def test_lists_of_models_say_what_they_do_and_cost_before_there_is_a_topic(person):
    setup = person.window.controller.panel.setup
    await give_keys(person, "openai", "anthropic")
    await person.click("add_voice")
    picker = setup.seats.picker

    def notes():
        return {row.tick.text(): "".join(texts_in(row)) for row in picker.findChildren(PickRow)}

    await until(
        lambda: " in, $" in notes().get("gpt-5.4-mini", ""), PATIENCE_S, what="the price of a model on offer"
    )
    await until(
        lambda: notes()["GPT"].startswith("gpt-5.2 · "), PATIENCE_S, what="the price of the usual one"
    )
    assert " in, $" in notes()["GPT"]


@pytest.mark.slow
async def test_a_participant_speaks_with_the_model_and_effort_of_its_row(person):
    setup = person.window.controller.panel.setup
    await give_keys(person, "openai", "anthropic")
    gpt = card_of(person, "openai")
    button = inside(gpt, "model_openai")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QTest.keyClicks(person.find("model_search"), "anthropic claude")
    await person.press("model_search", Qt.Key.Key_Return)
    claude = gpt.participant().model
    assert gpt.participant().provider == "anthropic" and claude.startswith("claude")
    assert gpt.participant().name == claude, "it was named after the provider that it has no more"
    # A narrow row shows the model alone.
    assert button.text().endswith(claude)
    assert "Anthropic ›" in button.text() + button.toolTip()
    # What it takes is looked up when it is chosen.
    await person.write("debate_topic", "Tabs or spaces?")
    await until(lambda: person.sees("effort_openai"))
    await person.choose("effort_openai", "Effort: high")
    assert gpt.participant().effort == "high"
    setup.seats.refresh()
    assert gpt.participant().provider == "anthropic"
    kept = setup.draft
    button.chosen.emit("openai", "gpt-5.2")
    setup.show_draft(kept)
    assert gpt.participant().model == claude


@pytest.mark.slow
async def test_a_new_an_edited_and_a_deleted_assistant_reach_setup_at_once(person):
    assistants = person.window.controller.engine.assistants
    saved = await assistants.save(Agent(id="", name="Auditor", instructions=TOLD))
    card = card_of(person, "auditor")
    assert card.participant().name == "Auditor"
    card.tick.setChecked(True)
    await until(lambda: person.sees("remove_auditor"))
    await assistants.save(
        Agent(id="auditor", name="Examiner", instructions="Be kind.", version=saved.version)
    )
    assert card_of(person, "auditor") is card
    assert (card.participant().name, card.participant().persona) == ("Examiner", "Be kind.")
    assert card.chosen
    assert "auditor" in [one.id for one in person.window.controller.panel.setup.setup().participants]
    await assistants.delete("auditor")
    assert card_of(person, "auditor") is None
    await person.settle()
    assert not person.sees("remove_auditor")


@pytest.mark.slow
async def test_what_was_set_up_at_a_seat_outlives_every_change(person):
    desk = person.window.controller
    setup = desk.panel.setup
    await give_keys(person, "openai", "anthropic")
    await person.write("debate_topic", "Tabs or spaces?")
    await person.click("segment_roles")
    gpt, claude, checker = (card_of(person, one) for one in ("openai", "anthropic", "checker"))
    checker.tick.setChecked(True)
    await person.choose("role_openai", "Custom…")
    gpt.stops[-1].setText("A tired parser")
    await person.choose("role_anthropic", "For")
    await person.choose("role_checker", "Realist")
    claude.stops[0].setText("지민")
    claude.set_system_prompt("You are terse.")
    setup.seats.add_participant(gpt.candidate)
    added = setup.seats.cards[-1]
    added.stops[0].setText("Third")
    added.set_system_prompt("You are loud.")
    await person.choose("role_added-1", "Optimist")
    claude.stops[0].setFocus()
    before = setup.setup()
    assert [one.role for one in before.participants] == ["A tired parser", "for", "realist", "optimist"]
    await desk.engine.assistants.save(Agent(id="", name="Auditor"))
    await give_keys(person, "gemini")
    after = {one.id: one for one in setup.setup().participants}
    assert "gemini" in after, "whoever has a key now is ticked as before"
    assert [after[one.id] for one in before.participants] == list(before.participants)
    assert person.window.focusWidget() is claude.stops[0]
    assert person.find("prompt_anthropic").isChecked()


@pytest.mark.slow
async def test_a_tick_comes_back_with_the_provider(person):
    desk = person.window.controller
    card = card_of(person, "checker")
    await give_keys(person, "openai")
    gpt = card_of(person, "openai")
    gpt.tick.setChecked(False)
    card.tick.setChecked(True)
    await desk.engine.keys.remove("openai")
    desk.panel.setup.seats.refresh()
    assert not gpt.tick.isEnabled()
    assert card.chosen, "it speaks with the model on this computer now"
    await give_keys(person, "openai")
    assert gpt.tick.isEnabled() and not gpt.chosen


@pytest.mark.slow
async def test_the_generated_prompt_can_be_had_back(person):
    desk = person.window.controller
    await desk.engine.assistants.save(Agent(id="", name="Auditor", instructions=TOLD))
    await give_keys(person, "openai")
    await person.write("debate_topic", "Tabs or spaces?")
    card = card_of(person, "auditor")
    card.tick.setChecked(True)
    card.set_system_prompt("You are terse.")
    await person.click("prompt_auditor")
    await until(lambda: person.sees("prompt_dialog"))
    box = person.find("prompt_text", QPlainTextEdit)
    assert box.toPlainText() == "You are terse."
    await person.click("prompt_reset")
    assert TOLD in box.toPlainText() and "House rules" in box.toPlainText()
    await person.click("prompt_save")
    await person.settle()
    assert card.participant().system_prompt == ""
    assert not person.find("prompt_auditor").isChecked()


@pytest.mark.slow
async def test_the_order_of_the_users_assistants_is_that_of_the_side_bar(person, data_dir):
    assistants = person.window.controller.engine.assistants
    for name in ("Zoe", "Abe"):
        await assistants.save(Agent(id="", name=name))
    await assistants.reorder(("abe", "checker", "zoe"))
    own = [one for one in ids(person) if one in ("abe", "checker", "zoe")]
    assert own == ["abe", "checker", "zoe"]
    assert json.loads((data_dir / "settings.json").read_text("utf-8"))["assistant_order"] == own


async def test_who_is_gone_with_its_provider_is_named_and_its_name_is_free_again(person):
    setup, engine = person.window.controller.panel.setup, person.window.controller.engine
    here, there = (
        ProviderConfig(
            id=name,
            kind="openai-compatible",
            label=name,
            base_url=f"http://127.0.0.1:{port}/v1",
            models=("gpt-5.2", "claude-opus-4.1", "qwen-3", "gemini-3-pro"),
        )
        for name, port in (("here", 9), ("there", 10))
    )

    async def ask_gemini(provider: str) -> None:
        await person.click("add_voice")
        await person.click(f"seat_{provider}/gemini-3-pro")
        setup.seats.picker.hide()

    await engine.save_provider(here)
    await give_keys(person)
    await ask_gemini("here")
    seat = next(item for item in setup.setup().participants if item.model == "gemini-3-pro")
    assert seat.name == "gemini-3-pro"
    await engine.remove_provider("here")
    await give_keys(person)
    assert card_of(person, "here") is None
    debate = Debate(topic="Tabs or spaces?", participants=(seat,))
    setup.show_draft(setup.draft_again(debate))
    await until(lambda: saying(person.window, "Left out, because the provider"))
    assert saying(person.window, ": gemini-3-pro")
    await engine.save_provider(there)
    await give_keys(person)
    await ask_gemini("there")
    (added,) = [item for item in setup.setup().participants if item.model == "gemini-3-pro"]
    assert (added.name, added.provider) == ("gemini-3-pro", "there")


async def test_who_is_gone_with_its_model_is_named_and_a_model_that_stays_speaks_again(person):
    setup, engine = person.window.controller.panel.setup, person.window.controller.engine
    address = "http://127.0.0.1:9/v1"
    here = ProviderConfig(
        id="here", kind="openai-compatible", label="here", base_url=address, models=("new-1", "old-2")
    )
    await engine.save_provider(here)
    await give_keys(person)
    seats = [Participant(id="here", name=name, provider="here", model=name) for name in ("old-1", "old-2")]
    setup.show_draft(setup.draft_again(Debate(topic="Tabs or spaces?", participants=(seats[0],))))
    await until(lambda: saying(person.window, "Left out, because the provider"))
    assert saying(person.window, ": old-1")
    assert [item for item in setup.setup().participants if item.provider == "here"] == []
    setup.show_draft(setup.draft_again(Debate(topic="Tabs or spaces?", participants=(seats[1],))))
    own = [item for item in setup.setup().participants if item.provider == "here"]
    assert [(item.name, item.model) for item in own] == [("old-2", "old-2")]
