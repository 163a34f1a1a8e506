"""Dialogs with a text or one field and two buttons: confirm, rename, edit a prompt."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from app.core.text import visible
from app.gui.display.i18n import Language
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.composer import TextBox
from app.gui.widgets.controls import button
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.wording import named


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


class PromptDialog(QDialog):
    """Shows a prompt for editing; emits `prompt_chosen`, empty when the generated one shall be used."""

    prompt_chosen = Signal(str)

    def __init__(self, words: Language, name: str, prompt: str, generated: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("prompt_dialog")
        self.setWindowTitle(words("setup.prompt.of", name=name))
        self._generated = generated
        self._box = named("prompt_text", TextBox(lines=14, most=14, submits=False))
        self._box.setPlainText(prompt)
        self._box.setAccessibleName(self.windowTitle())
        title = plain_label("page_title", text=self.windowTitle())
        lead = Paragraph("card_text", text=words("setup.prompt.text"))
        reset = button("link", "prompt_reset", text=words("setup.prompt.generated"))
        cancel = button("", "prompt_cancel", text=words("dialog.cancel"))
        save = button("primary", "prompt_save", text=words("dialog.save"))
        save.setDefault(True)
        vbox(
            title,
            lead,
            self._box,
            STRETCH,
            hbox(reset, STRETCH, cancel, save),
            inside=self,
            margins=(22, 20, 22, 18),
            spacing=10,
        )
        self.resize(620, 400)
        reset.clicked.connect(lambda: self._box.setPlainText(generated))
        cancel.clicked.connect(self.reject)
        save.clicked.connect(self._on_save)

    def _on_save(self) -> None:
        text = self._box.text()
        self.prompt_chosen.emit("" if text == self._generated.strip() else text)
        self.accept()
