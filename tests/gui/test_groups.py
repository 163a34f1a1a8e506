"""Groups as a person keeps them: listed, made, given members, led, shared, brought in, ordered, deleted."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit

from app.core.definitions import Group
from tests.app_driver import Person, at_window, until
from tests.gui.seen import inside
from tests.gui.test_assistants import person

__all__ = ["person"]

ALT = Qt.KeyboardModifier.AltModifier


def kept(data_dir, group_id: str) -> dict[str, object]:
    path = data_dir / "groups" / f"{group_id}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def commands(person: Person):
    return person.window.controller.group_commands


def side(person: Person):
    return person.window.side_bar.groups


def page(person: Person):
    return person.find("group_page")


def at(person: Person, name: str) -> bool:
    """Say whether the keyboard is at a widget, also while a dialog has just been in front."""
    focus = person.window.focusWidget()
    return focus is not None and focus.objectName() == name


def said(person: Person) -> str:
    """Return what a screen reader reads of the first group."""
    return side(person).item(0).said


def offered(person: Person) -> list[QAction]:
    """Return what the button that adds a member offers."""
    menu = person.find("group_add_member").menu()
    menu.aboutToShow.emit()
    return menu.actions()


def members(person: Person) -> tuple[str, ...]:
    return page(person).form.cards.ids()


async def saved(person: Person) -> None:
    await until(lambda: "✓" in page(person).state.text())


async def make(person: Person, name: str) -> str:
    """Make a group as a person does, and give it a name; return its id."""
    before = set(side(person).ids())
    person.choose_new("group", "group.new")
    await until(lambda: set(side(person).ids()) - before)
    group_id = next(iter(set(side(person).ids()) - before))
    await until(lambda: person.sees("group_page") and page(person).definition_id == group_id)
    await until(lambda: at(person, "group_name"))
    QTest.keyClicks(person.find("group_name"), name)
    await saved(person)
    return group_id


async def take_ready(person: Person, row: int) -> str:
    """Take a ready-made group in, from the empty list's button or the menu; return its id."""
    before = set(side(person).ids())
    person.choose_new("group", "group.ready")
    await until(lambda: person.sees("ready_groups_dialog"))
    person.click_row("ready_groups", row)
    await person.click("ready_take")
    await until(lambda: set(side(person).ids()) - before)
    await until(lambda: person.sees("composer") and at(person, "composer"))
    group_id = next(iter(set(side(person).ids()) - before))
    person.window.controller.group_commands.show_page(group_id)
    await until(lambda: person.sees("group_page"))
    return group_id


