"""Skills on an assistant's page: added, looked at, allowed, ticked, changed, removed and brought back."""

import json
import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QPlainTextEdit

from app.gui.pages.skill_list import SkillList, SkillRow
from tests.app_driver import Person, at_window, until
from tests.stories.test_skills import REPLY, a_skill


@pytest.fixture
async def person(qapp, data_dir):
    (data_dir / "assistants").mkdir(parents=True)
    mina = {"id": "mina", "name": "Mina", "skills": ["meeting-minutes"]}
    (data_dir / "assistants" / "mina.json").write_text(json.dumps(mina))
    async with at_window(data_dir) as person:
        person.window.controller.assistants.show_page("mina")
        await until(lambda: skills(person).rows)
        yield person


def skills(person: Person) -> SkillList:
    return person.find("assistants_page").editor.form.skills


def row(person: Person, name: str) -> SkillRow:
    return skills(person).rows[name]


def given(data_dir: Path) -> list[str]:
    return json.loads((data_dir / "assistants" / "mina.json").read_text())["skills"]


def offered(person: Person) -> dict[str, object]:
    return {action.text(): action for action in skills(person).menu.actions() if action.text()}


async def bring(person: Person, what: str, path: Path) -> None:
    """Add a folder or a zip as a person does."""
    offered(person)[person.window.language(f"skill.add.{what}")].trigger()
    await until(lambda: person.window.findChildren(QFileDialog))
    [dialog] = person.window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.close()
    await until(lambda: not person.window.findChildren(QFileDialog))


async def test_moots_own_are_given_and_taken_away(person, data_dir):
    assert list(skills(person).rows) == ["meeting-minutes"]
    assert row(person, "meeting-minutes").tick.isChecked()
    assert list(offered(person))[:3] == ["Decision memo", "Review of a document", "Research brief"]
    offered(person)["Decision memo"].trigger()
    assert list(skills(person).rows) == ["decision-memo", "meeting-minutes"]
    await until(lambda: given(data_dir) == ["meeting-minutes", "decision-memo"])
    await person.press("skill_meeting-minutes_tick", Qt.Key.Key_Space)
    await until(lambda: given(data_dir) == ["decision-memo"])
    assert not row(person, "meeting-minutes").tick.isChecked()


async def test_a_foreign_one_is_looked_at_allowed_changed_removed_and_undone(person, data_dir, tmp_path):
    await bring(person, "folder", a_skill(tmp_path, **{"b/more.md": "More\u200b."}))
    await until(lambda: "guest-reply" in skills(person).rows)
    new = row(person, "guest-reply")
    assert (
        not new.tick.isEnabled() and new.details.isVisible() and new.state.shown_text() == "Checked just now"
    )
    commands = new.findChild(QPlainTextEdit, "skill_guest-reply_commands")
    assert commands.toPlainText() == "python scripts/fill.py"
    await person.click("skill_guest-reply_show")
    await until(lambda: person.sees("skill_dialog"))
    shown = person.find("skill_text").toPlainText()
    assert "Ask for the⟨U+200B⟩ date first." in shown and "--- b/more.md\nMore⟨U+200B⟩." in shown
    await person.click("skill_close")

    await person.click("skill_guest-reply_allow")
    await until(lambda: given(data_dir) == ["meeting-minutes", "guest-reply"])
    await until(lambda: row(person, "guest-reply").tick.isChecked())
    assert not row(person, "guest-reply").details.isVisible()
    await person.press("skill_guest-reply_tick", Qt.Key.Key_Return)
    assert row(person, "guest-reply").details.isVisible() and not person.sees("skill_guest-reply_allow")
    QTest.mouseClick(row(person, "guest-reply"), Qt.MouseButton.LeftButton, pos=QPoint(200, 15))
    assert not row(person, "guest-reply").details.isVisible()

    (data_dir / "skills" / "guest-reply" / "more.md").write_text("more")
    person.window.controller.assistants.show_page("mina")
    await until(lambda: row(person, "guest-reply").state.shown_text().startswith("Changed on "))
    assert not row(person, "guest-reply").tick.isChecked() and person.sees("skill_guest-reply_allow")
    await person.click("skill_guest-reply_remove")
    # The assistant still names it.
    await until(lambda: row(person, "guest-reply").shown.state == "refused")
    await person.click("toast_action")
    await until(lambda: row(person, "guest-reply").shown.state == "changed")


