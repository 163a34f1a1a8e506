"""The data in the settings: backed up, restored after a look, brought in, exported, thrown away and put back."""

import asyncio
import json
import threading
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from app.core.ids import new_id
from app.core.message import Attachment
from app.core.session import Chat, ChatSession
from app.core.tool import FILES
from app.gui.widgets.notices import Toast
from tests.app_driver import Person, at_window, until
from tests.engine import foreign_exports as exports
from tests.stories.group_crew import call, write_assistant
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]


@pytest.fixture
async def person(qapp, data_dir):
    async with at_window(data_dir, size=(900, 600)) as person:
        yield person


async def open_page(person: Person):
    """Go to the page and return it."""
    person.window.controller.settings.open("data")
    await until(lambda: person.sees("data_backups_back_up"))
    page = person.find("settings_page").page("data")
    await settled(person)
    return page


async def settled(person: Person) -> None:
    """Wait until nothing the page has begun is under way."""
    tasks = person.find("settings_page").page("data")._tasks
    names = ("data page", "back up", "look into backup", "restore", "look at import", "import", "export all")
    await until(lambda: not any(tasks.running(name) for name in (*names, "restore from bin", "empty bin")))


async def choose(person: Person, path: Path) -> None:
    """Choose a file in the dialog that asks for one."""
    dialog = person.find("settings_page").findChild(QFileDialog)
    await until(dialog.isVisible)
    dialog.fileSelected.emit(str(path))
    dialog.reject()
    await person.settle()
    await settled(person)


def sessions(person: Person) -> list[str]:
    return [one.title for one in person.window.controller.engine.sessions()]


def rows(widget) -> list[str]:
    model = widget.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


async def bring_in(person: Person, tmp_path: Path, *values: object):
    """Bring conversations in by the page; return it."""
    page = await open_page(person)
    file = tmp_path / "export.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    await person.click("data_import")
    await choose(person, file)
    await until(lambda: person.sees("import_dialog"))
    return page


@pytest.mark.slow
async def test_an_export_is_looked_at_before_it_comes_in(person, tmp_path):
    bad = {**exports.chatgpt("bad"), "mapping": {"a": 1}}
    page = await bring_in(person, tmp_path, exports.chatgpt(), exports.claude(), bad)
    assert "2 conversations from ChatGPT, Claude" in person.find("import_facts").text()
    assert "[2] mapping.a" in person.find("import_faults").text()
    assert rows(person.find("import_sessions")) == ["Cars in cities", "Read this"]
    assert not person.sees("import_besides") and not person.sees("import_context")
    await person.click("import_sessions_none")
    assert not person.find("import_go", QPushButton).isEnabled()
    assert sessions(person) == []
    await person.click("import_sessions_all")
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 2)
    await settled(person)
    assert page.said.text() == "Imported 2 conversations."
    await until(lambda: person.window.side_bar.sessions.model().rowCount() >= 2)


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [False, True])
async def test_what_comes_besides_messages_is_shown_and_off(person, tmp_path, wanted):
    state = Chat(assistant_id="ada", instructions="Obey.", context=(Attachment(name="a.txt", text="b" * 9),))
    session = ChatSession(id=new_id(), title="Mine", chat=state)
    await bring_in(
        person, tmp_path, exports.chatgpt(), {"format": "moot-session", "session": asdict(session)}
    )
    shown = person.find("import_besides")
    assert person.sees("import_besides") and shown.isReadOnly()
    assert shown.toPlainText() == "Mine\nInstructions: Obey.\nFiles: a.txt (9 B)"
    assert not person.find("import_context").isChecked()
    if wanted:
        await person.click("import_context")
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 2)
    kept = (await person.window.controller.engine.open(session.id)).session.chat
    assert (kept.instructions, kept.context) == (("Obey.", state.context) if wanted else ("", ()))


@pytest.mark.slow
async def test_a_backup_brings_back_what_is_missing(person, tmp_path):
    page = await bring_in(person, tmp_path, exports.chatgpt(), exports.claude())
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 2)
    await settled(person)
    target = tmp_path / "mine.zip"
    await person.click("data_backups_back_up")
    await choose(person, target)
    assert "mine.zip" in page.said.text()
    engine = person.window.controller.engine
    await engine.delete(engine.sessions()[0].id)
    await person.click("data_backups_from_file")
    await choose(person, target)
    await until(lambda: person.sees("restore_dialog"))
    assert "1 missing here · 1 already here" in person.find("restore_facts").text()
    assert len(sessions(person)) == 1
    await person.click("restore_go")
    await until(lambda: len(sessions(person)) == 2)
    await settled(person)
    assert page.said.text() == "Restored 1 session."
    assert len(rows(page.backups.list)) == 1
    assert "Before restoring" in rows(page.backups.list)[0]


