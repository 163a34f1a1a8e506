"""The memo about a decision: the page as it is printed, to save and to copy."""

from functools import partial

from PySide6.QtCore import QMimeData, QSize, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import QTextBrowser, QWidget

from app.core.session import PDF
from app.core.texts import exact
from app.engine.decisions import MEMO_FORMATS, Memo, memo_as_html, memo_as_markdown
from app.gui.display.appearance import KOREAN_FAMILY, Language, Look
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import Dialog, MenuButton, button
from app.gui.widgets.text import named

PAGE = QSize(836, 760)
MARGIN = 48


class MemoDialog(Dialog):
    """Shows a memo in a window of its own; emits save_requested(format)."""

    save_requested = Signal(str)

    def __init__(self, words: Language, look: Look, memo: Memo, parent: QWidget) -> None:
        super().__init__(parent, "memo_dialog", f"{words('journal.memo')}: {exact(memo.title)}")
        self._memo = memo
        self.page = named("memo_page", QTextBrowser())
        # A page on paper: black on white, whatever the theme.
        paper = QPalette(self.page.palette())
        paper.setColor(QPalette.ColorRole.Base, QColor("#ffffff"))
        self.page.setPalette(paper)
        self.page.setOpenLinks(False)
        self.page.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.page.setAccessibleName(self.windowTitle())
        self.page.document().setDefaultFont(QFont(KOREAN_FAMILY))
        self.page.document().setDocumentMargin(MARGIN)
        # All texts in it are escaped, and it loads nothing.
        self.page.setHtml(memo_as_html(memo))
        save = words("journal.memo.save")
        self.save = button("primary", "memo_save", lambda: self.save_requested.emit(PDF), text=save)
        self.save.setDefault(True)
        self.more = MenuButton(look, "ellipsis", "memo_more", chevron=True)
        self.more.show_words(words("journal.memo.more"))
        for name in MEMO_FORMATS:
            if name != PDF:
                self.more.choices.addAction(words(f"export.{name}"), partial(self.save_requested.emit, name))
        copy = button("", "memo_copy", self.copy, text=words("journal.memo.copy"))
        copy.dress(look, "copy", "text")
        buttons = hbox(copy, STRETCH, self.more, self.save, margins=(18, 10, 18, 12), spacing=8)
        vbox((self.page, 1), buttons, inside=self, spacing=0)
        self.resize(PAGE.boundedTo(self.screen().availableSize()))

    def copy(self) -> None:
        """Copy the page, rich and as Markdown."""
        both = QMimeData()
        both.setHtml(memo_as_html(self._memo))
        both.setText(memo_as_markdown(self._memo))
        QGuiApplication.clipboard().setMimeData(both)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Save):
            self.save_requested.emit(PDF)
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)
