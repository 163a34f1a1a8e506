"""The settings by click and keyboard: rows made from their rules, the search, reset, shortcuts, privacy."""

from dataclasses import fields

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QToolButton, QWidget
from shiboken6 import isValid

from app.core.servers import McpServer
from app.core.settings import Settings, rules
from app.gui.commands import COMMANDS, chosen_keys, kept_shortcuts
from app.gui.pages.settings.settings_rows import settings_of
from app.gui.pages.settings.settings_view import PAGES
from tests.app_driver import at_window, until
from tests.gui.test_servers_page import page_facts
from tests.repeats import slow_after
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        yield person
        if person.sees("settings_page"):
            person.find("settings_close").click()


async def opened(person, page):
    person.window.controller.settings.open(page)
    await until(lambda: person.sees("settings_page"))
    dialog = person.find("settings_page")
    dialog.activateWindow()
    await until(dialog.isActiveWindow)
    return dialog


def kept(person) -> Settings:
    return person.window.controller.settings.current()


def test_every_setting_with_a_page_is_on_one_that_exists():
    assert {rule.page for rule in rules().values()} - {""} <= set(PAGES)
    assert settings_of("appearance")[0] == "language"


@pytest.mark.slow
@pytest.mark.parametrize("language", slow_after(1, [("en",), ("ko",)]))
async def test_every_page_opens_and_what_takes_the_focus_has_a_name(person, language):
    person.window.controller.settings.change({"language": language})
    nameless = []
    for page in PAGES:
        dialog = await opened(person, page)
        await person.settle()
        assert dialog.page(page).isVisible(), page
        for widget in dialog.findChildren(QWidget):
            named = isinstance(widget, QToolButton | QComboBox) or widget.objectName().startswith("setting")
            focus = widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            if named and focus and not (widget.accessibleName() or getattr(widget, "text", str)()):
                nameless.append(f"{page}: {widget}")
        person.find("settings_close").click()
        await until(lambda: not person.sees("settings_page"))
    assert nameless == []


@pytest.mark.slow
async def test_choosing_counts_at_once_and_is_kept(person):
    await opened(person, "appearance")
    await person.choose("setting_text_size", "Larger")
    assert kept(person).text_size == 130
    assert QApplication.font().pixelSize() > 14
    await person.choose("setting_motion", "Reduced")
    assert not person.window.look.moves
    box = person.find("setting_notifications")
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert not kept(person).notifications
    await until(lambda: not person.window.controller.tasks.running("save settings"))
    settings = person.window.controller.engine.settings()
    assert (settings.text_size, settings.motion, settings.notifications) == (130, "reduced", False)


@pytest.mark.slow
async def test_the_text_size_and_the_shortcuts_are_there_from_the_start(qapp, data_dir):
    async with at_window(data_dir) as person:
        chosen = {"text_size": 150, "motion": "reduced", "shortcuts": ("side=Ctrl+Shift+B",)}
        person.window.controller.settings.change(chosen)
        await until(lambda: not person.window.controller.tasks.running("save settings"))
    qapp.setFont(type(qapp.font())())
    async with at_window(data_dir) as person:
        assert qapp.font().pixelSize() == 21
        assert not person.window.look.moves
        assert "Ctrl+Shift+B" in person.find("side_toggle").toolTip()
        person.window.controller.settings.change({"text_size": 100})


async def test_ten_entries_at_most_hold_all_pages_and_open_where_they_were_left(person):
    dialog = await opened(person, "network")
    entries = [dialog.pages.item(row) for row in range(dialog.pages.count())]
    assert len(entries) == 9
    assert [item.title for item in entries][:3] == ["Models", "Chats and limits", "Tools and servers"]
    assert dialog.pages.currentItem().title == "Privacy and network"
    reached = []
    for row in range(dialog.pages.count()):
        dialog.pages.setCurrentRow(row)
        reached.append(dialog.shown)
        shown = [
            button
            for button in dialog.findChildren(QAbstractButton)
            if button.objectName().startswith("segment_")
        ]
        for tab in [button for button in shown if button.isVisible()]:
            tab.click()
            reached.append(dialog.shown)
            assert dialog.page(dialog.shown).isVisible()
    assert set(reached) == set(PAGES)
    dialog.show_page("limits")
    dialog.pages.setCurrentRow(0)
    dialog.pages.setCurrentRow(1)
    assert dialog.shown == "limits", "an entry remembers its page"
    person.find("settings_close").click()
    await until(lambda: not isValid(dialog))
    await person.click("settings_button")
    await until(lambda: person.sees("settings_page"))
    assert person.find("settings_page").shown == "limits"
    assert person.find("settings_page").pages.currentItem().title == "Chats and limits"


