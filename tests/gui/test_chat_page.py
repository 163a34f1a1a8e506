"""A chat as a person has it: writing, queueing, asking again, files, drafts; against a local provider."""

from functools import partial

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton

from app.core.message import Attachment
from app.core.session import Chat, ChatSession, QueuedMessage
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.chat_scenes import TREE, architect, replies, said_last
from tests.repeats import slow_after
from tests.wire import Answer, Fault, WireServer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

# The first answer waits for the child process that asks models; on a busy machine that takes long.
until = partial(app_driver.until, seconds=60.0)


@pytest.fixture
async def person(qapp, data_dir, wire_home):  # noqa: F811
    async with at_window(data_dir) as person:
        yield person


async def say(person: Person, text: str) -> None:
    """Write a message and press Enter."""
    await person.write("composer", text)
    await person.press("composer", Qt.Key.Key_Return)


@pytest.mark.slow
async def test_new_writes_to_the_last_assistant_and_the_chat_begins(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    assert person.window.focusWidget() is person.find("composer")
    assert not person.sees("stop_button")
    await say(person, "\n    Tabs or spaces?\n")
    await until(lambda: len(person.transcript("transcript")) == 2, what="the answer")
    page = person.window.controller.chat_page
    await until(lambda: page.session.status == "idle")
    assert said_last(wire_servers["openai"].requests[0]).endswith("    Tabs or spaces?"), "still indented"
    assert person.find("session_title").text() == "Tabs or spaces?"


@pytest.mark.slow
async def test_the_model_titles_the_chat_after_its_first_answer(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.title = '"Indentation styles."'
    await person.click("new_button")
    await say(person, "Tabs or spaces?")
    await until(lambda: person.find("session_title").text() == "Indentation styles", what="the title")
    assert len(server.title_requests) == 1
    session = person.window.controller.chat_page.session
    assert session.title == "Indentation styles"
    assert [entry.session_id for entry in session.unsaid] == [session.id]


@pytest.mark.slow
async def test_a_provider_that_asks_to_wait_is_asked_again_at_once(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", [Fault("rate429", retry_after=100.0)])
    await person.click("new_button")
    await say(person, "Tabs or spaces?")
    await until(lambda: person.sees("chat_resume"), what="the offer")
    assert person.find("chat_resume", QPushButton).text() == "Retry now"
    await person.click("chat_resume")
    page = person.window.controller.chat_page
    await until(lambda: page.session.status == "idle")
    assert len(person.transcript("transcript")) == 2 and not person.sees("chat_resume")


@pytest.mark.slow
async def test_what_one_says_is_scrolled_to_unless_it_is_queued(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    server.script("openai-wire", lambda request: Answer("A line.\n\n" * 60))
    await person.click("new_button")
    await say(person, "Tabs or spaces?")
    page = person.window.controller.chat_page
    await until(lambda: page.session and page.session.status == "idle")
    page.transcript.canvas.show(0)
    server.script("openai-wire", lambda request: Answer("Some words. " * 60, pace=0.5, pieces=60))
    await say(person, "Why?")
    await until(lambda: any(page.transcript.message_rect(one) for one in page.transcript.message_ids[2:]))
    assert page.transcript.following
    await until(lambda: page.session.status == "running")
    page.transcript.canvas.show(0)
    await say(person, "And?")
    await until(lambda: page.session.chat.queue)
    assert not page.transcript.following


async def running(
    person: Person, server: WireServer, text: str = "Write the notes.", *, seconds: int = 3
) -> object:
    """Start a chat whose answer takes that long; return its page."""
    server.script("openai-wire", lambda request: Answer("Some words. " * 10 * seconds, pace=0.5, pieces=60))
    await person.click("new_button")
    await say(person, text)
    page = person.window.controller.chat_page
    await until(lambda: page.session and page.session.status == "running")
    await until(lambda: "Some words" in "".join(person.transcript("transcript")), what="the first words")
    return page


@pytest.mark.slow
async def test_stop_and_escape_keep_the_words(person, wire_servers):  # noqa: F811
    page = await running(person, wire_servers["openai"])
    await person.press("composer", Qt.Key.Key_Escape)
    await until(lambda: page.session.status == "stopped")
    assert not person.sees("stop_button")
    assert "Some words" in person.transcript("transcript")[-1]
    await say(person, "Again.")
    await until(lambda: page.session.status == "running" and person.sees("stop_button"))
    await person.click("stop_button")
    await until(lambda: page.session.status == "stopped")


@pytest.mark.slow
async def test_a_draft_and_its_files_wait_where_they_were_written(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
    tmp_path,
):
    note = tmp_path / "note.txt"
    note.write_text("Read me.", encoding="utf-8")
    async with at_window(data_dir) as person:
        page = await running(person, wire_servers["openai"], "First chat")
        first = page.session_id
        await person.write("composer", "half a thought")
        page.chat_composer.files_given.emit([note])
        await until(lambda: person.sees("attachments"))
        await person.click("new_button")
        assert page.composer.box.toPlainText() == ""
        assert not person.sees("attachments")
        await person.write("composer", "another")
        person.window.controller.show_session(first)
        await until(lambda: page.session_id == first)
        assert page.composer.box.toPlainText() == "half a thought"
        assert [one.name for one in page.chat_composer.attachments()] == ["note.txt"]
        await person.click("new_button")
        assert page.composer.box.toPlainText() == "another"
    async with at_window(data_dir) as person:
        page = person.window.controller.chat_page
        assert person.window.main_area.currentWidget() is page
        assert page.composer.box.toPlainText() == "another"
        person.window.controller.show_session(first)
        await until(lambda: page.session_id == first)
        assert page.composer.box.toPlainText() == "half a thought"


@pytest.mark.slow
async def test_an_input_method_commits_before_enter_sends(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    box = person.find("composer")
    QApplication.sendEvent(box, QInputMethodEvent("한", []))
    await person.press("composer", Qt.Key.Key_Return)
    assert person.window.controller.chat_page.session is None
    commit = QInputMethodEvent("", [])
    commit.setCommitString("한글")
    QApplication.sendEvent(box, commit)
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: person.window.controller.chat_page.session is not None)
    assert person.window.controller.chat_page.session.title == "한글"


@pytest.mark.slow
async def test_up_brings_back_what_was_said_only_into_an_empty_box(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    page = person.window.controller.chat_page
    for rows, text in ((2, "first"), (4, "second")):
        await say(person, text)
        await until(lambda: page.session and page.session.status == "idle")
        await until(lambda count=rows: len(person.transcript("transcript")) == count)
    for key, shown in (
        (Qt.Key.Key_Up, "second"),
        (Qt.Key.Key_Up, "first"),
        (Qt.Key.Key_Up, "first"),
        (Qt.Key.Key_Down, "second"),
        (Qt.Key.Key_Down, ""),
    ):
        await person.press("composer", key)
        assert page.composer.box.toPlainText() == shown
    await person.write("composer", "own")
    await person.press("composer", Qt.Key.Key_Up)
    assert page.composer.box.toPlainText() == "own"


def versions_of(page: object) -> tuple[int, int]:
    """Return what the last row says of its versions."""
    transcript = page.transcript  # type: ignore[attr-defined]
    return transcript.canvas.row(len(transcript.model.entries) - 1).context.versions


@pytest.mark.slow
async def test_asking_again_makes_a_version_that_can_be_chosen(person, wire_servers):  # noqa: F811
    wire_servers["openai"].script("openai-wire", ["One.", "Two.", "Three."])
    await person.click("new_button")
    page = person.window.controller.chat_page
    await say(person, "Count.")
    await until(lambda: page.session and page.session.status == "idle" and "One." in read(person))
    live = person.window.controller.engine.live(page.session_id)
    answer = live.messages[-1]
    page.transcript.action_requested.emit(answer.id, "retry")
    await until(lambda: page.session.status == "idle" and "Two." in read(person))
    assert "One." not in read(person)
    second = live.messages[-1]
    await until(lambda: versions_of(page) == (2, 2), seconds=5, what="the mark of two versions")
    paid = page.spending.text(person.window.language)
    page.transcript.version_requested.emit(second.turn_id, -1)
    await until(lambda: "One." in read(person) and "Two." not in read(person))
    page.transcript.version_requested.emit(answer.turn_id, -1)
    await person.settle()
    assert "One." in read(person)
    assert versions_of(page) == (1, 2)
    session_id = page.session_id
    await person.click("new_button")
    person.window.controller.show_session(session_id)
    await until(lambda: page.session_id == session_id)
    assert page.spending.text(person.window.language) == paid, "what was asked again was paid for as well"


@pytest.mark.slow
async def test_editing_what_was_said_starts_a_version_and_keeps_the_draft(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    page = person.window.controller.chat_page
    await say(person, "Tabs?")
    await until(lambda: page.session and page.session.status == "idle")
    live = person.window.controller.engine.live(page.session_id)
    mine = live.messages[0]
    await person.write("composer", "a draft")
    page.transcript.action_requested.emit(mine.id, "edit")
    assert page.composer.box.toPlainText() == "Tabs?"
    assert person.sees("edit_cancel")
    await person.press("composer", Qt.Key.Key_Escape)
    assert page.composer.box.toPlainText() == "a draft"
    page.transcript.action_requested.emit(mine.id, "edit")
    await say(person, "Spaces?")
    await until(lambda: "Spaces?" in read(person) and page.session.status == "idle")
    assert "Tabs?" not in read(person)
    assert page.composer.box.toPlainText() == "a draft"
    assert not person.sees("edit_cancel")


@pytest.mark.slow
async def test_f2_renames_and_undo_brings_the_title_back(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    page = person.window.controller.chat_page
    await say(person, "Tabs?")
    await until(lambda: page.session and page.session.status == "idle")
    person.window.activateWindow()
    page.composer.setFocus()
    await person.press("composer", Qt.Key.Key_F2)
    assert person.sees("title_box")
    await person.write("title_box", "Indentation")
    await person.press("title_box", Qt.Key.Key_Return)
    await until(lambda: page.session.title == "Indentation")
    assert not person.sees("title_box")
    assert page.composer.hasFocus(), "the keyboard is where it was"
    await person.click("toast_action")
    await until(lambda: page.session.title == "Tabs?")


@pytest.mark.slow
async def test_what_cannot_be_sent_is_in_the_box_again(person):
    await person.click("new_button")
    person.window.state.keep("assistant", "nobody")
    page = person.window.controller.chat_page
    too_long = "a line of words\n" * 25_001 + "the end"
    page.composer.box.setPlainText(too_long)
    await person.press("composer", Qt.Key.Key_Return)
    await until(lambda: person.sees("toast"))
    assert page.composer.box.toPlainText() == too_long
    assert page.session is None


def read(person: Person) -> str:
    return "\n".join(person.transcript("transcript"))


@pytest.mark.slow
async def test_what_is_pasted_or_dropped_becomes_an_attachment(person, tmp_path):
    await person.click("new_button")
    page = person.window.controller.chat_page
    composer, box = page.chat_composer, page.chat_composer.message_box
    short, long = QMimeData(), QMimeData()
    short.setText("a few words")
    box.insertFromMimeData(short)
    assert box.toPlainText() == "a few words"
    long.setText("long " * 1_000)
    box.insertFromMimeData(long)
    image = QMimeData()
    picture = QImage(20, 20, QImage.Format.Format_RGB32)
    picture.fill(0)
    image.setImageData(picture)
    box.insertFromMimeData(image)
    # Cells of a spreadsheet come with their picture.
    image.setText("1\t2")
    box.insertFromMimeData(image)
    (tmp_path / "a.txt").write_text("A", encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe\x00")
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("b.bin", "a.txt")])
    box.insertFromMimeData(files)
    await until(lambda: len(composer.attachments()) == 3)
    names = [one.name for one in composer.attachments()]
    assert names[0] == "Pasted text.txt" and set(names[1:]) == {"Image.png", "a.txt"}
    assert box.toPlainText() == "a few words1\t2"
    assert person.sees("toast")
    await person.click("attachment_remove_1")
    assert [one.name for one in composer.attachments()] == names[1:]


async def test_the_picture_of_pasted_cells_can_be_attached(person):
    await person.click("new_button")
    page = person.window.controller.chat_page
    composer, box = page.chat_composer, page.chat_composer.message_box
    cells, picture = QMimeData(), QImage(20, 10, QImage.Format.Format_RGB32)
    picture.fill(0)
    cells.setImageData(picture)
    cells.setText("1\t2")
    box.insertFromMimeData(cells)
    assert box.toPlainText() == "1\t2" and composer.attachments() == ()
    await until(lambda: person.sees("toast_action"), what="the choice")
    assert (person.find("toast").text, person.find("toast_action").text()) == (
        "Pasted as text.",
        "Attach the image",
    )
    await person.click("toast_action")
    await until(lambda: [one.name for one in composer.attachments()] == ["Image.png"], what="the picture")
    assert box.toPlainText() == "1\t2"


@pytest.mark.slow
async def test_a_deleted_chat_comes_back(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    page = person.window.controller.chat_page
    await say(person, "Tabs?")
    await until(lambda: page.session and page.session.status == "idle")
    session_id = page.session_id
    person.window.controller.sessions.delete(session_id)
    await until(lambda: not page.session_id)
    assert person.sees("composer_mode")
    await person.click("toast_action")
    await until(lambda: person.window.controller.sessions.summary(session_id) is not None)
    person.window.controller.show_session(session_id)
    await until(lambda: page.session_id == session_id and "Tabs?" in read(person))


LONG = "Should cities ban private cars from their centres, and who pays for the buses then? " * 3


@pytest.mark.parametrize("language", slow_after(1, [("en",), ("ko",)]))
async def test_nothing_is_cut_off_in_the_smallest_window(qapp, data_dir, language):
    async with at_window(data_dir, language=language, size=(900, 600)) as person:
        page = person.window.controller.chat_page
        await person.click("new_button")
        queue = tuple(QueuedMessage(id=str(number), text=LONG) for number in range(6))
        chat = Chat(assistant_id="x", assistant_name="Ada Lovelace the Patient and Kind", queue=queue)
        session = ChatSession(id="1", title=LONG, status="paused", reason="budget_minutes", chat=chat)
        page.show_session(session, ())
        person.window.controller.pages.show(page)
        page.chat_composer.set_busy(True)
        page.chat_composer.strip.show_attachments([Attachment(name=LONG), Attachment(name="a.txt")])
        page.chat_composer.show_editing(True)
        await person.settle(0.1)
        for widget in (*page.findChildren(QPushButton), *page.findChildren(QToolButton)):
            if widget.isVisible() and not page.chat_composer.strip.isAncestorOf(widget):
                holder = widget.parentWidget().rect()
                assert holder.contains(widget.geometry()), widget.objectName()
        for widget in page.findChildren(QPushButton):
            words = widget.text().replace("&&", "&")
            if widget.isVisible():
                assert widget.width() >= widget.fontMetrics().horizontalAdvance(words), words
        assert page.composer.mapTo(page, page.composer.rect().bottomRight()).y() < page.height()
        assert page.transcript.height() > 60


@pytest.mark.slow
async def test_another_assistant_is_chosen_in_the_foot_with_its_tools(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    page = person.window.controller.chat_page
    choices = {action.text(): action for action in page.chat_composer.assistant.choices.actions()}
    assert page.chat_composer.tools.text() == "2 tools"
    choices["Browser"].trigger()
    assert page.composer.box.placeholderText() == "Message Browser…"
    await until(lambda: page.chat_composer.tools.text() == "5 tools")
    await say(person, "Hello.")
    await until(lambda: page.session and page.session.status == "idle")
    assert page.session.chat.assistant_id == "browser"
    choices = {action.text(): action for action in page.chat_composer.assistant.choices.actions()}
    choices["Checker"].trigger()
    await until(lambda: page.session.chat.assistant_id == "checker")
    await until(lambda: page.chat_composer.tools.text() == "0 tools")
    await person.click("new_button")
    assert page.composer.box.placeholderText() == "Message Checker…"


@pytest.mark.slow
async def test_two_messages_at_once_begin_one_chat(person, wire_servers):  # noqa: F811
    await person.click("new_button")
    page = person.window.controller.chat_page
    for text in ("one", "two"):
        page.composer.box.setPlainText(text)
        QTest.keyClick(page.composer.box, Qt.Key.Key_Return)
    await until(lambda: page.session and page.session.status == "idle" and not page.session.chat.queue)
    assert len(person.window.controller.engine.sessions()) == 1
    assert [one for one in person.transcript("transcript") if "You" in one and "two" in one]


@pytest.mark.slow
async def test_one_sub_agent_is_stopped_and_its_caller_goes_on(person, wire_servers):  # noqa: F811
    server = wire_servers["openai"]
    slow = replies(pace=4.0)

    def reply(request: object) -> object:
        return "Done." if said_last(request) == "tool" else slow(request)  # type: ignore[arg-type]

    server.script("openai-wire", reply)
    await person.window.controller.engine.assistants.save(
        architect(model="openai-wire", sub_agents=("checker",))
    )
    person.window.controller.show_new("architect")
    await say(person, TREE)
    page = person.window.controller.chat_page
    await until(lambda: "The disk fills up" in read(person), what="the checker to write")
    live = person.window.controller.engine.live(page.session_id)
    sub = next(message for message in live.messages if message.author.depth)
    assert page.session.status == "running"
    page.transcript.stop_turn_requested.emit(sub.turn_id)
    await until(lambda: page.session.status == "idle")
    assert "Done." in person.transcript("transcript")[-1]
    assert "The disk fills up" in read(person)
