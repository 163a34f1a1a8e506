"""The pop-up in which a button lets choose a model: searchable, with the same rows as `ModelChoice`."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QListView, QWidget

from app.core.matching import fits
from app.core.provider import ProviderStatus
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.widgets.boxes import vbox
from app.gui.widgets.label import plain_label
from app.gui.widgets.model_choice import HEADING, PAIR, Facts, ModelLines, facts_text
from app.gui.widgets.search import SearchBox, SearchPopUp
from app.gui.widgets.wording import named, say

SIZE, SEARCH_HEIGHT = QSize(440, 380), 34
FACTS_AGAIN_MS = 500
FOUND_BY = Qt.ItemDataRole.UserRole + 2


class ModelMenu(SearchPopUp):
    """Offers the models of ready providers; emits `chosen` with the id of a provider and a model, and closes.

    With `first`, a text, the list begins with that, and two empty texts are emitted for it.
    """

    chosen = Signal(str, str)

    def __init__(
        self,
        language: Language,
        look: Look,
        providers: Sequence[ProviderStatus],
        facts: Facts,
        shown: tuple[str, str],
        parent: QWidget,
        *,
        first: str = "",
    ) -> None:
        search = say(SearchBox(look, "model_search"), language, hint="model.search", name="model.search")
        super().__init__(search, "model_menu", SIZE, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.list = named("model_list", QListView())
        self.list.setAccessibleName(language("assistant.field.model"))
        self.list.setItemDelegate(
            ModelLines(look, lambda pair: facts_text(facts(*pair), language) if pair[1] else "", self)
        )
        self.list.setUniformItemSizes(True)
        self._rows = QStandardItemModel(self)
        self.list.setModel(self._rows)
        self._none = plain_label("hint", wrap=True, text=language("setup.search.none"))
        self._none.hide()
        vbox(self.search, self._none, (self.list, 1), inside=self, margins=(10, 10, 6, 10), spacing=6)
        if first:
            self._add(first, ("", ""), first)
        for status in providers:
            if status.ready and status.models:
                name = language.provider(status)
                self._add(name, None, "")
                for model in status.models:
                    self._add(model, (status.config.id, model), f"{name} {model}")
        for place in range(self._rows.rowCount()):
            if self._rows.item(place).data(PAIR) == shown:
                self.list.setCurrentIndex(self._rows.index(place, 0))
        self.search.textChanged.connect(self._filter)
        self.list.clicked.connect(self._take)
        # What is known about the models may arrive while the list is open.
        again = QTimer(self, interval=FACTS_AGAIN_MS)
        again.timeout.connect(self.list.viewport().update)
        again.start()

    def open(self, under: QWidget) -> None:
        """Open below a widget, at the model that is chosen."""
        # A short list takes no more room than it needs.
        rows = self._rows.rowCount() * self.list.sizeHintForRow(0)
        self.setFixedHeight(min(SIZE.height(), 2 * SEARCH_HEIGHT + rows))
        self.open_below(under)
        self.list.scrollTo(self.list.currentIndex(), QListView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
            QApplication.sendEvent(self.list, event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(self.list.currentIndex())
        elif event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _add(self, text: str, pair: tuple[str, str] | None, words: str) -> None:
        """Add a model, found by `words`; without a model the heading of a provider, which cannot be chosen."""
        item = QStandardItem(text)
        item.setData(pair, PAIR)
        item.setData(words, FOUND_BY)
        if pair is None:
            item.setData(text, HEADING)
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self._rows.appendRow(item)

    def _filter(self) -> None:
        """Show the models with all words of the search, each under its provider; choose the first."""
        wanted = self.search.text()
        found: list[int] = []
        heading = -1
        for place in range(self._rows.rowCount()):
            item = self._rows.item(place)
            shown = item.data(PAIR) is not None and fits(item.data(FOUND_BY), wanted)
            self.list.setRowHidden(place, not shown)
            if item.data(PAIR) is None:
                heading = place
            elif shown:
                found.append(place)
                if heading >= 0:
                    self.list.setRowHidden(heading, False)
        self.list.setCurrentIndex(self._rows.index(found[0], 0) if found else QModelIndex())
        self._none.setVisible(not found)

    def _take(self, index: QModelIndex) -> None:
        pair = index.data(PAIR)
        if pair is not None:
            self.close()
            self.chosen.emit(*pair)
