"""Files are dropped anywhere on a chat: the hint comes, goes, and hands over what was dropped."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests import app_driver
from tests.app_driver import at_window
from tests.gui.test_drafts_kept import ONE, keep_chat, show

until = partial(app_driver.until, seconds=60.0)
COPY = Qt.DropAction.CopyAction
LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


def enter(window: QWidget, point: QPoint, given: QMimeData) -> tuple[QWidget, bool]:
    """Drag something to a point of the window as Qt does; return who was told, and whether it takes it."""
    target: QWidget | None = window.childAt(point)
    while target is not None:
        if target.acceptDrops():
            event = QDragEnterEvent(target.mapFrom(window, point), COPY, given, LEFT, NONE)
            event.ignore()
            QApplication.sendEvent(target, event)
            if event.isAccepted():
                return target, True
        target = target.parentWidget()
    return window, False


def drop(target: QWidget, given: QMimeData) -> None:
    QApplication.sendEvent(target, QDropEvent(QPointF(target.rect().center()), COPY, given, LEFT, NONE))


@pytest.fixture
def files(tmp_path: Path) -> QMimeData:
    """Return two files as a file manager gives them."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("a.txt", "b.txt")])
    return given


@pytest.mark.slow
@pytest.mark.parametrize("where", ["transcript", "composer"])
async def test_files_dropped_anywhere_are_attached(qapp, data_dir, files, where):
    keep_chat(data_dir, ONE)
    async with at_window(data_dir) as person:
        page = await show(person, ONE)
        hint = person.find("drop_hint")
        assert not hint.isVisible()
        part = page.transcript.viewport() if where == "transcript" else page.composer.box.viewport()
        point = part.mapTo(person.window, part.rect().center())
        before = person.window.grab().toImage()
        _, taken = enter(person.window, point, files)
        assert taken and hint.isVisible() and hint.geometry() == page.rect()
        assert person.window.grab().toImage() != before
        # It lies over all of the page: what is dragged on is told to it alone.
        target, taken = enter(person.window, point, files)
        assert taken and target is hint
        drop(hint, files)
        assert not hint.isVisible()
        await until(lambda: len(page.chat_composer.attachments()) == 2)
        assert [one.name for one in page.chat_composer.attachments()] == ["a.txt", "b.txt"]


async def test_what_is_no_file_or_leaves_again_changes_nothing(qapp, data_dir, files):
    keep_chat(data_dir, ONE)
    async with at_window(data_dir) as person:
        page = await show(person, ONE)
        hint = person.find("drop_hint")
        words = QMimeData()
        words.setText("words")
        middle = page.transcript.viewport()
        point = middle.mapTo(person.window, middle.rect().center())
        assert not enter(person.window, point, words)[1] and not hint.isVisible()
        web = QMimeData()
        web.setUrls([QUrl("https://x.example/a.txt")])
        assert not enter(person.window, point, web)[1] and not hint.isVisible()
        assert enter(person.window, point, files)[1] and hint.isVisible()
        # Qt tells only who it knows to be dragged over.
        hint.dragLeaveEvent(QDragLeaveEvent())
        assert not hint.isVisible()
        assert enter(person.window, point, files)[1] and hint.isVisible()
        hint.eventFilter(page, QDragLeaveEvent())
        assert not hint.isVisible()
        # Nothing can be written where the session may only be read.
        page.chat_composer.hide()
        assert not enter(person.window, point, files)[1] and not hint.isVisible()
        page.chat_composer.show()
        person.window.language.choose("ko")
        assert "첨부" in hint.words