async def test_a_file_that_is_no_backup_is_said_to_be_none(person, tmp_path):
    page = await open_page(person)
    (tmp_path / "x.zip").write_bytes(b"no zip")
    await person.click("data_backups_from_file")
    await choose(person, tmp_path / "x.zip")
    assert "x.zip is damaged" in page.said.text()
    assert page.said.property("kind") == "error"
    (tmp_path / "file").write_text("")
    await page._back_up(tmp_path / "file" / "mine.zip")
    assert page.said.text().startswith("Could not write mine.zip: ")
    await page._back_up(tmp_path / "mine.zip")
    assert (page.said.text(), page.said.property("kind")) == ("Saved the backup as mine.zip.", "hint")
    assert not person.sees("restore_dialog")


async def test_the_bin_gives_back_and_forgets_only_when_asked_twice(person, tmp_path):
    page = await bring_in(person, tmp_path, exports.chatgpt(), exports.claude())
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 2)
    engine = person.window.controller.engine
    for summary in engine.sessions():
        await engine.delete(summary.id)
    page.refresh()
    await settled(person)
    assert len(rows(page.bin.list)) == 2
    assert "30 days left" in rows(page.bin.list)[0]
    await person.click("data_bin_restore")
    await until(lambda: len(sessions(person)) == 1)
    await settled(person)
    await person.click("data_bin_empty")
    await until(lambda: person.sees("confirm_dialog"))
    await person.click("confirm_cancel")
    assert len(rows(page.bin.list)) == 1
    await person.click("data_bin_remove")
    await until(lambda: person.sees("confirm_dialog"))
    said = [one.text() for one in person.find("confirm_dialog").findChildren(QLabel)]
    assert any(rows(page.bin.list)[0].partition("\n")[0] in one for one in said), "what is deleted is named"
    await person.click("confirm_agree")
    await until(lambda: not rows(page.bin.list))
    assert not person.find("data_bin_restore", QPushButton).isEnabled()


async def test_everything_is_exported_into_one_file_that_can_come_in_again(person, tmp_path):
    await bring_in(person, tmp_path, exports.chatgpt(), exports.claude())
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 2)
    await settled(person)
    target = tmp_path / "all.zip"
    await person.click("data_export_all")
    await choose(person, target)
    with zipfile.ZipFile(target) as file:
        names = file.namelist()
        assert len(names) == 5
        assert "Cars in cities" in file.read("index.md").decode()
        assert all(name.split(".")[0] in file.read("index.md").decode() for name in names[:4])
    await person.click("data_import")
    await choose(person, target)
    await until(lambda: person.sees("import_dialog"))
    assert "2 conversations from Moot" in person.find("import_facts").text()


@pytest.mark.slow
async def test_everything_else_is_exported_where_a_session_cannot_be(person, tmp_path, data_dir):
    await bring_in(person, tmp_path, exports.chatgpt("one"), exports.claude())
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 2)
    await settled(person)
    gone, kept = person.window.controller.engine.sessions()
    (data_dir / "sessions" / f"{gone.id}.jsonl").unlink()
    target = tmp_path / "all.zip"
    await person.click("data_export_all")
    await choose(person, target)
    with zipfile.ZipFile(target) as file:
        assert [name.rsplit(".", 1)[1] for name in file.namelist()] == ["md", "json", "md"]
        assert kept.id in file.namelist()[0]
    said = person.find("settings_page").page("data").said.text()
    assert "1 session could not be exported" in said
    assert gone.title in said


@pytest.mark.slow
async def test_closing_in_the_middle_ends_nothing_and_leaves_nothing(person, tmp_path):
    page = await bring_in(person, tmp_path, *(exports.chatgpt(str(number)) for number in range(20)))
    await person.click("import_go")
    person.find("settings_close").click()
    await until(lambda: len(sessions(person)) == 20)
    await until(lambda: not page._tasks.running("import"))


