"""MCP servers in the settings: they arrive switched off, show exactly what would run, and ask first."""

import asyncio
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from app.core.definitions import Agent
from app.core.errors import BadInput
from app.core.servers import McpServer
from app.core.tool import ServerState
from app.gui.dialogs.connect_dialogs import edited, form_of, server_of
from app.gui.display.descriptions import server_line
from app.gui.widgets.text import Paragraph
from tests.app_driver import Person, at_window, until
from tests.gui.seen import texts_in
from tests.tools.servers.guarded import guarded, visit
from tests.tools.serving import allow

PROPER = str(Path(__file__).parent.parent / "tools" / "servers" / "proper.py")


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir) as person:
        await open_page(person)
        yield person
        if person.sees("settings_page"):
            person.find("settings_close").click()


async def open_page(person: Person) -> None:
    person.window.controller.settings.open("servers")
    await until(lambda: person.sees("settings_page"))


def page(person: Person):
    return person.find("settings_page").page("servers")


async def agree_on_page(person: Person, opened: list[str]) -> None:
    """Say yes to the page of a login to the server "there", log in on it, and wait for the connection."""
    await until(lambda: person.sees("link_dialog"), 20)
    assert "there" in person.find("link_dialog").heading.text() and not opened
    await person.click("link_open")
    await until(lambda: bool(opened))
    await asyncio.to_thread(visit, opened[0])
    await until(lambda: states(person) == {"there": ServerState.CONNECTED}, 20)


def states(person: Person) -> dict[str, str]:
    return {status.server.name: status.state for status in person.window.controller.engine.servers.all()}


async def add(person: Person, name: str, line: str) -> None:
    await person.click("settings_add_mcp")
    await until(lambda: person.sees("server_dialog"))
    await person.write("server_name", name)
    await person.write("server_line", line)
    await person.click("server_add")
    await until(lambda: name in states(person))


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_the_composer_says_that_the_assistants_server_is_not_allowed(qapp, data_dir):
    data_dir.mkdir(parents=True, exist_ok=True)
    entry = {"command": sys.executable, "args": [PROPER], "disabled": True}
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"files": entry, "other": entry}}), "utf-8")
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        made = await engine.assistants.save(Agent(id="helper", name="Helper", mcp_servers=("files",)))
        desk = person.window.controller
        desk.chats.show_new()
        person.window.main_area.setCurrentWidget(desk.chat_page)
        allow = desk.chat_page.findChild(QPushButton, "composer_allow")
        assert not allow.isVisible()
        desk.chats.show_new(made.id)
        await until(allow.isVisible, 10)
        QTest.mouseClick(allow, Qt.MouseButton.LeftButton)
        await until(lambda: person.sees("consent_allow"))
        assert "files" in person.find("consent_dialog").heading.text()
        await person.click("consent_allow")
        await until(lambda: not allow.isVisible(), 20)
        assert person.window.focusWidget() is desk.chat_page.composer.box
        await until(lambda: states(person)["files"] == ServerState.CONNECTED, 20)
        assert states(person) == {"files": ServerState.CONNECTED, "other": ServerState.OFF}


@pytest.mark.slow
@pytest.mark.threat("T11")
@pytest.mark.timeout(120)
async def test_a_server_arrives_off_is_shown_to_the_letter_and_runs_once_allowed(person, data_dir):
    line = shlex.join([sys.executable, PROPER])
    await add(person, "proper", line)
    assert states(person) == {"proper": ServerState.OFF}
    # The page hears of it a moment after the engine.
    await until(lambda: person.find("server_exact", QPlainTextEdit).toPlainText() == line)
    await person.click("server_allow")
    await until(lambda: person.sees("consent_dialog"))
    assert person.find("consent_line", QPlainTextEdit).toPlainText() == line
    await person.press("consent_dialog", Qt.Key.Key_Return)
    await until(lambda: not person.sees("consent_dialog"))
    assert states(person) == {"proper": ServerState.OFF}, "Enter does not allow"
    await person.click("server_allow")
    await until(lambda: person.sees("consent_allow"))
    await person.click("consent_allow")
    await until(lambda: states(person) == {"proper": ServerState.CONNECTED}, 60)
    assert not person.sees("toast"), "what was just allowed does not ask again"
    await until(lambda: "add" in page(person).tools.text())
    assert person.window.side_bar.providers_button.text().endswith("1 MCP server")
    assistants = person.window.controller.engine.assistants
    mine = await assistants.save(Agent(id="", name="Mine & Co"))
    for names in (("proper",), ()):
        page(person).give.choices.aboutToShow.emit()
        entries = {one.text(): one for one in page(person).give.choices.actions()}
        assert [one for one in entries if entries[one].isEnabled()] == ["Mine && Co"], (
            "others cannot be changed"
        )
        assert entries["Mine && Co"].isChecked() == (not names)
        entries["Mine && Co"].trigger()
        await until(lambda names=names: assistants.find(mine.id).mcp_servers == names)
    person.find("server_enabled").click()
    await until(lambda: states(person) == {"proper": ServerState.OFF})