async def test_a_number_is_stepped_with_the_keyboard_and_says_when_there_is_no_limit(person):
    await opened(person, "limits")
    minutes = person.find("setting_max_minutes")
    minutes.setFocus()
    QTest.keyClick(minutes, Qt.Key.Key_Up)
    assert kept(person).max_minutes == 31
    minutes.selectAll()
    QTest.keyClicks(minutes, "0")
    QTest.keyClick(minutes, Qt.Key.Key_Return)
    assert kept(person).max_minutes == 0
    assert minutes.text() == "no limit"
    cost = person.find("setting_max_cost_usd")
    cost.selectAll()
    QTest.keyClicks(cost, "1.25")
    QTest.keyClick(cost, Qt.Key.Key_Return)
    assert kept(person).max_cost_usd == 1.25
    assert person.sees("settings_page")


@pytest.mark.slow
async def test_a_page_is_reset_and_that_is_undone(person):
    defaults = {one.name: one.default for one in fields(Settings)}
    for page, changed in {
        "appearance": {"theme": "dark", "motion": "reduced"},
        "limits": {"max_minutes": 5, "search_engine": "https://searx.example.org"},
        "shortcuts": {"shortcuts": ("side=Ctrl+Shift+B",)},
        "chats": {"titles": False, "helper_model": "openai/gpt-5.2", "may_read_any": ("openai",)},
    }.items():
        person.window.controller.settings.change({**defaults, "max_tool_rounds": 7, **changed})
        before = kept(person)
        dialog = await opened(person, page)
        await person.click("settings_reset")
        assert {name: getattr(kept(person), name) for name in changed} == {
            name: defaults[name] for name in changed
        }
        assert page == "limits" or kept(person).max_tool_rounds == 7
        await person.click("toast_action")
        assert kept(person) == before, page
        person.find("settings_close").click()
        # Two dialogs would have buttons of the same names.
        await until(lambda dialog=dialog: not isValid(dialog))