@pytest.mark.slow
async def test_an_import_that_is_stopped_keeps_whole_what_came_in(person, tmp_path):
    page = await bring_in(person, tmp_path, *(exports.chatgpt(str(number)) for number in range(150)))
    await person.click("import_go")
    await until(lambda: person.sees("data_cancel"))
    assert "of 150" in page.said.text()
    await person.click("data_cancel")
    await settled(person)
    count = len(sessions(person))
    assert 0 < count < 150
    assert page.said.text() == person.window.language("data.imported", count=count)
    assert not person.sees("data_cancel")


@pytest.mark.slow
async def test_a_backup_that_is_cancelled_leaves_no_file(person, tmp_path, monkeypatch):
    page = await bring_in(person, tmp_path, *(exports.chatgpt(str(number)) for number in range(40)))
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 40, 60)
    await settled(person)
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "out.zip").write_bytes(b"the old one")
    engine, told = person.window.controller.engine, []

    def tell(done: int, total: int) -> None:
        told.append((done, total))
        packing.cancel()

    # The packing does not get to its end before it is cancelled, however busy the window is.
    disk, cancelled = engine.archive.files._disk, threading.Event()
    read = disk.read

    def held(path: Path, *place: int) -> bytes:
        if path.suffix == ".jsonl":
            cancelled.wait(60)
        return read(path, *place)

    monkeypatch.setattr(disk, "read", held)
    packing = asyncio.create_task(engine.archive.back_up(str(folder / "out.zip"), tell))
    packing.add_done_callback(lambda _: cancelled.set())
    with pytest.raises(asyncio.CancelledError):
        await packing
    assert told[0][1] >= 40
    await until(lambda: [one.name for one in folder.iterdir()] == ["out.zip"], 60)
    # The page says so, and that it takes time.
    cancelled.clear()
    page._tasks.start("back up", page._back_up(folder / "new.zip"))
    await until(lambda: person.sees("data_cancel"))
    await person.click("data_cancel")
    await until(lambda: not person.sees("data_cancel"))
    cancelled.set()
    await settled(person)
    assert page.said.text() == person.window.language("data.cancelled")
    assert (folder / "out.zip").read_bytes() == b"the old one"
    await until(lambda: not [one for one in folder.iterdir() if one.name.endswith(".tmp")], 60)


@pytest.mark.slow
async def test_restoring_tells_how_far_it_is(person, tmp_path):
    page = await bring_in(person, tmp_path, exports.chatgpt(), exports.claude())
    await person.click("import_go")
    await until(lambda: len(sessions(person)) == 2)
    engine = person.window.controller.engine
    await engine.archive.back_up(str(tmp_path / "b.zip"))
    ids = [one.id for one in engine.sessions()]
    for session_id in ids:
        await engine.delete(session_id)
    told: list[int] = []
    await engine.archive.restore(str(tmp_path / "b.zip"), ids, progress=told.append)
    assert told == [1, 2]
    assert len(sessions(person)) == 2
    page._line.begin(3)
    page._line.show_count(2, 3)
    words = person.window.language
    assert page.said.text() == words("data.progress", done=2, total=3)
    second = words("transcript.group.elapsed", seconds=1)
    await until(lambda: page.said.text().endswith(f" · {second}"))
    assert not person.sees("data_cancel")


@pytest.mark.timeout(150)
async def test_old_versions_of_a_sessions_files_are_deleted_and_brought_back(
    qapp, wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[FILES])
    calls = [
        call("write_file", path="a.md", content="x" * 5_000),
        call("edit_file", path="a.md", old="x" * 5_000, new="y"),
    ]
    wire_home["openai"].script("openai-wire", [*(Answer(calls=(one,)) for one in calls), "Done."])
    async with at_window(data_dir, size=(900, 900)) as person:
        engine = person.window.controller.engine
        chat = await engine.chats.start("ann", "Write a report")
        await engine.wait(chat)
        page = await open_page(person)
        await until(lambda: page.files.list.count() == 1, what="the session")
        row = page.files.list.item(0)
        assert (row.id, row.second) == (chat, "1 file · 5.0 kB · old versions 5.0 kB")
        await person.click("data_files_drop")
        await until(
            lambda: page.files.list.item(0).second == "1 file · 1 B · old versions 0 B", what="the deletion"
        )
        assert person.find("toast", Toast).text == "Deleted the old versions in “Write a report”"
        assert [one.version for one in await engine.session_files.versions(chat)] == [2]
        await person.click("toast_action")
        await until(lambda: page.files.list.item(0).second == row.second, what="the undo")
        assert (await engine.session_files.read(chat, "a.md", 1))[1] == b"x" * 5_000