@pytest.mark.slow
@pytest.mark.threat("T11")
@pytest.mark.timeout(120)
async def test_a_server_is_added_allowed_and_given_in_one_dialog(person, data_dir):
    assistants = person.window.controller.engine.assistants
    mine = await assistants.save(Agent(id="", name="Mine"))
    await assistants.save(Agent(id="", name="Other"))
    for name, line in (("proper", shlex.join([sys.executable, PROPER])), ("odd", "no-such\u200b-program")):
        await person.click("settings_add_mcp")
        await until(lambda: person.sees("server_dialog"))
        dialog = person.find("server_dialog")
        await person.write("server_name", name)
        await person.write("server_line", line)
        menu = dialog._people._menu
        [entry] = [entry for entry in menu.actions() if entry.text() == "Mine"]
        assert len(menu.actions()) == 2, "those that come with Moot cannot be changed"
        entry.trigger()
        person.find("server_allow_now").click()
        await person.click("server_add")
        await until(lambda name=name: name in states(person))
    await until(lambda: states(person) == {"proper": ServerState.CONNECTED, "odd": ServerState.OFF}, 60)
    assert not person.sees("consent_dialog")
    assert assistants.find(mine.id).mcp_servers == ("proper", "odd")
    assert [one.mcp_servers for one in assistants.all() if one.name == "Other"] == [()]


@pytest.mark.slow
async def test_pasted_json_comes_in_and_a_removed_one_comes_back(person, data_dir):
    await person.click("settings_add_mcp")
    await until(lambda: person.sees("server_dialog"))
    await person.click("segment_json")
    text = '{"mcpServers": {"files": {"command": "no-such", "args": ["-y"]}, "web": {"url": "https://x.test/mcp"}}}'
    await person.write("server_json", text)
    await person.click("server_add")
    await until(lambda: states(person) == {"files": ServerState.OFF, "web": ServerState.OFF})
    document = json.loads((data_dir / "mcp.json").read_text("utf-8"))
    assert all(entry["disabled"] for entry in document["mcpServers"].values())
    await person.click("server_remove")
    await until(lambda: list(states(person)) == ["web"])
    await person.click("toast_action")
    await until(lambda: set(states(person)) == {"files", "web"})
    lines = [server_line(one.server) for one in person.window.controller.engine.servers.all()]
    assert lines == ["no-such -y", "https://x.test/mcp"]
    await until(lambda: page(person).list.count() == 2)
    page(person).list.setCurrentRow(0)
    await person.click("server_remove")
    await until(lambda: list(states(person)) == ["web"])
    person.find("settings_page").show_page("data")
    data = person.find("settings_page").page("data")
    await until(lambda: data.bin.list.count() == 1)
    assert data.bin.list.item(0).text.startswith("files\nMCP server · Today ")
    data.bin.list.setCurrentRow(0)
    await person.click("data_bin_restore")
    await until(lambda: list(states(person)) == ["files", "web"])
    await until(lambda: page(person).list.count() == 2)


