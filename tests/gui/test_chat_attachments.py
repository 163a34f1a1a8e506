"""Files that take their time: Send waits for them, and each lands where it was given, whatever is in front by then."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QMenu

from app.core.draft import COMMAND, NEW, SETUP
from app.gui.files.user_files import is_seen
from app.gui.widgets.text import ElidedLabel
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.files.documents import ODT, a_pdf, a_sealed_pdf, a_zip
from tests.gui.seen import saying
from tests.gui.test_drafts_kept import ONE, TWO, keep_chat, names, show
from tests.gui.test_drop_anywhere import drop, enter
from tests.wire import WireServer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401
from tests.wire.providers_file import write_providers

SENDS = "Your message is sent when the file has been read."

until = partial(app_driver.until, seconds=60.0)

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a slow file is a pipe here"),
    pytest.mark.qt_log_ignore("This plugin does not support", extend=True),
]


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    for session_id in (ONE, TWO):
        keep_chat(data_dir, session_id)
    async with at_window(data_dir) as person:
        yield person


@pytest.fixture
def a_slow_file(tmp_path: Path, person: Person) -> Iterator[Callable[[str], Path]]:
    """Make files whose text comes when somebody writes it; in the end nobody waits for it any more."""
    made: list[Path] = []

    def make(name: str) -> Path:
        made.append(tmp_path / name)
        os.mkfifo(made[-1])
        return made[-1]

    yield make
    for path in made:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))


async def give(person: Person, path: Path) -> None:
    person.window.controller.chat_page.chat_composer.files_given.emit([path])
    await until(lambda: person.sees("readings"))


async def come(path: Path, data: bytes = b"Three rules.") -> None:
    """Let a slow file have its text."""
    await asyncio.to_thread(path.write_bytes, data)


@pytest.mark.slow
async def test_send_waits_for_the_file_and_goes_with_it(person, wire_servers, a_slow_file):  # noqa: F811
    file = a_slow_file("slow.html")
    await person.click("new_button")
    page = person.window.controller.chat_page
    await give(person, file)
    assert "slow.html" in person.find("readings").findChild(ElidedLabel).text()
    await person.write("composer", "Sum it up")
    await person.press("composer", Qt.Key.Key_Return)
    await person.settle()
    assert page.session is None and page.composer.box.toPlainText() == "Sum it up"
    assert saying(page.chat_composer, SENDS)
    await come(file)
    await until(lambda: page.session is not None)
    live = person.window.controller.engine.live(page.session_id)
    assert [one.text for one in live.messages[0].attachments] == ["Three rules."]
    assert live.messages[0].content == "Sum it up"
    assert page.composer.box.toPlainText() == "" and names(page) == []
    assert not person.sees("readings") and not saying(page.chat_composer, SENDS)


@pytest.mark.slow
async def test_it_lands_where_it_was_given_and_what_waited_there_is_sent_from_there(
    person,
    wire_servers,  # noqa: F811
    a_slow_file,
):
    engine, page = person.window.controller.engine, await show(person, ONE)
    first, second = a_slow_file("first.html"), a_slow_file("second.html")
    await give(person, first)
    await show(person, TWO)
    assert not person.sees("readings")
    await person.write("composer", "of the other")
    await come(first)
    await until(lambda: engine.drafts.of(ONE).attachments)
    assert names(page) == [] and page.composer.box.toPlainText() == "of the other"
    await show(person, ONE)
    assert names(page) == ["first.html"]
    await give(person, second)
    await person.write("composer", "Both of them")
    await person.press("composer", Qt.Key.Key_Return)
    await show(person, TWO)
    live = await engine.open(ONE)
    before = len(live.messages)
    await come(second)
    await until(lambda: len(live.messages) > before)
    sent = live.messages[before]
    assert (sent.content, [one.name for one in sent.attachments]) == (
        "Both of them",
        ["first.html", "second.html"],
    )
    assert not engine.drafts.of(ONE).text and not engine.drafts.of(ONE).attachments
    assert page.composer.box.toPlainText() == "of the other"


@pytest.mark.slow
async def test_who_writes_on_or_takes_it_off_or_has_a_bad_file_sends_nothing_by_accident(person, a_slow_file):
    page = person.window.controller.chat_page
    await person.click("new_button")
    bad, unwanted = a_slow_file("bad.html"), a_slow_file("unwanted.html")
    await give(person, bad)
    await person.write("composer", "With that")
    await person.press("composer", Qt.Key.Key_Return)
    assert saying(page.chat_composer, SENDS)
    await come(bad, b"\xff\xfe\x00")
    await until(lambda: person.sees("toast"))
    await until(lambda: not person.sees("readings"))
    assert page.session is None and page.composer.box.toPlainText() == "With that"
    await give(person, unwanted)
    await person.press("composer", Qt.Key.Key_Return)
    await person.write("composer", "With that, and")
    assert not saying(page.chat_composer, SENDS)
    await person.click(f"reading_cancel_{max(person.window.controller.chats.files._readings)}")
    await until(lambda: not person.sees("readings"))
    # Not as `come` does: the reader may have been cancelled before it opened the file, and nobody would take the text.
    end = os.open(unwanted, os.O_RDWR | os.O_NONBLOCK)
    os.write(end, b"Three rules.")
    await person.settle()
    os.close(end)
    assert page.session is None and names(page) == []
    assert person.window.controller.engine.drafts.of(NEW).text == "With that, and"


@pytest.mark.slow
async def test_what_cannot_be_sent_comes_back_where_it_was_written(person):
    """Also when the user has gone on to another session, and before what was written there since."""
    page = await show(person, ONE)
    too_long = "a line of words\n" * 25_001 + "the end"
    page.composer.box.setPlainText(too_long)
    QTest.keyClick(page.composer.box, Qt.Key.Key_Return)
    page.composer.box.setPlainText("since")
    await until(lambda: person.sees("toast"))
    await until(lambda: page.composer.box.toPlainText() == f"{too_long}\n\nsince")
    page.composer.box.setPlainText("")
    page.edit_requested.emit(ONE, "nobody", "again", ())
    await show(person, TWO)
    drafts = person.window.controller.engine.drafts
    await until(lambda: drafts.of(ONE).rewriting is not None)
    await show(person, ONE)
    assert page.composer.box.toPlainText() == "again" and person.sees("edit_cancel")


@pytest.mark.slow
async def test_a_paste_too_long_for_a_request_becomes_its_attachment(person, wire_servers):  # noqa: F811
    setup, long = person.window.controller.panel.setup, QMimeData()
    long.setText("x" * 8_000)
    setup.topic.setPlainText("Tabs?")
    setup.topic.selectAll()
    setup.topic.insertFromMimeData(long)
    assert len(setup.topic.toPlainText()) == 8_000 and setup.pasted.attachments() == ()
    await person.click("workflow_button")
    box = person.window.controller.workflows.panel.work.start_box
    box.box.insertFromMimeData(long)
    assert box.box.toPlainText() == "" and [one.text for one in box.strip.attachments()] == [long.text()]
    drafts = person.window.controller.engine.drafts
    assert drafts.of(COMMAND).attachments == box.strip.attachments()
    box.strip.findChild(QAbstractButton, "attachment_remove_1").click()
    assert not drafts.of(COMMAND).attachments
    await person.click("toast_action")
    assert [one.text for one in drafts.of(COMMAND).attachments] == [long.text()]
    await person.choose("workflow_choice", "Bug fix")
    await person.click("workflow_start")

    def asked() -> bool:
        return any(
            long.text() in str(one.body) for server in wire_servers.values() for one in server.requests
        )

    await until(asked)
    assert not drafts.of(COMMAND).attachments and not box.strip.attachments()


@pytest.mark.slow
async def test_a_paste_too_long_for_the_topic_becomes_context_of_the_debate(person, wire_servers):  # noqa: F811
    person.window.controller.debates.show_setup()
    setup, long = person.window.controller.panel.setup, QMimeData()
    long.setText("Tabs are one character. " * 400)
    setup.topic.setPlainText("Tabs?")
    setup.topic.insertFromMimeData(long)
    assert setup.topic.toPlainText() == "Tabs?"
    assert [one.text for one in setup.pasted.attachments()] == [long.text()]
    kept = person.window.controller.engine.drafts.of(SETUP)
    assert kept.attachments == setup.pasted.attachments()
    await person.click("attachment_remove_1")
    assert setup.pasted.attachments() == () and not person.sees("setup_pasted")
    await person.click("toast_action")
    assert setup.draft == kept and person.sees("setup_pasted")
    await until(setup.start.isEnabled)
    await person.click("debate_start")
    engine = person.window.controller.engine
    await until(lambda: person.window.controller.session_page.session is not None)
    debate = person.window.controller.session_page.session.debate
    assert [one.text for one in debate.context] == [long.text()] and debate.topic == "Tabs?"
    assert setup.pasted.attachments() == () and not engine.drafts.of(SETUP).attachments


@pytest.mark.slow
@pytest.mark.parametrize("way", ["button", "drop", "paste"])
async def test_a_pdf_is_attached_as_text_and_the_model_reads_it(person, wire_servers, tmp_path, way):  # noqa: F811
    path = tmp_path / "report.pdf"
    path.write_bytes(a_pdf(["Sales rose by 12 percent in spring", "and fell by 3 percent in summer"]))
    await person.click("new_button")
    page = person.window.controller.chat_page
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(path))])
    if way == "button":
        await person.click("attach_button")
        await until(lambda: person.window.findChild(QFileDialog) is not None)
        dialog = person.window.findChild(QFileDialog)
        dialog.filesSelected.emit([str(path)])
        dialog.close()
    elif way == "drop":
        box = page.composer.box.viewport()
        target, _ = enter(person.window, box.mapTo(person.window, box.rect().center()), given)
        drop(target, given)
    else:
        page.composer.box.insertFromMimeData(given)
    await until(lambda: names(page) == ["report.pdf"])
    await person.write("composer", "When did sales fall?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: page.session is not None)
    live = person.window.controller.engine.live(page.session_id)
    (kept,) = live.messages[0].attachments
    assert kept.media_type == "application/pdf" and not kept.data
    await until(lambda: any(server.requests for server in wire_servers.values()))
    (request,) = (server.requests[0] for server in wire_servers.values() if server.requests)
    asked = str(request.messages[-1])
    for words in ("report.pdf", "[page 2]", "fell by 3 percent in summer", "When did sales fall?"):
        assert words in asked


@pytest.mark.slow
async def test_a_file_that_cannot_be_read_says_why_and_stays_out(person, tmp_path):
    path = tmp_path / "locked.odt"
    path.write_bytes(a_zip({**ODT, "META-INF/manifest.xml": "<m><encryption-data/></m>"}))
    page = await show(person, ONE)
    page.chat_composer.files_given.emit([path])
    await until(lambda: person.sees("toast"))
    assert "password" in person.find("toast").findChild(QLabel).text()
    assert names(page) == [] and not person.sees("readings")


@pytest.mark.slow
async def test_a_scanned_pdf_is_offered_as_images(person, wire_servers, tmp_path):  # noqa: F811
    path = tmp_path / "scan.pdf"
    path.write_bytes(a_pdf(["", ""]))
    page = await show(person, ONE)
    page.chat_composer.files_given.emit([path])
    await until(lambda: person.sees("toast_action"))
    assert names(page) == []
    await show(person, TWO)
    await person.click("toast_action")
    drafts = person.window.controller.engine.drafts
    await until(lambda: drafts.of(ONE).attachments)
    (attached,) = drafts.of(ONE).attachments
    assert (attached.name, len(attached.pages)) == ("scan.pdf", 2)
    assert names(page) == []


async def choose_look(person: Person, text: str) -> None:
    """Choose how the first attached PDF file is sent."""
    await person.click("attachment_look_1")
    menu = person.find("attachment_look", QMenu)
    next(one for one in menu.actions() if one.text() == text).trigger()
    menu.close()
    await person.settle()


@pytest.mark.slow
async def test_a_pdf_is_sent_as_it_looks_and_as_text_again(person, wire_servers, tmp_path):  # noqa: F811
    path = tmp_path / "report.pdf"
    path.write_bytes(a_pdf(["Sales rose by 12 percent in spring", "and fell by 3 percent in summer"]))
    await person.click("new_button")
    page = person.window.controller.chat_page
    page.chat_composer.files_given.emit([path])
    await until(lambda: names(page) == ["report.pdf"])
    strip = page.chat_composer.strip
    await choose_look(person, "As it looks")
    await until(lambda: is_seen(strip.attachments()[0]))
    await choose_look(person, "As text")
    assert names(page) == ["report.pdf"] and not is_seen(strip.attachments()[0])
    # As after a restart: only what was written to the disk is known.
    person.window.controller.chats.files._sources.clear()
    await choose_look(person, "As it looks")
    await until(lambda: is_seen(strip.attachments()[0]))
    await person.write("composer", "When did sales fall?")
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: any(server.requests for server in wire_servers.values()))
    (request,) = (server.requests[0] for server in wire_servers.values() if server.requests)
    assert request.messages[-1].images == ("image/jpeg",) * 2
    assert "percent" not in request.messages[-1].text and not request.refused


async def test_another_encoding_of_a_text_can_be_chosen(person, tmp_path):
    path = tmp_path / "memo.txt"
    # Nothing says which of the two it is.
    path.write_bytes("Привет, мир. Это отчёт за весну.".encode("cp1251"))
    await person.click("new_button")
    page = person.window.controller.chat_page
    page.chat_composer.files_given.emit([path])
    await until(lambda: names(page) == ["memo.txt"])
    strip = page.chat_composer.strip
    drafts = person.window.controller.engine.drafts
    # Back and forth, also by one that cannot read all of it, nothing is lost.
    for encoding in ("CP949", "BIG5", "CP1251"):
        await choose_look(person, encoding)
        await until(lambda now=encoding: [one.encoding for one in strip.attachments()] == [now])
        [one] = strip.attachments()
        assert one.name == "memo.txt"
        assert one.text == path.read_bytes().decode(encoding, "replace")
        await until(lambda now=one: now in drafts.of("new").attachments)
        # Another chat is in front meanwhile.
        strip.show_attachments(())
        strip.show_attachments((one,))
    assert one.text == "Привет, мир. Это отчёт за весну."


async def test_the_encoding_of_a_long_text_is_chosen_without_holding_up_the_window(person, tmp_path):
    path = tmp_path / "memo.txt"
    path.write_bytes("Это отчёт за весну. ".encode("cp1251") * 45_000)
    await person.click("new_button")
    page = person.window.controller.chat_page
    page.chat_composer.files_given.emit([path])
    await until(lambda: names(page) == ["memo.txt"])
    strip = page.chat_composer.strip
    [before] = strip.attachments()

    def entry(text: str) -> QAction:
        return next(one for one in person.find("attachment_look", QMenu).actions() if one.text() == text)

    await person.click("attachment_look_1")
    began = time.thread_time()
    entry("CP949").trigger()
    took = time.thread_time() - began
    assert strip.attachments() == (before,) and took < 0.008
    # The last choice counts, also where the one before is still being read.
    entry("CP1251").trigger()
    person.find("attachment_look", QMenu).close()
    await until(lambda: strip.attachments()[0].encoding == "CP1251")
    await person.settle(0.3)
    assert strip.attachments() == (replace(before, encoding="CP1251"),)
    # One that is taken out meanwhile stays out.
    await person.click("attachment_look_1")
    entry("CP949").trigger()
    await person.click("attachment_remove_1")
    await person.settle(0.5)
    assert strip.attachments() == ()


async def test_a_model_that_sees_nothing_says_why_a_pdf_is_text(qapp, data_dir, tmp_path, monkeypatch):
    path = tmp_path / "report.pdf"
    path.write_bytes(a_pdf(["Sales rose by 12 percent in spring"]))
    with WireServer("deepseek") as server:
        for name, value in write_providers(data_dir, [server]).items():
            monkeypatch.setenv(name, value)
        async with at_window(data_dir) as person:
            await person.click("new_button")
            page = person.window.controller.chat_page
            page.chat_composer.files_given.emit([path])
            await until(lambda: names(page) == ["report.pdf"])
            await person.click("attachment_look_1")
            shown = [(one.text(), one.isEnabled()) for one in person.find("attachment_look", QMenu).actions()]
    why = "The model accepts neither PDF files nor images."
    assert shown == [("As text", True), ("As it looks", False), (why, False)]


@pytest.mark.slow
async def test_a_pdf_with_a_password_asks_for_it(person, tmp_path, data_dir):
    path = tmp_path / "sealed.pdf"
    path.write_bytes(a_sealed_pdf(["Sales rose by 12 percent in spring"], "between us"))
    page = await show(person, ONE)
    page.chat_composer.files_given.emit([path])
    await until(lambda: person.sees("password_dialog"))
    await person.write("password_field", "wrong")
    await person.click("password_open")
    await until(lambda: person.sees("password_dialog") and person.find("password_field").text() == "")
    await person.write("password_field", "between us")
    await person.click("password_open")
    await until(lambda: names(page) == ["sealed.pdf"])
    await choose_look(person, "As it looks")
    await until(lambda: is_seen(page.chat_composer.strip.attachments()[0]))
    await person.window.controller.engine.drafts.save()
    kept = b"".join(one.read_bytes() for one in data_dir.rglob("*") if one.is_file())
    assert b"Sales rose" in kept and b"between us" not in kept
