"""The files of a session in the window: listed, read, saved, copied, brought back and deleted with undo."""

import json
from functools import partial
from pathlib import Path

import docx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest

from app.core.message import ToolCall
from app.core.session import DOCX
from app.core.session_files import FileVersion
from app.core.texts import Texts
from app.core.tool import FILES
from app.files.file_reader.picture import saved
from app.gui.dialogs.reading_dialogs import MAX_CELLS, MOST_SHOWN, FileDialog, preview_of, shown_text
from app.gui.display.appearance import Language, Look
from app.gui.markdown.blocks import TABLE, parse
from app.gui.pages.chat.over_input import COPY, MOST_FILES, SAVE, FilesList
from app.gui.transcript.row_words import title
from app.gui.widgets.notices import Toast
from app.wiring import resources_dir
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.gui.seen import saying, texts_in, toasts
from tests.stories.group_crew import call, write_assistant
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

until = partial(app_driver.until, seconds=60.0)


def version(path: str = "report.md", number: int = 1, **fields: object) -> FileVersion:
    return FileVersion(
        **{"path": path, "version": number, "bytes": 12, "sha256": "0" * 64, "author": "Ann", **fields}
    )


def listed(person: Person) -> list[str]:
    files = person.find("files_list", FilesList)
    return [files.item(row).said for row in range(files.count())] if files.isVisible() else []


@pytest.mark.timeout(150)
async def test_a_file_that_a_chat_wrote_is_shown_changed_back_and_deleted_with_undo(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[FILES])
    wire_home["openai"].script(
        "openai-wire",
        [
            Answer(calls=(call("write_file", path="notes/보고서.md", content="# One\n"),)),
            Answer(calls=(call("edit_file", path="notes/보고서.md", old="One", new="<b>Two</b>"),)),
            "It is written.",
        ],
    )
    async with at_window(data_dir) as person:
        desk = person.window.controller
        desk.show_new("ann")
        page = desk.chat_page
        assert not person.sees("files_list")
        await person.write("composer", "Write a report.")
        await person.press("composer", Qt.Key.Key_Return)
        await until(lambda: page.session and page.session.status == "idle", what="the answer")
        await until(lambda: listed(person) == ["notes/보고서.md, version 2 · Ann · 13 B"], what="the file")
        said = "\n".join(person.transcript("transcript"))
        assert "Wrote notes/보고서.md (version 1)" in said and "Changed notes/보고서.md (version 2)" in said

        files = person.find("files_list", FilesList)
        files.setFocus()
        files.setCurrentRow(0)
        await person.press("files_list", Qt.Key.Key_Return)
        await until(lambda: person.sees("file_dialog"), what="the file's text")
        # Markdown is shown as such, and HTML in it is text.
        assert person.transcript("file_view") == ["Ann: <b>Two</b>"]
        assert not person.find("file_restore").isVisible() and not person.sees("file_text")
        await person.choose("file_versions", "version 1")
        await until(lambda: person.transcript("file_view") == ["Ann: One"], what="the older version")
        await person.choose("file_compare", "Compare with version 2")
        difference = "@@ -1,1 +1,1 @@\n-# One\n+# <b>Two</b>"
        await until(lambda: person.find("file_text").toPlainText() == difference, what="the difference")
        assert not person.sees("file_view")
        await person.choose("file_compare", "Don’t compare")
        await until(lambda: person.sees("file_view") and not person.sees("file_text"), what="the version")
        person.choose_from("file_save_as", "Word document…")
        await until(lambda: person.window.findChildren(app_driver.QFileDialog), what="where to")
        person.choose_file(tmp_path / "saved.docx")
        await until((tmp_path / "saved.docx").exists, what="the Word document")
        [heading] = docx.Document(str(tmp_path / "saved.docx")).paragraphs
        assert (heading.style.name, heading.text) == ("Title", "One")
        await person.click("file_copy")
        await until(lambda: QGuiApplication.clipboard().text() == "# One\n", what="the copy")
        await person.click("file_restore")
        await until(lambda: listed(person) == ["notes/보고서.md, version 3 · You · 6 B"], what="version 3")
        target = data_dir / "files" / page.session_id / "notes" / "보고서.md"
        assert target.read_text() == "# One\n"

        desk.sessions.export(page.session, DOCX)
        await until(lambda: person.window.findChildren(app_driver.QFileDialog), what="where to")
        person.choose_file(tmp_path / "session.docx")
        await until((tmp_path / "session.docx").exists, what="the session as a Word document")
        assert "It is written." in [
            one.text for one in docx.Document(str(tmp_path / "session.docx")).paragraphs
        ]

        files.asked.emit("notes/보고서.md", SAVE)
        await until(lambda: person.window.findChildren(app_driver.QFileDialog), what="where to")
        person.choose_file(tmp_path / "saved.md")
        await until((tmp_path / "saved.md").exists, what="the saved file")
        assert (tmp_path / "saved.md").read_text() == "# One\n"

        await person.press("files_list", Qt.Key.Key_Delete)
        await until(lambda: not person.sees("files_list") and not target.exists(), what="the deletion")
        await until(lambda: any("Deleted" in text for text in toasts(desk.window)))
        toast = next(one for one in desk.window.findChildren(Toast) if "Deleted" in one.text)
        toast.button.click()
        await until(lambda: listed(person) == ["notes/보고서.md, version 4 · You · 6 B"], what="the undo")
        assert target.read_text() == "# One\n"
        desk.show_new("ann")
        assert not person.sees("files_list")