@pytest.mark.slow
@pytest.mark.threat("T1")
@pytest.mark.timeout(120)
async def test_a_server_is_edited_its_secret_stays_and_another_command_asks_again(person, data_dir):
    await person.click("settings_add_mcp")
    await until(lambda: person.sees("server_dialog"))
    await person.write("server_name", "proper")
    await person.write("server_line", shlex.join([sys.executable, PROPER]))
    await person.write("server_variables", "TOKEN=canary-7Qx0ZlV9pT3mKw8\nMODE=on")
    await person.click("server_add")
    await until(lambda: "No keyring" in page(person).result.text())
    engine = person.window.controller.engine
    assert "canary" not in (data_dir / "mcp.json").read_text("utf-8")
    await engine.servers.save(tuple(replace(one.server, disabled=False) for one in engine.servers.all()))
    await allow(engine, "proper")
    await until(lambda: states(person) == {"proper": ServerState.CONNECTED}, 60)

    await person.click("server_edit")
    await until(lambda: person.sees("server_dialog"))
    assert not person.sees("segment_json")
    dialog = person.find("server_dialog")
    assert dialog.variables.text() == "TOKEN=\nMODE=on"
    assert "TOKEN" in dialog.kept.text() and "keyring" in dialog.kept.text()
    await person.write("server_name", "renamed")
    await person.write("server_variables", "TOKEN=\nMODE=off\nMORE=1")
    await person.click("server_add")
    await until(lambda: list(states(person)) == ["renamed"])
    (status,) = engine.servers.all()
    assert status.server.env == {"TOKEN": "${secret:env.TOKEN}", "MODE": "off", "MORE": "1"}
    assert engine._secrets.get("mcp:renamed:env.TOKEN", "") == "canary-7Qx0ZlV9pT3mKw8"
    # Last of all: until then a fault would bring the server back as it was.
    await until(lambda: engine._secrets.get("mcp:proper:env.TOKEN", "") is None)
    assert status.state == ServerState.ASKING, "it is given another variable"

    await allow(engine, "renamed")
    await until(lambda: states(person) == {"renamed": ServerState.CONNECTED}, 60)
    await until(lambda: "renamed" in texts_in(page(person), "page_title"))
    await person.click("server_edit")
    await until(lambda: person.sees("server_dialog"))
    await person.write("server_line", shlex.join([sys.executable, PROPER, "--more"]))
    await person.click("server_add")
    await until(lambda: states(person) == {"renamed": ServerState.ASKING})
    assert engine.servers.all()[0].server.env["TOKEN"] == "${secret:env.TOKEN}"


@pytest.mark.slow
@pytest.mark.threat("T1")
@pytest.mark.threat("T12")
async def test_what_is_shown_has_no_secret_and_all_that_decides_what_runs(qapp, data_dir):
    data_dir.mkdir(parents=True, exist_ok=True)
    entry = {
        "command": "no-such-program",
        "args": ["--token", "canary-1", "postgres://me:canary-2@h/db", "/tmp/x"],
        "env": {"TOKEN": "canary-3", "NODE_OPTIONS": "--require /tmp/e\u202evil.js", "PATH": "/tmp/bin"},
    }
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"hand": entry}}), "utf-8")
    async with at_window(data_dir) as person:
        await open_page(person)
        line = "no-such-program --token '•••' 'postgres://me:•••@h/db' /tmp/x"
        assert page(person).line.toPlainText() == line
        assert "TOKEN" in person.find("server_plain").text()
        await person.click("server_allow")
        await until(lambda: person.sees("consent_dialog"))
        assert person.find("consent_line", QPlainTextEdit).toPlainText() == line
        values = person.find("consent_values", QPlainTextEdit).toPlainText()
        assert values == "NODE_OPTIONS=--require /tmp/e⟨U+202E⟩vil.js\nPATH=/tmp/bin"
        dialog = person.find("consent_dialog")
        texts = (*dialog.findChildren(QLabel), *dialog.findChildren(Paragraph))
        said = [one.text() for one in texts] + [line, values]
        assert "canary" not in repr(said) and any(one.endswith(": TOKEN") for one in said)
        assert all(one.height() == one.heightForWidth(one.width()) for one in dialog.findChildren(Paragraph))
        dialog.reject()
        # Saved without a change, what stood in the file for everyone goes from there, as far as there is a keyring.
        await person.click("server_edit")
        await until(lambda: person.sees("server_dialog"))
        dialog = person.find("server_dialog")
        assert "canary" not in dialog.line.text() + dialog.variables.text()
        assert "${secret:args.token}" in dialog.line.text() and "${secret:" in dialog.kept.text()
        await person.click("server_add")
        await until(lambda: not person.sees("server_dialog"))
        (status,) = person.window.controller.engine.servers.all()
        assert (status.server.env, list(status.server.args)) == (entry["env"], entry["args"])
        person.find("settings_page").show_page("privacy")
        assert "canary" not in repr(page_facts(person))
        person.find("settings_close").click()


