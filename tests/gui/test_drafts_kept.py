"""What was not sent yet is there again: after a switch, a quit and a kill; its files, its edits, Setup's choices."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from app.core.draft import NEW, SETUP
from app.core.message import Author, Message, Prompt, Role
from app.core.session import Chat, ChatSession, QueuedMessage, Status
from app.storage.codec import plain
from app.storage.paths import DataPaths
from app.storage.session_log import log_of
from tests import app_driver
from tests.app_driver import Person, at_window
from tests.gui.chats import question
from tests.gui.seen import texts_in, waiting
from tests.gui.test_session_views import keep_debate

until = partial(app_driver.until, seconds=60.0)
ONE, TWO = "01hzzzzzzzzzzzzzzzzzzzzzz1", "01hzzzzzzzzzzzzzzzzzzzzzz2"
MINE = Author(id="user", name="User", kind="user")
THEIRS = Author(id="assistant", name="Assistant")


def keep_chat(
    data_dir: Path,
    session_id: str,
    *more: Message,
    status: str = "idle",
    queue: tuple[QueuedMessage, ...] = (),
) -> None:
    """Write a chat as an earlier run left it."""
    paths = DataPaths(data_dir)
    paths.sessions.mkdir(parents=True, exist_ok=True)
    chat = Chat(assistant_id="assistant", assistant_name="Assistant", head="t2", queue=queue)
    session = ChatSession(id=session_id, title=f"Chat {session_id[-1]}", status=status, chat=chat)
    asked = Message(
        id="asked", turn_id="t1", role=Role.USER, author=MINE, content="Tabs?", follows="", state="done"
    )
    said = Message(id="said", turn_id="t2", role="assistant", author=THEIRS, content="Spaces.", follows="t1")
    paths.session(session_id).write_bytes(log_of(plain(session), (asked, said, *more)))


def on_disk(data_dir: Path, name: str) -> dict:
    """Return a draft as its file holds it now."""
    try:
        return json.loads(DataPaths(data_dir).draft(name).read_bytes())
    except OSError:
        return {}


async def show(person: Person, session_id: str) -> object:
    page = person.window.controller.chat_page
    person.window.controller.show_session(session_id)
    await until(lambda: page.session_id == session_id)
    return page


def names(page: object) -> list[str]:
    return [one.name for one in page.chat_composer.attachments()]  # type: ignore[attr-defined]


def a_long_text() -> QMimeData:
    data = QMimeData()
    data.setText("a long line of words " * 400)
    return data


@pytest.mark.slow
async def test_words_files_and_an_edit_are_there_after_a_quit_and_a_kill(qapp, data_dir, tmp_path):
    keep_chat(data_dir, ONE)
    note, killed = tmp_path / "note.txt", tmp_path / "killed"
    note.write_text("Read me.", encoding="utf-8")
    async with at_window(data_dir) as person:
        page = await show(person, ONE)
        await person.write("composer", "half a thought")
        page.chat_composer.files_given.emit([note])
        await until(lambda: names(page) == ["note.txt"])
        await until(lambda: "Tabs?" in "".join(person.transcript("transcript")))
        page.transcript.action_requested.emit("asked", "edit")
        assert page.composer.box.toPlainText() == "Tabs?"
        await person.write("composer", "Tabs or")
        await person.click("new_button")
        assert page.composer.box.toPlainText() == "" and not person.sees("edit_cancel")
        page.chat_composer.message_box.insertFromMimeData(a_long_text())
        await person.write("composer", "another")
        await show(person, ONE)
        assert page.composer.box.toPlainText() == "Tabs or" and person.sees("edit_cancel")
        await until(lambda: on_disk(data_dir, NEW).get("text") == "another")
        await until(lambda: (on_disk(data_dir, ONE).get("rewriting") or {}).get("text") == "Tabs or")
        shutil.copytree(data_dir, killed, ignore=shutil.ignore_patterns("lock*", "control"))
    async with at_window(killed) as person:
        page = await show(person, ONE)
        assert page.composer.box.toPlainText() == "Tabs or" and person.sees("edit_cancel")
        await person.press("composer", Qt.Key.Key_Escape)
        assert page.composer.box.toPlainText() == "half a thought" and not person.sees("edit_cancel")
        assert names(page) == ["note.txt"]
        await person.click("new_button")
        assert page.composer.box.toPlainText() == "another" and names(page) == ["Pasted text.txt"]
        await person.write("composer", "another one")
    async with at_window(killed) as person:
        page = person.window.controller.chat_page
        assert person.window.main_area.currentWidget() is page
        assert page.composer.box.toPlainText() == "another one" and names(page) == ["Pasted text.txt"]
        person.window.controller.sessions.delete(ONE)
        await until(lambda: person.window.controller.sessions.summary(ONE) is None)
        await person.click("toast_action")
        await until(lambda: person.window.controller.sessions.summary(ONE) is not None)
        page = await show(person, ONE)
        assert page.composer.box.toPlainText() == "half a thought" and names(page) == ["note.txt"]
        await person.write("composer", "")
        await person.click("attachment_remove_1")
        await until(lambda: not DataPaths(killed).draft(ONE).exists())


async def test_what_window_ini_held_is_taken_over_and_a_broken_file_set_aside(qapp, data_dir):
    keep_chat(data_dir, ONE)
    old = QSettings(str(data_dir / "window.ini"), QSettings.Format.IniFormat)
    for name, text in (("new", "old words"), ("topic", "old topic"), (ONE, "한글로 쓴 것")):
        old.setValue(f"drafts/{name}", text)
    old.sync()
    broken = DataPaths(data_dir).draft(TWO)
    broken.parent.mkdir()
    broken.write_bytes(b'{"version": 1, "text": "ha')
    async with at_window(data_dir) as person:
        assert person.find("composer").toPlainText() == "old words"
        assert person.find("debate_topic").toPlainText() == "old topic"
        assert on_disk(data_dir, ONE)["text"] == "한글로 쓴 것"
        assert person.window.state.old_drafts() == {}
        said = [label.text() for label in person.window.toasts.findChildren(QLabel)]
        assert any(broken.name in one for one in said)
        assert [one.path for one in person.window.controller.engine.problems()] == [str(broken)]
        [kept] = DataPaths(data_dir).quarantine.iterdir()
        assert kept.read_bytes() == b'{"version": 1, "text": "ha'


@pytest.mark.slow
async def test_what_is_written_on_the_welcome_page_has_its_files_too(qapp, data_dir):
    keep_chat(data_dir, ONE)
    async with at_window(data_dir) as person:
        page = person.window.controller.chat_page
        await person.click("new_button")
        page.chat_composer.message_box.insertFromMimeData(a_long_text())
        await person.write("composer", "on its own page")
        person.window.controller.show_new()
        composer = person.window.chat_page.chat_composer
        await until(lambda: composer.box.toPlainText() == "on its own page")
        assert [one.name for one in composer.attachments()] == ["Pasted text.txt"]
        await person.write("composer", "and here")
        await person.click("new_button")
        assert page.composer.box.toPlainText() == "and here" and names(page) == ["Pasted text.txt"]


@pytest.mark.slow
async def test_setup_is_as_it_was_left(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.debates.show_setup()
        setup = person.window.controller.panel.setup
        await person.write("debate_topic", "Tabs or spaces?")
        setup.mode.set_value("roles")
        setup.rounds.setValue(7)
        for name in ("debate_context", "debate_opening"):
            person.find(name).setChecked(True)
        ada = next(card for card in setup.seats.cards if card.candidate.participant.id == "ada")
        ada.findChild(QLineEdit).setText("Lovelace")
        ada.set_system_prompt("You are kind.")
        await person.choose("role_ada", "Against")
        person.find("seat_ben").setChecked(False)
        setup.seats.add_participant(ada.candidate)
        before = setup.draft
        await until(lambda: on_disk(data_dir, SETUP).get("setup", {}).get("mode") == "roles")
    path = DataPaths(data_dir).draft(SETUP)
    document = json.loads(path.read_bytes())
    gone = {"id": "gone", "provider": "gone", "model": "g", "name": "G", "chosen": True, "added": True}
    document["setup"]["seats"].append(gone)
    path.write_text(json.dumps(document), encoding="utf-8")
    async with at_window(data_dir) as person:
        setup = person.window.controller.panel.setup
        assert setup.draft == before
        chosen = {one.name: one for one in setup.setup().participants}
        assert chosen["Lovelace"].role == "against" and chosen["Lovelace"].system_prompt == "You are kind."
        assert "Ben" not in chosen and len([name for name in chosen if name.endswith(" 2")]) == 1
        assert "7" in texts_in(setup, "value")
        setup.seats.refresh()
        assert setup.draft == before


@pytest.mark.slow
async def test_a_half_written_answer_and_a_command_are_there_again(qapp, data_dir):
    prompt = Prompt(question="Which one?", type="text")
    keep_chat(data_dir, ONE, question("q1", "t2", None, prompt), status=Status.WAITING)
    async with at_window(data_dir) as person:
        await show(person, ONE)
        await until(lambda: person.sees("prompt_text"))
        await person.write("prompt_text", "The first, beca")
        person.window.top_bar.workflow_button.setChecked(True)
        await person.write("workflow_command", "Fix the")
    async with at_window(data_dir) as person:
        await show(person, ONE)
        await until(lambda: person.sees("prompt_text"))
        assert person.find("prompt_text").toPlainText() == "The first, beca"
        assert person.find("workflow_command").toPlainText() == "Fix the"
        await person.click("prompt_skip")
        await until(lambda: person.window.controller.engine.drafts.of(ONE).answers == {})


@pytest.mark.slow
async def test_what_a_message_that_waits_is_to_say_instead_is_there_again(qapp, data_dir, tmp_path):
    killed = tmp_path / "killed"
    queue = tuple(QueuedMessage(id=f"q{number}", text=f"Point {number}.") for number in (1, 2, 3))
    keep_chat(data_dir, ONE, status=Status.PAUSED, queue=queue)
    keep_chat(data_dir, TWO)
    async with at_window(data_dir) as person:
        page = await show(person, ONE)
        rows = {f"q{number}": waiting(page, f"Point {number}.") for number in (1, 2, 3)}
        rows["q1"].edit.click()
        rows["q2"].edit.click()
        assert person.window.focusWidget() is rows["q2"].box
        rows["q2"].box.setPlainText("Point 2, and")
        # What was only opened is kept as it is, of what was opened and left nothing is.
        rows["q3"].edit.click()
        rows["q3"].box.setPlainText("No.")
        QTest.keyClick(rows["q3"].box, Qt.Key.Key_Escape)
        await until(lambda: on_disk(data_dir, ONE).get("queued") == {"q1": "Point 1.", "q2": "Point 2, and"})
        shutil.copytree(data_dir, killed, ignore=shutil.ignore_patterns("lock*", "control"))
        await show(person, TWO)
        assert page.draft.queued == {}
        await show(person, ONE)
        assert waiting(page, "Point 2.").box.toPlainText() == "Point 2, and"
        waiting(page, "Point 2.").box.setPlainText("Point 2, and 4")
    await sends_what_was_written(data_dir, "Point 2, and 4")
    await sends_what_was_written(killed, "Point 2, and")


async def sends_what_was_written(data_dir: Path, text: str) -> None:
    """Find the second message that waits being rewritten, and be done with that."""
    async with at_window(data_dir) as person:
        page = await show(person, ONE)
        rows = {f"q{number}": waiting(page, f"Point {number}.") for number in (1, 2, 3)}
        assert [row.box.isVisible() for row in rows.values()] == [True, True, False]
        assert rows["q2"].box.toPlainText() == text
        QTest.keyClick(rows["q2"].box, Qt.Key.Key_Return)
        await until(lambda: [one.text for one in page.session.chat.queue][1] == text)
        QTest.keyClick(rows["q1"].box, Qt.Key.Key_Escape)
        await until(lambda: not on_disk(data_dir, ONE).get("queued"))


@pytest.mark.slow
async def test_a_debates_words_are_the_same_in_the_panel_and_the_page(qapp, data_dir):
    session_id = await keep_debate(data_dir, 4)
    async with at_window(data_dir) as person:
        desk = person.window.controller
        await desk.debates.show_discussion(session_id)
        desk.show_session(session_id)
        await until(lambda: desk.session_page.isVisible() and desk.session_page.session_id == session_id)
        desk.session_page.composer.box.setPlainText("so far")
        assert desk.panel.discussion.composer.box.toPlainText() == "so far"
        # In lines: one of this length takes Qt seconds to lay out.
        too_long = ("x" * 79 + "\n") * 5_000 + "end"
        desk.session_page.composer.box.setPlainText(too_long)
        desk.session_page.composer.send.click()
        await until(lambda: person.sees("toast"))
        await until(lambda: desk.session_page.composer.box.toPlainText() == too_long)
