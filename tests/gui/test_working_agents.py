"""An external agent that works in a folder, in the window: chosen, warned about, asked, and shown as rows of the chat."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit

from app.core.catalog import ProviderConfig
from app.core.definitions import Agent
from app.gui.widgets.approval_card import AlwaysButton
from app.gui.widgets.text import Paragraph
from tests.app_driver import Person, at_window, until
from tests.providers.external import tiny, told

pytestmark = pytest.mark.allow_blocking

TRUTH = "This program may read and change any file you can. Moot sees only what it reports."


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.activateWindow()
        yield person


async def allow(person: Person, does: str, journal: Path) -> ProviderConfig:
    """Allow a tiny agent as a program."""
    config = tiny(does, journal, label="Tiny")
    await person.window.controller.engine.connections.allow_agent(config)
    return config


async def card(person: Person, words: str) -> str:
    """Return the texts of the card that asks something, once it takes an answer."""

    def said() -> str:
        shown = person.sees("prompt_card")
        kinds = (QLabel, Paragraph)
        found = (
            [one for kind in kinds for one in person.find("prompt_card").findChildren(kind)] if shown else []
        )
        return "\n".join(one.text() for one in found if one.isVisible())

    await until(lambda: words in said(), what=words)
    await person.settle(0.6)
    return said()


@pytest.mark.slow
async def test_an_agent_works_after_two_questions_and_its_acts_are_rows(person, tmp_path):
    config = await allow(person, "edit", tmp_path / "journal")
    folder = tmp_path / "project"
    folder.mkdir()
    engine = person.window.controller.engine
    made = await engine.assistants.save(
        Agent(id="", name="Worker", provider=config.id, model="default", folder=str(folder))
    )
    person.window.controller.show_new(made.id)
    await person.write("composer", "Write the notes.")
    await person.press("composer", Qt.Key.Key_Return)
    assert TRUTH in await card(person, "Let Tiny work in this folder?")
    shown = person.find("approval_arguments", QPlainTextEdit).toPlainText()
    assert str(folder) in shown and config.args[1] in shown
    # Enter alone decides nothing.
    await person.press("prompt_card", Qt.Key.Key_Return)
    assert not told(tmp_path / "journal", "start")
    await person.click("approval_allow")
    assert "Write notes.txt" in await card(person, "Let Tiny do this?")
    assert not person.sees("approval_always")
    await person.press("prompt_card", Qt.Key.Key_Return)
    assert not (folder / "notes.txt").exists()
    await person.click("approval_allow")
    page = person.window.controller.chat_page
    await until(lambda: page.session.status == "idle", what="the end of the turn")
    await until(lambda: "Written." in person.transcript("transcript")[-1])
    lines = "\n".join(person.transcript("transcript"))
    assert "Read notes.txt" in lines and "Write notes.txt" in lines and "I look." in lines
    assert (folder / "notes.txt").read_text() == "hello"


@pytest.mark.slow
async def test_the_own_options_of_an_agent_are_behind_more(person, tmp_path):
    config = await allow(person, "edit-more", tmp_path / "journal")
    engine = person.window.controller.engine
    made = await engine.assistants.save(
        Agent(id="", name="Worker", provider=config.id, model="default", folder=str(tmp_path))
    )
    person.window.controller.show_new(made.id)
    await person.write("composer", "Write the notes.")
    await person.press("composer", Qt.Key.Key_Return)
    await card(person, "Let Tiny work in this folder?")
    await person.click("approval_allow")
    said = await card(person, "Let Tiny do this?")
    assert "If your answer covers more than this one time, Tiny remembers it. Moot can’t undo that." in said
    more = person.find("approval_always", AlwaysButton)
    assert more.text() == "More options"
    assert [one.text() for one in more.choices.actions()] == [
        *("Always allow: All edits", "Never allow: Edits of this file")
    ]
    more.choices.actions()[0].trigger()
    page = person.window.controller.chat_page
    await until(lambda: page.session.status == "idle", what="the end of the turn")
    assert (tmp_path / "notes.txt").read_text() == "hello"
    await until(lambda: "answered with its own option" in "\n".join(person.transcript("transcript")))


async def test_the_folder_of_an_agent_is_chosen_with_its_assistant(person, data_dir, tmp_path):
    config = await allow(person, "say", tmp_path / "journal")
    made = await person.window.controller.engine.assistants.save(
        Agent(id="", name="Worker", provider=config.id, model="default")
    )
    person.window.controller.assistants.show_page(made.id)
    await until(lambda: person.sees("assistant_folder_path"))
    field = person.find("assistant_folder_path", QLineEdit)
    assert field.accessibleName() == "Folder to work in"
    await person.write("assistant_folder_path", "project")
    await until(lambda: "full path" in person.find("assistants_page").editor.form.rows["folder"].error.text())
    # It has its own tools, and takes no settings of Moot's.
    form = person.find("assistants_page").editor.form
    assert not any(one.isVisible() for one in (form.tools, form.sub_agents, form.servers, form.deep))
    assert not (form.answers.effort.isVisible() or form.answers.creativity.isVisible())
    assert form.answers.length.isVisible()
    await person.write("assistant_folder_path", str(tmp_path))
    file = data_dir / "assistants" / f"{made.id}.json"
    await until(lambda: json.loads(file.read_text("utf-8")).get("folder") == str(tmp_path))
