"""The files that were made in a session: a list over the composer."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu

from app.core.session_files import FileVersion
from app.core.texts import exact, size_text
from app.gui.display.appearance import Language, Look
from app.gui.widgets.controls import ENTER
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.text import say

STYLE = ListStyle(height=30, left=10, space=8)
MOST_ROWS = 3
OPEN, SAVE, COPY, FOLDER, DELETE = "open", "save", "copy", "folder", "delete"


def author_text(version: FileVersion, words: Language) -> str:
    """Return who wrote a version."""
    return exact(version.author) or words("transcript.you")


class FilesList(ItemList):
    """Shows each file with its version, who wrote it, and its size; hidden while there is none.

    Signals: asked(path, OPEN, SAVE, COPY, FOLDER or DELETE), left() when it goes and had the focus.
    """

    asked = Signal(str, str)
    left = Signal()
    EDITS = ENTER

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__(look, "files_list", STYLE)
        self._language = language
        say(self, language, name="files.title")
        self._files: Sequence[FileVersion] = ()
        for opened in (self.edit_requested, self.doubleClicked):
            opened.connect(lambda _row: self.asked.emit(self.current_id(), OPEN))
        self.delete_requested.connect(lambda path: self.asked.emit(path, DELETE))
        language.changed.connect(lambda: self.show_files(self._files))
        self.hide()

    def show_files(self, files: Sequence[FileVersion]) -> None:
        """Show the newest version of each file."""
        self._files, rows = files, [self._row(one) for one in files]
        if not rows and self.hasFocus():
            self.left.emit()
        if rows != self.rows.rows:
            self.show_rows(rows)
            self.setFixedHeight(min(self.rows_height(), MOST_ROWS * self.rows_height() // max(1, len(rows))))
        self.setVisible(bool(rows))

    def menu_of(self, row_id: str) -> QMenu:
        menu, words = self.new_menu(), self._language
        for action, keys in ((OPEN, "\tEnter"), (SAVE, ""), (COPY, ""), (FOLDER, ""), (DELETE, "\tDel")):
            menu.addAction(f"{words(f'files.{action}')}{keys}", partial(self.asked.emit, row_id, action))
        return menu

    def _row(self, one: FileVersion) -> RowItem:
        words, author = self._language, author_text(one, self._language)
        facts = (words("files.version", version=one.version), author, size_text(words, one.bytes))
        name = exact(one.path)
        return RowItem(id=one.path, title=name, note=" · ".join(facts), icon="file-text", tip=name)
