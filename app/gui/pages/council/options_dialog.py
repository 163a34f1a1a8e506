"""The dialog in which the user writes what can be held: renames, adds, merges and deletes options."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.engine.debate.replies import MOST_OPTION, MOST_OPTIONS
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language
from app.gui.widgets.boxes import vbox
from app.gui.widgets.text import Paragraph, named


class OptionsDialog(AskDialog):
    """A line for each option, and empty ones for more; emits `chosen` with (id, text) of each, "" where it is new."""

    chosen = Signal(object)

    def __init__(self, words: Language, options: Sequence[tuple[str, str]], parent: QWidget) -> None:
        title = words("council.options")
        super().__init__(words, parent, "options", title, ("save", words("dialog.save")))
        self._fields = []
        lines = vbox(spacing=6)
        for number in range(1, max(MOST_OPTIONS, len(options)) + 2):
            option, text = options[number - 1] if number <= len(options) else ("", "")
            field = named(f"option_{number}", QLineEdit(text))
            field.setMaxLength(MOST_OPTION)
            field.setAccessibleName(words("council.options.number", number=number))
            field.setPlaceholderText("" if option else words("council.options.add"))
            field.textChanged.connect(lambda _text: self._check())
            lines.addWidget(field)
            self._fields.append((option, field))
        said = Paragraph("card_text")
        said.setText(words("council.options.hint"))
        self.arrange(self.heading, said, lines, 6)
        self.resize(520, self.sizeHint().height())
        self._check()

    def _check(self) -> None:
        self.go.setEnabled(any(field.text().strip() for _option, field in self._fields))

    def _on_go(self) -> None:
        self.accept()
        self.chosen.emit([(option, field.text()) for option, field in self._fields])
