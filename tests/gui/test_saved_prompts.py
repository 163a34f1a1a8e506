"""Prompts that the user keeps: called by a / in the message box, filled in, and managed in the settings."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget

from app.core.definitions import SavedPrompt
from app.engine.library.definitions import read_built_in
from app.gui.widgets.item_list import ItemList
from tests.app_driver import Person, at_window, until

RESOURCES = Path(__file__).parents[2] / "resources"


def test_variables_are_words_in_braces():
    prompt = SavedPrompt(id="p", name="P", text='Tell {who you are} of {주제}: {"a": 1}, {} {who you are}')
    assert prompt.variables == ("who you are", "주제")
    assert (
        prompt.filled({"주제": "물", "who you are": ""})
        == 'Tell {who you are} of 물: {"a": 1}, {} {who you are}'
    )


def test_a_variable_with_a_line_to_itself_may_be_long():
    prompt = SavedPrompt(id="p", name="P", text="Into {language}:\n\n {text} \nAs {reader}\n{주제}")
    assert prompt.long_variables == {"text", "주제"}


def test_the_same_prompts_come_in_each_language():
    found = read_built_in(RESOURCES / "saved_prompts", SavedPrompt)
    assert [one.id for one in found["en"]] == [one.id for one in found["ko"]]
    assert all(
        len(en.variables) == len(ko.variables) for en, ko in zip(found["en"], found["ko"], strict=True)
    )


def offered(person: Person) -> list[str]:
    """Return the prompts listed over the message box."""
    for names in person.window.findChildren(QListWidget, "name_list"):
        if names.isVisible():
            return [names.item(row).text() for row in range(names.count())]
    return []


async def rows(person: Person) -> list[str]:
    """Return the names in the settings."""
    listed = person.find("settings_saved_prompts_list", ItemList)
    return [listed.item(row).title for row in range(listed.count())]


@pytest.mark.qt_log_ignore("does not support", extend=True)
async def test_a_prompt_is_called_by_a_slash_and_filled_in(qapp, data_dir):
    async with at_window(data_dir) as person:
        await person.click("new_button")
        box = person.window.controller.chat_page.chat_composer.message_box
        QTest.keyClicks(box, "/")
        await until(lambda: len(offered(person)) == 5)
        QTest.keyClicks(box, "trans")
        assert offered(person) == ["Translate"]
        await person.press("composer", Qt.Key.Key_Return)
        await until(lambda: person.sees("variables_dialog"))
        await person.write("variable_0", "Korean")
        await person.write("variable_1", "Good morning.\n\nHow are you?")
        assert person.find("variable_1").height() > 2 * person.find("variable_0").height()
        await person.press("variable_1", Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(person.find("variable_1"), "Bye.")
        await person.press("variable_1", Qt.Key.Key_Return)
        assert not person.sees("variables_dialog")
        assert box.toPlainText().startswith("Translate the following into Korean.")
        assert box.toPlainText().endswith("\n\nGood morning.\n\nHow are you?\nBye.")
        # What begins with a slash and calls nothing is a message as any other.
        box.clear()
        QTest.keyClicks(box, "/zzz")
        assert offered(person) == [] and box.toPlainText() == "/zzz"
        # In another language the same prompts have other names.
        for language, name in (("ko", "번역하기"), ("en", "Translate")):
            box.clear()
            person.window.language.choose(language)
            await person.settle()
            person.window.activateWindow()
            await until(person.window.isActiveWindow)
            box.setFocus()
            QTest.keyClicks(box, "/")
            await until(lambda name=name: name in offered(person))


@pytest.mark.slow
@pytest.mark.qt_log_ignore("does not support", extend=True)
async def test_prompts_are_added_edited_deleted_and_shared_in_the_settings(qapp, data_dir, tmp_path):
    async with at_window(data_dir) as person:
        desk = person.window.controller
        desk.settings.open("saved_prompts")
        await person.click("settings_saved_prompts_new")
        await person.write("saved_prompt_name", "Greet")
        await person.write("saved_prompt_text", "Say hello to {name}.")
        await person.click("saved_prompt_save")
        await until(lambda: desk.engine.saved_prompts.get("greet"))
        await person.settle()
        assert "Greet" in await rows(person)
        dialog = person.find("settings_page")
        page = dialog.page("saved_prompts")

        # One of the program is edited as a copy.
        page.list.setCurrentRow((await rows(person)).index("Translate"))
        assert not person.find("settings_saved_prompts_delete").isEnabled()
        await person.click("settings_saved_prompts_edit")
        await person.write("saved_prompt_text", "Into {language}, please.")
        await person.click("saved_prompt_save")
        await until(lambda: desk.engine.saved_prompts.get("translate-2"))

        # Exported, deleted, and brought back: by Undo, and from its file.
        await person.settle()
        page.list.setCurrentRow((await rows(person)).index("Greet"))
        path = tmp_path / "greet.json"
        await person.click("settings_saved_prompts_share")
        person.choose_file(path)
        await until(path.exists)
        assert json.loads(path.read_text("utf-8"))["text"] == "Say hello to {name}."
        page.list.setFocus()
        await person.press("settings_saved_prompts_list", Qt.Key.Key_Delete)
        await until(lambda: desk.engine.saved_prompts.get("greet") is None)
        await person.click("toast_action")
        await until(lambda: desk.engine.saved_prompts.get("greet"))
        await person.click("settings_saved_prompts_import")
        person.choose_file(path)
        await until(lambda: desk.engine.saved_prompts.get("greet-2"))
        assert desk.engine.saved_prompts.find("greet-2").name == "Greet 2"