@pytest.fixture
def language() -> Language:
    return Language(resources_dir() / "i18n", "en")


def test_the_list_takes_the_room_of_three_rows_and_says_who_wrote_what(qapp, language: Language) -> None:
    made = FilesList(language, Look(qapp, resources_dir(), "light"))
    made.show_files([version(f"{number}.md", number) for number in range(1, 9)])
    assert made.count() == 8
    one = made.rows_height() // 8
    assert made.height() == MOST_FILES * one
    made.show_files([version("a\u202eb.md", author=""), version("b.md", 2)])
    assert made.height() == 2 * one
    assert [made.item(row).said for row in range(2)] == [
        "a⟨U+202E⟩b.md, version 1 · You · 12 B",
        "b.md, version 2 · Ann · 12 B",
    ]
    asked = []
    made.asked.connect(lambda *said: asked.append(said))
    entries = made.menu_of("b.md").actions()
    assert [one.text().partition("\t")[0] for one in entries] == [
        *("Open", "Save as…", "Copy text", "Show in folder", "Delete")
    ]
    entries[2].trigger()
    assert asked == [("b.md", COPY)]
    made.show_files([])
    assert made.isHidden()
    made.deleteLater()


async def test_a_long_file_is_shown_whole_and_what_is_no_text_is_not(qapp, language: Language) -> None:
    over = app_driver.QWidget()
    over.resize(900, 700)
    look = Look(qapp, resources_dir(), "light")
    dialog = FileDialog(language, look, [version()], over)
    text = "".join(f"line {number}\n" for number in range(20_000))
    dialog.show()
    dialog.show_version(version(), text)
    assert len(dialog.text.toPlainText()) < len(text)
    await until(lambda: dialog.text.toPlainText() == text, what="all of it")
    dialog.show_version(version(), None)
    assert dialog.text.isHidden() and dialog.view.isHidden()
    assert saying(dialog, "larger than 1 MB")
    assert not dialog.buttons[COPY].isEnabled()
    title = dialog.view.accessibleName()
    look.choose("dark")
    assert dialog.view.canvas.style.tokens.dark
    language.choose("ko")
    assert dialog.view.accessibleName() == title
    language.choose("en")
    look.choose("light")
    over.deleteLater()


def test_only_a_text_of_at_most_1_mb_is_shown_and_what_hides_is_seen() -> None:
    assert shown_text("a\u202eb\n".encode()) == "a⟨U+202E⟩b\n"
    assert shown_text(b"\xff\xfe") is None
    assert shown_text(b"x" * MOST_SHOWN) == "x" * MOST_SHOWN
    assert shown_text(b"x" * (MOST_SHOWN + 1)) is None


