"""Asks for another title of a session."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from app.gui.display.i18n import Language
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.label import plain_label
from app.gui.widgets.wording import named


class RenameDialog(QDialog):
    """One line to write the title in; emits `named` where it is another one."""

    named = Signal(str)

    def __init__(self, words: Language, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("rename_dialog")
        self.setWindowTitle(words("rename.title"))
        self._before = title
        heading = plain_label("page_title", text=words("rename.title"))
        self.field = named("rename_field", QLineEdit(title))
        self.field.setAccessibleName(words("rename.title"))
        self.field.selectAll()
        cancel = button("", "rename_cancel", text=words("dialog.cancel"))
        self._save = button("primary", "rename_save", self._on_save, text=words("dialog.save"))
        self._save.setDefault(True)
        vbox(
            heading,
            self.field,
            6,
            hbox(STRETCH, cancel, self._save),
            inside=self,
            margins=(22, 20, 22, 18),
            spacing=10,
        )
        self.resize(440, self.sizeHint().height())
        cancel.clicked.connect(self.reject)
        self.field.textChanged.connect(lambda text: self._save.setEnabled(bool(text.strip())))

    def _on_save(self) -> None:
        title = self.field.text().strip()
        self.accept()
        if title != self._before:
            self.named.emit(title)
