"""Panels in the sidebar, in Setup and in the palette: made, renamed, asked, shared as files, deleted and brought back."""

import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.core.council import NO_JUDGE, Panel
from app.gui.navigation.side_bar import PartnerList
from app.gui.pages.first_page import ModelChip
from app.gui.widgets.model_choice import ModelMenu
from app.gui.widgets.text import ElidedLabel
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.gui.seen import saying, texts_in
from tests.gui.test_council_page import QUESTION, ended, script, three
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):
    script(wire_home)
    async with at_window(data_dir) as person:
        person.unfold_team()
        yield person


def side(person: Person) -> PartnerList:
    return person.window.side_bar.panels


async def kept(person: Person, **fields: object) -> Panel:
    panel = Panel(id="", name="Three families", participants=three(), **fields)  # type: ignore[arg-type]
    panel = await person.window.controller.engine.councils.panels.save(panel)
    await until(lambda: panel.id in side(person).ids())
    return panel


async def at_row(person: Person, key: Qt.Key) -> None:
    side(person).setFocus()
    side(person).setCurrentRow(0)
    await person.press("panel_list", key)


@pytest.mark.slow
async def test_who_is_asked_is_changed_in_a_form_that_asks_them(person: Person) -> None:
    controller = person.window.controller
    setup = controller.panel.setup
    await person.click("debate_button")
    controller.panel.show_setup()
    await person.click("segment_decide")
    await person.write("composer", QUESTION)
    person.choose_from("decide_how", "More options…")
    await until(lambda: person.sees("debate_topic"))
    assert person.window.main_area.isAncestorOf(setup) and not controller.panel.isVisible()
    for name in ("debate_mode", "debate_rounds", "debate_opening", "debate_polls"):
        assert not person.sees(name), name
    count = len(setup.setup().participants)
    assert setup.start.text() == f"Ask {count} participants"
    # All answers, the comparison, two rounds, the ballots, two readings, what moved them and two dissents.
    assert saying(setup, "at most ").startswith(f"at most {count + 1 + 3 * count + 5} calls · ")
    assert setup.topic.toPlainText() == QUESTION and "Question" in texts_in(setup, "field")
    if folder := os.environ.get("COUNCIL_SHOTS"):
        person.window.grab().save(str(Path(folder) / "council-form.png"))
    await person.click("debate_start")
    await until(lambda: controller.council_page.session is not None)
    page = controller.council_page
    await ended(page)
    assert page.session is not None and page.session.debate.topic == QUESTION
    column = next(iter(page.columns.all.values()))
    for name in ("openai-wire", "GPT"):
        column.show_speaker(name, "openai-wire", 0)
        assert texts_in(column, ElidedLabel).count("openai-wire") == 1, (
            "a model that the participant is named after is not named twice"
        )
    # In the panel it is the form of a debate again.
    await person.click("debate_button")
    controller.panel.show_setup()
    assert person.sees("debate_mode") and "Topic" in texts_in(setup, "field")


@pytest.mark.slow
async def test_participants_are_saved_as_a_panel_and_put_back_into_setup(person: Person) -> None:
    controller = person.window.controller
    setup, panels = controller.panel.setup, controller.engine.councils.panels

    def entry(text: str) -> QAction:
        setup.panels.choices.aboutToShow.emit()
        return next(one for one in setup.panels.choices.actions() if one.text().startswith(text))

    chosen = [(one.provider, one.model) for one in setup.setup().participants]
    assert len(chosen) >= 2
    entry("Save participants").trigger()
    rows = person.find("panel_participants").findChildren(ElidedLabel)
    assert rows[0].text() == "GPT · OpenAI › openai-wire"
    await person.write("panel_name", "Ours")
    await person.click("panel_save")
    await until(panels.all)
    controller.council_panels._take(setup.setup().participants[:1], 2)
    assert len(setup.setup().participants) == 1 and not entry("Save participants").isEnabled()
    entry("Ours").trigger()
    assert [(one.provider, one.model) for one in setup.setup().participants] == chosen
    entry("Assemble").trigger()
    assembled = [one.provider for one in setup.setup().participants]
    assert len(assembled) >= 2 and "embedded" not in assembled


@pytest.mark.slow
async def test_a_panel_of_the_side_bar_is_made_edited_deleted_and_brought_back(person: Person) -> None:
    panels, section = person.window.controller.engine.councils.panels, person.window.side_bar.panel_section
    assert not section.first.isVisible() and not side(person).ids()
    entry = section.findChild(QMenu).actions()[1]
    assert entry.text() == "Assemble automatically"
    entry.trigger()
    await until(lambda: person.sees("panel_dialog"))
    assert person.find("panel_name").selectedText() == "New panel"
    await person.write("panel_name", "")
    assert not person.find("panel_save").isEnabled()
    await person.write("panel_name", "Ready ones")
    await person.click("panel_save")
    await until(lambda: side(person).ids() == ("ready-ones",))
    assert not section.first.isVisible()
    (made,) = panels.all()
    said = side(person).item(0).said
    assert said == f"Ready ones, {len(made.participants)} participants"
    await at_row(person, Qt.Key.Key_F2)
    await until(lambda: person.sees("panel_dialog"))
    await person.write("panel_name", "All of them")
    await person.click("panel_debates")
    await person.click("panel_judged")
    await person.press("panel_rounds", Qt.Key.Key_Right)
    await person.click("panel_save")
    await until(lambda: panels.find("ready-ones").name == "All of them")
    changed = panels.find("ready-ones")
    assert (changed.rounds, changed.judge, changed.debates) == (3, NO_JUDGE, True)
    assert changed.participants == made.participants
    menu = side(person).menu_of("ready-ones")
    texts = [one.text().split("\t")[0] for one in menu.actions() if one.text()]
    assert texts == [
        "Ask this panel",
        "Edit",
        "Duplicate",
        "Share as file…",
        "Move up",
        "Move down",
        "Delete",
    ]
    menu.deleteLater()
    await at_row(person, Qt.Key.Key_Delete)
    await until(lambda: not side(person).ids())
    await person.click("toast_action")
    await until(lambda: side(person).ids() == ("ready-ones",))
    assert panels.find("ready-ones").rounds == 3


