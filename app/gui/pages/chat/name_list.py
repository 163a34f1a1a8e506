"""The members' names that complete an @ at the beginning of a message; the box it belongs to has the keys."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QListWidget, QWidget

from app.gui.display.style import tall

ROW = 32
MOST_ROWS = 6
WIDTH = 240


class NameList(QListWidget):
    """A list over a box, never with the focus; emits name_chosen(name)."""

    name_chosen = Signal(str)

    def __init__(self, box: QWidget) -> None:
        super().__init__(box)
        self.setObjectName("name_list")
        self.setProperty("kind", "names")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._box = box
        self.itemClicked.connect(lambda item: self.name_chosen.emit(item.text()))
        self.hide()

    def offer(self, names: list[str]) -> None:
        """Show these names over the box, the first one chosen; none hides the list."""
        if not names:
            self.hide()
            return
        if [self.item(row).text() for row in range(self.count())] != names or self.isHidden():
            self.clear()
            self.addItems(names)
            self.choose(0)
        # A child of the window: over everything in it, and gone with it.
        self.setParent(self._box.window())
        height = min(MOST_ROWS, len(names)) * tall(ROW) + 10
        corner = self._box.mapTo(self._box.window(), QPoint(-4, -height - 14))
        self.setGeometry(corner.x(), corner.y(), WIDTH, height)
        self.show()
        self.raise_()

    def step(self, step: int) -> None:
        """Go to the next name or the one before, round the ends."""
        self.choose((self.currentRow() + step) % max(1, self.count()))

    def choose(self, row: int) -> None:
        """Mark a name, and let a screen reader at the box say it."""
        self.setCurrentRow(row)
        self._box.setAccessibleDescription(self.chosen)
        event = QAccessibleEvent(self._box, QAccessible.Event.DescriptionChanged)
        QAccessible.updateAccessibility(event)

    @property
    def chosen(self) -> str:
        """The name that is marked."""
        return self.item(self.currentRow()).text() if self.count() else ""
