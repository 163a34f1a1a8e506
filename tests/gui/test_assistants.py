"""Assistants as a person keeps them: listed, made, written, looked back at, shared, brought in, ordered."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.core.definitions import Agent
from app.gui.display.descriptions import colours_of
from app.gui.widgets.choices import ChipButton
from tests.app_driver import Person, at_window, until


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.unfold_team()
        yield person


def kept(data_dir, agent_id: str) -> dict[str, object]:
    return json.loads((data_dir / "assistants" / f"{agent_id}.json").read_text("utf-8"))


def editor(person: Person):
    return person.find("assistants_page").editor


def side(person: Person):
    return person.window.side_bar.assistants


async def make(person: Person, name: str) -> str:
    """Make an assistant as a person does, and give it a name; return its id."""
    before = set(side(person).ids())
    person.choose_new("assistant", "assistant.new")
    await until(lambda: set(side(person).ids()) - before and person.sees("assistants_page"))
    agent_id = next(iter(set(side(person).ids()) - before))
    await until(lambda: editor(person).definition_id == agent_id and person.find("assistant_name").hasFocus())
    QTest.keyClicks(person.find("assistant_name"), name)
    await until(lambda: "✓" in editor(person).state.text())
    return agent_id


@pytest.mark.slow
async def test_those_of_the_program_are_listed_and_can_only_be_looked_at(person):
    assert side(person).ids() == ("assistant", "browser", "checker")
    side(person).setFocus()
    side(person).setCurrentRow(0)
    await person.press("assistant_list", Qt.Key.Key_F2)
    await until(lambda: person.sees("assistants_page"))
    await until(lambda: person.sees("assistant_banner_act"))
    assert person.find("assistant_name").isReadOnly()
    await person.press("assistant_list", Qt.Key.Key_Delete)
    await person.settle()
    assert "assistant" in side(person).ids()
    await person.click("assistant_banner_act")
    await until(lambda: len(side(person).ids()) == 4)
    assert not person.find("assistant_name").isReadOnly()
    assert person.find("assistant_name").text() == "Assistant (copy)"
    assert editor(person).form.sub_agents.chosen() == ("browser", "checker")


@pytest.mark.slow
async def test_what_is_written_is_saved_by_itself_and_after_a_restart_there(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.unfold_team()
        agent_id = await make(person, "Architect")
        await until(lambda: editor(person)._avatar._letters == "Ar", what="it to be told from Assistant")
        await person.write("assistant_instructions", "Name the trade-off, pick one.")
        editor(person).form.tools.choose("web")
        editor(person).form.sub_agents.choose("browser")
        editor(person).form.model.setEditText("anthropic / claude-opus-4-5")
        person.find("assistant_steps").setValue(7)
        assert "✓" not in editor(person).state.text()
        await until(lambda: "✓" in editor(person).state.text())
        document = kept(data_dir, agent_id)
        assert document["name"] == "Architect"
        assert document["instructions"] == "Name the trade-off, pick one."
        # A new assistant may write files.
        assert document["tools"] == ["files", "remember", "web", "subAgent"]
        assert document["sub_agents"] == ["browser"]
        assert (document["provider"], document["model"]) == ("anthropic", "claude-opus-4-5")
        assert document["max_steps"] == 7
        # Not yet saved when the window closes.
        await person.write("assistant_description", "Finds the trade-off")
    assert kept(data_dir, agent_id)["description"] == "Finds the trade-off"
    async with at_window(data_dir) as person:
        person.unfold_team()
        assert agent_id in side(person).ids()


@pytest.mark.slow
async def test_what_is_wrong_is_said_beside_its_field_and_not_saved(person, data_dir):
    agent_id = await make(person, "Backend")
    version = kept(data_dir, agent_id)["version"]
    form = editor(person).form
    await person.write("assistant_name", "")
    await until(lambda: form.rows["name"].error.isVisible())
    assert "✓" not in editor(person).state.text()
    await person.write("assistant_name", "Backend")
    form.model.setEditText("nobody / model")
    await person.write("assistant_pages", "ftp://example.org")
    await until(lambda: form.rows["model"].error.isVisible() and form.rows["pages"].error.isVisible())
    assert not form.rows["name"].error.isVisible()
    assert kept(data_dir, agent_id)["version"] == version
    form.model.setEditText("Default model")
    await person.write("assistant_pages", "https://example.org/handbook")
    await until(lambda: kept(data_dir, agent_id).get("pages") == ["https://example.org/handbook"])


@pytest.mark.slow
async def test_what_the_disk_refuses_is_said_and_what_was_written_stays(person, data_dir):
    agent_id = await make(person, "Stuck")
    path = data_dir / "assistants" / f"{agent_id}.json"
    path.write_text("{", "utf-8")
    await person.write("assistant_instructions", "Kept in the window")
    await until(lambda: editor(person).form.rows["name"].error.isVisible())
    assert "✓" not in editor(person).state.text()
    assert person.find("assistant_instructions").toPlainText() == "Kept in the window"
    assert path.read_text("utf-8") == "{"
    path.unlink()
    await person.write("assistant_role", "Free")
    await until(
        lambda: kept(data_dir, agent_id).get("instructions") == "Kept in the window" if path.exists() else 0
    )
    await until(lambda: not editor(person).form.rows["name"].error.isVisible())


@pytest.mark.slow
async def test_ctrl_z_takes_back_what_was_typed_and_that_is_saved_too(person, data_dir):
    agent_id = await make(person, "QA")
    box = person.find("assistant_instructions")
    box.setFocus()
    QTest.keyClicks(box, "Test it")
    await until(lambda: kept(data_dir, agent_id).get("instructions") == "Test it")
    await until(lambda: "✓" in editor(person).state.text())
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: kept(data_dir, agent_id).get("instructions", "") == "")


@pytest.mark.slow
async def test_an_earlier_version_is_looked_at_and_brought_back(person, data_dir):
    agent_id = await make(person, "Scribe")
    await person.write("assistant_instructions", "First words")
    await until(lambda: kept(data_dir, agent_id).get("instructions") == "First words")
    await until(lambda: "✓" in editor(person).state.text())
    await person.write("assistant_instructions", "Second words")
    await until(lambda: kept(data_dir, agent_id).get("instructions") == "Second words")
    await until(lambda: "✓" in editor(person).state.text())
    menu = editor(person).versions_menu(await person.window.controller.engine.assistants.versions(agent_id))
    assert "Instructions" in menu.actions()[0].text()
    menu.actions()[0].trigger()
    menu.deleteLater()
    await person.settle()
    assert person.find("assistant_instructions").toPlainText() == "First words"
    assert person.find("assistant_instructions").isReadOnly()
    assert kept(data_dir, agent_id)["instructions"] == "Second words"
    await person.click("assistant_banner_act")
    await until(lambda: kept(data_dir, agent_id)["instructions"] == "First words")
    assert not person.find("assistant_instructions").isReadOnly()
    assert not person.find("assistant_banner_act").isVisible()


@pytest.mark.slow
async def test_delete_can_be_undone(person, data_dir):
    agent_id = await make(person, "Gone")
    side(person).setFocus()
    side(person).setCurrentRow(side(person).ids().index(agent_id))
    await person.press("assistant_list", Qt.Key.Key_Delete)
    await until(lambda: agent_id not in side(person).ids())
    await person.click("toast_action")
    await until(lambda: agent_id in side(person).ids())
    assert kept(data_dir, agent_id)["name"] == "Gone"


@pytest.mark.slow
async def test_one_that_is_deleted_while_it_is_written_stays_deleted_and_comes_back_whole(person, data_dir):
    agent_id = await make(person, "Gone")
    await person.write("assistant_instructions", "The last words")
    person.window.controller.assistants.delete(agent_id)
    await until(lambda: agent_id not in side(person).ids())
    await person.settle(1.0)
    assert agent_id not in side(person).ids()
    await person.click("toast_action")
    await until(lambda: agent_id in side(person).ids())
    assert kept(data_dir, agent_id)["instructions"] == "The last words"


@pytest.mark.slow
async def test_what_others_change_meanwhile_is_kept_and_of_the_same_field_one_is_chosen(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.unfold_team()
        agent_id = await make(person, "Shared")
        library = person.window.controller.engine.assistants

        async def elsewhere(**fields):
            await library.change(agent_id, lambda agent: replace(agent, **fields))

        # Each time while the form has what is not saved yet.
        await person.write("assistant_role", "QA")
        editor(person).form.tools.choose("web")
        await elsewhere(name="Renamed", tools=("fetch",), description="From elsewhere")
        await until(lambda: kept(data_dir, agent_id).get("role") == "QA")
        document = kept(data_dir, agent_id)
        assert (document["name"], document["description"]) == ("Renamed", "From elsewhere")
        assert sorted(document["tools"]) == ["fetch", "web"]
        await until(lambda: person.find("assistant_name").text() == "Renamed")
        assert sorted(editor(person).form.tools.chosen()) == ["fetch", "web"]

        await person.write("assistant_role", "Mine")
        await elsewhere(role="Theirs")
        await until(lambda: person.sees("two_changes_dialog"))
        assert kept(data_dir, agent_id)["role"] == "Theirs"
        await person.click("two_changes_cancel")
        assert person.find("assistant_role").text() == "Mine"
        await person.write("assistant_description", "Goes on")
        await until(lambda: person.sees("two_changes_dialog"))
        await person.click("two_changes_mine")
        await until(lambda: kept(data_dir, agent_id)["role"] == "Mine")
        assert kept(data_dir, agent_id)["description"] == "Goes on"
        await until(lambda: "✓" in editor(person).state.text())

        await person.write("assistant_role", "Mine again")
        await elsewhere(role="Theirs again")
        await until(lambda: person.sees("two_changes_dialog"))
        await person.click("two_changes_other")
        assert person.find("assistant_role").text() == "Theirs again"
        await elsewhere(role="Shown at once")
        await until(lambda: person.find("assistant_role").text() == "Shown at once")

        # Nobody can be asked where the window closes.
        await person.write("assistant_role", "Last words")
        await elsewhere(role="Also last")
    assert kept(data_dir, agent_id)["role"] == "Last words"


@pytest.mark.slow
async def test_the_order_is_changed_with_the_keyboard_and_kept(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.unfold_team()
        side(person).setFocus()
        side(person).setCurrentRow(2)
        await person.press("assistant_list", Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
        await until(lambda: person.window.controller.engine.settings().assistant_order)
        assert side(person).ids() == ("assistant", "checker", "browser")
        assert side(person).current_id() == "checker"
        colours = colours_of(person.window.controller.engine.assistants.all())
    async with at_window(data_dir) as person:
        person.unfold_team()
        assert side(person).ids() == ("assistant", "checker", "browser")
        assert colours_of(person.window.controller.engine.assistants.all()) == colours


async def test_a_click_starts_a_chat_and_the_menu_has_the_rest(person):
    heard = []
    person.window.controller.assistants.chat_requested.connect(heard.append)
    person.click_row("assistant_list", 1)
    assert heard == ["browser"]
    assert not side(person).selectedIndexes()
    side(person).setCurrentRow(0)
    await person.press("assistant_list", Qt.Key.Key_Return)
    assert heard == ["browser", "assistant"]
    menu = side(person).menu_of("browser")
    texts = [action.text().split("\t")[0] for action in menu.actions() if action.text()]
    wanted = ["Chat", "View", "Duplicate", "Share as file…", "Add to group…", "Move up", "Move down"]
    assert texts == wanted
    menu.deleteLater()


@pytest.mark.slow
async def test_from_the_editor_a_chat_is_begun_with_what_is_written(person, data_dir):
    agent_id = await make(person, "Talker")
    await person.write("assistant_role", "Talks")
    await person.click("assistant_chat")
    await until(lambda: person.sees("composer") and person.find("composer").hasFocus())
    assert kept(data_dir, agent_id)["role"] == "Talks"
    assert not person.sees("assistants_page")
    assert "Talker" in person.find("composer").placeholderText()


@pytest.mark.slow
async def test_one_is_shared_as_a_file_and_brought_in_elsewhere(person, data_dir, tmp_path):
    agent_id = await make(person, "Reviewer")
    editor(person).form.tools.choose("web_fetch")
    await until(lambda: kept(data_dir, agent_id).get("tools") == ["files", "remember", "web_fetch"])
    await person.click("assistant_share")
    path = tmp_path / "reviewer.json"
    person.choose_file(path)
    await until(lambda: path.is_file() and path.stat().st_size)
    document = json.loads(path.read_text("utf-8"))
    assert document["tools"] == ["files", "remember", "web_fetch"]
    document |= {"tools": ["files", "web_fetch", "shell"], "mcp_servers": ["files"], "command": "rm -rf /"}
    path.write_text(json.dumps(document), "utf-8")
    count = len(side(person).ids())
    person.choose_new("assistant", "side.import_assistant")
    person.choose_file(path)
    await until(lambda: person.sees("bring_in_dialog"))
    said = " ".join(label.text() for label in person.find("bring_in_dialog").findChildren(QLabel))
    assert "web_fetch" in said
    dropped = person.find("bring_in_dropped", QLabel).text()
    assert all(word in dropped for word in ("shell", "mcp_servers", "command"))
    assert len(side(person).ids()) == count, "nothing is kept before it is agreed to"
    await person.click("bring_in_keep")
    await until(lambda: len(side(person).ids()) == count + 1)
    assert editor(person).form.tools.chosen() == ("web_fetch",)
    assert "shell" not in json.dumps([kept(data_dir, one) for one in side(person).ids() if len(one) > 9])


async def test_a_file_that_is_none_is_refused_in_words(person, tmp_path):
    path = tmp_path / "bad.json"
    for text in ("", "{", "[]", '{"name": 3}', '{"name": "a", "tools": "all"}'):
        path.write_text(text, "utf-8")
        person.choose_new("assistant", "side.import_assistant")
        person.choose_file(path)
        await until(lambda: person.sees("toast"), what=f"the refusal of {text!r}")
        assert not person.sees("bring_in_dialog"), text
        person.find("toast").leave()
        await until(lambda: not person.sees("toast"))


@pytest.mark.slow
async def test_chips_are_taken_out_and_put_in_without_a_mouse(person):
    person.window.activateWindow()
    await make(person, "Keys")
    chips = editor(person).form.tools
    chips.choose("web_fetch")
    chips.choose("web_search")
    await person.settle()
    first = person.find("assistant_tools_web_fetch", ChipButton)
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Delete)
    assert chips.chosen() == ("files", "remember", "web_search")
    focus = person.window.focusWidget()
    assert focus.objectName() == "assistant_tools_web_search"
    await until(lambda: "✓" in editor(person).state.text())
    assert person.window.focusWidget() is focus, "saving leaves the focus where it was"


async def test_a_long_list_scrolls_and_follows_the_keyboard(qapp, data_dir):
    folder = data_dir / "assistants"
    folder.mkdir(parents=True)
    for number in range(40):
        document = {"version": 1, "id": f"a{number:02}", "name": f"Helper {number}"}
        (folder / f"a{number:02}.json").write_text(json.dumps(document), "utf-8")
    async with at_window(data_dir, size=(900, 600)) as person:
        person.unfold_team()
        assert len(side(person).ids()) == 43
        area = person.window.side_bar.team.area
        side(person).setFocus()
        side(person).setCurrentRow(42)
        await person.settle()
        place = side(person).visualItemRect(side(person).item(42)).center()
        y = side(person).mapTo(area.viewport(), QPoint(0, place.y())).y()
        assert 0 < y < area.viewport().height()


def test_a_new_assistant_takes_no_others_colour():
    agents = [Agent(id="browser", name="b"), Agent(id="01m80gq76qfnaheharercj1y5r", name="x")]
    before = colours_of(agents)
    after = colours_of([Agent(id="01m80gq86qfnaheharercj1y5r", name="y"), *reversed(agents)])
    assert {one: after[one] for one in before} == before
    assert len(set(after.values())) == 3


@pytest.mark.slow
async def test_a_colour_is_chosen_in_the_form_and_kept(qapp, data_dir):
    folder = data_dir / "assistants"
    folder.mkdir(parents=True)
    (folder / "old.json").write_text('{"version": 1, "id": "old", "name": "Old", "mood": "good"}', "utf-8")
    async with at_window(data_dir) as person:
        person.unfold_team()
        first = {row.id: row.colour for row in side(person).rows.rows}
        assert first["old"] == sum(b"old") % 8, "a file without a colour always has the same"
        agent_id = await make(person, "New")
        shown = {row.id: row.colour for row in side(person).rows.rows}
        assert {one: shown[one] for one in first} == first
        assert shown[agent_id] not in first.values()
        assert "colour" not in kept(data_dir, "old"), "nobody has written there"
        side(person).edit_requested.emit("old")
        await until(lambda: editor(person).definition_id == "old")
        await person.choose("assistant_colour", "Pink")
        assert editor(person)._avatar._index == 5, "it is shown at once"
        await until(lambda: kept(data_dir, "old").get("colour") == 5)
        assert kept(data_dir, "old")["mood"] == "good"
    async with at_window(data_dir) as person:
        now = {row.id: row.colour for row in side(person).rows.rows}
        assert now == {**shown, "old": 5}


@pytest.mark.slow
async def test_a_ready_made_group_recolours_nobody(person):
    agent_id = await make(person, "Mine")
    before = {row.id: row.colour for row in side(person).rows.rows}
    groups = person.window.controller.engine.groups
    await groups.bring_in(groups.ready_made()["release-crew"])
    await until(lambda: len(side(person).ids()) > len(before))
    after = {row.id: row.colour for row in side(person).rows.rows}
    assert {one: after[one] for one in before} == before
    assert len(set(after.values())) == min(8, len(after)), "as many colours as there are"
    assert agent_id in before


@pytest.mark.slow
async def test_a_sub_agent_comes_with_the_tool_that_calls_it(person, data_dir):
    await make(person, "Boss")
    form = editor(person).form
    form.sub_agents.choose("browser")
    assert form.tools.chosen() == ("files", "remember", "subAgent")
    form.tools.remove("subAgent")
    form.sub_agents.remove("browser")
    assert form.tools.chosen() == ("files", "remember")
