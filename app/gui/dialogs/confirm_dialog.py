"""Asks before something that cannot be taken back; cancelling is what Enter does."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QWidget

from app.core.text import visible
from app.gui.display.i18n import Language
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import plain_label


class ConfirmDialog(QDialog):
    """Says what would happen; emits `agreed`."""

    agreed = Signal()

    def __init__(self, words: Language, title: str, text: str, agree: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("confirm_dialog")
        self.setWindowTitle(visible(title))
        heading = plain_label("page_title", wrap=True, text=visible(title))
        body = plain_label("card_text", wrap=True, text=visible(text))
        cancel = button("", "confirm_cancel", text=words("dialog.cancel"))
        cancel.setDefault(True)
        go = button("primary", "confirm_agree", text=agree)
        vbox(heading, body, 6, hbox(STRETCH, cancel, go), inside=self, margins=(22, 20, 22, 18), spacing=10)
        self.resize(420, self.sizeHint().height())
        cancel.clicked.connect(self.reject)
        go.clicked.connect(self._on_agree)

    def _on_agree(self) -> None:
        self.accept()
        self.agreed.emit()
