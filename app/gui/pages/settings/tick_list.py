"""A list to tick what is wanted, all or none of it with one click; used by the previews of restore and import."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidgetItem, QWidget

from app.core.text import visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.pages.settings.model_rows import MODEL, NOTE, TICKED, ModelRows
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button

SHOWN = 1_000


class TickList(QWidget):
    """Shows (id, text, note) with a tick each, all ticked at first; emits `changed`.

    Of very many only the first thousand are shown; the rest stay ticked with all.
    """

    changed = Signal()

    def __init__(self, words: Language, look: Look, name: str, title: str) -> None:
        super().__init__()
        self._ticked: dict[str, bool] = {}
        self.list = ModelRows(look)
        self.list.setObjectName(name)
        self.list.setAccessibleName(title)
        self.all = button("link", f"{name}_all", lambda: self._tick_all(on=True), text=words("tick_list.all"))
        self.none = button(
            "link", f"{name}_none", lambda: self._tick_all(on=False), text=words("tick_list.none")
        )
        vbox((self.list, 1), hbox(self.all, self.none, STRETCH), inside=self, spacing=4)
        self.list.ticked.connect(lambda item: self._tick(item, not item.data(TICKED)))

    def show_rows(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Show these, all ticked."""
        self._ticked = {row_id: True for row_id, _, _ in rows}
        self.list.clear()
        for row_id, text, note in rows[:SHOWN]:
            item = QListWidgetItem(" ".join(visible(text[:200]).split()))
            item.setData(MODEL, row_id)
            item.setData(NOTE, note)
            item.setData(TICKED, True)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{visible(text[:200])}, {note}")
            self.list.addItem(item)
        self.list.setCurrentRow(0 if rows else -1)

    def chosen(self) -> list[str]:
        """Return the ids that are ticked, in their order."""
        return [row_id for row_id, ticked in self._ticked.items() if ticked]

    def _tick(self, item: QListWidgetItem, on: bool) -> None:
        item.setData(TICKED, on)
        self._ticked[str(item.data(MODEL))] = on
        self.changed.emit()

    def _tick_all(self, *, on: bool) -> None:
        for row in range(self.list.count()):
            self.list.item(row).setData(TICKED, on)
        self._ticked = dict.fromkeys(self._ticked, on)
        self.changed.emit()