@pytest.mark.slow
async def test_a_new_group_gets_its_members_and_is_kept(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.unfold_team()
        assert person.sees("group_first"), "the empty list says what a group is"
        group_id = await make(person, "Release crew")
        assert not person.sees("group_first")
        assert not person.find("group_chat").isEnabled(), "nobody is in it"
        assert person.find("session_title").text() == "Release crew"
        assert person.window.top_bar.mode.text() == "Group"
        form = page(person).form
        offers = offered(person)
        texts = [action.text() for action in offers if action.text()]
        assert texts == ["Assistant", "Browser", "Checker", "New assistant"]
        for action in offers[:2]:
            action.trigger()
        assert members(person) == ("assistant", "browser")
        assert page(person).editor.definition_id == "browser"
        await until(lambda: kept(data_dir, group_id).get("members") == ["assistant", "browser"])
        await until(lambda: said(person) == "Release crew, 2 members")
        form.model.setEditText("anthropic / claude-opus-4-5")
        form.turns.setValue(7)
        form.ask.click()
        await person.write("group_instructions", "Test before you tell.")
        await until(lambda: kept(data_dir, group_id).get("instructions") == "Test before you tell.")
        document = kept(data_dir, group_id)
        leader = document["orchestrator"]
        assert (leader["provider"], leader["model"]) == ("anthropic", "claude-opus-4-5")
        assert (document["turns_limit"], document["ask_before_hand_over"]) == (7, True)
        # Not yet saved when the window closes.
        await person.write("group_name", "Crew of one")
    assert kept(data_dir, group_id)["name"] == "Crew of one"
    async with at_window(data_dir) as person:
        person.unfold_team()
        assert side(person).ids() == (group_id,)


@pytest.mark.slow
async def test_members_are_put_in_order_and_taken_out_with_the_keyboard_and_come_back(person, data_dir):
    group_id = await take_ready(person, 1)
    assert members(person) == ("architect", "backend", "qa", "release-notes")
    cards = page(person).form.cards
    cards.setFocus()
    cards.setCurrentRow(2)
    assert page(person).editor.definition_id == "qa"
    await person.press("member_cards", Qt.Key.Key_Up, ALT)
    assert members(person) == ("architect", "qa", "backend", "release-notes")
    assert (cards.current_id(), page(person).editor.definition_id) == ("qa", "qa")
    await until(lambda: kept(data_dir, group_id)["members"][1] == "qa")
    await person.press("member_cards", Qt.Key.Key_Delete)
    assert members(person) == ("architect", "backend", "release-notes")
    assert page(person).editor.definition_id == "backend"
    await until(lambda: len(kept(data_dir, group_id)["members"]) == 3)
    assert "qa" in person.window.side_bar.assistants.ids(), "it is no member, but still there"
    await person.click("toast_action")
    await until(
        lambda: kept(data_dir, group_id)["members"] == ["architect", "qa", "backend", "release-notes"]
    )
    await until(lambda: members(person) == ("architect", "qa", "backend", "release-notes"))


@pytest.mark.slow
async def test_the_chosen_member_is_edited_beside_the_others(person, data_dir):
    await take_ready(person, 1)
    person.click_row("member_cards", 2)
    editor = page(person).editor
    assert editor.definition_id == "qa"
    assert editor.form.isVisible()
    box = editor.form.instructions
    box.setPlainText("Break it.")
    await until(lambda: "✓" in editor.state.text())
    document = json.loads((data_dir / "assistants" / "qa.json").read_text("utf-8"))
    assert document["instructions"] == "Break it."
    assert page(person).form.cards.current_id() == "qa"


@pytest.mark.slow
async def test_a_member_that_comes_with_moot_is_replaced_by_a_copy_to_change_it(person, data_dir):
    group_id = await make(person, "Readers")
    page(person).form.add("browser")
    page(person).form.add("checker")
    await saved(person)
    person.click_row("member_cards", 0)
    inside(page(person), "assistant_banner_act").click()
    await until(lambda: "browser" not in kept(data_dir, group_id)["members"])
    assert len(kept(data_dir, group_id)["members"]) == 2
    assert kept(data_dir, group_id)["members"][1] == "checker"
    await until(lambda: not page(person).editor.form.name.isReadOnly())
    assert page(person).editor.form.name.text() == "Browser (copy)"


@pytest.mark.slow
async def test_a_new_assistant_is_a_member_at_once(person, data_dir):
    group_id = await make(person, "Crew")
    offered(person)[-1].trigger()
    await until(lambda: len(kept(data_dir, group_id).get("members", ())) == 1)
    name = page(person).editor.form.name
    await until(lambda: person.window.focusWidget() is name)
    QTest.keyClicks(name, "Scribe")
    await until(lambda: page(person).editor.state.text() == "✓ Saved")
    assert [page(person).form.cards.item(0).title] == ["Scribe"]


@pytest.mark.slow
async def test_what_is_wrong_is_said_beside_its_field_and_not_saved(person, data_dir):
    group_id = await make(person, "Crew")
    version = kept(data_dir, group_id)["version"]
    form = page(person).form
    await person.write("group_name", "")
    await until(lambda: form.errors["name"].isVisible())
    assert "✓" not in page(person).state.text()
    await person.write("group_name", "Crew")
    form.model.setEditText("nobody / model")
    await until(lambda: form.errors["orchestrator"].isVisible())
    assert not form.errors["name"].isVisible()
    assert kept(data_dir, group_id)["version"] == version
    form.model.setEditText("Default model")
    await until(lambda: not form.errors["orchestrator"].isVisible())
    path = data_dir / "groups" / f"{group_id}.json"
    path.write_text("{", "utf-8")
    await person.write("group_instructions", "Kept in the window")
    await until(lambda: form.errors["name"].isVisible())
    assert person.find("group_instructions").toPlainText() == "Kept in the window"
    assert path.read_text("utf-8") == "{"
    path.unlink()
    await person.write("group_name", "Crew again")
    await until(lambda: kept(data_dir, group_id).get("instructions") == "Kept in the window")


@pytest.mark.slow
async def test_a_member_whose_assistant_is_deleted_is_marked_and_comes_back(person):
    await take_ready(person, 1)
    person.window.controller.assistants.delete("architect")
    await until(lambda: not page(person).editor.isVisible())
    assert members(person)[0] == "architect"
    assert "deleted" in page(person).form.cards.item(0).said
    assert page(person)._empty.isVisible()
    assert said(person) == "Release team, 3 members"
    await person.click("toast_action")
    await until(lambda: page(person).editor.isVisible())
    assert page(person).editor.definition_id == "architect"


@pytest.mark.slow
async def test_delete_can_be_undone_and_copies_have_their_own_name(person, data_dir):
    group_id = await take_ready(person, 1)
    side(person).setFocus()
    side(person).setCurrentRow(0)
    await person.press("group_list", Qt.Key.Key_Delete)
    await until(lambda: side(person).ids() == ())
    await until(lambda: not person.sees("group_page"))
    await person.click("toast_action")
    await until(lambda: side(person).ids() == (group_id,))
    assert kept(data_dir, group_id)["name"] == "Release team"
    commands(person).duplicate(group_id)
    await until(lambda: len(side(person).ids()) == 2)
    await until(lambda: person.sees("group_page") and at(person, "group_name"))
    assert person.find("group_name").text() == "Release team (copy)"
    again = await take_ready(person, 1)
    assert kept(data_dir, again)["name"] == "Release team 2"
    assert kept(data_dir, again)["members"] == ["architect", "backend", "qa", "release-notes"]


@pytest.mark.slow
async def test_one_that_is_deleted_while_it_is_written_stays_deleted_and_comes_back_whole(person, data_dir):
    group_id = await make(person, "Gone")
    await person.write("group_instructions", "The last words")
    commands(person).delete(group_id)
    await until(lambda: side(person).ids() == ())
    await person.settle(1.0)
    assert side(person).ids() == ()
    await person.click("toast_action")
    await until(lambda: side(person).ids() == (group_id,))
    assert kept(data_dir, group_id)["instructions"] == "The last words"


@pytest.mark.slow
async def test_the_order_is_changed_with_the_keyboard_and_kept(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.unfold_team()
        for name in ("One", "Two", "Three"):
            await make(person, name)
        before = side(person).ids()
        side(person).setFocus()
        side(person).setCurrentRow(2)
        await person.press("group_list", Qt.Key.Key_Up, ALT)
        await until(lambda: person.window.controller.engine.settings().group_order)
        wanted = (before[0], before[2], before[1])
        assert side(person).ids() == wanted
        assert side(person).current_id() == before[2]
    async with at_window(data_dir) as person:
        person.unfold_team()
        assert side(person).ids() == wanted


@pytest.mark.slow
async def test_a_click_starts_a_chat_and_the_menu_has_the_rest(person):
    heard = []
    group_id = await take_ready(person, 1)
    commands(person).chat_requested.connect(heard.append)
    person.click_row("group_list", 0)
    await until(lambda: heard == [group_id])
    assert not person.sees("group_page")
    assert not person.sees("group_share"), "the group's buttons leave with its page"
    menu = side(person).menu_of(group_id)
    texts = [action.text().split("\t")[0] for action in menu.actions() if action.text()]
    assert texts == ["Chat", "Edit", "Duplicate", "Share as file…", "Move up", "Move down", "Delete"]
    menu.deleteLater()
    side(person).setFocus()
    side(person).setCurrentRow(0)
    await person.press("group_list", Qt.Key.Key_F2)
    await until(lambda: person.sees("group_page"))
    await person.write("group_instructions", "Be brief.")
    await person.click("group_chat")
    await until(lambda: heard == [group_id, group_id])
    assert person.window.controller.engine.groups.find(group_id).instructions == "Be brief."


@pytest.mark.slow
async def test_a_group_of_nobody_opens_its_editor(person):
    group_id = await make(person, "Nobody")
    person.window.controller.show_new()
    heard = []
    commands(person).chat_requested.connect(heard.append)
    person.click_row("group_list", 0)
    await until(lambda: person.sees("group_page"))
    assert heard == []
    assert page(person).definition_id == group_id


@pytest.mark.slow
async def test_one_is_shared_as_a_file_and_brought_in_elsewhere(person, data_dir, tmp_path):
    group_id = await take_ready(person, 1)
    await person.click("group_share")
    path = tmp_path / "crew.json"
    person.choose_file(path)
    await until(lambda: path.is_file() and path.stat().st_size)
    document = json.loads(path.read_text("utf-8"))
    assert [one["name"] for one in document["members"]] == ["Architect", "Backend", "QA", "Release notes"]
    document |= {"command": "rm -rf /"}
    more = {"sub_agents": ["Ada"], "pages": ["https://example.org/a"], "description": "For tests."}
    document["members"][2] |= {
        "name": "QA 2",
        "tools": ["web_fetch", "shell"],
        "mcp_servers": ["files"],
        **more,
    }
    path.write_text(json.dumps(document), "utf-8")
    agents = person.window.side_bar.assistants.ids()
    person.choose_new("group", "side.import_group")
    person.choose_file(path)
    await until(lambda: person.sees("bring_in_dialog"))
    shown = " ".join(label.text() for label in person.find("bring_in_dialog").findChildren(QLabel))
    assert "Architect, Backend, QA 2, Release notes" in shown
    read = person.find("bring_in_instructions", QPlainTextEdit).toPlainText()
    assert "You design before anyone builds." in read
    shown = read.partition("QA 2\n")[2].splitlines()
    assert {"When to use it: For tests.", "Tools: web_fetch", "Sub-agents: Ada"} < set(shown)
    assert "Web pages to read first, one address per line: https://example.org/a" in shown
    dropped = person.find("bring_in_dropped", QLabel).text()
    assert all(word in dropped for word in ("command", "QA 2: tools: shell", "QA 2: mcp_servers"))
    assert side(person).ids() == (group_id,), "nothing is kept before it is agreed to"
    assert person.window.side_bar.assistants.ids() == agents
    await person.click("bring_in_keep")
    await until(lambda: len(side(person).ids()) == 2)
    await until(lambda: page(person).definition_id != group_id)
    new = person.window.controller.engine.assistants.find("QA 2")
    assert (new.tools, new.mcp_servers) == (("web_fetch",), ())
    assert set(person.window.side_bar.assistants.ids()) - set(agents) == {new.id}, (
        "the others are there already"
    )
    everything = b"".join(one.read_bytes() for one in data_dir.rglob("*.json"))
    assert b"rm -rf" not in everything
    assert b"shell" not in everything


async def test_a_file_that_is_none_is_refused_in_words(person, tmp_path):
    path = tmp_path / "bad.json"
    for text in (
        "", "{", "[]", '{"name": 3, "members": []}', '{"name": "a", "members": {}}', '{"name": "a", "members": [3]}',
        '{"name": "a", "members": [], "turns_limit": 0}', '{"name": "a", "members": [{"name": ""}]}',
    ):  # fmt: skip
        path.write_text(text, "utf-8")
        person.choose_new("group", "side.import_group")
        person.choose_file(path)
        await until(lambda: person.sees("toast"), what=f"the refusal of {text!r}")
        assert not person.sees("bring_in_dialog"), text
        assert side(person).ids() == (), text
        person.find("toast").leave()
        await until(lambda: not person.sees("toast"))


@pytest.mark.slow
async def test_whichever_menu_a_file_comes_in_by_it_is_what_it_is(person, tmp_path):
    engine = person.window.controller.engine
    path = tmp_path / "one.json"
    path.write_text(engine.assistants.share("browser"), "utf-8")
    person.choose_new("group", "side.import_group")
    person.choose_file(path)
    await until(lambda: person.sees("bring_in_dialog"))
    assert person.find("bring_in_dialog").windowTitle() == "Import an assistant"
    await person.click("bring_in_cancel")
    await until(lambda: not person.sees("bring_in_dialog"))
    group_id = await take_ready(person, 1)
    path.write_text(engine.groups.share(group_id), "utf-8")
    person.choose_new("assistant", "side.import_assistant")
    person.choose_file(path)
    await until(lambda: person.sees("bring_in_dialog"))
    assert person.find("bring_in_dialog").windowTitle() == "Import a group"
    await person.click("bring_in_keep")
    await until(lambda: len(side(person).ids()) == 2)


@pytest.mark.slow
async def test_dragging_puts_a_member_elsewhere(person, data_dir):
    group_id = await take_ready(person, 1)
    cards = page(person).form.cards
    before = members(person)
    # What Qt does at a drop inside the list, then what the list makes of it.
    cards.model().moveRow(cards.rootIndex(), 0, cards.rootIndex(), 3)
    cards.order_chosen.emit(cards.ids())
    wanted = [before[1], before[2], before[0], before[3]]
    await until(lambda: kept(data_dir, group_id)["members"] == wanted)
    assert cards.viewport().rect().contains(QPoint(1, 1))


async def test_the_palette_makes_groups(person):
    entries = [one for one in person.window.controller.palette.commands() if "group" in one.id]
    assert [command.id for command in entries] == ["new_group", "ready_groups"]
    entries[0].act()
    await until(lambda: person.sees("group_page"))
    assert person.window.controller.engine.groups.all() == (
        Group(id=side(person).ids()[0], name="New group", version=1),
    )
