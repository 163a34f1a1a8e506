"""The list of the files that a debate is given as context."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core.usage import tokens_text
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.files.attachments import FileSizes
from app.gui.widgets.boxes import hbox, vbox
from app.gui.widgets.controls import icon_button, name_button
from app.gui.widgets.label import ElidedLabel, plain_label


class ContextList(QWidget):
    """Shows the chosen context files and their sizes, one per line.

    Signals: kept(remaining paths) after one was removed, files_given(paths) after more were chosen.
    """

    kept = Signal(tuple)
    files_given = Signal(list)

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._look = look
        self.paths: tuple[str, ...] = ()
        self.sizes = FileSizes()
        self._column = vbox(inside=self, margins=(26, 0, 0, 0), spacing=0)
        language.changed.connect(lambda: self.show_paths(self.paths))

    def show_paths(self, paths: tuple[str, ...]) -> None:
        """Replace the files shown."""
        self.paths = paths
        while (item := self._column.takeAt(0)) is not None:
            item.widget().hide()
            item.widget().deleteLater()
        for path in paths:
            self._column.addWidget(self._line(path))

    def ask(self) -> None:
        """Open a dialog to choose more files."""
        dialog = QFileDialog(self.window(), self._language("setup.context.choose"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda paths: self.files_given.emit(paths))
        dialog.open()

    def _line(self, path: str) -> QWidget:
        line = QWidget()
        name = ElidedLabel("meta", text=Path(path).name)
        size = plain_label("hint")
        if not Path(path).is_file():
            size.setText(self._language("setup.context.missing"))
        elif not self.sizes.unread((path,)):
            size.setText(tokens_text(self.sizes.in_tokens((path,))))
        remove = icon_button(self._look, "x")
        remove.setFixedSize(24, 24)
        name_button(remove, self._language("setup.context.remove", name=Path(path).name))
        remove.clicked.connect(lambda: self.kept.emit(tuple(one for one in self.paths if one != path)))
        hbox((name, 1), size, remove, inside=line)
        return line