def page_facts(person: Person) -> list[str]:
    """Return every text that the page on privacy shows."""
    privacy = person.find("settings_page").page("privacy")
    return [one.text() for kind in (QLabel, Paragraph) for one in privacy.findChildren(kind)]


def test_a_form_gives_back_what_it_was_filled_with() -> None:
    odd = McpServer(
        name="odd", command="run", args=("a\nb", "--token", "canary", ""), cwd="/srv", env={"A": "", "PEM": "x\ny"},
        headers={"X": "kept"},
    )  # fmt: skip
    line, variables, secret = form_of(odd)
    assert "canary" not in line and variables == "A=\nPEM=" and secret == ("PEM",)
    assert edited(odd, "odd", None, variables) == odd
    changed = edited(odd, "other", "run --token '${secret:args.token}'", "PEM=new\nB=2")
    assert changed == replace(odd, name="other", args=("--token", "canary"), env={"PEM": "new", "B": "2"})
    web = edited(odd, "odd", "https://h/mcp", "Authorization=Bearer x")
    assert (web.url, web.headers, web.env) == ("https://h/mcp", {"Authorization": "Bearer x"}, {})
    assert (web.command, web.args, web.cwd) == ("", (), "/srv")


@pytest.mark.threat("T11")
async def test_one_that_was_written_by_hand_asks_before_it_runs(qapp, data_dir):
    data_dir.mkdir(parents=True, exist_ok=True)
    entry = {"mcpServers": {"hand": {"command": "no-such-program", "args": ["a b"]}}}
    (data_dir / "mcp.json").write_text(json.dumps(entry), "utf-8")
    async with at_window(data_dir) as person:
        assert states(person) == {"hand": ServerState.ASKING}
        await open_page(person)
        assert page(person).line.toPlainText() == "no-such-program 'a b'"
        assert "needs permission" in texts_in(page(person))
        person.find("settings_close").click()


async def test_one_that_asks_is_told_in_a_toast_that_leads_to_the_question(qapp, data_dir):
    async with at_window(data_dir) as person:
        engine = person.window.controller.engine
        await engine.servers.save((McpServer(name="late", command="no-such-program"),))
        await person.click("toast_action")
        await until(lambda: person.sees("consent_dialog"))
        assert person.find("consent_line", QPlainTextEdit).toPlainText() == "no-such-program"
        await person.click("consent_refuse")
        assert states(person) == {"late": ServerState.ASKING}


@pytest.mark.slow
async def test_what_cannot_be_used_is_said_in_place(person):
    await person.click("settings_add_mcp")
    await until(lambda: person.sees("server_dialog"))
    await person.click("server_add")
    assert person.find("server_problem").text() == "Enter a name."
    assert person.sees("server_dialog")
    person.find("server_dialog").reject()


@pytest.mark.slow
async def test_limits_are_kept(person):
    person.find("settings_page").show_page("limits")
    box = person.find("setting_max_model_calls")
    box.setValue(25)
    await until(lambda: person.window.controller.engine.settings().max_model_calls == 25)
    limits = person.find("settings_page").page("limits")
    await person.choose("limits_engine", "Your own SearXNG server")
    await person.write("limits_address", "searx")
    limits.address.editingFinished.emit()
    assert limits.problem.text()
    assert person.window.controller.engine.settings().search_engine == "duckduckgo"
    await person.write("limits_address", "https://searx.example.org")
    limits.address.editingFinished.emit()
    await until(
        lambda: person.window.controller.engine.settings().search_engine == "https://searx.example.org"
    )
    assert person.window.controller.engine.settings().max_model_calls == 25


