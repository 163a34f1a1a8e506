"""The guide: its topics, which a search narrows, and the page of one, shown as a message is."""

import re
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from app.core.message import Author, Message, Role
from app.core.texts import fits
from app.gui.dialogs.versions_dialog import ALONE
from app.gui.display.appearance import Language, Look, tall
from app.gui.transcript.row_text import COLUMN
from app.gui.transcript.transcript_view import TranscriptView
from app.gui.widgets.boxes import frame, hbox, vbox
from app.gui.widgets.composer import SearchBox
from app.gui.widgets.controls import Dialog
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.text import named, say

# The pages in the order of the list.
TOPICS = (
    "start", "deciding", "debates", "groups-and-work", "workflows", "files", "assistants-and-tools",
    "external-agents", "models-on-this-computer", "mcp", "terminal", "costs-and-privacy", "keys",
)  # fmt: skip
SIZE, SIDE_WIDTH = QSize(980, 680), 230
STYLE = ListStyle(height=32, left=9, space=6)
# In messages only addresses of the web are links, so a link in the guide is written as one.
ADDRESS, SETTINGS = "https://guide/", "settings:"
_LINK = re.compile(rf"\]\(((?:{SETTINGS})?[\w-]+)(?:\.md)?\)")


def read_guide(resources: Path, language: str) -> dict[str, str]:
    """Return the pages of the guide in a language as Markdown, by topic."""
    folder = resources / "guide" / language
    return {
        topic: _LINK.sub(rf"]({ADDRESS}\1)", (folder / f"{topic}.md").read_text("utf-8")) for topic in TOPICS
    }


class GuideDialog(Dialog):
    """Shows the guide beside the window; emits settings_requested(page) for a link to the settings."""

    settings_requested = Signal(str)

    def __init__(self, words: Language, look: Look, pages: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(parent, "guide_dialog", words("palette.guide"))
        self._pages = pages
        self._author = Author(id="", name=words("palette.guide"), kind="main")
        self.search = say(SearchBox(look, "guide_search"), words, name="guide.search", hint="guide.search")
        self.topics = say(ItemList(look, "guide_topics", STYLE), words, name="guide.topics")
        shown = TranscriptView(look.tokens, words.texts, layout=COLUMN, picture=look.picture)
        self.view = named("guide_page", shown)
        side = frame("side", vbox(self.search, self.topics, margins=(10, 14, 10, 8), spacing=8))
        side.setFixedWidth(tall(SIDE_WIDTH))
        hbox(side, (self.view, 1), inside=self, spacing=0)
        self.resize(SIZE.boundedTo(parent.size()))
        self.search.textChanged.connect(self._find)
        self.search.returnPressed.connect(lambda: self.view.search.step(1))
        self.topics.currentItemChanged.connect(lambda row, _before: self._show(row))
        self.view.link_requested.connect(lambda address, _shown: self._follow(address))
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)
        self.view.follow(look, words)
        # The other language has other pages.
        words.changed.connect(self.reject)
        self._find("")

    def _find(self, typed: str) -> None:
        """List the topics whose pages have what is typed, and mark it in the page that is shown."""
        rows = [
            RowItem(id=topic, title=page.partition("\n")[0].removeprefix("# "))
            for topic, page in self._pages.items()
            if not typed or fits(page, typed)
        ]
        self.topics.show_rows(rows)
        if rows and not self.topics.current_id():
            self.topics.setCurrentRow(0)
        self.view.search.find(typed)
        self.view.search.step(1)

    def _show(self, row: RowItem | None) -> None:
        if row is None:
            return
        page = Message(
            id=row.id, turn_id=row.id, role=Role.ASSISTANT, author=self._author, content=self._pages[row.id]
        )
        self.view.feed.show_session(ALONE, [page])
        self.view.read_from(page.id)
        self.view.setAccessibleName(row.title)

    def _follow(self, address: str) -> None:
        """Show the page of the guide or of the settings that a link leads to."""
        target = address.removeprefix(ADDRESS)
        if target.startswith(SETTINGS):
            self.settings_requested.emit(target.removeprefix(SETTINGS))
        elif target in self._pages:
            self.search.clear()
            self.topics.choose(target)
