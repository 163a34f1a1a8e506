"""The permissions in the settings: those given for good and those of sessions, each revoked by a button."""

import json

import pytest
from PySide6.QtCore import Qt

from app.core.ids import new_id
from app.core.servers import McpServer
from app.core.session import Chat, ChatSession, Debate, DebateSession
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.app_driver import Person, at_window, until

SERVER = McpServer(name="files", command="no-such-program", disabled=True)
MARK = SERVER.fingerprint
AT = "2026-11-21T14:02:00.000Z"
TALK, DEBATE, PLAIN = (new_id() for _ in range(3))


async def prepare(data_dir) -> None:
    data_dir.mkdir(parents=True, exist_ok=True)
    entry = {"command": SERVER.command, "disabled": True}
    (data_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"files": entry}}), "utf-8")
    consents = [MARK, f"{MARK}/", f"{MARK}/a", f"{MARK}/a/always", f"{MARK}/b"]
    (data_dir / "consents.json").write_text(json.dumps({"version": 1, "consents": consents}), "utf-8")
    store = JsonLogStore(DataPaths(data_dir))
    always = ("open_url", f"{MARK}/a", f"{MARK}/b", "0" * 64 + "/a")
    chat = Chat(assistant_id="browser", always=always)
    await store.bring_in(ChatSession(id=TALK, title="Talk", chat=chat, updated_at=AT), ())
    debate = Debate(topic="t", always=("open_url",))
    await store.bring_in(DebateSession(id=DEBATE, title="Row", debate=debate, updated_at="2026"), ())
    await store.bring_in(ChatSession(id=PLAIN, title="Plain", chat=Chat(assistant_id="browser")), ())
    await store.close()


def rows(person: Person) -> list[str]:
    page = person.find("settings_page").page("permissions").list
    return [page.item(row).text for row in range(page.count())]


@pytest.mark.slow
async def test_what_runs_without_a_question_is_listed_and_revoked(qapp, data_dir):
    await prepare(data_dir)
    async with at_window(data_dir) as person:
        menu = person.window.controller.chat_page.chat_composer.permissions
        person.window.controller.chats.show_new()
        menu.trigger()
        await until(lambda: person.sees("settings_permissions"))
        assert rows(person) == [
            "files: 1 tool\nIn all sessions, from now on",
            "Open links\nIn the session “Talk”",
            "files: 2 tools\nIn the session “Talk”",
            "1 tool of a server that was removed or changed\nIn the session “Talk”",
            "Open links\nIn the session “Row”",
        ]
        person.click_row("settings_permissions", 1)
        await person.click("permissions_revoke")
        await until(lambda: len(rows(person)) == 4)
        live = await person.window.controller.engine.open(TALK)
        assert live.session.always == (f"{MARK}/a", f"{MARK}/b", "0" * 64 + "/a")
        person.click_row("settings_permissions", 0)
        await person.press("permissions_revoke", Qt.Key.Key_Space)
        await until(lambda: len(rows(person)) == 3)
        assert f"{MARK}/a/always" not in (data_dir / "consents.json").read_text("utf-8")
        for left in (2, 1, 0):
            await person.click("permissions_revoke")
            await until(lambda left=left: len(rows(person)) == left)
        await until(lambda: person.sees("permissions_none"))
        assert not person.sees("permissions_revoke")
        assert not person.find("permissions_revoke").property("ring")
        person.find("settings_close").click()
    async with at_window(data_dir) as person:
        assert person.window.controller.engine.permissions.all() == ()


@pytest.mark.parametrize(
    ("language", "what"),
    [
        ("en", "Read and change .env, Read and change keys/id_rsa, Read files in the chosen folder"),
        ("ko", ".env 읽기 및 변경, keys/id_rsa 읽기 및 변경, 선택한 폴더의 파일 읽기"),
    ],
)
async def test_files_that_the_user_named_are_listed_in_words(qapp, data_dir, language, what):
    await prepare(data_dir)
    async with at_window(data_dir, language=language) as person:
        live = await person.window.controller.engine.open(PLAIN)
        live.change(**live.session.allowing(("file:.env", "file:keys:id_rsa", "read_folder")))
        person.window.controller.settings.open("permissions")
        await until(lambda: person.sees("settings_permissions"))
        await until(lambda: what in [row.splitlines()[0] for row in rows(person)], what=what)
        person.find("settings_close").click()


async def test_a_permission_given_meanwhile_appears(qapp, data_dir):
    await prepare(data_dir)
    async with at_window(data_dir) as person:
        person.window.controller.settings.open("permissions")
        await until(lambda: person.sees("settings_permissions"))
        live = await person.window.controller.engine.open(PLAIN)
        live.change(**live.session.allowing(("open_url",)))
        await until(lambda: "Open links\nIn the session “Plain”" in rows(person))
        person.find("settings_close").click()
