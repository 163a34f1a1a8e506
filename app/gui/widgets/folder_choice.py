"""The choice of a folder: a field for its path, and a button that opens the system's dialog."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from app.gui.display.appearance import Language
from app.gui.widgets.boxes import hbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import named, say


class FolderChoice(QWidget):
    """Shows the path of a folder, "" for none; emits `changed` with every change the user makes."""

    changed = Signal()

    def __init__(self, name: str, language: Language) -> None:
        super().__init__()
        self.setObjectName(name)
        self._language = language
        self.path = named(f"{name}_path", QLineEdit())
        self.choose = say(button("", f"{name}_choose", self._on_choose), language, "form.choose")
        self.choose.setAutoDefault(False)
        self.path.textChanged.connect(lambda _text: self.changed.emit())
        self.setFocusProxy(self.path)
        hbox((self.path, 1), self.choose, inside=self, spacing=6)

    def show_folder(self, folder: str, *, fixed: bool) -> None:
        """Show a folder; `fixed` makes it read-only."""
        self.path.setText(folder)
        self.path.setReadOnly(fixed)
        self.choose.setVisible(not fixed)

    def chosen(self) -> str:
        """Return the path, "" for none."""
        return self.path.text().strip()

    def _on_choose(self) -> None:
        dialog = QFileDialog(self.window(), self.path.accessibleName(), self.chosen())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.path.setText)
        dialog.open()