def test_a_line_is_taken_apart_as_a_shell_would():
    server = server_of("files", "npx -y 'server files' ~/notes", "TOKEN = a=b\n\nMODE=x")
    assert (server.command, server.args) == ("npx", ("-y", "server files", "~/notes"))
    assert server.env == {"TOKEN": "a=b", "MODE": "x"}
    assert server.disabled
    assert server_line(server) == "npx -y 'server files' '~/notes'"
    assert server_of("web", "https://x.test/mcp", "Authorization=b").headers == {"Authorization": "b"}
    for name, line, variables, code in (
        ("", "x", "", "server_name_empty"),
        ("a", "", "", "server_line_empty"),
        ("a", "x 'y", "", "server_line_unreadable"),
        ("a", "x", "nonsense", "server_variable_bad"),
        ("a", "https://me:canary@h/mcp", "", "server_address_user"),
    ):
        with pytest.raises(BadInput) as caught:
            server_of(name, line, variables)
        assert caught.value.code == code
        assert not {"nonsense", "canary"} & set(str(caught.value.details).split("'"))


@pytest.mark.threat("T11")
def test_nothing_hides_in_the_line_that_is_asked_about():
    turned = McpServer(name="x", command="safe", args=("\u202e gnp.exe", "a\nb"))
    assert server_line(turned) == "safe '⟨U+202E⟩ gnp.exe' 'a⟨U+000A⟩b'"


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_the_composer_offers_the_login_of_the_assistants_server(qapp, data_dir, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()) or True)
    data_dir.mkdir(parents=True, exist_ok=True)
    with guarded() as server:
        (data_dir / "mcp.json").write_text(
            json.dumps({"mcpServers": {"there": {"url": server.url}}}), "utf-8"
        )
        async with at_window(data_dir) as person:
            desk = person.window.controller
            made = await desk.engine.assistants.save(
                Agent(id="helper", name="Helper", mcp_servers=("there",))
            )
            desk.chats.show_new()
            person.window.main_area.setCurrentWidget(desk.chat_page)
            desk.chats.show_new(made.id)
            strip = desk.chat_page.findChild(QPushButton, "composer_allow")
            await until(strip.isVisible, 20)
            QTest.mouseClick(strip, Qt.MouseButton.LeftButton)
            await until(lambda: person.sees("consent_allow"))
            await person.click("consent_allow")
            await until(lambda: strip.isVisible() and strip.text() == "Log in…", 20)
            QTest.mouseClick(strip, Qt.MouseButton.LeftButton)
            await agree_on_page(person, opened)
            await until(lambda: not strip.isVisible())
            assert len(opened) == len(server.clients) == 1


@pytest.mark.slow
@pytest.mark.threat("T11")
@pytest.mark.timeout(120)
async def test_a_login_shows_its_page_first_and_connects_after_it(person, data_dir, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()) or True)
    with guarded() as server:
        await add(person, "there", server.url)
        await person.click("server_allow")
        await until(lambda: person.sees("consent_allow"))
        await person.click("consent_allow")
        await until(lambda: person.sees("server_login"), 60)
        assert not server.clients
        await person.click("server_login")
        await agree_on_page(person, opened)
        await until(lambda: person.sees("server_logout"))
        assert not person.sees("server_login")
        await person.click("server_logout")
        await until(lambda: not person.sees("server_logout"))
        assert states(person) == {"there": ServerState.OFF}


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_servers_page_describes_its_tools_and_shows_its_log(person):
    script = str(Path(PROPER).with_name("working.py"))
    await add(person, "mill", shlex.join([sys.executable, script]))
    await allow(person.window.controller.engine, "mill")
    await until(lambda: "Only read: work" in page(person).tools.text(), 60)
    lines = page(person).tools.text().splitlines()
    assert lines[2:] == [
        "May delete or overwrite: wipe",
        "Reach the internet or other services: wipe",
        "Not offered, because Moot cannot use them: later",
    ]
    await person.click("server_log")
    await until(lambda: person.sees("server_log_dialog"))
    assert "(not offered) later" in person.find("server_log_text", QPlainTextEdit).toPlainText()
    await person.click("server_log_close")
