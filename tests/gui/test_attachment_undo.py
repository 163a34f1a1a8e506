"""An attachment that was taken off comes back, to the message it was taken off from and to nothing else."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from app.core.draft import NEW
from app.core.message import Attachment
from tests import app_driver
from tests.app_driver import at_window
from tests.gui.seen import toasts
from tests.gui.test_drafts_kept import ONE, TWO, keep_chat, names, on_disk, show

until = partial(app_driver.until, seconds=60.0)


async def test_an_attachment_taken_off_comes_back_to_its_place_and_its_session(qapp, data_dir):
    keep_chat(data_dir, ONE)
    keep_chat(data_dir, TWO)
    async with at_window(data_dir) as person:
        page = await show(person, ONE)
        await person.write("composer", "with these")
        for number in "123":
            page.chat_composer.strip.add((Attachment(name=number, media_type="text/plain", text=number),))
        await person.click("attachment_remove_2")
        assert names(page) == ["1", "3"]
        await person.click("toast_action")
        assert names(page) == ["1", "2", "3"]
        assert page.composer.box.toPlainText() == "with these"
        await person.click("attachment_remove_1")
        # Another session is in front by then.
        await show(person, TWO)
        person.window.controller.undo()
        assert names(page) == []
        await show(person, ONE)
        assert names(page) == ["1", "2", "3"]
        await until(lambda: len(on_disk(data_dir, ONE).get("attachments", ())) == 3)
        # Of a message that is being rewritten: not once that is over.
        message_id = page.transcript.message_ids[0]
        page.transcript.action_requested.emit(message_id, "edit")
        page.chat_composer.strip.add((Attachment(name="4", media_type="text/plain", text="4"),))
        await person.click("attachment_remove_1")
        await person.press("composer", Qt.Key.Key_Escape)
        person.window.controller.undo()
        assert names(page) == ["1", "2", "3"]
        await until(lambda: "Nothing to undo." in toasts(person.window))


async def test_an_attachment_comes_back_on_the_welcome_page_too(qapp, data_dir):
    async with at_window(data_dir) as person:
        composer = person.window.chat_page.chat_composer
        composer.strip.add((Attachment(name="1", media_type="text/plain", text="1"),))
        composer.strip.findChild(QAbstractButton, "attachment_remove_1").click()
        assert composer.attachments() == ()
        await person.click("toast_action")
        assert [one.name for one in composer.attachments()] == ["1"]
        assert person.window.controller.engine.drafts.of(NEW).attachments == composer.attachments()