@pytest.mark.slow
@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_the_participants_of_a_panel_are_changed_where_it_is_edited(person: Person) -> None:
    panel = await kept(person)
    await at_row(person, Qt.Key.Key_F2)
    await until(lambda: person.sees("panel_dialog"))
    dialog = person.find("panel_dialog")
    for _ in range(2):
        await person.click("panel_remove_1")
    assert not person.find("panel_save").isEnabled(), "one is no panel"
    await person.click("panel_add_participant")
    (menu,) = dialog.findChildren(ModelMenu)
    for _ in range(2):
        menu.chosen.emit("gemini", "gemini-other")
    await person.click("panel_save")
    await until(lambda: person.window.controller.engine.councils.panels.find(panel.id).version > 1)
    changed = person.window.controller.engine.councils.panels.find(panel.id).participants
    assert [one.model for one in changed] == ["gemini-wire", "gemini-other", "gemini-other"]
    assert len({one.name for one in changed}) == 3

    panels = person.window.controller.engine.councils.panels
    await at_row(person, Qt.Key.Key_F2)
    await until(lambda: person.sees("panel_dialog"))
    await panels.change(panel.id, lambda one: replace(one, name="Renamed meanwhile"))
    await person.press("panel_rounds", Qt.Key.Key_Right)
    await person.click("panel_save")
    await until(lambda: panels.find(panel.id).rounds == panel.rounds + 1)
    assert panels.find(panel.id).name == "Renamed meanwhile"
    await at_row(person, Qt.Key.Key_F2)
    await until(lambda: person.sees("panel_dialog"))
    await person.write("panel_name", "Mine")
    await panels.change(panel.id, lambda one: replace(one, name="Theirs"))
    await person.click("panel_save")
    await until(lambda: person.sees("two_changes_dialog"))
    await person.click("two_changes_cancel")
    await until(lambda: person.sees("panel_dialog"))
    assert person.find("panel_name").text() == "Mine", "what was written is there to be saved"
    await person.click("panel_save")
    await until(lambda: person.sees("two_changes_dialog"))
    await person.click("two_changes_mine")
    await until(lambda: panels.find(panel.id).name == "Mine")


@pytest.mark.slow
async def test_a_panel_is_asked_from_the_side_bar_and_debates_what_is_open_as_it_says(person: Person) -> None:
    await kept(person, rounds=1, judge=NO_JUDGE, debates=True)
    first, page = person.window.first_page, person.window.controller.council_page
    await at_row(person, Qt.Key.Key_Return)
    await until(lambda: first.mode.isVisible() and first.mode.value() == "decide")
    # Three answers, the comparison, three turns and three ballots; and whether the three may vote.
    assert person.hint().startswith("at most 10 calls · ")
    assert person.hint().endswith(" · first time: + 12 calls")
    assert first.ends.accessibleName() == "Ends with: Vote"
    assert first.how.accessibleName() == "How: Answers first"
    await person.write("composer", QUESTION)
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None and page.isVisible(), what="the council")
    await ended(page)
    council = page.session.debate.council
    assert (council.panel, council.rounds, council.judges) == ("Three families", 1, ())
    assert len(page.transcript.message_ids) == 3
    assert person.window.top_bar.mode.text() == "Three families"


async def test_a_panel_is_found_in_the_palette_and_has_a_command(person: Person) -> None:
    await kept(person)
    palette, first = person.window.controller.palette, person.window.first_page
    palette.search("three fam")
    entry = next(one for one in palette.palette.rows.rows if getattr(one, "section", "") == "panel")
    assert entry.text == "Three families"
    entry.act()
    await until(lambda: first.mode.isVisible() and first.mode.value() == "decide")
    assert [chip.text() for chip in first.chips.findChildren(ModelChip)] == [one.name for one in three()]
    person.window.controller.actions()["new_panel"]()
    await until(lambda: person.sees("panel_dialog"))
    assert not person.sees("panel_take"), "they are the participants of Setup already"


@pytest.mark.slow
async def test_a_panel_is_shared_as_a_file_and_seen_before_it_comes_in(
    person: Person, tmp_path: Path
) -> None:
    panel, file = await kept(person, rounds=4), tmp_path / "three.json"
    commands = person.window.controller.council_panels
    commands.share(panel.id)
    person.choose_file(file)
    await until(lambda: file.is_file() and file.stat().st_size)
    written = json.loads(file.read_text(encoding="utf-8")) | {"command": "rm -rf /"}
    written["participants"][1]["persona"] = "You distrust servers."
    file.write_text(json.dumps(written), encoding="utf-8")
    # Any of the menus that import takes a panel.
    person.window.controller.assistants.bring_in()
    person.choose_file(file)
    await until(lambda: person.sees("bring_in_dialog"))
    told = person.find("bring_in_instructions").toPlainText()
    assert "anthropic / anthropic-wire" in told and "You distrust servers." in told
    assert "command" in person.find("bring_in_dropped").text()
    await person.click("bring_in_keep")
    await until(lambda: len(side(person).ids()) == 2)
    brought = commands.definitions.find("three-families-2")
    assert (brought.name, brought.rounds) == ("Three families 2", 4)
    await until(lambda: person.sees("panel_dialog"))
