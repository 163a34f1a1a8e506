"""A table of what some things used and cost, the dearest first; used by the settings' page of usage."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app.core.usage import Total, money_text, used_text
from app.gui.display.i18n import Language
from app.gui.widgets.boxes import vbox
from app.gui.widgets.label import ElidedLabel, plain_label

MOST_ROWS = 8


class UsageTable(QWidget):
    """A title over lines of name, tokens and money; hidden while there is nothing."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self._language = language
        self._title = plain_label("field")
        self._card = QFrame()
        self._column = vbox(self._title, self._card, inside=self, spacing=6)

    def show_rows(self, title: str, rows: Sequence[tuple[str, Total]]) -> None:
        """Show these lines; of many the last ones in one."""
        words = self._language
        shown = list(rows)
        if len(shown) > MOST_ROWS:
            rest = Total()
            for _, total in shown[MOST_ROWS - 1 :]:
                rest += total
            count = len(shown) - MOST_ROWS + 1
            shown[MOST_ROWS - 1 :] = [(words("usage.others", count=count), rest)]
        self._title.setText(title)
        card = QFrame()
        card.setProperty("kind", "card")
        card.setAccessibleName(title)
        grid = QGridLayout(card)
        grid.setContentsMargins(14, 10, 14, 10)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(7)
        grid.setColumnStretch(0, 1)
        for row, (name, total) in enumerate(shown):
            label = ElidedLabel("name", text=name)
            tokens = plain_label("card_text", text=words("usage.row.tokens", tokens=used_text(total)))
            money = plain_label("value", text=money_text(words, total, part="cost.partly"))
            grid.addWidget(label, row, 0)
            for column, cell in ((1, tokens), (2, money)):
                grid.addWidget(cell, row, column, Qt.AlignmentFlag.AlignRight)
        self._column.replaceWidget(self._card, card)
        self._card.deleteLater()
        self._card.hide()
        self._card = card
        self.setVisible(bool(shown))