@pytest.mark.slow
async def test_who_writes_titles_and_who_may_read_any_session_is_chosen(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        await opened(person, "chats")
        await person.choose("setting_helper_model", "Ollama – ollama-wire")
        for name in ("openai", "anthropic", "openai"):
            person.find(f"may_read_{name}").click()
        assert kept(person).helper_model == "ollama/ollama-wire"
        assert kept(person).may_read_any == ("anthropic",)
        person.find("settings_close").click()
        await opened(person, "chats")
        assert (
            person.find("may_read_anthropic").isChecked() and not person.find("may_read_openai").isChecked()
        )


@pytest.mark.slow
async def test_the_search_leads_to_a_row_of_another_page(person):
    dialog = await opened(person, "providers")
    QTest.keyClick(dialog, Qt.Key.Key_F, CTRL)
    assert dialog.search.hasFocus()
    QTest.keyClicks(dialog.search, "text siz")
    assert [dialog.pages.item(row).title for row in range(dialog.pages.count())] == ["Text size"]
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    assert person.sees("settings_page")
    assert person.find("setting_text_size").hasFocus()
    dialog.search.clear()
    assert dialog.pages.currentItem().title == "Appearance"
    await person.write("settings_search", "telemetry")
    assert [dialog.pages.item(row).title for row in range(dialog.pages.count())] == ["Privacy"]
    await person.write("settings_search", "hide the sidebar")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    assert person.find("keys_side").hasFocus()


@pytest.mark.slow
async def test_keys_are_given_by_pressing_them_and_count_at_once(person):
    window = person.window
    dialog = await opened(person, "shortcuts")
    row = dialog.page("shortcuts").rows["side"]
    row.keys.setFocus()
    QTest.keyClick(row.keys, Qt.Key.Key_Space)
    assert row.box.hasFocus()
    QTest.keyClick(row.box, Qt.Key.Key_B, CTRL | ALT)
    assert kept(person).shortcuts == ("side=Ctrl+Alt+B",)
    assert row.keys.text() == "Ctrl+Alt+B"
    assert row.keys.hasFocus()
    person.find("settings_close").click()
    assert "Ctrl+Alt+B" in person.find("side_toggle").toolTip()
    window.activateWindow()
    await until(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_B, CTRL)
    assert window.side_bar.isVisible()
    QTest.keyClick(window, Qt.Key.Key_B, CTRL | ALT)
    assert not window.side_bar.isVisible()
    await until(lambda: not window.controller.tasks.running("save settings"))
    window.controller.palette.search("sidebar")
    assert "Ctrl+Alt+B" in [command.note for command in window.controller.palette.commands()]
    window.controller.palette.search()


@pytest.mark.slow
async def test_keys_that_are_taken_or_needed_are_refused_with_the_reason(person):
    dialog = await opened(person, "shortcuts")
    row = dialog.page("shortcuts").rows["side"]
    for key, modifier, reason in (
        (Qt.Key.Key_N, CTRL, "New"),
        (Qt.Key.Key_C, CTRL, "typing"),
        (Qt.Key.Key_A, Qt.KeyboardModifier.ShiftModifier, "typing"),
        (Qt.Key.Key_Up, ALT, "navigation"),
    ):
        row.keys.click()
        QTest.keyClick(row.box, key, modifier)
        assert reason in row.problem.text()
        assert row.problem.isVisible()
        assert row.keys.text() == "Ctrl+B"
    assert kept(person).shortcuts == ()
    row.keys.click()
    QTest.keyClick(row.box, Qt.Key.Key_Escape)
    assert person.sees("settings_page")
    assert row.keys.hasFocus()
    row.keys.click()
    QTest.keyClick(row.box, Qt.Key.Key_Backspace)
    assert kept(person).shortcuts == ("side=",)
    assert row.keys.text() == "none"
    # What nobody has can be given to another.
    other = dialog.page("shortcuts").rows["theme"]
    other.keys.click()
    QTest.keyClick(other.box, Qt.Key.Key_B, CTRL)
    assert kept(person).shortcuts == ("side=", "theme=Ctrl+B")
    row.reset.click()
    assert "theme" in row.problem.text()
    other.reset.click()
    row.reset.click()
    assert kept(person).shortcuts == ()


def test_shortcuts_written_by_hand_that_make_no_sense_count_for_nothing():
    first = chosen_keys(())
    assert first == {one.name: one.keys for one in COMMANDS}
    assert chosen_keys(("nobody=Ctrl+Y", "nonsense", "")) == first
    twice = chosen_keys(("side=Ctrl+N",))
    assert (twice["new"], twice["side"]) == ("", "Ctrl+N"), "what was chosen counts before a default"
    assert kept_shortcuts(chosen_keys(("theme=ctrl+shift+t",))) == ("theme=Ctrl+Shift+T",)
    taken = [keys for keys in first.values() if keys]
    assert len(taken) == len(set(taken))


@pytest.mark.slow
async def test_ctrl_and_slash_show_the_shortcuts(person):
    person.window.activateWindow()
    await until(person.window.isActiveWindow)
    QTest.keyClick(person.window, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: person.sees("settings_page"))
    assert person.find("settings_page").page("shortcuts").isVisible()


@pytest.mark.slow
async def test_privacy_says_what_is_sent_where_and_only_of_what_can_be_used(person):
    engine = person.window.controller.engine
    dialog = await opened(person, "privacy")
    said = " ".join(page_facts(person))
    assert "Nothing you write leaves this computer" in said
    assert "openai" not in said
    person.find("settings_close").click()
    await engine.keys.set("openai", "sk-canary-000111222333444555")
    await engine.servers.save((McpServer(name="files", command="files-server"),))
    dialog = await opened(person, "privacy")
    said = " ".join(page_facts(person))
    assert "Nothing you write" not in said
    assert "OpenAI gets the conversation so far" in said
    # It has not been allowed yet.
    assert "files" not in [label.text() for label in dialog.findChildren(QLabel)]
    assert "no statistics" in said
    assert "canary" not in said


@pytest.mark.slow
async def test_a_language_of_the_command_line_is_everywhere_and_stays_when_something_else_is_chosen(
    qapp, data_dir
):
    async with at_window(data_dir, language="ko", theme="dark") as person:
        window = person.window
        assert window.controller.engine.assistants.find("assistant").name == "기본 어시스턴트"
        assert {one.name for one in window.controller.engine.workflows.all()} >= {"버그 수정"}
        window.controller.settings.change({"text_size": 110})
        assert window.language.name == "ko"
        assert window.look.tokens.dark
        await opened(person, "appearance")
        # The settings show what is in use, and keep what was chosen for every run.
        assert person.find("setting_language").currentText() == "한국어"
        assert person.find("setting_theme").currentData() == "dark"
        assert kept(person).language == "system"
        person.find("settings_close").click()
        window.controller.settings.switch_language()
        await until(lambda: window.controller.engine.settings().language == "en")
        assert window.controller.engine.assistants.find("assistant").name == "Assistant"
        window.controller.settings.switch_theme()
        assert not window.look.tokens.dark


async def test_quit_is_a_command_with_the_keys_of_the_platform(person):
    ended = []
    person.window.close_requested.connect(lambda: ended.append(True))
    QTest.keyClick(person.window, Qt.Key.Key_Q, CTRL)
    await until(lambda: bool(ended))
