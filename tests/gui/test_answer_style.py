"""Effort, creativity and length in the forms: only what the model takes, and what was chosen is saved."""

import json
from pathlib import Path

import pytest

from app.core.definitions import Effort
from app.core.provider import ModelFacts, TakesTemperature
from app.gui.widgets.model_choice import AnswerStyleChoice
from tests.app_driver import Person, at_window, until
from tests.gui.test_assistants import editor, kept, make
from tests.gui.test_groups import kept as kept_group
from tests.gui.test_groups import make as make_group
from tests.gui.test_groups import page as group_page

THINKS = ModelFacts(
    efforts=("none", "low", "high"), default_effort="high", temperature=TakesTemperature.WITHOUT_EFFORT
)


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        yield person


def offered(menu) -> list[str]:
    return [menu.itemData(place) for place in range(menu.count())]


def choose(menu, value: str) -> None:
    menu.setCurrentIndex(menu.findData(value))
    menu.activated.emit(menu.currentIndex())


async def test_only_what_the_model_takes_is_offered(person: Person):
    window = person.window
    choice = AnswerStyleChoice(window.language, window.look)
    assert offered(choice.effort) == ["auto", "low", "medium", "high"], "nothing is known"
    choice.show_value(("max", "precise", "short"))
    choice.show_facts(THINKS)
    assert offered(choice.effort) == ["auto", "none", "low", "high"]
    assert choice.creativity.isHidden() and "only while" in choice.hint.text()
    choose(choice.effort, Effort.NONE)
    assert not choice.creativity.isHidden() and choice.hint.isHidden()
    assert choice.creativity.currentData() == "precise"
    choice.show_facts(ModelFacts(efforts=(), temperature=TakesTemperature.NO))
    assert choice.effort.isHidden() and choice.creativity.isHidden() and not choice.length.isHidden()
    assert "effort can’t be set" in choice.hint.text() and "creativity can’t be set" in choice.hint.text()
    assert choice.value() == ("none", "precise", "short")
    choice.deleteLater()


async def test_an_effort_the_model_does_not_take_is_kept_until_another_is_chosen(person: Person):
    choice = AnswerStyleChoice(person.window.language, person.window.look)
    choice.show_value(("max", "auto", "auto"))
    assert choice.effort.currentData() == "auto"
    choose(choice.length, "long")
    assert choice.value()[0] == "max"
    choice.deleteLater()


@pytest.mark.slow
async def test_what_is_chosen_for_an_assistant_is_saved(person: Person, data_dir: Path):
    agent_id = await make(person, "Brief")
    answers = editor(person).form.answers
    assert person.find("effort_menu") is not None
    choose(answers.effort, "high")
    choose(answers.length, "short")
    await until(lambda: kept(data_dir, agent_id).get("length") == "short")
    document = kept(data_dir, agent_id)
    assert (document["effort"], document.get("creativity", "auto")) == ("high", "auto")


async def test_an_assistant_written_before_there_were_these_fields_is_read(qapp, data_dir: Path):
    folder = data_dir / "assistants"
    folder.mkdir(parents=True)
    (folder / "old.json").write_text(json.dumps({"version": 1, "id": "old", "name": "Old"}), "utf-8")
    async with at_window(data_dir) as person:
        agent = person.window.controller.engine.assistants.get("old")
        assert (agent.effort, agent.creativity, agent.length) == ("auto", "auto", "auto")


@pytest.mark.slow
async def test_the_list_says_what_a_model_takes_once_the_page_is_shown(qapp, data_dir: Path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-openai-0123456789abcdef")
    async with at_window(data_dir) as person:
        await make(person, "Quick")
        form = editor(person).form
        engine = person.window.controller.engine
        await until(lambda: engine.connections.known_facts("openai", "gpt-5.4-mini").source == "list", 60)
        form.model.setEditText("openai / gpt-5.4-mini")
        assert offered(form.answers.effort) == ["auto", "none", "low", "medium", "high", "max"]
        assert not form.answers.creativity.isHidden()


@pytest.mark.slow
async def test_the_lists_fit_into_the_column_of_an_orchestrator(person: Person, data_dir: Path):
    await make_group(person, "Crew")
    form = group_page(person).form
    form.model.setEditText("openai / gpt-5.4-mini")
    person.window.resize(900, 700)
    await person.settle()
    assert form.minimumSizeHint().width() <= form.parent().width()
    choose(form.answers.length, "long")
    group_id = group_page(person).definition_id
    await until(lambda: kept_group(data_dir, group_id)["orchestrator"].get("length") == "long")