def test_a_table_and_a_picture_are_shown_as_such_and_html_as_text(qapp) -> None:
    table = preview_of(version("a.CSV"), '\ufeffName,Sum\n"서울, 부산",4|0\nx\n<b>y</b>,1,2\n'.encode())
    assert parse(table.content)[0].text == "Name\tSum\t\n서울, 부산\t4|0\t\nx\t\t\n<b>y</b>\t1\t2"
    [tabs] = parse(preview_of(version("a.tsv"), b"a\tb\n1,5\t2\n").content)
    assert (tabs.kind, tabs.text) == (TABLE, "a\tb\n1,5\t2")
    many = preview_of(version("a.csv"), b"a,b\n" + b"1,2\n" * 5_000)
    shown, left = parse(many.content)
    assert shown.kind == TABLE and 2 * len(shown.rows) == MAX_CELLS and left.text == "… 4501"
    assert preview_of(version("a.csv"), b"\n").content.startswith("|")
    long = "# One\n" * 20_000
    assert preview_of(version("a.md"), long.encode()) == long
    page = "<h1>One</h1><img src='http://example.com/a.png'>"
    assert preview_of(version("a.html"), page.encode()) == page
    assert preview_of(version("a.csv"), b"\xff") is None and preview_of(version("a.md"), b"\xff") is None
    red = QImage(30, 20, QImage.Format.Format_RGB32)
    picture = preview_of(version("a.bin"), saved(red, "PNG"))
    assert picture.content == "" and picture.attachments[0].media_type == "image/png"
    assert preview_of(version("a.png"), saved(red, "PNG") + bytes(MOST_SHOWN)) is None


async def test_the_dialog_shows_what_a_version_is(qapp, language: Language) -> None:
    over = app_driver.QWidget()
    over.resize(900, 700)
    versions = [version("a.md", 1), version("a.md", 2)]
    dialog = FileDialog(language, Look(qapp, resources_dir(), "light"), versions, over)
    asked = []
    dialog.version_chosen.connect(lambda *said: asked.append(said))
    dialog.compared.connect(lambda *said: asked.append(said))
    dialog.show()
    dialog.show_version(versions[1], preview_of(versions[1], b"# One\n\n![x](http://127.0.0.1:9/a.png)\n"))
    assert dialog.view.isVisible() and dialog.text.isHidden() and dialog.other.isVisible()
    for combo, place in ((dialog.other, 1), (dialog.versions, 1), (dialog.other, 0)):
        # By the keyboard alone.
        combo.setFocus()
        while combo.currentIndex() != place:
            QTest.keyClick(combo, Qt.Key.Key_Down if combo.currentIndex() < place else Qt.Key.Key_Up)
    # A version is not compared with itself.
    assert asked[-3:] == [(1, 2), (1,), (1,)]
    dialog.show_text("-a\n+b")
    assert dialog.text.toPlainText() == "-a\n+b" and dialog.view.isHidden() and dialog.text.isVisible()
    red = QImage(30, 20, QImage.Format.Format_RGB32)
    dialog.show_version(versions[0], preview_of(versions[0], saved(red, "PNG")))
    assert dialog.view.isVisible() and dialog.other.isHidden() and not dialog.buttons[COPY].isEnabled()
    text = FileDialog(language, Look(qapp, resources_dir(), "light"), [version("a.txt")], over)
    text.show_version(version("a.txt"), "x")
    assert text.more.isHidden() and not dialog.more.isHidden() and text.other.isHidden()
    over.deleteLater()


@pytest.mark.parametrize(
    ("name", "result", "done", "shown"),
    [
        ("write_file", "Wrote a (b).md (version 12), 3 bytes.", True, "Wrote a (b).md (version 12)"),
        ("edit_file", "Changed a\u202e.md (version 2), 3 bytes.", True, "Changed a⟨U+202E⟩.md (version 2)"),
        ("write_file", "", False, "Writing report.md"),
        ("write_file", "write_file: there is 'Report.md' already.", True, "Writing report.md"),
        ("read_file", "report.md (version 1):\n", True, "Read report.md"),
        ("delete_file", "Deleted report.md.", True, "Deleted report.md"),
        ("list_files", "There are no files yet.", True, "Listed the files"),
    ],
)
def test_the_row_of_a_call_says_which_version_came_of_it(
    name: str, result: str, done: bool, shown: str
) -> None:
    texts = Texts.load(resources_dir() / "i18n", "en")
    arguments = json.dumps({"path": "report.md", "content": "x"} if name != "list_files" else {})
    assert (
        title(ToolCall(id="c", name=name, arguments=arguments), texts, {}, done=done, result=result) == shown
    )
    # However long the content is.
    long = json.dumps({"path": "report.md", "content": "x" * 90_000})
    if result.startswith(("Wrote", "Changed")):
        assert (
            title(ToolCall(id="c", name=name, arguments=long), texts, {}, done=done, result=result) == shown
        )


