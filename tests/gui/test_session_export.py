"""Exports of a session by the window: under a name any system takes, whole or not at all, and never in silence."""

import asyncio
import os
import unicodedata
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.core.ids import new_id
from app.core.message import Attachment, Author, Message
from app.core.session import Chat, ChatSession
from app.engine.export.document import Entry
from app.gui.files.pdf_file import write_pdf
from app.gui.files.user_files import MOST_NAME_BYTES, NAMELESS, file_name, save_whole
from tests.app_driver import Person, at_window, until
from tests.gui.chats import bring_in
from tests.gui.seen import toasts

ME = Author(id="user", name="User", kind="user")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder."""
    made = tmp_path / "out"
    made.mkdir()
    return made


@pytest.mark.threat("T16")
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Cars, and bicycles", "Cars_ and bicycles"),
        ("../../etc/passwd", "______etc_passwd"),
        ("con", "_con"),
        ("NUL", "_NUL"),
        ("Lpt9 ", "_Lpt9"),
        ("COM¹", "_COM¹"),
        ("CONIN$", "CONIN_"),
        ("console", "console"),
        ("  ", NAMELESS),
        ("", NAMELESS),
        ("a\u202eb\x00c\ud800d", "a_b_c_d"),
        (unicodedata.normalize("NFD", "토론"), "토론"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_a_suggested_name_is_one_every_system_takes(title: str, name: str) -> None:
    assert file_name(title, "md") == name


@pytest.mark.threat("T16")
@pytest.mark.parametrize("letter", ["a", "가", "é", "🙂", "a 가"])
def test_a_suggested_name_has_at_most_eighty_bytes(letter: str, tmp_path: Path) -> None:
    name = f"{file_name(letter * 200, 'json')}.json"
    assert MOST_NAME_BYTES - 4 <= len(name.encode()) <= MOST_NAME_BYTES
    assert set(name.removesuffix(".json")) <= {*letter, "_"}
    (tmp_path / name).write_text("it can be made")


def test_a_suggested_name_ends_with_a_word() -> None:
    name = file_name("Should every city in the world ban private cars from its centre " * 3, "md")
    assert name == "Should every city in the world ban private cars from its centre Should every"
    assert file_name("Two words", "md") == "Two words"
    assert len(file_name("short " + "x" * 200, "md")) == MOST_NAME_BYTES - 3, (
        "but keeps most of what there is room for"
    )


class FullDisk:
    """Lets no file of this process grow beyond some bytes, as a full disk would."""

    def __init__(self, most: int) -> None:
        self._most = most

    def __enter__(self) -> None:
        resource = pytest.importorskip("resource")
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._most, self._before[1]))

    def __exit__(self, *_: object) -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


def test_a_full_disk_leaves_the_file_that_was_there(folder: Path) -> None:
    file = folder / "out.md"
    save_whole(file, b"the old one")
    with FullDisk(1_000), pytest.raises(OSError, match=r"\w"):
        save_whole(file, b"x" * 100_000)
    assert file.read_bytes() == b"the old one"
    assert os.listdir(folder) == ["out.md"]
    save_whole(file, b"x" * 100_000)
    assert file.stat().st_size == 100_000
    with pytest.raises(OSError, match=r"\w"):
        save_whole(folder / "nowhere" / "out.md", b"x")


async def test_a_pdf_that_is_given_up_leaves_what_was_there(qapp: QApplication, folder: Path) -> None:
    file = folder / "out.pdf"
    file.write_bytes(b"the old one")
    text = "# One\n\ntwo\n\n---\n\n" * 500
    writing = asyncio.create_task(write_pdf(file, "T", [Entry(heading="T", body=text)], qapp.font()))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not writing.done()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert file.read_bytes() == b"the old one"
    assert os.listdir(folder) == ["out.pdf"]


async def long_chat(person: Person, count: int) -> ChatSession:
    """Bring a chat of so many messages in, as long ones come."""
    text = "Some **words** with `code`.\n\n" + "".join(f"- point {number} of it\n" for number in range(12))
    messages = [
        Message(
            id=f"m{number}",
            turn_id=f"t{number}",
            role="user",
            author=ME,
            content=text,
            follows=f"t{number - 1}" if number else "",
        )
        for number in range(count)
    ]
    chat = Chat(assistant_id="assistant", assistant_name="Assistant", head=f"t{count - 1}")
    session = ChatSession(id="01JD0000000000000000000000".lower(), title="A long one", chat=chat)
    await bring_in(person.window.controller, session, messages)
    return session


async def choose(person: Person, file: Path) -> None:
    """Choose where a session is exported to."""
    dialogs = partial(person.window.findChildren, QFileDialog)
    await until(lambda: any(one.isVisible() for one in dialogs()))
    dialog = next(one for one in dialogs() if one.isVisible())
    dialog.fileSelected.emit(str(file))
    dialog.reject()


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_what_takes_long_says_so_and_can_be_cancelled(qapp, data_dir, folder, monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "app.gui.controllers.sessions.QDesktopServices.openUrl", lambda url: opened.append(url.toLocalFile())
    )
    async with at_window(data_dir) as person:
        desk, words = person.window.controller, person.window.language
        session = await long_chat(person, 1_500)
        file = folder / "out.pdf"
        file.write_bytes(b"the old one")
        working = words("export.working", name="out.pdf")
        desk.sessions.export(session, "pdf")
        await choose(person, file)
        await until(lambda: working in toasts(person.window), 60)
        await person.click("toast_action")
        await until(lambda: working not in toasts(person.window), 60)
        await until(lambda: os.listdir(folder) == ["out.pdf"], 60)
        assert file.read_bytes() == b"the old one"
        assert words("export.done", name="out.pdf") not in toasts(person.window)
        # Left alone it is written, and the note goes.
        desk.sessions.export(session, "pdf")
        await choose(person, file)
        await until(lambda: words("export.done", name="out.pdf") in toasts(person.window), 120)
        assert file.read_bytes().startswith(b"%PDF-")
        assert toasts(person.window) == [words("export.done", name="out.pdf")] and not opened
        await person.click("toast_action")
        assert opened == [str(file)]


async def test_a_full_disk_is_said(qapp, data_dir, folder) -> None:
    async with at_window(data_dir) as person:
        desk = person.window.controller
        session = await long_chat(person, 200)
        file = folder / "out.html"
        file.write_bytes(b"the old one")
        text = await desk.engine.export(session.id, "html")
        assert len(text) > 60_000
        with FullDisk(60_000):
            desk.sessions.export(session, "html")
            await choose(person, file)
            working = person.window.language("export.working", name="out.html")
            await until(lambda: {*toasts(person.window)} - {working}, 60)
        assert file.read_bytes() == b"the old one"
        assert "out.html" in toasts(person.window)[0]
        assert toasts(person.window) != [person.window.language("export.done", name="out.html")]


async def test_json_has_the_texts_of_a_folder_only_after_a_tick(qapp, data_dir, folder) -> None:
    async with at_window(data_dir) as person:
        desk = person.window.controller
        session = await long_chat(person, 2)
        asks, context = "Tell nobody.", (Attachment(name="a.txt", text="Salaries"),)
        briefed = replace(
            session, id=new_id(), chat=replace(session.chat, instructions=asks, context=context)
        )
        await bring_in(desk, briefed, [])
        for which, ticks, has in ((session, None, False), (briefed, False, False), (briefed, True, True)):
            desk.sessions.export(which, "json")
            if ticks is not None:
                await until(lambda: person.sees("folder_export_dialog"))
                assert not person.find("folder_export_include").isChecked()
                if ticks:
                    await person.click("folder_export_include")
                await person.click("folder_export_go")
            file = folder / "out.json"
            await choose(person, file)
            await until(file.exists)
            await until(lambda: not desk.tasks.running("export"))
            text = file.read_text(encoding="utf-8")
            assert (asks in text, "Salaries" in text) == (has, has)
            file.unlink()
        desk.sessions.export(briefed, "json")
        await until(lambda: person.sees("folder_export_dialog"))
        await person.click("folder_export_cancel")
        assert not any(one.isVisible() for one in person.window.findChildren(QFileDialog))