async def test_one_that_is_not_here_is_shown_and_taken_away(person, data_dir):
    page = person.find("assistants_page")
    page.editor.form.skills.give("guest-reply")
    shown = row(person, "guest-reply")
    await until(shown.details.isVisible)
    assert shown.shown.state == "refused" and not shown.tick.isEnabled()
    assert "There is no skill “guest-reply”." in [label.text() for label in shown.findChildren(QLabel)]
    assert not person.sees("skill_guest-reply_allow")
    await until(lambda: given(data_dir) == ["meeting-minutes", "guest-reply"])
    await person.click("skill_guest-reply_remove")
    await until(lambda: given(data_dir) == ["meeting-minutes"])
    assert list(skills(person).rows) == ["meeting-minutes"]


async def test_a_shared_assistant_brings_its_skills_and_none_is_on(person, data_dir, tmp_path):
    desk, file = person.window.controller, tmp_path / "mina.json"
    await bring(person, "folder", a_skill(tmp_path, **{"b/more.md": "More."}))
    await until(lambda: person.sees("skill_guest-reply_allow"))
    await person.click("skill_guest-reply_allow")
    await until(lambda: given(data_dir) == ["meeting-minutes", "guest-reply"])
    desk.assistants.share("mina")
    person.choose_file(file)
    await until(lambda: file.is_file() and file.stat().st_size)
    await desk.engine.skills.remove("guest-reply")
    await until(lambda: row(person, "guest-reply").shown.state == "refused")
    desk.assistants.bring_in()
    person.choose_file(file)
    await until(lambda: person.sees("bring_in_dialog"))
    labels = [label.text() for label in person.find("bring_in_dialog").findChildren(QLabel)]
    assert "Skills: meeting-minutes, guest-reply" in labels and not person.sees("bring_in_dropped")
    await person.click("bring_in_keep")
    await until(
        lambda: (
            person.sees("skill_guest-reply_allow")
            and person.find("assistants_page").editor.definition_id == "mina-2"
        )
    )
    assert (
        row(person, "guest-reply").shown.state == "asking" and not row(person, "guest-reply").tick.isChecked()
    )
    assert (data_dir / "skills" / "guest-reply" / "b" / "more.md").read_text() == "More."


async def test_one_that_is_not_taken_says_why_and_cannot_be_allowed(person, data_dir, tmp_path):
    packed = tmp_path / "evil.zip"
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("guest-reply/SKILL.md", REPLY)
        file.writestr("../out.md", "x")
    await bring(person, "zip", packed)
    await until(lambda: "evil.zip" in skills(person).rows)
    assert not row(person, "evil.zip").tick.isEnabled() and not person.sees("skill_evil.zip_allow")
    assert not (data_dir / "skills").exists()
    await person.click("skill_evil.zip_remove")
    await until(lambda: "evil.zip" not in skills(person).rows)


@pytest.mark.qt_log_ignore("This plugin does not support")
async def test_other_programs_are_looked_into_on_the_click(person, tmp_path, monkeypatch):
    a_skill(tmp_path / ".claude" / "skills")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    offered(person)["From other programs…"].trigger()
    await until(lambda: person.sees("skills_elsewhere"))
    [action] = person.find("skills_elsewhere").actions()
    assert action.text().startswith("guest-reply · ")
    action.trigger()
    person.find("skills_elsewhere").close()
    await until(lambda: "guest-reply" in skills(person).rows)