@pytest.mark.timeout(150)
async def test_a_folder_is_chosen_before_the_first_message_asked_about_once_and_revoked(
    qapp: object, wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=[FILES])
    mine = tmp_path / "mine & yours"
    mine.mkdir()
    (mine / "plan.md").write_text("One")
    edit = call("edit_file", path="plan.md", old="One", new="Two")
    read = Answer(calls=(call("read_file", path="plan.md"),))
    wire_home["openai"].script("openai-wire", [read, Answer(calls=(edit,)), "Changed.", read, "Read."])
    async with at_window(data_dir) as person:
        desk = person.window.controller
        desk.show_new("ann")
        page, menu = desk.chat_page, person.window.language("chosen_folder.menu")
        assert not person.sees("chosen_leave")

        async def choose(folder: Path) -> None:
            person.choose_from("tools_button", menu)
            await until(lambda: person.window.findChildren(app_driver.QFileDialog), what="which folder")
            person.choose_file(folder)

        # What may not be chosen is said, and chosen is nothing.
        await choose(data_dir)
        await until(lambda: any("Moot" in text for text in toasts(desk.window)), what="why not")
        assert not person.sees("chosen_leave")
        await choose(mine)
        await until(lambda: person.sees("chosen_leave"), what="the line with the folder")
        assert f"Works in {mine}" in texts_in(page.chat_composer)
        await person.click("chosen_leave")
        await until(lambda: not person.sees("chosen_leave"), what="no folder")
        await choose(mine)
        await until(lambda: person.sees("chosen_leave"), what="the line with the folder")
        hidden = person.window.language("chosen_folder.files")
        # What is no file of the folder is said, and nothing is allowed.
        twice = (".env, keys/id_rsa", " · .env · keys/id_rsa")
        for names, more in (("../.env", ""), twice, (".env", " · .env"), ("", ""), twice):
            person.choose_from("tools_button", hidden)
            await until(lambda: person.sees("rename_field"), what="which files")
            await person.write("rename_field", names)
            await person.click("rename_save")
            await until(lambda: not person.sees("rename_field"), what="that it is closed")
            line = f"Works in {mine}{more}"
            await until(lambda line=line: line in texts_in(page.chat_composer), what=line)
        await person.write("composer", "Change the plan.")
        await person.press("composer", Qt.Key.Key_Return)
        for question in ("read your files", "change and delete your files"):
            await until(
                lambda question=question: (
                    person.sees("prompt_card") and question in person.find("prompt_card").accessibleName()
                ),
                what=question,
            )
            assert not person.find("approval_always").isVisible()
            await until(lambda: person.find("approval_allow").isEnabled())
            assert person.find("approval_allow").text() == "Allow in this session"
            await person.click("approval_allow")
        await until(lambda: page.session and page.session.status == "idle", what="the answer")
        assert (mine / "plan.md").read_text() == "Two"
        await until(lambda: listed(person) == ["plan.md, version 1 · Ann · 3 B"], what="the file")
        # The folder cannot be changed any more, and what was allowed there can be taken back.
        entries = page.chat_composer.tools.choices.actions()
        assert not next(one for one in entries if one.text() == menu).isVisible()
        assert person.find("chosen_leave").text() == "Revoke"
        assert page.session.always[:2] == ("file:.env", "file:keys:id_rsa")
        await person.click("chosen_leave")
        await until(lambda: not person.sees("chosen_leave"), what="nothing to revoke")
        assert page.session.always == () and f"Works in {mine}" in texts_in(page.chat_composer)
        assert page.chat_composer.chosen.isVisible()
        await person.write("composer", "Read it.")
        await person.press("composer", Qt.Key.Key_Return)
        await until(lambda: person.sees("prompt_card"), what="the question")
        await person.click("approval_deny")
        await until(lambda: page.session and page.session.status == "idle", what="the answer")
        desk.show_new("ann")
        assert not page.chat_composer.chosen.isVisible()
