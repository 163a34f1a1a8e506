"""The list of the files that a debate is given as context."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core.files import is_pdf
from app.core.usage import tokens_text
from app.engine.library.agents import AgentModel, look_of
from app.gui.display.appearance import Language, Look
from app.gui.files.attachments import FileSizes
from app.gui.widgets.boxes import empty, hbox, vbox
from app.gui.widgets.controls import WrappedTick, icon_button
from app.gui.widgets.text import ElidedLabel, name_button, named, plain_label, plain_tip, say


class ContextList(QWidget):
    """Shows the chosen context files and their sizes, one per line; below them whether PDF files are sent as they look.

    Signals: kept(remaining paths) after one was removed, files_given(paths) after more were chosen,
    look_chosen(paths of the PDF files that are now sent as they look).
    """

    kept = Signal(tuple)
    files_given = Signal(list)
    look_chosen = Signal(tuple)

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._look = look
        self.paths: tuple[str, ...] = ()
        self.sizes = FileSizes()
        # Tokens of PDF files as they look, by their paths.
        self._seen: dict[str, int] = {}
        self._column = vbox(spacing=0)
        self.look = say(named("context_look", WrappedTick(look)), language, "setup.look")
        self.look.hide()
        self.look.clicked.connect(lambda _on: self.look_chosen.emit(self.seen_paths))
        vbox(self._column, self.look, inside=self, margins=(26, 0, 0, 0), spacing=0)
        language.changed.connect(lambda: self.show_paths(self.paths))

    @property
    def seen_paths(self) -> tuple[str, ...]:
        """The paths of the PDF files that are sent as they look."""
        chosen = self.look.isEnabled() and self.look.isChecked()
        return tuple(path for path in self.paths if chosen and is_pdf(Path(path)))

    def keep_seen(self, path: str, tokens: int) -> None:
        """Keep how many tokens a PDF file takes as it looks, for the model of which it takes most."""
        self._seen[path] = tokens

    def tokens(self, paths: Sequence[str]) -> int:
        """Estimate the tokens of files as they are sent."""
        seen = [path for path in paths if path in self._seen and path in self.seen_paths]
        others = [path for path in paths if path not in seen]
        return sum(self._seen[path] for path in seen) + self.sizes.in_tokens(others)

    def offer_look(self, models: Sequence[AgentModel]) -> None:
        """Offer to send PDF files as they look, where one of the models can see that."""
        seen = bool(look_of(models))
        self.look.setVisible(any(is_pdf(Path(path)) for path in self.paths))
        self.look.setEnabled(seen)
        hint = self._language("setup.look.hint" if seen else "setup.look.none")
        self.look.setToolTip(plain_tip(hint))

    def show_paths(self, paths: tuple[str, ...]) -> None:
        """Replace the files shown."""
        self.paths = paths
        empty(self._column)
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
            size.setText(self._language("transcript.group.tokens", tokens=tokens_text(self.tokens((path,)))))
        remove = icon_button(self._look, "x")
        remove.setFixedSize(24, 24)
        name_button(remove, self._language("setup.context.remove", name=Path(path).name))
        remove.clicked.connect(lambda: self.kept.emit(tuple(one for one in self.paths if one != path)))
        hbox((name, 1), size, remove, inside=line)
        return line
