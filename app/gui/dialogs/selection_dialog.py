"""A dialog that says what a file holds and lets the user choose of it; imports and backups are looked at in it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from app.core.text import visible
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.pages.settings.tick_list import TickList
from app.gui.widgets.boxes import STRETCH, Stretch, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import plain_label
from app.gui.widgets.wording import named


class ChoosingDialog(QDialog):
    """Facts, a list to tick, what stands below it, and a button that goes on; `_on_go` is the heir's."""

    def __init__(
        self, words: Language, look: Look, parent: QWidget, *, name: str, title: str, choice: str, go: str
    ) -> None:
        """`name` begins the object names; `choice` is what the list is called, `go` what the button says."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName(f"{name}_dialog")
        self.setWindowTitle(title)
        self._words = words
        self._heading = plain_label("page_title", wrap=True, text=title)
        self.facts = named(f"{name}_facts", plain_label("card_text", wrap=True))
        self.list = TickList(words, look, f"{name}_sessions", choice)
        self._cancel = button("", f"{name}_cancel", text=words("dialog.cancel"))
        self._go = button("primary", f"{name}_go", self._on_go, text=go)
        self._go.setDefault(True)
        self._cancel.clicked.connect(self.reject)

    def _lay_out(self, *below: QWidget) -> None:
        """Put everything in its place, these under the list."""
        vbox(
            self._heading,
            self.facts,
            (self.list, 1),
            *below,
            Stretch(0),
            hbox(STRETCH, self._cancel, self._go),
            inside=self,
            margins=(22, 20, 22, 18),
            spacing=10,
        )

    def _say(self, lines: Sequence[str]) -> None:
        self.facts.setText(visible("\n".join(lines)))

    def _on_go(self) -> None:
        raise NotImplementedError
