"""The quick chat: a small window with a chat of its own that goes on in the main window."""

import gc
import weakref

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.core.draft import NEW
from app.gui.commands import QUICK
from app.gui.desktop.key_grab import TAKEN, Held, KeyGrab
from app.gui.quick_window import QuickWindow
from tests.app_driver import at_window, until
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

# What the screen of the tests cannot do.
pytestmark = pytest.mark.qt_log_ignore("does not support raise", extend=True)


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_quick_question_is_answered_there_and_goes_on_in_the_main_window(
    qapp,
    data_dir,
    wire_home,  # noqa: F811
    wire_servers,  # noqa: F811
):
    server = wire_servers["openai"]
    server.script("openai-wire", lambda _request: Answer("Half of them, and one more."))
    async with at_window(data_dir) as person:
        controller = person.window.controller
        person.window.hide()
        controller.actions()[QUICK]()
        quick = person.find("quick_window", QuickWindow)
        assert quick.isVisible()
        assert not person.window.isVisible()
        # What is typed and not sent is the draft of a new chat, in either window.
        await person.write("quick_composer", "What is a quorum?")
        assert controller.engine.drafts.of(NEW).text == "What is a quorum?"
        await person.press("quick_composer", Qt.Key.Key_Escape)
        assert not quick.isVisible()
        assert person.find("composer", QPlainTextEdit).toPlainText() == "What is a quorum?"
        controller.actions()[QUICK]()
        assert quick.isVisible()
        await person.press("quick_composer", Qt.Key.Key_Return)
        await until(lambda: "one more" in str(person.transcript("quick_transcript")), 90)
        session_id = quick.page.session_id
        await until(lambda: controller.engine.live(session_id).session.status == "idle")
        assert controller.chat_page.session_id == ""
        assert [one.id for one in controller.engine.sessions()] == [session_id]
        # Escape hides it also while an answer is written, and stops nothing.
        server.script("openai-wire", lambda _request: Answer("Long " * 40, pace=0.02))
        await person.write("quick_composer", "And now?")
        await person.press("quick_composer", Qt.Key.Key_Return)
        await until(lambda: controller.engine.live(session_id).session.status == "running")
        await person.press("quick_composer", Qt.Key.Key_Escape)
        assert not quick.isVisible()
        await until(lambda: controller.engine.live(session_id).session.status == "idle", 90)
        assert controller.engine.live(session_id).messages[-1].content.count("Long") == 40
        controller.quick.show()
        await person.click("quick_main")
        await until(lambda: controller.chat_page.session_id == session_id)
        assert person.window.isVisible()
        assert not quick.isVisible()
        assert "one more" in str(person.transcript("transcript"))
        # The window is there again for another chat.
        controller.quick.show()
        await person.click("quick_new")
        assert quick.page.session_id == ""
        quick.close()
        assert not quick.isVisible()


@pytest.mark.slow
async def test_what_goes_wrong_is_said_in_the_small_window(qapp, data_dir, tmp_path):
    async with at_window(data_dir) as person:
        person.window.controller.quick.show()
        quick = person.find("quick_window", QuickWindow)
        quick.page.chat_composer.files_given.emit([tmp_path / "gone.txt"])
        await until(lambda: quick.findChild(QWidget, "toast"))
        assert "gone.txt" in quick.findChild(QWidget, "toast").text
        assert person.window.findChild(QWidget, "toast") is None


class OtherProgram(KeyGrab):
    """A desktop on which another program holds Ctrl+Alt+Space."""

    holds = ""

    async def hold(self, keys, title):
        taken = keys == "Ctrl+Alt+Space"
        self.holds = "" if taken else keys
        return Held(TAKEN) if taken else Held()

    async def release(self):
        self.holds = ""


@pytest.mark.slow
async def test_the_keys_are_off_at_first_and_settings_name_every_conflict(qapp, data_dir):
    async with at_window(data_dir) as person:
        controller = person.window.controller
        quick, settings = controller.quick, controller.settings
        assert quick.grab is None
        settings.open("shortcuts", row=QUICK)
        dialog = person.find("settings_page")
        row = dialog.page("shortcuts").rows[QUICK]
        note = row._note
        await until(note.text, 10)
        assert row.keys.text() == "none"
        assert "in other programs they need Windows, or Wayland with a desktop portal" in note.text()
        quick.grab = grab = OtherProgram(quick)
        grab.pressed.connect(lambda _token: quick.show())
        row.given.emit(QUICK, "Ctrl+N")
        assert row.problem.text() == "Ctrl+N is already used: New."
        row.given.emit(QUICK, "Ctrl+Alt+Space")
        await until(lambda: "Another program already uses Ctrl+Alt+Space" in note.text(), 10)
        row.given.emit(QUICK, "Ctrl+Alt+K")
        await until(lambda: note.text() == "Also works while another program is in front.", 10)
        assert grab.holds == "Ctrl+Alt+K"
        grab.pressed.emit("")
        assert person.sees("quick_window")
        settings.change({"language": "ko"})
        assert note.text() == "다른 프로그램을 쓰는 중에도 열려요."
        row.given.emit(QUICK, "")
        await until(lambda: grab.holds == "", 10)
        person.find("settings_close").click()
        settings.change({"shortcuts": (f"{QUICK}=Ctrl+Alt+K",)})
        await until(lambda: grab.holds, 10)
    assert grab.holds == ""


async def test_both_windows_are_freed_when_moot_closes(qapp, data_dir):
    async with at_window(data_dir) as person:
        person.window.controller.quick.show()
        kept = [weakref.ref(person.window), weakref.ref(person.find("quick_window"))]
    del person
    for one in kept:
        await until(lambda one=one: gc.collect() >= 0 and one() is None, 10, "the window to be freed")
